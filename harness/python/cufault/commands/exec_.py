# SPDX-License-Identifier: Apache-2.0
"""`cufault exec -- COMMAND`: any program under the shim, its own output untouched, judged afterwards."""

from __future__ import annotations

import shutil
import signal
from pathlib import Path
from typing import Any

import click

from cufault.commands.common import (
    check_profile,
    driver_option,
    memory_option,
    profile_option,
    say,
    timeout_option,
    verdict_lines,
)
from cufault.errors import EXIT_NOT_EXERCISED, UsageError
from cufault.fault_text import GRAMMAR, parse_fault
from cufault.launch import Launch, Launched, Limits, choose_driver, launch
from cufault.libc import GRAMMAR as LIBC_GRAMMAR
from cufault.libc import libc_lines, never_fired, parse_libc_fault, read_libc_records
from cufault.run.verdict import judge


def request_for_command(profile: str, labels: list[str]) -> dict[str, Any]:
    """The judge's request for a bare command: every rule that the run exercised counts."""
    return {
        "profile": profile,
        "subject": {"name": "command", "version": "", "language": "", "standing": "conforming"},
        "rules": [],
        "not_applicable": {},
        "faults": [{"label": label, "must_fire": True} for label in labels],
        "expect": {},
    }


def child_status(launched: Launched) -> int:
    """As a shell has it: 128 and the signal's number for a killed child."""
    ended = launched.ended
    if ended.status is not None:
        return ended.status
    return 128 + int(signal.Signals[ended.signal or "SIGKILL"])


@click.command(
    "exec",
    context_settings={"ignore_unknown_options": True, "allow_interspersed_args": False},
    help="Run any command under the shim, its own output untouched; then tell on stderr what was hit and the verdict. "
    "The child's own non-zero status is answered first.\n\n" + GRAMMAR + "\n" + LIBC_GRAMMAR,
)
@click.option("--fault", "-f", "faults", multiple=True, metavar="FAULT", help="What fails; may be repeated.")
@click.option(
    "--libc-fault",
    "libc_faults",
    multiple=True,
    metavar="LIBC_FAULT",
    help="What of malloc, operator new or close fails; may be repeated.",
)
@click.option("--keep", type=click.Path(path_type=Path, file_okay=False), help="Move the run's folder here.")
@driver_option
@profile_option
@timeout_option
@memory_option
@click.argument("words", nargs=-1, required=True, type=click.UNPROCESSED, metavar="-- COMMAND...")
def command(
    faults: tuple[str, ...],
    libc_faults: tuple[str, ...],
    keep: Path | None,
    driver: str,
    profile: str | None,
    timeout: float | None,
    memory: int | None,
    words: tuple[str, ...],
) -> int:
    """Answers the exit status."""
    check_profile(profile)
    if keep is not None and keep.exists():
        raise UsageError(f"--keep: {keep} is there already")
    rules = [parse_fault(text, f"f{number}") for number, text in enumerate(faults, 1)]
    libc_rules = tuple(parse_libc_fault(text, f"libc{number}") for number, text in enumerate(libc_faults, 1))
    launched = launch(
        Launch(
            command=words,
            plan={"steps": [], "handles": [], "faults": rules},
            driver=choose_driver(driver),
            limits=Limits(timeout, None if memory is None else memory << 20),
            through=True,
            libc_rules=libc_rules,
        )
    )
    try:
        verdict = judge(
            launched, request_for_command(profile or "rfc", [rule["label"] for rule in rules]), own_child=False
        )
        records = read_libc_records(launched.folder)
    finally:
        if keep is not None:
            shutil.move(str(launched.folder), keep)
            say(f"run folder: {keep}")
        else:
            shutil.rmtree(launched.folder, ignore_errors=True)
    for line in [*verdict_lines(verdict), *libc_lines(libc_rules, records)]:
        say(line)
    status = child_status(launched) or int(verdict["exit_status"])
    return EXIT_NOT_EXERCISED if status == 0 and never_fired(libc_rules, records) else status
