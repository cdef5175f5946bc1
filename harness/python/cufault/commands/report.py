# SPDX-License-Identifier: Apache-2.0
"""`cufault report RESULTS`: reports on runs that are over."""

from __future__ import annotations

import json
from pathlib import Path

import click
from rich.console import Console

from cufault.errors import EXIT_PASS, UsageError

_file = click.Path(path_type=Path, dir_okay=False)


@click.command(
    "report",
    help="Print the table of results.json (or of the folder that holds it, as `cufault run` left it) and write the "
    "reports that are asked for. The exit status is 0: the runs had theirs.",
)
@click.argument("results", type=click.Path(path_type=Path, exists=True), metavar="RESULTS")
@click.option("--html", type=_file, help="Write the HTML report here.")
@click.option("--junit", type=_file, help="Write JUnit XML here.")
@click.option("--markdown", type=_file, help="Write a Markdown summary here.")
def command(results: Path, html: Path | None, junit: Path | None, markdown: Path | None) -> int:
    """Answers the exit status. Raises UsageError for a file that holds no results, or cannot be written."""
    from cufault_reports import WRITERS, print_table, read_results

    try:
        loaded = read_results(results)
    except (OSError, ValueError) as error:
        message = f"{results}: no results: {error}" if isinstance(error, json.JSONDecodeError) else str(error)
        raise UsageError(message) from error
    for name, path in (("html", html), ("junit", junit), ("markdown", markdown)):
        if path is not None:
            try:
                WRITERS[name](loaded, path)
            except OSError as error:
                raise UsageError(f"--{name}: {error}") from error
    print_table(loaded, Console())
    return EXIT_PASS
