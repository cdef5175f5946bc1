# SPDX-License-Identifier: Apache-2.0
"""The machine that the tests of ./dev run on."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path[:0] = [str(Path(__file__).parent), str(Path(__file__).parents[1])]

from machine import Machine  # noqa: E402  (the path comes first)


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    return Machine(tmp_path)
