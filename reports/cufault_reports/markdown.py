# SPDX-License-Identifier: Apache-2.0
"""A Markdown summary for a CI job's page, kept under the size that GitHub accepts."""

from __future__ import annotations

import re
from pathlib import Path

from cufault_reports.matrix import Cell, by_subject, failures, findings, outcomes_of, standing_sentences, variant
from cufault_reports.results import Results, Run
from cufault_reports.texts import duration, one_line

STEP_SUMMARY_BYTES = 1024 * 1024  # GitHub's limit for one step; a longer summary is dropped whole
RESERVE_BYTES = 64 * 1024  # other tools may write into the same step's summary


def code(text: object, limit: int = 400, *, in_table: bool = False) -> str:
    """A code span that shows `text` and nothing else: no markup, mention or tag in it comes to life."""
    line = one_line(text, limit) or " "
    if in_table:
        line = line.replace("|", "\\|")  # GitHub splits a row at a bar even inside a code span
    fence = "`" * (max((len(run) for run in re.findall("`+", line)), default=0) + 1)
    pad = " " if line.startswith("`") or line.endswith("`") else ""
    return f"{fence}{pad}{line}{pad}{fence}"


def render_markdown(results: Results, limit: int = STEP_SUMMARY_BYTES - RESERVE_BYTES) -> str:
    """The summary, at most `limit` bytes of UTF-8; what did not fit is counted."""
    head = "\n".join(
        [
            "# cufault",
            "",
            *(f"* {code(sentence)}" for sentence in standing_sentences(results)),
            f"* {len(results['runs'])} runs in {duration(results['duration_ns'])}, "
            f"driver: {code(results['driver'].get('backend', ''))}",
            "",
            *_table(results),
            "",
        ]
    )
    pieces, size, left_out = [head], len(head.encode()) + 200, 0
    for title, runs in (("Failures", failures(results)), ("Findings about observed subjects", findings(results))):
        for number, run in enumerate(runs):
            piece = (f"## {title}: {len(runs)}\n\n" if number == 0 else "") + _run(run)
            if left_out or size + len(piece.encode()) > limit:
                left_out += 1
                continue
            pieces.append(piece)
            size += len(piece.encode())
    if left_out:
        pieces.append(f"\n{left_out} more runs did not fit here; the HTML report has them all.\n")
    return "\n".join(pieces)


def write_markdown(results: Results, path: Path) -> None:
    """Writes the summary; a workflow appends it to its step summary. Raises OSError."""
    path.write_text(render_markdown(results), encoding="utf-8")


def _table(results: Results) -> list[str]:
    subjects, cells = results["subjects"], by_subject(results)
    names = [code(f"{subject['name']} {subject['version']}", in_table=True) for subject in subjects]
    lines = [
        f"| rule | what it asks | {' | '.join(names)} |",
        "|---|---|" + "---|" * len(subjects),
    ]
    for rule in results["rules"]:
        row = [cells.get((rule["rule"], subject["name"]), Cell()) for subject in subjects]
        said = " | ".join(f"{cell.sign} {cell.text}" for cell in row)
        lines.append(f"| {code(rule['rule'], in_table=True)} | {code(rule['title'], 200, in_table=True)} | {said} |")
    return lines


def _run(run: Run) -> str:
    name = f"{run['scenario']} [{variant(run)}]" if variant(run) else run["scenario"]
    lines = [f"* {code(run['subject'])} {code(name)}: {code(run['reason'])}"]
    for outcome in outcomes_of(run):
        missed = outcome.listed and outcome.status == "not_exercised"
        if missed or outcome.status in ("violated", "harness_error", "inconclusive"):
            lines.append(f"  * {code(outcome.rule)} {outcome.status.replace('_', ' ')}: {code(outcome.reason)}")
            lines += [f"    * {code(piece.get('text', ''))}" for piece in outcome.evidence[:3]]
    lines.append(f"  * repeat: {code(run['command'], 1000)}")
    return "\n".join(lines)
