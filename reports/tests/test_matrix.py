# SPDX-License-Identifier: Apache-2.0
"""How outcomes are put together: the worst one decides, and what no run touched was not exercised."""

from __future__ import annotations

import pytest
import sample
from cufault_reports.matrix import STATUSES, Cell, by_scenario, by_subject, outcomes_of, variant


def cell(*statuses: str) -> Cell:
    runs = [sample.run(number, verdict=sample.verdict(status)) for number, status in enumerate(statuses)]
    return Cell([outcome for run in runs for outcome in outcomes_of(run) if outcome.rule == "P12"])


@pytest.mark.parametrize(
    ("statuses", "text"),
    [
        ((), "not exercised"),
        (("holds", "holds"), "holds 2"),
        (("holds", "not_exercised"), "holds 1"),
        (("holds", "violated", "holds"), "violated 1 of 3"),
        (("violated", "not_exercised"), "violated 1"),
        (("holds", "inconclusive"), "inconclusive 1"),
        (("off", "not_applicable"), "not applicable"),
        (("holds", "hazard"), "hazard 1 of 2"),
    ],
)
def test_a_field_says_the_worst_and_how_often(statuses: tuple[str, ...], text: str) -> None:
    assert cell(*statuses).text == text


def test_every_rule_the_judge_knows_has_a_field_for_every_subject() -> None:
    cells = by_subject(sample.results())
    assert len(cells) == 2 * len(sample.RULES)
    assert cells["P24", "reference"].status == "not_exercised"
    assert cells["P12", "cuda.core"].status == "violated"


def test_a_run_without_verdict_counts_for_the_rules_its_scenario_lists() -> None:
    run = sample.run(1, outcome="not_applicable", verdict=None, reason="it makes no plain context")
    assert {(each.rule, each.status, each.reason) for each in outcomes_of(run)} == {
        ("P12", "not_applicable", "it makes no plain context"),
        ("P16", "not_applicable", "it makes no plain context"),
    }


def test_a_run_that_broke_never_counts_as_holding() -> None:
    for outcome in ("harness_error", "inconclusive", "pass", "surprise"):
        run = sample.run(1, outcome=outcome, verdict=None)
        assert {each.status for each in outcomes_of(run)} <= {"harness_error", "inconclusive"}


def test_a_status_that_nobody_knows_is_inconclusive() -> None:
    assert cell("surprise").status == "inconclusive"


def test_a_scenario_is_seen_for_one_subject_at_a_time() -> None:
    results = sample.results()
    outcomes = [outcome for run in results["runs"] for outcome in outcomes_of(run)]
    scenario = results["runs"][0]["scenario"]
    assert by_scenario(outcomes, "reference")[scenario, "P12"].status == "holds"
    assert by_scenario(outcomes, "cuda.core")[scenario, "P12"].status == "violated"


def test_the_runs_of_a_scenario_are_told_apart_by_values_and_point() -> None:
    assert variant(sample.run(1, point="cuStreamCreate #1")) == "code=CUDA_ERROR_INVALID_CONTEXT, cuStreamCreate #1"
    assert variant(sample.run(1, matrix={})) == ""


def test_statuses_are_ordered_from_worst_to_mildest() -> None:
    assert STATUSES[0] == "violated"
    assert STATUSES.index("inconclusive") < STATUSES.index("holds") < STATUSES.index("not_exercised")
