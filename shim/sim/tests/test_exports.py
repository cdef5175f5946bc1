# SPDX-License-Identifier: Apache-2.0
"""The simulated driver exports what a driver exports, and nothing of its own but the seam to its host."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "codegen"))

import spec as driver_spec


def exported() -> set[str]:
    """Names of the functions in the dynamic symbol table, weak ones included."""
    out = subprocess.run(
        ["nm", "-D", "--defined-only", os.environ["CUFAULT_SIM_LIB"]], check=True, capture_output=True, text=True
    )
    return {line.split()[2] for line in out.stdout.splitlines() if line.split()[1] in "TW"}


def test_every_symbol_of_the_specification_is_exported() -> None:
    wanted = {symbol.name for symbol in driver_spec.load().symbols}
    assert len(wanted) > 600
    assert wanted - exported() == set()


def test_nothing_else_is_exported_but_the_seam() -> None:
    known = {symbol.name for symbol in driver_spec.load().symbols} | {"cufault_sim_attach"}
    assert exported() - known == set()
