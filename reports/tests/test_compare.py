# SPDX-License-Identifier: Apache-2.0
"""Comparing two results: equal but for handles, one difference a row, nothing compared is no agreement."""

from __future__ import annotations

from pathlib import Path

import pytest
import sample
from cufault_reports.compare import compare, render_comparison, write_comparison
from cufault_reports.results import Run


def _with_call(text: str) -> Run:
    timeline = [{"time_ns": 1, "text": text, "kind": "call", "mark": None}]
    return sample.run(1, verdict=sample.verdict(timeline=timeline))


def test_results_that_differ_in_handle_values_only_agree() -> None:
    first = sample.results(_with_call("cuStreamDestroy_v2(0x55d0) -> CUDA_SUCCESS"))
    second = sample.results(_with_call("cuStreamDestroy_v2(0x7f00) -> CUDA_SUCCESS"))
    assert compare(first, second).differences == ()


def test_another_call_is_a_difference() -> None:
    first = sample.results(_with_call("cuStreamDestroy_v2(0x1) -> CUDA_SUCCESS"))
    second = sample.results(_with_call("cuStreamQuery(0x1) -> CUDA_SUCCESS"))
    (found,) = compare(first, second).differences
    assert (found.row, found.first, found.second) == (
        "call 1",
        "cuStreamDestroy_v2(0x*) -> CUDA_SUCCESS",
        "cuStreamQuery(0x*) -> CUDA_SUCCESS",
    )


def test_every_row_that_differs_is_named_with_both_answers() -> None:
    comparison = compare(sample.results(sample.run(1)), sample.results(sample.finding(1)))
    rows = {difference.row: (difference.first, difference.second) for difference in comparison.differences}
    assert rows == {
        "outcome": ("pass", "finding"),
        "P12": ("holds", "violated"),
        "expectation: drop s reported": ("met", "not met"),
    }
    assert comparison.runs == 1


def test_a_run_that_only_one_result_has_is_missing_in_the_other() -> None:
    comparison = compare(
        sample.results(sample.run(1), sample.run(2, subject="reference")), sample.results(sample.run(1))
    )
    assert comparison.runs == 2
    assert {(difference.subject, difference.second) for difference in comparison.differences} == {("reference", None)}
    assert "outcome: pass | missing" in comparison.differences[0].text


def test_two_empty_results_are_no_agreement() -> None:
    with pytest.raises(ValueError, match="nothing to compare"):
        compare(sample.results(runs=[]), sample.results(runs=[]))


def test_the_text_names_both_drivers_and_counts(tmp_path: Path) -> None:
    first, second = sample.results(sample.run(1)), sample.results(sample.finding(1))
    comparison = write_comparison(first, second, tmp_path / "compare.txt")
    text = (tmp_path / "compare.txt").read_text(encoding="utf-8")
    assert text == render_comparison(first, second, comparison)
    assert "1 runs" in text
    assert "3 differences" in text
    assert "simulated driver 13000" in text
