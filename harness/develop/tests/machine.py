# SPDX-License-Identifier: Apache-2.0
"""A small tree with the real ./dev, on a machine whose apt, pip, sudo and dpkg only note that they were called."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]

MESON_BUILD = """\
project('small', meson_version: '>=1.5')
test('one', find_program('true'), suite: 'unit')
test('slow', find_program('true'), suite: 'e2e')
test('card', find_program('true'), suite: 'gpu')
add_test_setup('plain', is_default: true, exclude_suites: ['gpu'])
add_test_setup('gpu')
"""

STUBS = {
    # Answers as installed what INSTALLED names; the real one knows some other packages by name only, and says so.
    "dpkg-query": """\
for last; do :; done
case " $INSTALLED " in *" $last "*) echo installed; exit 0 ;; esac
case "$last" in valgrind | python3-venv) echo not-installed ;; *) exit 1 ;; esac""",
    # A machine whose package lists are missing until they are fetched, if APT_LISTS says so.
    "apt-get": """\
echo "apt-get $*" >>"$CALLS"
[ "$1" = update ] && touch "$CALLS.lists"
[ "$APT_LISTS" != missing ] || [ -e "$CALLS.lists" ] || { echo "E: Unable to locate package" >&2; exit 100; }""",
    "sudo": 'echo "sudo $*" >>"$CALLS"; exec "$@"',
    "id": 'echo "$USER_ID"',
    # A venv is one Python whose pip only writes itself down; the rest is the Python that runs this test.
    "venv-python": '[ "$1 $2" = "-m pip" ] || exec "$PYTHON" "$@"; echo "pip $*" >>"$CALLS"; exit "$PIP_STATUS"',
    "python3": """\
if [ "$1 $2" = "-m venv" ]; then
  mkdir -p "$3/bin"
  cp "$(dirname "$0")/venv-python" "$3/bin/python"
  exit 0
fi
case "$*" in *ensurepip*) [ "$PARTS" = all ] ;; *Python.h*) [ "$PARTS" = all ] ;; *) exec "$PYTHON" "$@" ;; esac""",
}


class Machine:
    """Runs ./dev in `folder`; `calls` are the set-up commands that it gave."""

    def __init__(self, folder: Path) -> None:
        self.root = folder / "tree"
        self.log = folder / "calls"
        self.stubs = folder / "bin"
        self.stubs.mkdir()
        for name, body in STUBS.items():
            self.write_stub(name, body)
        (self.root / "harness/develop").mkdir(parents=True)
        for name in ("dev", "pyproject.toml", "README.md", "LICENSE"):
            shutil.copy(ROOT / name, self.root)
        for name in ("products.py", "stage.py", "totals.py"):
            shutil.copy(ROOT / "harness/develop" / name, self.root / "harness/develop")
        (self.root / "requirements.lock").write_text("# nothing\n", encoding="utf-8")
        (self.root / "meson.build").write_text(MESON_BUILD, encoding="utf-8")
        self.environment = {
            **os.environ,
            "PATH": f"{self.stubs}:{Path(sys.executable).parent}:/usr/bin:/bin",
            "CALLS": str(self.log),
            "PYTHON": sys.executable,
            "INSTALLED": "",
            "APT_LISTS": "there",
            "PARTS": "all",
            "PIP_STATUS": "0",
            "USER_ID": "0",
        }

    def write_stub(self, name: str, body: str) -> None:
        path = self.stubs / name
        path.write_text(f"#!/bin/sh\n{body}\n", encoding="utf-8")
        path.chmod(0o755)

    def dev(self, *arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [str(self.root / "dev"), *arguments],
            env={**self.environment, **environment},
            cwd=self.root.parent,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )

    @property
    def calls(self) -> list[str]:
        return self.log.read_text(encoding="utf-8").splitlines() if self.log.exists() else []

    def forget_calls(self) -> None:
        self.log.unlink(missing_ok=True)
