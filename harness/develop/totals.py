# SPDX-License-Identifier: Apache-2.0
"""Adds up the test cases of Meson test logs and says whether the run counts as passed."""

from __future__ import annotations

import argparse
import json
import re
import sys
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

GTEST_CLOSING = re.compile(r"^\[ {2}(PASSED {2}|SKIPPED |FAILED {2})\] (\d+) tests?[.,]", re.MULTILINE)
GTEST_SKIP = re.compile(r": Skipped\n(?P<reason>.*?)\n?\[ {2}SKIPPED \] (?P<case>\S+)", re.DOTALL)
GTEST_FAILURE = re.compile(r"^\[ {2}FAILED {2}\] (\S+\.\S+)", re.MULTILINE)
PYTEST_CLOSING = re.compile(r"^(?:=+ )?((?:\d+ [a-z]+(?:, )?)+) in \d[\d.]*s\b", re.MULTILINE)
PYTEST_SKIP = re.compile(r"^SKIPPED \[(?P<count>\d+)\] (?P<reason>.*)$", re.MULTILINE)
PYTEST_FAILURE = re.compile(r"^(?:FAILED|ERROR) (\S+::.*?)(?: - .*)?$", re.MULTILINE)
MAY_BE_MISSING = ("gpu", "cuda toolkit")  # what no package brings; all else, ./dev installs
PYTEST_WORDS = {
    "passed": "passed",
    "xfailed": "passed",
    "failed": "failed",
    "xpassed": "failed",
    "error": "failed",
    "errors": "failed",
    "skipped": "skipped",
}


@dataclass
class Totals:
    """Cases by outcome, with a line for each failure and each skip."""

    passed: int = 0
    failed: int = 0
    skipped: int = 0
    failures: list[str] = field(default_factory=list)
    skips: list[str] = field(default_factory=list)

    def add(self, other: Totals) -> None:
        self.passed += other.passed
        self.failed += other.failed
        self.skipped += other.skipped
        self.failures += other.failures
        self.skips += other.skips

    def refuse_other_skips(self) -> None:
        """Turns skips that do not name what a machine may lack (below) into failures: nothing else may be missing."""
        strange = [line for line in self.skips if not any(word in line.lower() for word in MAY_BE_MISSING)]
        self.skips = [line for line in self.skips if line not in strange]
        self.skipped -= len(strange)
        self.failed += len(strange)
        self.failures += [f"{line} (skipped, but only a missing GPU or CUDA toolkit may skip)" for line in strange]

    @property
    def ok(self) -> bool:
        return self.failed == 0 and self.passed > 0


def count_gtest(text: str) -> Totals:
    totals = Totals()
    for word, number in GTEST_CLOSING.findall(text):
        match word.strip():
            case "PASSED":
                totals.passed = int(number)
            case "SKIPPED":
                totals.skipped = int(number)
            case "FAILED":
                totals.failed = int(number)
    totals.skips = [f"{found['case']}: {found['reason'].strip()}" for found in GTEST_SKIP.finditer(text)]
    totals.failures = sorted(set(GTEST_FAILURE.findall(text)))
    return totals


def count_pytest(closing: str, text: str) -> Totals:
    totals = Totals()
    for number, word in re.findall(r"(\d+) ([a-z]+)", closing):
        outcome = PYTEST_WORDS.get(word)
        if outcome is not None:
            setattr(totals, outcome, getattr(totals, outcome) + int(number))
    totals.skips = [found["reason"] for found in PYTEST_SKIP.finditer(text)]
    totals.failures = PYTEST_FAILURE.findall(text)
    return totals


def count_entry(entry: dict[str, Any]) -> Totals:
    """The cases of one Meson test; one that says nothing of cases is a case itself."""
    name, result = str(entry["name"]), str(entry["result"])
    text = str(entry.get("stdout", ""))
    closings = PYTEST_CLOSING.findall(text)
    if GTEST_CLOSING.search(text):
        totals = count_gtest(text)
    elif closings:
        totals = count_pytest(closings[-1], text)
    elif result == "SKIP":
        return Totals(skipped=1, skips=[f"{name}: {(text.strip().splitlines() or ['no reason given'])[-1]}"])
    else:
        totals = Totals(passed=1 if result in ("OK", "EXPECTEDFAIL") else 0)
    totals.failures = [f"{name}: {case}" for case in totals.failures]
    totals.skips = [f"{name}: {reason}" for reason in totals.skips]
    if totals.skipped and not totals.skips:
        totals.skips.append(f"{name}: no reason given")
    if totals.failed == 0 and (result not in ("OK", "EXPECTEDFAIL", "SKIP")):
        totals.failed = 1
        totals.failures.append(f"{name}: {result} (status {entry.get('returncode')})")
    elif totals.passed + totals.failed + totals.skipped == 0:
        totals.failed = 1
        totals.failures.append(f"{name}: ran no test")
    elif totals.failed and not totals.failures:
        totals.failures.append(f"{name}: {totals.failed} failed")
    return totals


def count_log(lines: Iterable[str]) -> Totals:
    """The cases of one `testlog.json`: a JSON object a line, one for each Meson test."""
    totals = Totals()
    for line in lines:
        if line.strip():
            totals.add(count_entry(json.loads(line)))
    return totals


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("logs", nargs="+", type=Path, metavar="testlog.json")
    parser.add_argument(
        "--skipped", action="append", default=[], metavar="REASON", help="a suite that could not be tried at all"
    )
    options = parser.parse_args(arguments)
    totals = Totals(skipped=len(options.skipped), skips=list(options.skipped))
    for log in options.logs:
        if not log.is_file():
            totals.add(Totals(failed=1, failures=[f"{log}: no such log, so nothing ran"]))
            continue
        with log.open(encoding="utf-8", errors="replace") as lines:
            totals.add(count_log(lines))
    totals.refuse_other_skips()
    for line in totals.skips:
        print(f"skipped  {line}")
    for line in totals.failures:
        print(f"FAILED   {line}")
    if totals.passed + totals.failed == 0:
        print("FAILED   nothing ran")
    print(f"{totals.passed} passed, {totals.failed} failed, {totals.skipped} skipped")
    return 0 if totals.ok else 1


if __name__ == "__main__":
    sys.exit(main())
