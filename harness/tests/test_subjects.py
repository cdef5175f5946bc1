# SPDX-License-Identifier: Apache-2.0
"""What a subject's file says it cannot do, it does not do: clean runs of all scenarios never make those calls."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from cufault.launch import choose_driver
from cufault.run.points import read_calls
from cufault.run.runner import Options, start
from cufault.scenario.expand import Case, cases
from cufault.scenario.load import find, load
from cufault.scenario.model import Step
from cufault.subjects.catalog import SUBJECTS
from cufault.subjects.protocol import Cannot
from e2e import SCENARIOS

Call = tuple[Step, dict[str, Any]]


def clean_calls(name: str, options: Options) -> Iterator[Call]:
    """Every driver call that a step of a scenario makes with nothing failing, each set of steps once."""
    seen: dict[tuple[Any, ...], Case] = {}
    for case in cases([load(path, SUBJECTS) for path in find([SCENARIOS])], SUBJECTS, [name]):
        steps = tuple((step.id, step.kind, str(sorted(step.options.items(), key=str))) for step in case.scenario.steps)
        if not any(cannot.switch is None and cannot.reason == case.not_applicable for cannot in case.subject.cannot):
            seen.setdefault((case.file, steps), case)
    with ThreadPoolExecutor(max_workers=2) as pool:
        for case, calls in zip(
            seen.values(), pool.map(lambda case: calls_of(case, options), seen.values()), strict=True
        ):
            by_id = {step.id: step for step in case.scenario.steps}
            yield from ((by_id[call["step"]], call) for call in calls if call["step"] in by_id)


def calls_of(case: Case, options: Options) -> list[dict[str, Any]]:
    launched = start(case, options, clean=True)
    assert launched.ended.status == 0, launched.ended.stderr
    calls: list[dict[str, Any]] = read_calls(launched.folder)
    shutil.rmtree(launched.folder)
    return calls


def denied(cannot: Cannot, step: Step, call: dict[str, Any]) -> bool:
    """Whether a call is one that the subject's file says never comes."""
    if call["function"] not in cannot.never:
        return False
    if cannot.switch is None:
        return step.verb != "foreign_context"
    return step.verb == cannot.verb and (cannot.kind is None or cannot.kind == step.kind)


@pytest.mark.parametrize("name", [name for name, subject in SUBJECTS.items() if subject.cannot])
def test_the_calls_of_what_is_not_applicable_never_come(name: str, tmp_path: Path) -> None:
    subject = SUBJECTS[name]
    assert all(cannot.never for cannot in subject.cannot), "each says which calls never come"
    options = Options(choose_driver("simulated"), tmp_path, jobs=1)
    calls = list(clean_calls(name, options))
    assert len(calls) > 100
    found = [
        (cannot.reason, step.id, call["text"])
        for step, call in calls
        for cannot in subject.cannot
        if denied(cannot, step, call)
    ]
    assert found == []


def test_the_proof_would_see_such_a_call(tmp_path: Path) -> None:
    cannot = Cannot(
        "makes streams without making them", verb="make", switch="any", never=("cuStreamCreateWithPriority",)
    )
    (case,) = cases([load(SCENARIOS / "stream" / "collected_fails.scenario.yaml", SUBJECTS)], SUBJECTS, ["reference"])[
        :1
    ]
    by_id = {step.id: step for step in case.scenario.steps}
    calls = calls_of(case, Options(choose_driver("simulated"), tmp_path, jobs=1))
    assert any(denied(cannot, by_id[call["step"]], call) for call in calls if call["step"] in by_id)
