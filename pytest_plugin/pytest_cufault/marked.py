# SPDX-License-Identifier: Apache-2.0
"""Marked tests: each runs as the one test of a fresh pytest under the shim, and the run is judged."""

from __future__ import annotations

import functools
import shutil
import sys
from typing import Any

import pytest
from cufault.commands.common import check_profile, verdict_lines
from cufault.errors import UsageError, refusal
from cufault.fault_text import parse_fault
from cufault.launch import Launch, Limits, choose_driver, launch
from cufault.run.verdict import judge
from cufault.vocabulary import vocabulary

from pytest_cufault.failure import JudgedFailure, text_of
from pytest_cufault.plugin import MARK, outcomes

DEFAULT_TIMEOUT_S = 60.0
KEYS = ("faults", "rules", "driver", "profile", "timeout")


def run_in_child(item: pytest.Function) -> None:
    """Makes the item run its child instead of itself; its fixtures are the child's business."""
    inner = item.repr_failure

    def repr_failure(excinfo: pytest.ExceptionInfo[BaseException], *arguments: Any, **keys: Any) -> Any:
        return text_of(excinfo) or inner(excinfo, *arguments, **keys)

    item.setup = lambda: None  # type: ignore[method-assign]
    item.runtest = functools.partial(_run, item)  # type: ignore[method-assign]
    item.repr_failure = repr_failure  # type: ignore[method-assign]


def _arguments(item: pytest.Function) -> dict[str, Any]:
    """The keys of the closest mark. Raises UsageError."""
    mark = item.get_closest_marker(MARK)
    assert mark is not None
    if mark.args:
        raise UsageError(
            "the mark cufault takes keys only: faults=[...], rules=[...], driver=..., profile=..., timeout=..."
        )
    for key in mark.kwargs:
        if key not in KEYS:
            raise UsageError(refusal("the mark cufault: unknown key", key, KEYS))
    return dict(mark.kwargs)


def _run(item: pytest.Function) -> None:
    wanted = _arguments(item)
    faults = [parse_fault(text, f"f{number}") for number, text in enumerate(wanted.get("faults", ()), 1)]
    rules = list(wanted.get("rules", ()))
    for rule in rules:
        if rule not in vocabulary().rules:
            raise UsageError(refusal("the mark cufault: no such rule", rule, vocabulary().rules))
    profile = check_profile(wanted.get("profile")) or "rfc"
    driver = choose_driver(wanted.get("driver") or item.config.getoption("--cufault-driver"))
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--rootdir", str(item.config.rootpath)]
    if item.config.inipath is not None:
        command += ["-c", str(item.config.inipath)]
    launched = launch(
        Launch(
            command=(*command, f"{item.config.rootpath}/{item.nodeid}"),
            plan={"steps": [], "handles": [], "faults": faults},
            driver=driver,
            limits=Limits(float(wanted.get("timeout", DEFAULT_TIMEOUT_S))),
            cwd=str(item.config.invocation_params.dir),
        )
    )
    try:
        verdict = judge(
            launched,
            {
                "profile": profile,
                "rules": rules,
                "not_applicable": {},
                "expect": {},
                "subject": {"name": item.nodeid, "version": "", "language": "python", "standing": "conforming"},
                "faults": [{"label": fault["label"], "must_fire": True} for fault in faults],
            },
            own_child=False,
        )
    finally:
        shutil.rmtree(launched.folder, ignore_errors=True)
    item.config.stash[outcomes][verdict["verdict"]] += 1
    ended = launched.ended
    lines = []
    if ended.status != 0:
        how = ended.signal or f"status {ended.status}"
        lines += [
            f"the test itself failed in its process ({how}):",
            *(ended.stdout or "").splitlines()[-40:],
            *ended.stderr.splitlines()[-20:],
        ]
    if verdict["verdict"] != "pass" or lines:
        raise JudgedFailure([*lines, *verdict_lines(verdict)])
