# SPDX-License-Identifier: Apache-2.0
"""From a scenario to what a run needs: which subjects, what is not applicable, the plan, the child's job."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from cufault.scenario.grammar import driver_kind
from cufault.scenario.load import ScenarioFile
from cufault.scenario.model import Fault, Scenario, Step
from cufault.subjects.protocol import Cannot, Subject


@dataclass(frozen=True)
class Point:
    """One driver call of a clean run, by what a plan can name: the n-th call of an entry point in a step."""

    symbol: str
    ordinal: int
    step: str

    def __str__(self) -> str:
        return f"{self.symbol} #{self.ordinal}"


@dataclass(frozen=True)
class Case:
    """One run to be: a scenario with its matrix filled in, a subject, and a point where it has `each call of`."""

    file: str
    scenario: Scenario
    subject: Subject
    not_applicable: str | None
    point: Point | None = None

    @property
    def needs_points(self) -> bool:
        """Whether a clean run has to tell the fault points first."""
        return self.not_applicable is None and self.point is None and any(f.call_of for f in self.scenario.faults)

    def at(self, point: Point) -> Case:
        """The same case at one of its points."""
        return replace(self, point=point)


def cases(
    files: Iterable[ScenarioFile], subjects: Mapping[str, Subject], chosen: Iterable[str] | None = None
) -> list[Case]:
    """Every case of the files, in file order; `chosen` leaves out other subjects."""
    wanted = None if chosen is None else set(chosen)
    result = []
    for file in files:
        for scenario in file.scenarios:
            names = scenario.subjects or tuple(name for name, subject in subjects.items() if not subject.needs_gpu)
            for name in names:
                if wanted is None or name in wanted:
                    subject = subjects[name]
                    result.append(Case(file.file, scenario, subject, why_not(subject, scenario)))
    return result


def why_not(subject: Subject, scenario: Scenario) -> str | None:
    """The subject's reason if it cannot do what the scenario asks for, else None."""
    for cannot in subject.cannot:
        if cannot.switch is None and any(_is_step(cannot, step) for step in scenario.steps):
            return cannot.reason
        if cannot.switch is not None and any(_is_switch(cannot, fault, scenario) for fault in scenario.faults):
            return cannot.reason
    return None


def _is_step(cannot: Cannot, step: Step) -> bool:
    if cannot.verb is None and cannot.kind is None and cannot.options is None:
        return False
    return (
        (cannot.verb is None or cannot.verb == step.verb)
        and (cannot.kind is None or cannot.kind == step.kind)
        and all(step.options.get(key) == value for key, value in (cannot.options or {}).items())
    )


def _is_switch(cannot: Cannot, fault: Fault, scenario: Scenario) -> bool:
    role, step_id = fault.filters.get("switch"), fault.filters.get("step")
    if role is None or step_id is None or cannot.switch not in ("any", role):
        return False
    return _is_step(cannot, scenario.step(step_id))


def plan_of(case: Case, clean: bool = False) -> dict[str, Any]:
    """The plan request's steps, handles and faults; `clean` leaves the faults out."""
    handles: dict[str, dict[str, Any]] = {}
    for step in case.scenario.steps:
        if step.verb in ("make", "foreign_context"):
            kind = driver_kind(step.kind or "", step.options)
            handles.setdefault(step.objects[0], {"name": step.objects[0], "kind": kind, "step": step.id})
    faults = [] if clean else [plan_fault(fault, case.point) for fault in case.scenario.faults]
    return {"steps": [step.id for step in case.scenario.steps], "handles": list(handles.values()), "faults": faults}


def plan_fault(fault: Fault, point: Point | None) -> dict[str, Any]:
    """One fault as the plan request has it."""
    entry: dict[str, Any] = {"label": fault.label, "effect": fault.effect, **fault.filters}
    if fault.call_of is not None:
        assert point is not None, "a case with `each call of` is run at its points"
        entry.update({"symbol": point.symbol, "step": point.step, "from": point.ordinal, "limit": 1})
    elif fault.symbol is not None:
        entry["symbol"] = fault.symbol
    else:
        entry["at"] = fault.at
    if fault.code is not None:
        entry["code"] = fault.code
    if fault.scope is not None:
        entry["scope"] = fault.scope
    return entry


def job_of(case: Case) -> dict[str, Any]:
    """What the child reads: the steps of one scenario for one subject."""
    steps = [
        {
            "id": step.id,
            "verb": step.verb,
            "objects": list(step.objects),
            "kind": step.kind,
            "options": dict(step.options),
            "may_raise": step.may_raise,
        }
        for step in case.scenario.steps
    ]
    return {"subject": case.subject.name, "steps": steps, "finalize": case.scenario.finalize}


def matrix_text(value: object) -> str:
    """A matrix value in one line, as reports show it and --only reads it."""
    if isinstance(value, dict):
        return ", ".join(f"{key} {matrix_text(item)}" for key, item in value.items())
    if isinstance(value, list):
        return ", ".join(matrix_text(item) for item in value)
    if isinstance(value, bool):
        return "true" if value else "false"
    return "null" if value is None else str(value)
