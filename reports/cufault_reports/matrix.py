# SPDX-License-Identifier: Apache-2.0
"""What every report shows: each rule's outcome per subject and per scenario, the worst one first."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field

from cufault_reports.results import Evidence, Results, Run

# Worst first: the first of these that any run of a cell has is the cell's own.
STATUSES = (
    "violated",
    "harness_error",
    "inconclusive",
    "hazard",
    "holds",
    "not_exercised",
    "not_applicable",
    "off",
)
WORDS = {status: status.replace("_", " ") for status in STATUSES}
SIGNS = {
    "violated": "✗",
    "harness_error": "!",
    "inconclusive": "?",
    "hazard": "▲",
    "holds": "✓",
    "not_exercised": "○",
    "not_applicable": "–",
    "off": "·",
}


@dataclass(frozen=True)
class Outcome:
    """One rule in one run."""

    rule: str
    status: str
    reason: str
    listed: bool
    run: Run
    evidence: tuple[Evidence, ...] = ()


@dataclass
class Cell:
    """The outcomes that meet in one field of a table."""

    outcomes: list[Outcome] = field(default_factory=list)

    @property
    def counts(self) -> Counter[str]:
        return Counter(outcome.status for outcome in self.outcomes)

    @property
    def status(self) -> str:
        """The worst status; a rule that no run touched was not exercised."""
        return min((outcome.status for outcome in self.outcomes), key=_rank, default="not_exercised")

    @property
    def worst(self) -> list[Outcome]:
        status = self.status
        return [outcome for outcome in self.outcomes if outcome.status == status]

    @property
    def decided(self) -> int:
        """Runs in which the rule was put to the test."""
        return sum(1 for outcome in self.outcomes if outcome.status in ("violated", "hazard", "holds"))

    @property
    def text(self) -> str:
        """`violated 3 of 7`, `holds 7`, `not applicable`."""
        status, number = self.status, len(self.worst)
        if status in ("not_exercised", "not_applicable", "off"):
            return WORDS[status]
        if status in ("violated", "hazard") and self.decided > number:
            return f"{WORDS[status]} {number} of {self.decided}"
        return f"{WORDS[status]} {number}"

    @property
    def sign(self) -> str:
        return SIGNS[self.status]

    def ordered(self) -> list[Outcome]:
        return sorted(self.outcomes, key=lambda outcome: _rank(outcome.status))


def _rank(status: str) -> int:
    return STATUSES.index(status)


def outcomes_of(run: Run) -> list[Outcome]:
    """Every rule that a run says something about; where it has no verdict, the rules that its scenario lists."""
    verdict = run["verdict"]
    found: dict[str, Outcome] = {}
    for entry in (verdict or {}).get("rules", []):
        status = entry["status"] if entry["status"] in STATUSES else "inconclusive"
        reason, listed = entry.get("reason", ""), entry.get("listed", False)
        found[entry["rule"]] = Outcome(entry["rule"], status, reason, listed, run, tuple(entry.get("evidence", ())))
    if verdict is None:
        plain = run["outcome"] in ("not_applicable", "harness_error", "not_exercised")
        status = run["outcome"] if plain else "inconclusive"
        for rule in run["rules"]:
            found[rule] = Outcome(rule, status, run["reason"], True, run)
    for rule, reason in run["not_applicable"].items():
        found.setdefault(rule, Outcome(rule, "not_applicable", reason, rule in run["rules"], run))
    return list(found.values())


def all_outcomes(results: Results) -> list[Outcome]:
    return [outcome for run in results["runs"] for outcome in outcomes_of(run)]


Key = tuple[str, str]


def by_subject(results: Results) -> dict[Key, Cell]:
    """(rule, subject): for every rule the judge knows and every subject."""
    cells = {(rule["rule"], subject["name"]): Cell() for rule in results["rules"] for subject in results["subjects"]}
    for outcome in all_outcomes(results):
        cells.setdefault((outcome.rule, outcome.run["subject"]), Cell()).outcomes.append(outcome)
    return cells


def by_scenario(outcomes: Iterable[Outcome], subject: str) -> dict[Key, Cell]:
    """(scenario, rule) for one subject: only the fields that some run filled."""
    cells: dict[Key, Cell] = {}
    for outcome in outcomes:
        if outcome.run["subject"] == subject:
            cells.setdefault((outcome.run["scenario"], outcome.rule), Cell()).outcomes.append(outcome)
    return cells


def scenarios(results: Results) -> list[str]:
    """Scenario sentences, in the order in which they ran."""
    return list(dict.fromkeys(run["scenario"] for run in results["runs"]))


def variant(run: Run) -> str:
    """What tells the runs of one scenario apart: `code=CUDA_ERROR_..., cuStreamCreate #1`; empty for a single run."""
    parts = [f"{name}={value}" for name, value in run["matrix"].items()]
    return ", ".join([*parts, *([run["point"]] if run["point"] else [])])


FAILING = ("violation", "not_exercised", "inconclusive", "harness_error")


def failures(results: Results) -> list[Run]:
    """Runs that fail the whole: findings of an observed subject do not."""
    return [run for run in results["runs"] if run["outcome"] in FAILING]


def findings(results: Results) -> list[Run]:
    return [run for run in results["runs"] if run["outcome"] == "finding"]


def standing_sentences(results: Results) -> list[str]:
    """One sentence a subject: how many of its runs went how, and whether that decides the exit status."""
    sentences = []
    for subject in results["subjects"]:
        runs = [run for run in results["runs"] if run["subject"] == subject["name"]]
        counts = Counter(run["outcome"] for run in runs)
        said = ", ".join(f"{number} {outcome.replace('_', ' ')}" for outcome, number in counts.most_common())
        meaning = (
            "a violation here is a failure"
            if subject["standing"] == "conforming"
            else "a violation here is a finding about it, not a failure"
        )
        name = f"{subject['name']} {subject['version']}".strip()
        noun = "run" if len(runs) == 1 else "runs"
        sentences.append(f"{name} ({subject['standing']}): {len(runs)} {noun}, {said or 'nothing ran'}; {meaning}")
    return sentences
