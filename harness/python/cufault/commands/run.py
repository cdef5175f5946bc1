# SPDX-License-Identifier: Apache-2.0
"""`cufault run PATH...`: scenarios on subjects."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from cufault.commands.common import check_profile, driver_option, jobs_option, profile_option, say
from cufault.errors import ScenarioError, UsageError, refusal
from cufault.launch import choose_driver
from cufault.run import Options, run_cases
from cufault.scenario.expand import Case, cases, matrix_text
from cufault.scenario.load import find, load
from cufault.subjects.catalog import SUBJECTS


@click.command(
    "run", help="Run scenario files, or all below a folder, on their subjects; judge each run; write the reports."
)
@click.argument("paths", nargs=-1, required=True, type=click.Path(path_type=Path), metavar="PATH...")
@click.option("--subject", "-s", "subjects", multiple=True, metavar="NAME", help="Only this subject (may be repeated).")
@click.option("--only", multiple=True, metavar="NAME=VALUE", help="Only runs with this value of the matrix.")
@click.option("--point", metavar="'SYMBOL #N'", help="Only this driver call of an `each call of` fault.")
@click.option(
    "--out",
    type=click.Path(path_type=Path, file_okay=False),
    default=Path("cufault-out"),
    show_default=True,
    help="Folder for results.json, the runs and the reports.",
)
@click.option("--junit", type=click.Path(path_type=Path, dir_okay=False), help="Write JUnit XML here.")
@click.option(
    "--html", type=click.Path(path_type=Path, dir_okay=False), help="The HTML report; default OUT/report.html."
)
@click.option("--keep", is_flag=True, help="Keep the trace files of every run.")
@driver_option
@profile_option
@jobs_option
def command(
    paths: tuple[Path, ...],
    subjects: tuple[str, ...],
    only: tuple[str, ...],
    point: str | None,
    out: Path,
    junit: Path | None,
    html: Path | None,
    keep: bool,
    driver: str,
    profile: str | None,
    jobs: int,
) -> int:
    """Answers the exit status."""
    from cufault_reports import print_table, read_results, write_html, write_junit

    for name in subjects:
        if name not in SUBJECTS:
            raise UsageError(refusal("--subject: no such subject", name, SUBJECTS))
    options = Options(choose_driver(driver), out, jobs, keep, check_profile(profile), point)
    todo = _only(load_cases(paths, subjects or None), only)
    with _progress() as progress:
        task = progress.add_task("runs", total=None)
        results = run_cases(
            todo, options, lambda done, total, outcome: progress.update(task, completed=done, total=total)
        )
    loaded = read_results(out)
    report = html or out / "report.html"
    write_html(loaded, report)
    if junit is not None:
        write_junit(loaded, junit)
    print_table(loaded, Console())
    status: int = results["summary"]["exit_status"]
    _close(results["summary"], report, status)
    return status


def load_cases(paths: tuple[Path, ...], subjects: tuple[str, ...] | None) -> list[Case]:
    """The cases of all files. Every file is read before an error ends the command, so that all errors are told."""
    files, errors = [], []
    for path in find(paths):
        try:
            files.append(load(path, SUBJECTS))
        except ScenarioError as error:
            errors.append(error)
    if errors:
        raise UsageError("\ncufault: ".join(str(error) for error in errors))
    first: dict[str, str] = {}
    for file in files:
        sentence = file.scenarios[0].sentence
        if sentence in first:
            raise ScenarioError(file.scenarios[0].position, f"the scenario of {first[sentence]} has the same sentence")
        first[sentence] = file.file
    return cases(files, SUBJECTS, subjects)


def _only(found: list[Case], only: tuple[str, ...]) -> list[Case]:
    wanted = dict(item.partition("=")[::2] for item in only)
    for name in wanted:
        known = {key for case in found for key in case.scenario.matrix}
        if name not in known:
            raise UsageError(refusal("--only: no matrix has", name, known))
    chosen = [
        case
        for case in found
        if all(
            name in case.scenario.matrix and matrix_text(case.scenario.matrix[name]) == value
            for name, value in wanted.items()
        )
    ]
    if not chosen:
        raise UsageError("no run is left: the options leave out every one")
    return chosen


def _progress() -> Progress:
    return Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        console=Console(stderr=True),
        transient=True,
        disable=not Console(stderr=True).is_terminal,
    )


def _close(summary: dict[str, Any], report: Path, status: int) -> None:
    counts = ", ".join(
        f"{summary[key]} {key.replace('_', ' ')}"
        for key in ("pass", "finding", "violation", "not_exercised", "inconclusive", "harness_error", "not_applicable")
        if summary[key]
    )
    say(f"{summary['runs']} runs: {counts}")
    if summary["finding"]:
        say("violations of an observed subject are findings: they do not fail the run; those of a conforming one do")
    say(f"report: {report}")
    say(f"exit status {status}")
