# SPDX-License-Identifier: Apache-2.0
"""A wrong scenario is refused with file, line, column, what was read, what is allowed and the nearest right name."""

from __future__ import annotations

from pathlib import Path

import pytest
from cufault.errors import ScenarioError
from cufault.scenario.load import load, parse

SUBJECTS = ("reference", "cuda.core")

GOOD = """\
scenario: a stream dropped by the garbage collector cannot be destroyed
rules: [P12, P16]
subject: [reference, cuda.core]
steps:
  - make: {stream: s}
  - drop: s
matrix:
  code: [CUDA_ERROR_INVALID_CONTEXT, CUDA_ERROR_ILLEGAL_ADDRESS]
faults:
  - at: cuStreamDestroy
    handle: s
    fail: ${code}
expect:
  reported: {category: CUDAWarning, names: [cuStreamDestroy, "${code}", "${handle:s}"]}
  indeterminate: [s]
"""


def read(text: str) -> None:
    parse(text, "x.yaml", Path("x.yaml"), SUBJECTS)


def refusal_of(text: str) -> str:
    with pytest.raises(ScenarioError) as caught:
        read(text)
    return str(caught.value)


def test_the_example_itself_is_accepted() -> None:
    read(GOOD)


@pytest.mark.parametrize(
    ("written", "instead", "place", "nearest"),
    [
        ("at: cuStreamDestroy", "at: cuStreamDestory", "10:9", "cuStreamDestroy"),
        ("[CUDA_ERROR_INVALID_CONTEXT,", "[CUDA_ERROR_INVALID_CONTXT,", "8:10", "CUDA_ERROR_INVALID_CONTEXT"),
        ("[P12,", "[p12,", "2:9", "P12"),
        ("fail:", "fial:", "12:5", "fail"),
        ("handle: s", "handel: s", "11:5", "handle"),
        ("rules:", "rulse:", "2:1", "rules"),
        ("- drop: s", "- dorp: s", "6:5", "drop"),
        ("{stream: s}", "{straem: s}", "5:12", "stream"),
        ("{stream: s}", "{stream: s, priorty: 1}", "5:23", "priority"),
        ("cuda.core]", "cuda.cor]", "3:22", "cuda.core"),
        ("indeterminate:", "indeterminat:", "15:3", "indeterminate"),
        ("${code}\n", "${cod}\n", "12:11", "code"),
        ("handle: s", "handle: s\n    step: drp s", "12:11", "drop s"),
        ("at: cuStreamDestroy", "at: each destory", "10:9", "destroy"),
        ("at: cuStreamDestroy", "symbol: cuStreamDestroy_v3", "10:13", "cuStreamDestroy_v2"),
        ("at: cuStreamDestroy", "at: each call of drop t", "10:9", "drop s"),
        ("category:", "categroy:", "14:14", "category"),
    ],
)
def test_a_misspelt_name_is_refused_at_its_place_with_the_nearest_right_one(
    written: str, instead: str, place: str, nearest: str
) -> None:
    assert written in GOOD
    message = refusal_of(GOOD.replace(written, instead, 1))
    assert message.startswith(f"x.yaml:{place}: ")
    assert f"did you mean {nearest!r}?" in message


@pytest.mark.parametrize(
    ("written", "instead", "place", "says"),
    [
        ("handle: s", "handle: t", "11:13", "no step makes it: read 't' (allowed: s)"),
        ("- drop: s", "- drop: s\n  - use: s", "7:10", "'s' is gone since step 'drop s'"),
        ("- drop: s", "- make: {stream: s}", "6:20", "step 'make s' made"),
        ("at: cuStreamDestroy", "at: cuStreamDestroy_v2", "10:9", "symbol: cuStreamDestroy_v2"),
        ("fail: ${code}", "fail: 201", "12:11", "by name: CUDA_ERROR_INVALID_CONTEXT"),
        ("fail: ${code}", "fail: ${code}\n    sticky: ${code}", "13:5", "exactly one effect"),
        ("fail: ${code}", "fail: CUDA_SUCCESS", "12:11", "no such result"),
        ("    fail: ${code}\n", "    nth: 1\n", "10:5", "exactly one effect: read none"),
        ("fail: ${code}", "fail: ${code}\n    nth: 0", "13:10", "allowed is 1"),
        ("fail: ${code}", "fail: ${code}\n    nth: true", "13:10", "a whole number is wanted"),
        ("fail: ${code}", "fail: ${code}\n    probability: 2", "13:18", "at most 1"),
        ("fail: ${code}", "fail: ${code}\n    must_fire: maybe", "13:16", "true or false"),
        ("fail: ${code}", "fail: ${code}\n    scope: observed", "13:5", "belongs to `sticky`"),
        ("rules: [P12, P16]", "rules: []", "2:8", "at least one rule"),
        ("rules: [P12, P16]\n", "", "1:1", "'rules' is missing"),
        ("rules: [P12, P16]", "rules: [P12]\nrules: [P16]", "3:1", "stands here again (first on line 2)"),
        ("matrix:\n  code:", "matrix:\n  unused: [1]\n  code:", "8:3", "used nowhere"),
        ("${handle:s}", "${handle:z}", "14:73", "no step makes it: read 'z'"),
        ("- drop: s", "- drop: s\n  - python: |\n      x = = 1", "8:5", "invalid syntax"),
        ("- drop: s", "- {drop: s, close: s}", "6:15", "one step has one verb"),
        ("- drop: s", "- query: {s: colour}", "6:16", "allowed: context, priority"),
        ("- drop: s", "- update: {graph: s, node: n}", "6:21", "wanted is a graph"),
        ("{stream: s}", "{buffer: s, memory: pool}", "5:11", "go together"),
        ("steps:", "steps: &a\n  - *a\nold:", "4:8", "nested more than"),
        ("scenario: a", "scenario: !!python/object:os.system a", "1:11", "is not allowed"),
        ("scenario: a", "scenario: [", "2:6", ""),
    ],
)
def test_what_cannot_be_meant_is_refused_at_its_place_with_the_reason(
    written: str, instead: str, place: str, says: str
) -> None:
    assert written in GOOD
    message = refusal_of(GOOD.replace(written, instead, 1))
    assert message.startswith(f"x.yaml:{place}: "), message
    assert says in message


def test_a_file_that_is_not_utf8_is_refused_at_the_byte(tmp_path: Path) -> None:
    path = tmp_path / "a.scenario.yaml"
    path.write_bytes(b"scenario: x\nrules: \xff\n")
    with pytest.raises(ScenarioError, match=r":2:8: not UTF-8"):
        load(path, SUBJECTS)


def test_a_file_that_is_too_large_or_empty_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "a.scenario.yaml"
    path.write_bytes(b"#" * (256 * 1024 + 1))
    with pytest.raises(ScenarioError, match="larger than"):
        load(path, SUBJECTS)
    path.write_bytes(b"")
    with pytest.raises(ScenarioError, match="empty"):
        load(path, SUBJECTS)


def test_aliases_that_multiply_are_refused() -> None:
    lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x, x]"]
    lines += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]" for n in range(1, 8)]
    assert "more than 20000 values" in refusal_of("\n".join(lines))


def test_deep_nesting_is_refused_and_not_followed() -> None:
    assert "deep" in refusal_of("[" * 20000)
