# SPDX-License-Identifier: Apache-2.0
"""The report for a terminal: rule × subject, then what was found and whether it fails the run."""

from __future__ import annotations

from rich.console import Console
from rich.table import Table
from rich.text import Text

from cufault_reports.matrix import Cell, by_subject, failures, findings, standing_sentences, variant
from cufault_reports.results import Results, Run
from cufault_reports.texts import duration, one_line

STYLES = {
    "violated": "bold red",
    "harness_error": "bold magenta",
    "inconclusive": "yellow",
    "hazard": "yellow",
    "holds": "green",
    "not_exercised": "dim",
    "not_applicable": "dim",
    "off": "dim",
}
LISTED_RUNS = 12  # of each kind; the HTML report has them all


def print_table(results: Results, console: Console) -> None:
    """Prints the table and the closing sentences on `console`. Texts are printed as they are, never as markup."""
    console.print(_table(results))
    for title, style, runs in (
        ("Findings about observed subjects", "yellow", findings(results)),
        ("Failures", "bold red", failures(results)),
    ):
        _print_runs(console, title, style, runs)
    console.print()
    for sentence in standing_sentences(results):
        console.print(Text(one_line(sentence)))
    console.print(Text(f"{len(results['runs'])} runs in {duration(results['duration_ns'])}"))


def _table(results: Results) -> Table:
    table = Table(title="rule × subject", title_justify="left", header_style="bold")
    table.add_column("rule", no_wrap=True)
    table.add_column("by", no_wrap=True)
    table.add_column("what it asks", overflow="fold", ratio=1)
    for subject in results["subjects"]:
        name = one_line(f"{subject['name']} {subject['version']}", 60)
        table.add_column(Text(f"{name}\n{subject['standing']}"), no_wrap=True)
    cells = by_subject(results)
    for rule in results["rules"]:
        row = [cells.get((rule["rule"], subject["name"]), Cell()) for subject in results["subjects"]]
        table.add_row(
            Text(one_line(rule["rule"])),
            Text(one_line(rule["by"])),
            Text(one_line(rule["title"], 200)),
            *(Text(f"{cell.sign} {cell.text}", style=STYLES[cell.status]) for cell in row),
        )
    return table


def _print_runs(console: Console, title: str, style: str, runs: list[Run]) -> None:
    if not runs:
        return
    console.print()
    console.print(Text(f"{title}: {len(runs)} runs", style=style))
    for run in runs[:LISTED_RUNS]:
        name = " ".join(part for part in (run["scenario"], f"[{variant(run)}]" if variant(run) else "") if part)
        console.print(Text(f"  {one_line(run['subject'], 60)}: {one_line(name, 200)}", style="bold"))
        console.print(Text(f"    {one_line(run['outcome'].replace('_', ' '), 40)}: {one_line(run['reason'], 300)}"))
        console.print(Text(f"    {one_line(run['command'], 300)}", style="dim"))
    if len(runs) > LISTED_RUNS:
        console.print(Text(f"  … and {len(runs) - LISTED_RUNS} more, all of them in the HTML report", style="dim"))
