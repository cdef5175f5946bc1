# SPDX-License-Identifier: Apache-2.0
"""A recorded run's driver calls, and the fault points among them: what a plan's rule can name again."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from cufault.errors import HarnessError


@dataclass(frozen=True)
class FaultPoint:
    """The n-th call of an entry point in a process of the command, or of it in one role of a context switch.

    `process` counts the processes that made driver calls, in order of their start: a rule counts in each of them anew.
    """

    symbol: str
    function: str
    switch: str | None
    ordinal: int
    step: str | None
    process: int

    def __str__(self) -> str:
        role = f"@{self.switch}" if self.switch else ""
        return f"{self.symbol}{role}#{self.ordinal}"


def read_calls(folder: Path) -> list[dict[str, Any]]:
    """Every call of a recorded run, in order of time (harness/FORMATS.md). Raises HarnessError if it cannot be read."""
    import cufault._judge as _judge

    try:
        trace = json.loads(_judge.read_trace(str(folder)))
    except (ValueError, OSError) as error:
        raise HarnessError(f"the trace in {folder} cannot be read: {error}") from error
    return [event for event in trace["events"] if event["type"] == "call"]


def calls_of_step(calls: Iterable[dict[str, Any]], step: str) -> list[tuple[str, int]]:
    """Each call that a step made itself, as (entry point, n-th of it in the step)."""
    counts: Counter[tuple[int, str]] = Counter()
    points = []
    for call in calls:
        if call["step"] == step and not call["nested"]:
            counts[call["pid"], call["symbol"]] += 1
            points.append((call["symbol"], counts[call["pid"], call["symbol"]]))
    return list(dict.fromkeys(points))


def sweep_points(calls: Iterable[dict[str, Any]]) -> list[FaultPoint]:
    """Every destroy call and every context switch that enters or restores, each once."""
    counts: Counter[tuple[int, str, str | None]] = Counter()
    order: dict[int, int] = {}
    points = []
    for call in calls:
        if call["nested"]:
            continue
        process = order.setdefault(call["pid"], len(order))
        role = None if call["switch"] == "none" else call["switch"]
        key = (call["pid"], call["symbol"], role)
        counts[key] += 1
        if role is None and "destroy" not in call["classes"] and "free" not in call["classes"]:
            continue
        # Without a role the rule sees every call of the entry point, with one only those of that role.
        ordinal = (
            counts[key]
            if role
            else sum(
                count for (pid, symbol, _), count in counts.items() if pid == call["pid"] and symbol == call["symbol"]
            )
        )
        points.append(FaultPoint(call["symbol"], call["function"], role, ordinal, call["step"], process))
    return list(dict.fromkeys(points))
