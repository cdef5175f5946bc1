# SPDX-License-Identifier: Apache-2.0
"""The report for a terminal: rule × subject, then what was found and whether it fails the run."""

from __future__ import annotations

from rich.console import Console
from rich.table import Table
from rich.text import Text

from cufault_reports.matrix import Cell, by_subject, failures, findings, outcomes_of, standing_sentences, variant
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
LISTED_GROUPS = 24  # the HTML report has them all


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
        console.print(Text(one_line(sentence)), soft_wrap=True)
    console.print(Text(f"{_runs(len(results['runs']))} in {duration(results['duration_ns'])}"))


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
    """The runs, put together by subject and broken rule, each with one example: what happened, how to repeat it."""
    if not runs:
        return
    groups: dict[tuple[str, str], list[tuple[Run, str]]] = {}
    for run in runs:
        broken = [(outcome.rule, outcome.reason) for outcome in outcomes_of(run) if outcome.status == "violated"]
        for rule, reason in broken or [(run["outcome"].replace("_", " "), run["reason"])]:
            groups.setdefault((run["subject"], rule), []).append((run, reason))
    console.print()
    console.print(Text(f"{title}: {_runs(len(runs))}", style=style))
    for (subject, rule), members in sorted(groups.items())[:LISTED_GROUPS]:
        run, reason = members[0]
        name = f"{run['scenario']} [{variant(run)}]" if variant(run) else run["scenario"]
        head = f"  {one_line(subject, 60)}: {one_line(rule, 40)} in {_runs(len(members))}: {one_line(reason, 300)}"
        console.print(Text(head, style="bold"), soft_wrap=True)
        console.print(Text(f"    {'for example' if len(members) > 1 else 'in'}: {one_line(name, 300)}"), soft_wrap=True)
        console.print(Text(f"    {one_line(run['command'], 500)}", style="dim"), soft_wrap=True)
    if len(groups) > LISTED_GROUPS:
        console.print(
            Text(f"  … and {len(groups) - LISTED_GROUPS} more kinds, all of them in the HTML report", style="dim")
        )


def _runs(number: int) -> str:
    return f"{number} run" if number == 1 else f"{number} runs"
