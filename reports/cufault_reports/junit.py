# SPDX-License-Identifier: Apache-2.0
"""JUnit XML: a suite for each subject, a case for each run. A finding passes; what was not exercised fails."""

from __future__ import annotations

from pathlib import Path

from junitparser import Error, Failure, JUnitXml, Skipped, TestCase, TestSuite

from cufault_reports.matrix import outcomes_of, variant
from cufault_reports.results import Results, Run, Subject
from cufault_reports.texts import clean, one_line


def write_junit(results: Results, path: Path) -> None:
    """Writes valid XML 1.0 whatever the texts hold. Raises OSError if `path` cannot be written."""
    xml = JUnitXml("cufault")
    for subject in results["subjects"]:
        xml.add_testsuite(_suite(results, subject))
    xml.update_statistics()
    xml.write(str(path), pretty=True)


def _suite(results: Results, subject: Subject) -> TestSuite:
    suite = TestSuite(one_line(f"{subject['name']} {subject['version']}"))
    suite.timestamp = one_line(results["started"])
    suite.hostname = one_line(results["host"].get("name", ""))
    for name in ("standing", "profile", "language"):
        suite.add_property(name, one_line(subject.get(name, "")))
    suite.add_property("driver", one_line(results["driver"].get("backend", "")))
    for run in results["runs"]:
        if run["subject"] == subject["name"]:
            suite.add_testcase(_case(run))
    suite.update_statistics()
    return suite


def _case(run: Run) -> TestCase:
    name = f"{run['scenario']} [{variant(run)}]" if variant(run) else run["scenario"]
    case = TestCase(one_line(name), one_line(run["file"]), run["duration_ns"] / 1e9)
    reason, outcome = one_line(run["reason"]), run["outcome"]
    if outcome == "not_applicable":
        case.result = [Skipped(reason, "not_applicable")]
    elif outcome == "harness_error":
        case.result = [Error(reason, outcome)]
    elif outcome not in ("pass", "finding"):
        failure = Failure(reason, outcome)
        failure.text = _account(run)
        case.result = [failure]
    case.system_out = _account(run)
    return case


def _account(run: Run) -> str:
    """What happened, in lines: outcome, rules with their evidence, how to repeat it."""
    lines = [f"{run['outcome'].replace('_', ' ')}: {one_line(run['reason'])}"]
    for outcome in outcomes_of(run):
        if outcome.status in ("violated", "hazard", "inconclusive") or outcome.listed:
            lines.append(f"{outcome.rule} {outcome.status.replace('_', ' ')}: {one_line(outcome.reason)}")
            lines += [f"    {one_line(piece.get('text', ''))}" for piece in outcome.evidence]
    lines.append(f"repeat: {one_line(run['command'], 2000)}")
    return clean("\n".join(lines), 20_000)
