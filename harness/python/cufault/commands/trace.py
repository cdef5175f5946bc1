# SPDX-License-Identifier: Apache-2.0
"""`cufault trace -- COMMAND`: every driver call of a command, with nothing failing."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import click

from cufault.commands.common import driver_option, say, timeout_option
from cufault.commands.exec_ import child_status
from cufault.errors import EXIT_NOT_EXERCISED, EXIT_PASS, HarnessError
from cufault.launch import Launch, Limits, choose_driver, launch
from cufault.run.points import read_calls


@click.command(
    "trace",
    context_settings={"ignore_unknown_options": True, "allow_interspersed_args": False},
    help="Run a command with nothing failing and list its driver calls; the child's non-zero status is answered first.",
)
@click.option(
    "--output", "-o", type=click.Path(path_type=Path, dir_okay=False), help="Write the list here instead of stderr."
)
@click.option("--json", "as_json", is_flag=True, help="As JSON.")
@driver_option
@timeout_option
@click.argument("words", nargs=-1, required=True, type=click.UNPROCESSED, metavar="-- COMMAND...")
def command(output: Path | None, as_json: bool, driver: str, timeout: float | None, words: tuple[str, ...]) -> int:
    """Answers the exit status."""
    launched = launch(
        Launch(
            command=words,
            plan={"steps": [], "handles": [], "faults": []},
            driver=choose_driver(driver),
            limits=Limits(timeout),
            through=True,
        )
    )
    try:
        if launched.unloaded is not None:
            raise HarnessError(f"the shim never loaded: {launched.unloaded}")
        calls = read_calls(launched.folder)
    finally:
        shutil.rmtree(launched.folder, ignore_errors=True)
    text = json.dumps({"format": 1, "calls": calls}, indent=1) if as_json else "\n".join(lines(calls))
    if output is not None:
        output.write_text(text + "\n", encoding="utf-8")
    else:
        click.echo(text, err=True)
    say(f"{len(calls)} driver calls")
    status = child_status(launched)
    if status != 0:
        return status
    return EXIT_PASS if calls else EXIT_NOT_EXERCISED


def lines(calls: list[dict[str, object]]) -> list[str]:
    """One line a call: process, thread, step, call, answer."""
    return [f"{call['pid']}.{call['thread']} [{call['step'] or '-'}] {call['text']}" for call in calls]
