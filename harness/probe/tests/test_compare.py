# SPDX-License-Identifier: Apache-2.0
"""Tests of the comparison itself: that it is red for every way in which rows can be wrong."""

from __future__ import annotations

import shutil
import sys
from dataclasses import replace
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[1]))

from compare import (
    LISTED,
    REASONS,
    Listed,
    compare,
    compare_case,
    judge,
    outdated,
    read_listed,
    shrink,
    unlisted,
)
from rows import RECORDED, Row, RowError, Rows, changed_files, read_recorded, read_steps, result_names


@pytest.fixture(scope="module")
def recorded() -> Rows:
    return read_recorded()


@pytest.fixture(scope="module")
def hand_made(recorded: Rows) -> dict[str, list[Row]]:
    """Without the random sequences, which are many and all alike."""
    return {case: rows for case, rows in recorded.cases.items() if not case.startswith("seq")}


def test_the_recordings_are_complete(recorded: Rows) -> None:
    sequences = [case for case in recorded.cases if case.startswith("seq")]
    others = sum(len(rows) for case, rows in recorded.cases.items() if not case.startswith("seq"))
    assert len(sequences) == 200
    assert others == 460 + 3312 + 101


def test_recordings_agree_with_themselves(recorded: Rows) -> None:
    result = compare(recorded, recorded)
    assert result.differences == []
    assert result.rows == sum(len(rows) for rows in recorded.cases.values())


def test_any_one_changed_answer_is_the_one_difference(recorded: Rows) -> None:
    names = result_names(recorded)
    for case, rows in recorded.cases.items():
        for at, row in enumerate(rows):
            changed = [*rows[:at], replace(row, answer="CHANGED"), *rows[at + 1 :]]
            assert [(d.step, d.made) for d in compare_case(case, rows, changed, names)] == [(row.step, "CHANGED")]


def test_any_one_changed_recording_is_the_one_difference(recorded: Rows, hand_made: dict[str, list[Row]]) -> None:
    names = result_names(recorded)
    for case, rows in hand_made.items():
        for at, row in enumerate(rows):
            changed = [*rows[:at], replace(row, answer="CHANGED"), *rows[at + 1 :]]
            assert [(d.step, d.recorded) for d in compare_case(case, changed, rows, names)] == [(row.step, "CHANGED")]


def test_any_one_row_gone_is_a_difference(recorded: Rows, hand_made: dict[str, list[Row]]) -> None:
    names = result_names(recorded)
    for case, rows in hand_made.items():
        for at in range(len(rows)):
            assert compare_case(case, rows, rows[:at] + rows[at + 1 :], names), (case, at)


def test_a_row_that_no_recording_has_is_a_difference() -> None:
    rows = [Row(1, "cuInit(0)", "CUDA_SUCCESS")]
    (found,) = compare_case("c", rows, [*rows, Row(2, "SETUP cuInit(0)", "CUDA_ERROR_UNKNOWN")], {})
    assert (found.step, found.call) == (0, "SETUP cuInit(0)")


def test_rows_in_another_order_are_a_difference() -> None:
    rows = [Row(1, "a", "0"), Row(2, "b", "0")]
    (found,) = compare_case("c", rows, [Row(1, "b", "0"), Row(2, "a", "0")], {})
    assert found.made == "the same, but earlier"


def test_after_the_recorded_process_ended_anything_may_follow() -> None:
    rows = [Row(1, "a", "0"), Row(2, "PROCESS", "signal 11")]
    (found,) = compare_case("c", rows, [Row(1, "a", "0"), Row(2, "b", "0")], {})
    assert (found.step, found.made) == (2, "no such row")


def test_a_bare_number_equals_its_name(recorded: Rows) -> None:
    names = result_names(recorded)
    rows = [Row(1, "cuInit(0)", "CUDA_ERROR_DEINITIALIZED")]
    assert compare_case("c", rows, [Row(1, "cuInit(0)", "4")], names) == []
    assert len(compare_case("c", rows, [Row(1, "cuInit(0)", "5")], names)) == 1


def test_a_listed_difference_is_covered_and_no_other_one() -> None:
    rows = [Row(1, "a", "0"), Row(2, "b", "0")]
    differences = compare_case("c", rows, [Row(1, "a", "1"), Row(2, "b", "1")], {})
    assert [d.step for d in unlisted(differences, [Listed("c", "1", "not yet")])] == [2]
    assert unlisted(differences, [Listed("c", "*", "not yet")]) == []


def test_a_listed_row_that_agrees_is_outdated() -> None:
    rows = [Row(1, "a", "0"), Row(2, "b", "0")]
    differences = compare_case("c", rows, [Row(1, "a", "1"), Row(2, "b", "0")], {})
    needed, not_needed = Listed("c", "1", "not yet"), Listed("c", "2", "not yet")
    assert outdated(differences, [needed, not_needed], []) == [not_needed]


def test_a_listed_case_that_was_not_compared_is_left_alone() -> None:
    assert outdated([], [Listed("c", "1", "not yet")], ["c"]) == []


def test_shrinking_takes_out_the_lines_and_nothing_else(tmp_path: Path) -> None:
    path = tmp_path / "list.tsv"
    path.write_text("# why\nc\t1\tnot yet\nc\t11\tnot yet\tnote\nd\t1\tnot yet\n")
    shrink(path, [Listed("c", "1", "not yet")])
    assert path.read_text() == "# why\nc\t11\tnot yet\tnote\nd\t1\tnot yet\n"


@pytest.mark.parametrize(
    ("line", "complaint"),
    [
        ("c\t1\tlazy", "no such reason: lazy"),
        ("c\t1", "not `case<TAB>step<TAB>reason"),
        ("c\t1\tnot yet\nc\t1\taccidental", "c 1 stands twice"),
    ],
)
def test_a_wrong_line_of_the_list_is_refused(tmp_path: Path, line: str, complaint: str) -> None:
    path = tmp_path / "list.tsv"
    path.write_text(line + "\n")
    with pytest.raises(RowError, match=complaint):
        read_listed(path)


def test_the_list_names_recorded_rows(recorded: Rows) -> None:
    for line in read_listed(LISTED):
        assert line.case in recorded.cases
        assert line.step in ("*", "+") or int(line.step) in [row.step for row in recorded.cases[line.case]]
        assert line.reason in REASONS


def test_no_recorded_file_was_edited() -> None:
    assert changed_files() == []


def test_an_edited_recording_is_found(tmp_path: Path) -> None:
    folder = tmp_path / "recorded"
    shutil.copytree(RECORDED, folder)
    path = next(folder.glob("h200*-3.tsv"))
    path.write_text(path.read_text().replace("CUDA_SUCCESS", "CUDA_ERROR_UNKNOWN", 1))
    assert changed_files(folder) == [f"{path.name}: edited"]
    (folder / "new.tsv").touch()
    assert "new.tsv: not in SHA256SUMS" in changed_files(folder)


def test_a_run_that_compared_nothing_fails(tmp_path: Path) -> None:
    listed = tmp_path / "list.tsv"
    listed.touch()
    assert judge(Rows(), RECORDED, listed) == 1


def test_a_file_without_rows_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "rows.tsv"
    path.write_text("case\tcall\n")
    with pytest.raises(RowError, match=r"rows\.tsv:1: not a row"):
        read_steps(path, Rows())
