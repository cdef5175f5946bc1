# SPDX-License-Identifier: Apache-2.0
"""Policy files: the repository's own are whole, and a wrong one is refused with its name."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
import yaml

POLICY = Path(__file__).resolve().parent.parent


def _compile(folder: Path) -> subprocess.CompletedProcess[str]:
    arguments = ["--template", str(POLICY / "policy_table.cpp.jinja"), "--output", str(folder / "out.cpp")]
    arguments += ["--rules", str(folder / "rules.yaml"), str(folder / "rfc.yaml"), str(folder / "strict.yaml")]
    return subprocess.run(
        [sys.executable, str(POLICY / "compile_policy.py"), *arguments], capture_output=True, text=True
    )


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "rules.yaml").write_bytes((POLICY / "rules.yaml").read_bytes())
    for name in ("rfc.yaml", "strict.yaml"):
        (tmp_path / name).write_bytes((POLICY / "profiles" / name).read_bytes())
    return tmp_path


def test_the_repositorys_own_files_compile_to_the_same_text_twice(folder: Path) -> None:
    assert _compile(folder).returncode == 0
    first = (folder / "out.cpp").read_text()
    assert _compile(folder).returncode == 0
    assert (folder / "out.cpp").read_text() == first
    assert '"P12", author::R' in first


def test_a_profile_that_extends_another_takes_what_it_does_not_say(folder: Path) -> None:
    assert _compile(folder).returncode == 0
    assert (folder / "out.cpp").read_text().count('"cuEventQuery"') == 2


@pytest.mark.parametrize(
    ("name", "change", "said"),
    [
        ("rules.yaml", lambda data: data["rules"]["P12"].update(by="X"), "P12: 'by' is one of"),
        ("rules.yaml", lambda data: data["rules"]["P12"].pop("shown"), "P12 needs exactly the keys"),
        ("rfc.yaml", lambda data: data["counts"].update(R="sin"), "'sin' is none of"),
        ("rfc.yaml", lambda data: data.update(rules={"P99": "off"}), "names a rule that does not exist"),
        ("rfc.yaml", lambda data: data.update(clsoe="either"), "unknown keys ['clsoe']"),
        ("rfc.yaml", lambda data: data.update(profile="other"), "not called as its file"),
    ],
)
def test_a_wrong_file_is_refused_with_its_name(folder: Path, name: str, change: object, said: str) -> None:
    data = yaml.safe_load((folder / name).read_text())
    change(data)  # type: ignore[operator]
    (folder / name).write_text(yaml.safe_dump(data, sort_keys=False))
    answer = _compile(folder)
    assert answer.returncode == 1
    assert name in answer.stderr
    assert said in answer.stderr
