# SPDX-License-Identifier: Apache-2.0
"""Options that several commands share, and what they print on stderr."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any, TypeVar

import click

from cufault.errors import UsageError, refusal
from cufault.vocabulary import vocabulary

Command = TypeVar("Command", bound=Callable[..., Any])

driver_option = click.option(
    "--driver",
    type=click.Choice(["simulated", "real", "auto"]),
    default="simulated",
    show_default=True,
    help="Who answers the calls; auto: the real driver where there is one and a GPU.",
)
profile_option = click.option("--profile", metavar="NAME", help="Judge by this profile.")
jobs_option = click.option(
    "--jobs",
    "-j",
    type=click.IntRange(1, 256),
    default=lambda: os.cpu_count() or 1,
    help="Runs at a time; default: one for each CPU.",
)
timeout_option = click.option(
    "--timeout",
    type=click.FloatRange(min=0, min_open=True),
    metavar="SECONDS",
    help="Ends the command after so long (SIGABRT, then SIGKILL).",
)
memory_option = click.option("--memory", type=click.IntRange(min=1), metavar="MIB", help="Limits the address space.")


def check_profile(name: str | None) -> str | None:
    """Raises UsageError for a profile that is not there."""
    if name is not None and name not in vocabulary().profiles:
        raise UsageError(refusal("--profile: no such profile", name, vocabulary().profiles))
    return name


def verdict_lines(verdict: dict[str, Any]) -> list[str]:
    """What was hit, what each rule says, and the verdict, for a terminal."""
    lines = []
    for fault in verdict["faults"]:
        code = f" {fault['code']} ({fault['standing']})" if fault.get("code") else ""
        where = "; ".join(fault.get("at", [])[:3])
        lines.append(
            f"{fault['label']}: fired {fault['fired']} of {fault['matched']} matching calls{code}"
            + (f": {where}" if where else "")
        )
    for rule in verdict["rules"]:
        if rule["status"] in ("violated", "hazard", "inconclusive"):
            lines.append(f"{rule['rule']} {rule['status']}: {rule['reason']}")
            lines += [f"    {evidence['text']}" for evidence in rule["evidence"][:3]]
    lines += [f"expected: {item['text']}: {item['reason']}" for item in verdict["expectations"] if not item["met"]]
    held = [rule["rule"] for rule in verdict["rules"] if rule["status"] == "holds"]
    if held:
        lines.append(f"held: {' '.join(held)}")
    lines.append(f"verdict: {verdict['verdict'].replace('_', ' ')}: {verdict['reason']}")
    return lines


def say(text: str) -> None:
    """One line on stderr, marked as ours."""
    click.echo(f"cufault: {text}", err=True)
