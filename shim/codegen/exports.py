# SPDX-License-Identifier: Apache-2.0
"""Names that a libcuda exports: a stub library's, through nm, or a real driver's, as recorded in `spec/exports`."""

from __future__ import annotations

import subprocess
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Exports:
    """The dynamic symbols that one library defines."""

    functions: frozenset[str]
    data_objects: frozenset[str]


def _parse(pairs: list[tuple[str, str]]) -> Exports:
    functions = frozenset(name for kind, name in pairs if kind in "TWi")
    return Exports(functions, frozenset(name for kind, name in pairs if kind in "BDRV"))


def of_library(library: Path) -> Exports:
    """What nm finds in a library on this machine. Raises OSError or subprocess.CalledProcessError."""
    command = ["nm", "--dynamic", "--defined-only", str(library)]
    output = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    # A versioned symbol is printed as name@@version; an absolute symbol (A) is the version itself.
    return _parse([(line.split()[-2], line.split()[-1].split("@")[0]) for line in output.splitlines()])


def of_recording(recording: Path) -> Exports:
    """What a recording in `spec/exports` lists: `type name` lines under a comment that says driver, device and date."""
    lines = [line.split() for line in recording.read_text(encoding="utf-8").splitlines() if not line.startswith("#")]
    return _parse([(kind, name) for kind, name in lines])
