# SPDX-License-Identifier: Apache-2.0
"""What many runs mean together."""

from __future__ import annotations

import pytest
from cufault.run.outcome import exit_status, outcome_of


@pytest.mark.parametrize(
    ("outcomes", "status"),
    [
        (["pass"], 0),
        (["pass", "finding", "not_applicable"], 0),
        (["finding"], 0),
        (["pass", "violation"], 1),
        (["violation", "not_exercised"], 1),
        (["pass", "not_exercised"], 3),
        (["inconclusive"], 3),
        (["not_applicable"], 3),
        ([], 3),
        (["violation", "harness_error"], 4),
    ],
)
def test_the_gravest_outcome_decides_and_nothing_run_is_no_pass(outcomes: list[str], status: int) -> None:
    assert exit_status(outcomes) == status


def test_only_violations_of_observed_subjects_become_findings() -> None:
    assert outcome_of("violation", "observed") == "finding"
    assert outcome_of("violation", "conforming") == "violation"
    assert outcome_of("not_exercised", "observed") == "not_exercised"
