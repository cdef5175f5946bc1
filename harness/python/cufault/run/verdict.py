# SPDX-License-Identifier: Apache-2.0
"""From a launched run's folder to its verdict: the judge's, or a harness error where there is nothing to judge."""

from __future__ import annotations

import json
from typing import Any

from cufault.errors import EXIT_HARNESS, EXIT_PLAN_REFUSED, HarnessError
from cufault.launch import Launched

EXIT_CHILD_BROKEN = 98


def harness_error(reason: str, profile: str) -> dict[str, Any]:
    """A verdict in the judge's format for a run that was none."""
    return {
        "format": 1,
        "verdict": "harness_error",
        "exit_status": EXIT_HARNESS,
        "profile": profile,
        "reason": reason,
        "rules": [],
        "faults": [],
        "expectations": [],
        "objects": {"made": 0, "destroyed": 0, "indeterminate": [], "leaked": []},
        "calls": {"total": 0, "injected": 0, "lost": 0, "unmodelled": [], "misuse": [], "invisible": []},
        "processes": [],
        "timeline": [],
    }


def _last_lines(text: str, count: int = 6) -> str:
    return " | ".join(line.strip() for line in text.strip().splitlines()[-count:])


def broken(launched: Launched, own_child: bool) -> str | None:
    """Why there is nothing to judge, or None. `own_child`: the command was our own, whose statuses mean something."""
    ended = launched.ended
    if ended.status == EXIT_PLAN_REFUSED and "cufault" in ended.stderr:
        return f"the shim refused the plan: {_last_lines(ended.stderr)}"
    if launched.unloaded is not None:
        return f"the shim never loaded: {launched.unloaded}"
    if own_child and ended.status == EXIT_CHILD_BROKEN:
        return f"the child could not start: {_last_lines(ended.stderr)}"
    return None


def judge(launched: Launched, request: dict[str, Any], own_child: bool) -> dict[str, Any]:
    """The verdict, also written to verdict.json. Raises HarnessError where the judge itself cannot read the run."""
    import cufault._judge as _judge

    reason = broken(launched, own_child)
    request = {"format": 1, "run_folder": str(launched.folder), **request}
    (launched.folder / "request.json").write_text(json.dumps(request, indent=1), encoding="utf-8")
    if reason is not None:
        verdict = harness_error(reason, request["profile"])
    else:
        try:
            verdict = json.loads(_judge.judge(json.dumps(request)))
        except (ValueError, OSError) as error:
            raise HarnessError(f"the judge cannot read {launched.folder}: {error}") from error
    (launched.folder / "verdict.json").write_text(json.dumps(verdict, indent=1), encoding="utf-8")
    return verdict
