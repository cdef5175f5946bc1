# SPDX-License-Identifier: Apache-2.0
"""Adding up: every case of every runner counts once, and a run that proves nothing does not pass."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import totals
from totals import Totals, count_entry

GTEST = """\
[==========] Running 4 tests from 1 test suite.
[ RUN      ] A.b
[       OK ] A.b (0 ms)
[ RUN      ] A.c
../t.cpp:2: Skipped
no GPU
[  SKIPPED ] A.c (0 ms)
[ RUN      ] A.d
[  FAILED  ] A.d (0 ms)
[==========] 4 tests from 1 test suite ran. (0 ms total)
[  PASSED  ] 2 tests.
[  SKIPPED ] 1 test, listed below:
[  SKIPPED ] A.c
[  FAILED  ] 1 test, listed below:
[  FAILED  ] A.d
"""

PYTEST = """\
collected 6 items
=========================== short test summary info ============================
SKIPPED [1] tests/test_a.py:5: no GPU
FAILED tests/test_a.py::test_c[2] - assert 2 == 1
===== 1 failed, 2 passed, 1 skipped, 1 xfailed, 3 warnings in 75.66s (0:01:15) =====
"""


def entry(stdout: str, result: str = "OK", returncode: int = 0) -> Totals:
    return count_entry({"name": "unit - x:t", "stdout": stdout, "result": result, "returncode": returncode})


def test_googletest_cases_are_counted_with_failures_and_reasons() -> None:
    counted = entry(GTEST, "FAIL", 1)
    assert (counted.passed, counted.failed, counted.skipped) == (2, 1, 1)
    assert counted.failures == ["unit - x:t: A.d"]
    assert counted.skips == ["unit - x:t: A.c: no GPU"]


def test_pytest_cases_are_counted_with_failures_and_reasons() -> None:
    counted = entry(PYTEST, "FAIL", 1)
    assert (counted.passed, counted.failed, counted.skipped) == (3, 1, 1)
    assert counted.failures == ["unit - x:t: tests/test_a.py::test_c[2]"]
    assert counted.skips == ["unit - x:t: tests/test_a.py:5: no GPU"]


def test_the_last_closing_line_is_the_runs_own() -> None:
    nested = "1 failed in 0.10s\n" + "collected 2 items\n2 passed in 0.20s\n"
    assert (entry(nested).passed, entry(nested).failed) == (2, 0)


def test_a_plain_program_is_one_case() -> None:
    assert entry("hello").passed == 1
    assert entry("", "FAIL", 1).failures == ["unit - x:t: FAIL (status 1)"]


@pytest.mark.parametrize("result", ["FAIL", "TIMEOUT", "ERROR", "INTERRUPT", "UNEXPECTEDPASS"])
def test_a_runner_that_died_after_passing_cases_fails(result: str) -> None:
    counted = entry("[  PASSED  ] 5 tests.\n", result, -11)
    assert (counted.passed, counted.failed) == (5, 1)
    assert counted.failures == [f"unit - x:t: {result} (status -11)"]


@pytest.mark.parametrize("text", ["[  PASSED  ] 0 tests.\n", "=== 3 deselected in 0.10s ===\n"])
def test_a_runner_that_ran_no_case_fails(text: str) -> None:
    assert entry(text).failures == ["unit - x:t: ran no test"]


def run_main(tmp_path: Path, *entries: dict[str, object], more: tuple[str, ...] = ()) -> int:
    path = tmp_path / "testlog.json"
    path.write_text("".join(json.dumps({"name": "t", **each}) + "\n" for each in entries), encoding="utf-8")
    return totals.main([str(path), *more])


@pytest.mark.parametrize("reason", ["this machine has no GPU", "no CUDA toolkit here"])
def test_what_no_package_brings_may_be_missing(tmp_path: Path, capsys: pytest.CaptureFixture[str], reason: str) -> None:
    status = run_main(tmp_path, {"result": "OK"}, {"result": "SKIP", "stdout": f"{reason}\n"})
    assert status == 0
    assert capsys.readouterr().out == f"skipped  t: {reason}\n1 passed, 0 failed, 1 skipped\n"


def test_nothing_else_may_skip(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run_main(tmp_path, {"result": "OK"}, {"result": "SKIP", "stdout": "cuda.core is not installed\n"}) == 1
    assert (
        "cuda.core is not installed (skipped, but only a missing GPU or CUDA toolkit may skip)"
        in capsys.readouterr().out
    )


def test_a_skip_must_give_a_reason(tmp_path: Path) -> None:
    assert run_main(tmp_path, {"result": "OK"}, {"result": "SKIP"}) == 1


def test_a_run_of_skips_alone_fails(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run_main(tmp_path, {"result": "SKIP", "stdout": "no GPU"}) == 1
    assert capsys.readouterr().out.endswith("FAILED   nothing ran\n0 passed, 0 failed, 1 skipped\n")


def test_a_log_that_is_not_there_fails(tmp_path: Path) -> None:
    assert run_main(tmp_path, {"result": "OK"}, more=(str(tmp_path / "other.json"),)) == 1
