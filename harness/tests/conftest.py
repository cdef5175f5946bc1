# SPDX-License-Identifier: Apache-2.0
"""Fixtures of the end-to-end tests: the command as a user starts it, and programs for it to run."""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest
from e2e import STREAM, Command, Done


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
