# SPDX-License-Identifier: Apache-2.0
"""Two results row by row: the same scenarios on another driver, another library version or another machine."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from cufault_reports.results import Results, Run

_HANDLE = re.compile(r"0x[0-9a-f]+")

Key = tuple[str, str, str, str]


@dataclass(frozen=True)
class Difference:
    """One row that the two results answer differently; an answer is None where the row is missing."""

    file: str
    subject: str
    variant: str
    row: str
    first: str | None
    second: str | None

    @property
    def text(self) -> str:
        where = f"{self.file} [{self.variant}]" if self.variant else self.file
        return f"{where} on {self.subject}: {self.row}: {self.first or 'missing'} | {self.second or 'missing'}"


@dataclass(frozen=True)
class Comparison:
    """`rows` counts the rows that at least one of the two results has."""

    runs: int
    rows: int
    differences: tuple[Difference, ...]


def compare(first: Results, second: Results) -> Comparison:
    """Compares outcome, rule statuses, faults and driver calls of every run, whatever values handles have.

    Raises ValueError where neither has a run: two empty results agree about nothing.
    """
    left, right = _by_key(first), _by_key(second)
    keys = sorted(left.keys() | right.keys())
    if not keys:
        raise ValueError("neither result has a run, so there is nothing to compare")
    differences: list[Difference] = []
    count = 0
    for key in keys:
        one, other = _rows(left.get(key)), _rows(right.get(key))
        for row in dict.fromkeys([*one, *other]):
            count += 1
            if one.get(row) != other.get(row):
                differences.append(Difference(key[0], key[1], _variant(key), row, one.get(row), other.get(row)))
    return Comparison(len(keys), count, tuple(differences))


def render_comparison(first: Results, second: Results, comparison: Comparison) -> str:
    """The comparison as text: a head, then a line a difference."""
    lines = [
        f"first:  {_title(first)}",
        f"second: {_title(second)}",
        f"{comparison.runs} runs, {comparison.rows} rows, {len(comparison.differences)} differences",
        *(difference.text for difference in comparison.differences),
    ]
    return "\n".join(lines) + "\n"


def write_comparison(first: Results, second: Results, path: Path) -> Comparison:
    """Writes `render_comparison`. Raises OSError, and ValueError as `compare` does."""
    comparison = compare(first, second)
    path.write_text(render_comparison(first, second, comparison), encoding="utf-8")
    return comparison


def _by_key(results: Results) -> dict[Key, Run]:
    return {
        (run["file"], run["subject"], json.dumps(run["matrix"], sort_keys=True), run["point"] or ""): run
        for run in results["runs"]
    }


def _variant(key: Key) -> str:
    matrix = ", ".join(f"{name}={value}" for name, value in json.loads(key[2]).items())
    return " at ".join(part for part in (matrix, key[3]) if part)


def _title(results: Results) -> str:
    driver = results["driver"]
    return f"{driver.get('backend')} driver {driver.get('version')} ({driver.get('path')}), {results['started']}"


def _rows(run: Run | None) -> dict[str, str]:
    if run is None:
        return {}
    rows = {"outcome": run["outcome"]}
    verdict = run["verdict"]
    if verdict is None:
        return rows
    rows |= {rule["rule"]: rule["status"] for rule in verdict.get("rules", [])}
    for fault in verdict.get("faults", []):
        rows[f"fault {fault['label']}"] = f"fired {fault['fired']} of {fault['matched']}"
    for expectation in verdict.get("expectations", []):
        rows[f"expectation: {_masked(expectation['text'])}"] = "met" if expectation["met"] else "not met"
    rows |= {f"call {number}": _masked(text) for number, text in enumerate(_call_texts(run), 1)}
    return rows


def _call_texts(run: Run) -> Iterator[str]:
    # Look-ups differ with the driver's version and say nothing about the run.
    for entry in (run["verdict"] or {}).get("timeline", []):
        if entry.get("kind") == "call" and not entry["text"].startswith("cuGetProcAddress"):
            yield entry["text"]


def _masked(text: str) -> str:
    """Handles and addresses are the driver's business: one driver gives a value again that another does not."""
    return _HANDLE.sub("0x*", text)
