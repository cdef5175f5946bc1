# SPDX-License-Identifier: Apache-2.0
"""The terminal's table: every rule and subject, who decides the exit status, and no foreign escape sequence."""

from __future__ import annotations

import re
from io import StringIO

import hostile
import sample
from cufault_reports import Results, print_table
from rich.console import Console


def printed(results: Results, width: int = 160) -> str:
    file = StringIO()
    print_table(results, Console(file=file, width=width))
    return file.getvalue()


def test_each_rule_has_a_row_with_every_subjects_outcome() -> None:
    row = next(line for line in printed(sample.results()).splitlines() if "P12" in line)
    assert "✓ holds 1" in row
    assert "✗ violated 1" in row


def test_it_says_which_violations_fail_the_run() -> None:
    text = printed(sample.results())
    assert "reference 0.1.0 (conforming): 1 run, 1 pass; a violation here is a failure" in text
    assert "cuda.core 1.2.2 (observed): 1 run, 1 finding; a violation here is a finding about it, not a failure" in text


def test_findings_are_put_together_by_rule_with_one_example_and_its_command() -> None:
    lines = printed(sample.results(*(sample.finding(number) for number in range(40))), width=60).splitlines()
    at = lines.index("Findings about observed subjects: 40 runs")
    assert lines[at + 1] == "  cuda.core: P12 in 40 runs: no warning names cuStreamDestroy"
    assert lines[at + 3] == "    cufault run scenarios/stream/drop.scenario.yaml --subject cuda.core"


def test_a_failure_without_a_broken_rule_says_its_outcome() -> None:
    text = printed(sample.results(sample.run(1, outcome="not_exercised", reason="f1 never fired")))
    assert "cuda.core: not exercised in 1 run: f1 never fired" in text


def test_a_long_list_is_cut_and_says_so() -> None:
    rules = [{"rule": f"P{number}", "status": "violated", "reason": "why"} for number in range(100, 140)]
    text = printed(sample.results(sample.finding(1, verdict=sample.verdict("violated", rules=rules))))
    assert "and 16 more kinds" in text


def test_hostile_texts_do_not_steer_the_terminal() -> None:
    text = printed(hostile.results())
    assert not re.search("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202e]", text)
    assert "[red]markup[/red]" in text


def test_a_narrow_terminal_still_shows_every_outcome() -> None:
    row = next(line for line in printed(sample.results(), width=80).splitlines() if "P12" in line)
    assert "violated 1" in row
