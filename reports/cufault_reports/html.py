# SPDX-License-Identifier: Apache-2.0
"""One self-contained HTML page: rule × subject and rule × scenario, each field leading to its evidence."""

from __future__ import annotations

import base64
import hashlib
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from cufault_reports import matrix
from cufault_reports.matrix import Cell, Outcome
from cufault_reports.results import Results, Run, TimelineEntry
from cufault_reports.texts import clean, duration, one_line, slug

TEMPLATES = Path(__file__).parent / "templates"
TIMELINE_WHOLE = 120  # a longer one shows what is marked, with its neighbours; the run folder has all of it
TIMELINE_NEIGHBOURS = 12
TIMELINE_LIMIT = 400
EVIDENCE_LIMIT = 20
OUTCOMES_LISTED = 25


@dataclass(frozen=True)
class Line:
    """One line of a timeline, or (`gap`) the number of lines left out there."""

    time: str
    text: str
    kind: str
    mark: str
    gap: int = 0

    @property
    def classes(self) -> str:
        """What it is; the injected fault is what to look at, a call that failed by itself comes next."""
        return f"kind-{self.kind}" + {"injected": " marked", "failed": " failed"}.get(self.mark, "")


def timeline(entries: list[TimelineEntry]) -> list[Line]:
    """The lines to show: all of a short timeline, otherwise first, last, marked ones and their neighbours."""
    wanted = set(range(len(entries)))
    if len(entries) > TIMELINE_WHOLE:
        marked = [number for number, entry in enumerate(entries) if entry.get("mark")]
        near = range(-TIMELINE_NEIGHBOURS, TIMELINE_NEIGHBOURS + 1)
        wanted = {at + offset for at in [0, *marked[:TIMELINE_LIMIT], len(entries) - 1] for offset in near}
    start = entries[0].get("time_ns", 0) if entries else 0
    lines: list[Line] = []
    gap = 0
    for number, entry in enumerate(entries):
        if number not in wanted or len(lines) >= TIMELINE_LIMIT:
            gap += 1
            continue
        if gap:
            lines.append(Line("", "", "", "", gap))
            gap = 0
        time = f"{(entry.get('time_ns', 0) - start) / 1e6:.3f}"
        text, mark = clean(entry.get("text", ""), 600), one_line(entry.get("mark") or "", 40)
        lines.append(Line(time, text, slug(entry.get("kind", "")), mark))
    if gap:
        lines.append(Line("", "", "", "", gap))
    return lines


def write_html(results: Results, path: Path) -> None:
    """Writes the page. Raises OSError if `path` cannot be written."""
    path.write_text(render_html(results), encoding="utf-8")


def render_html(results: Results) -> str:
    environment = Environment(
        loader=FileSystemLoader(TEMPLATES),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters.update(clean=clean, line=one_line, duration=duration)
    style, script = ((TEMPLATES / name).read_text(encoding="utf-8") for name in ("report.css", "report.js"))
    page: str = environment.get_template("report.html.j2").render(
        results=results,
        style=style,
        style_hash=_csp_hash(style),
        script=script,
        script_hash=_csp_hash(script),
        signs=matrix.SIGNS,
        words=matrix.WORDS,
        tiles=_tiles(results),
        sentences=matrix.standing_sentences(results),
        rule_rows=_rule_rows(results),
        scenario_tables=_scenario_tables(results),
        runs=[_run(run) for run in results["runs"]],
    )
    return page


def _csp_hash(text: str) -> str:
    """What the page's own security policy allows: this style and this script, nothing that a text could bring in."""
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()


def run_anchor(run: Run) -> str:
    return slug("run", run["id"])


def _tiles(results: Results) -> list[tuple[str, int]]:
    counts = Counter(run["outcome"] for run in results["runs"])
    order = ("pass", "finding", "violation", "not_exercised", "inconclusive", "harness_error", "not_applicable")
    return [(outcome, counts[outcome]) for outcome in order if counts[outcome] or outcome in ("pass", "violation")]


def _rule_rows(results: Results) -> list[dict[str, Any]]:
    cells = matrix.by_subject(results)
    names = [subject["name"] for subject in results["subjects"]]
    return [
        {"rule": rule, "cells": [_subject_cell(rule["rule"], name, cells[rule["rule"], name]) for name in names]}
        for rule in results["rules"]
    ]


def _subject_cell(rule: str, subject: str, cell: Cell) -> dict[str, Any]:
    ordered = cell.ordered()
    shown = [outcome for outcome in ordered if outcome.status not in ("not_exercised", "off")][:OUTCOMES_LISTED]
    return {
        "subject": subject,
        "anchor": slug("cell", rule, subject),
        "status": cell.status,
        "text": cell.text,
        "outcomes": [_outcome(outcome) for outcome in shown],
        "left_out": len(ordered) - len(shown),
    }


def _outcome(outcome: Outcome) -> dict[str, Any]:
    return {
        "rule": outcome.rule,
        "status": outcome.status,
        "reason": outcome.reason,
        "listed": outcome.listed,
        "evidence": outcome.evidence[:EVIDENCE_LIMIT],
        "evidence_left_out": max(0, len(outcome.evidence) - EVIDENCE_LIMIT),
        "run": outcome.run,
        "variant": matrix.variant(outcome.run),
        "anchor": run_anchor(outcome.run),
    }


def _scenario_tables(results: Results) -> list[dict[str, Any]]:
    outcomes, tables = matrix.all_outcomes(results), []
    for subject in results["subjects"]:
        cells = matrix.by_scenario(outcomes, subject["name"])
        rows = []
        for scenario in matrix.scenarios(results):
            runs = [run for run in results["runs"] if run["scenario"] == scenario and run["subject"] == subject["name"]]
            if runs:
                row = [_scenario_cell(cells.get((scenario, rule["rule"]))) for rule in results["rules"]]
                rows.append({"scenario": scenario, "anchor": run_anchor(runs[0]), "runs": len(runs), "cells": row})
        tables.append({"subject": subject, "rows": rows})
    return tables


def _scenario_cell(cell: Cell | None) -> dict[str, Any] | None:
    if cell is None:
        return None
    worst = cell.worst[0]
    return {
        "status": cell.status,
        "text": cell.text,
        "listed": any(outcome.listed for outcome in cell.outcomes),
        "anchor": run_anchor(worst.run),
        "title": f"{worst.rule} {cell.text}: {worst.reason}",
    }


def _run(run: Run) -> dict[str, Any]:
    verdict = run["verdict"] or {}
    outcomes = sorted(matrix.outcomes_of(run), key=lambda outcome: matrix.STATUSES.index(outcome.status))
    told = [each for each in outcomes if each.listed or each.status not in ("not_exercised", "off", "not_applicable")]
    return {
        "run": run,
        "anchor": run_anchor(run),
        "variant": matrix.variant(run),
        "outcomes": [_outcome(outcome) for outcome in told],
        "quiet": [outcome.rule for outcome in outcomes if outcome not in told],
        "faults": verdict.get("faults", []),
        "expectations": verdict.get("expectations", []),
        "objects": verdict.get("objects", {}),
        "calls": verdict.get("calls", {}),
        "timeline": timeline(verdict.get("timeline", [])),
    }
