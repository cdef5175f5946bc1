# SPDX-License-Identifier: Apache-2.0
"""What a verdict means for a subject of a given standing, and for the whole command's exit status."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from cufault.errors import EXIT_HARNESS, EXIT_NOT_EXERCISED, EXIT_PASS, EXIT_VIOLATION

Outcome = str

OUTCOMES: tuple[Outcome, ...] = (
    "pass",
    "violation",
    "finding",
    "not_exercised",
    "inconclusive",
    "harness_error",
    "not_applicable",
)


def outcome_of(verdict: str, standing: str) -> Outcome:
    """A violation of an observed subject is a finding; everything else keeps its name."""
    return "finding" if verdict == "violation" and standing == "observed" else verdict


def exit_status(outcomes: Iterable[Outcome]) -> int:
    """One status for many runs: harness error, violation, not exercised, pass; nothing run at all is not exercised."""
    counts = Counter(outcomes)
    if counts["harness_error"]:
        return EXIT_HARNESS
    if counts["violation"]:
        return EXIT_VIOLATION
    if counts["not_exercised"] or counts["inconclusive"] or not counts["pass"] + counts["finding"]:
        return EXIT_NOT_EXERCISED
    return EXIT_PASS
