# SPDX-License-Identifier: Apache-2.0
"""What the end-to-end tests share: the command as a user starts it, and programs for it to run."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import textwrap
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[2]
SCENARIOS = ROOT / "scenarios"

# The smallest programs over each library: a stream that is made, used and dropped.
STREAM = """
    from {module} import Device
    device = Device(0)
    device.set_current()
    stream = device.create_stream()
    stream.sync()
    del stream
    print("program done")
"""


@dataclass(frozen=True)
class Done:
    """A finished command."""

    status: int
    out: str
    err: str


Command = Callable[..., Done]


@pytest.fixture
def cufault(tmp_path: Path) -> Command:
    """Runs the command line in a folder of its own."""

    def run(*words: str | Path, env: Mapping[str, str] | None = None, timeout: float = 300) -> Done:
        done = subprocess.run(
            [sys.executable, "-m", "cufault.cli", *map(str, words)],
            capture_output=True,
            text=True,
            check=False,
            cwd=tmp_path,
            env={**os.environ, **(env or {})},
            timeout=timeout,
        )
        return Done(done.returncode, done.stdout, done.stderr)

    return run


@pytest.fixture
def write(tmp_path: Path) -> Callable[[str, str], Path]:
    """Writes a file into the test's folder."""

    def to(name: str, text: str) -> Path:
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(textwrap.dedent(text), encoding="utf-8")
        return path

    return to


@pytest.fixture
def stream_program(write: Callable[[str, str], Path]) -> Callable[[str], Path]:
    """The program above for a library."""

    def of(module: str) -> Path:
        return write(f"{module.replace('.', '_')}_program.py", STREAM.format(module=module))

    return of


def results(folder: Path) -> dict[str, Any]:
    """What `cufault run` left in its output folder."""
    found: dict[str, Any] = json.loads((folder / "cufault-out" / "results.json").read_text(encoding="utf-8"))
    return found


def statuses(run: dict[str, Any]) -> dict[str, str]:
    """The status of each rule in one run's verdict."""
    return {rule["rule"]: rule["status"] for rule in run["verdict"]["rules"]}
