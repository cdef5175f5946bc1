# SPDX-License-Identifier: Apache-2.0
"""The shape of `results.json` (harness/FORMATS.md, "Results") and how it is read."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, TypedDict, cast

FORMAT = 1


class Evidence(TypedDict, total=False):
    what: str
    text: str
    pid: int
    thread: int
    sequence: int
    time_ns: int
    step: str | None
    symbol: str | None


class RuleVerdict(TypedDict, total=False):
    rule: str
    title: str
    by: str
    status: str
    listed: bool
    reason: str
    evidence: list[Evidence]


class Fault(TypedDict, total=False):
    label: str
    matched: int
    fired: int
    code: str | None
    standing: str | None
    at: list[str]


class Expectation(TypedDict, total=False):
    text: str
    met: bool
    reason: str


class TimelineEntry(TypedDict, total=False):
    time_ns: int
    text: str
    kind: str
    mark: str | None


class Verdict(TypedDict, total=False):
    verdict: str
    exit_status: int
    profile: str
    reason: str
    rules: list[RuleVerdict]
    faults: list[Fault]
    expectations: list[Expectation]
    objects: dict[str, Any]
    calls: dict[str, Any]
    processes: list[dict[str, Any]]
    timeline: list[TimelineEntry]


class Run(TypedDict):
    id: str
    scenario: str
    file: str
    line: int
    matrix: dict[str, Any]
    point: str | None
    rules: list[str]
    subject: str
    standing: str
    profile: str
    driver: str
    command: str
    run_folder: str
    outcome: str
    reason: str
    not_applicable: dict[str, str]
    verdict: Verdict | None
    duration_ns: int


class Rule(TypedDict):
    rule: str
    title: str
    by: str


class Subject(TypedDict):
    name: str
    version: str
    language: str
    standing: str
    profile: str


class Results(TypedDict):
    format: int
    cufault_version: str
    started: str
    duration_ns: int
    host: dict[str, Any]
    driver: dict[str, Any]
    rules: list[Rule]
    subjects: list[Subject]
    summary: dict[str, int]
    runs: list[Run]
    root: str


def read_results(path: Path) -> Results:
    """Reads `results.json`, or the one in a folder. Raises ValueError for another format, OSError if unreadable."""
    if path.is_dir():
        path = path / "results.json"
    data = json.loads(path.read_text(encoding="utf-8"))
    if not isinstance(data, dict) or data.get("format") != FORMAT:
        found = data.get("format") if isinstance(data, dict) else type(data).__name__
        raise ValueError(f"{path}: results of format {FORMAT} are needed, this is {found!r}")
    data["root"] = str(path.parent.resolve())
    return cast(Results, data)
