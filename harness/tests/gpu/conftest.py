# SPDX-License-Identifier: Apache-2.0
"""Tests of this folder need a GPU: without one each is skipped, and says so."""

from __future__ import annotations

from pathlib import Path

import pytest


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    if not Path("/dev/nvidiactl").exists():
        for item in items:
            item.add_marker(pytest.mark.skip(reason="this machine has no NVIDIA GPU (no /dev/nvidiactl)"))
