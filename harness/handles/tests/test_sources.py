# SPDX-License-Identifier: Apache-2.0
"""What the design page says about the sources, checked on the sources."""

from __future__ import annotations

import re
from pathlib import Path

FOLDER = Path(__file__).parent.parent
SWITCHES = re.compile(r"\bcu(CtxSetCurrent|CtxPushCurrent|CtxPopCurrent|CtxCreate)\b")


def code_of(path: Path) -> str:
    return re.sub(r"//.*|\"(?:[^\"\\]|\\.)*\"", "", path.read_text(encoding="utf-8"))


def test_only_the_scoped_helpers_switch_contexts() -> None:
    sources = [*(FOLDER / "src").rglob("*"), *(FOLDER / "python").rglob("*.cpp"), *(FOLDER / "include").rglob("*.h")]
    assert sources
    switching = {path.name for path in sources if path.is_file() and SWITCHES.search(code_of(path))}
    assert switching == {"scope.cpp"}


def test_every_rule_names_a_place_and_a_test_that_exist() -> None:
    page = (FOLDER / "DESIGN.md").read_text(encoding="utf-8")
    tests = "\n".join(path.read_text(encoding="utf-8") for path in (FOLDER / "tests").glob("test_*.cpp"))
    rows = re.findall(r"^\| (P\d\d) .*?\|[^|]*\|([^|]*)\|([^|]*)\|$", page, re.MULTILINE)
    assert [rule for rule, _, _ in rows] == [f"P{number:02}" for number in range(1, 30)]
    for rule, places, shown in rows:
        for place in re.findall(r"`([\w/]+\.(?:cpp|h))", places):
            assert any(path.as_posix().endswith("/" + place) for path in FOLDER.rglob("*")), (rule, place)
        for fixture, name in re.findall(r"`(an?_\w+)\.(\w+)`", shown):
            assert f"TEST_F({fixture}, {name})" in re.sub(r"\(\s+", "(", tests), (rule, name)
