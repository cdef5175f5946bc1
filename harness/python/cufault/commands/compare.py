# SPDX-License-Identifier: Apache-2.0
"""`cufault compare FIRST SECOND`: two results of the same scenarios, row by row."""

from __future__ import annotations

import json
from pathlib import Path

import click

from cufault.errors import EXIT_PASS, EXIT_VIOLATION, UsageError

_results = click.Path(path_type=Path, exists=True)


@click.command(
    "compare",
    help="Compare two results.json (or the folders that hold them) row by row: outcomes, rules, faults, driver calls; "
    "values of handles do not count. The exit status is 1 if anything differs.",
)
@click.argument("first", type=_results, metavar="FIRST")
@click.argument("second", type=_results, metavar="SECOND")
@click.option("--out", type=click.Path(path_type=Path, dir_okay=False), help="Write the comparison here as well.")
def command(first: Path, second: Path, out: Path | None) -> int:
    """Answers the exit status. Raises UsageError for files that hold no results, or none to compare."""
    from cufault_reports import read_results
    from cufault_reports.compare import compare, render_comparison

    try:
        loaded = read_results(first), read_results(second)
        comparison = compare(*loaded)
    except json.JSONDecodeError as error:
        raise UsageError(f"no results: {error}") from error
    except (OSError, ValueError) as error:
        raise UsageError(str(error)) from error
    text = render_comparison(*loaded, comparison)
    click.echo(text, nl=False)
    if out is not None:
        try:
            out.write_text(text, encoding="utf-8")
        except OSError as error:
            raise UsageError(f"--out: {error}") from error
    return EXIT_VIOLATION if comparison.differences else EXIT_PASS
