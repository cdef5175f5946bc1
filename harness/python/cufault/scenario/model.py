# SPDX-License-Identifier: Apache-2.0
"""A scenario as records: what the parser makes and the runner works from. Every record knows its place in the file."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from cufault.errors import Position


@dataclass(frozen=True)
class Step:
    """One step. `objects` are the scenario names it is about; `options` is the verb's own argument, JSON-ready."""

    id: str
    verb: str
    objects: tuple[str, ...]
    kind: str | None
    options: Mapping[str, Any]
    may_raise: bool
    position: Position


@dataclass(frozen=True)
class Fault:
    """One fault. Exactly one of `at`, `symbol` and `call_of` is set; `filters` are the plan request's own keys."""

    label: str
    at: str | None
    symbol: str | None
    call_of: str | None
    effect: str
    code: str | None
    scope: str | None
    filters: Mapping[str, Any]
    must_fire: bool
    position: Position


@dataclass(frozen=True)
class Expect:
    """What must be seen, in the judge request's own words."""

    entries: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Scenario:
    """One scenario with one combination of its matrix filled in."""

    sentence: str
    rules: tuple[str, ...]
    subjects: tuple[str, ...] | None
    steps: tuple[Step, ...]
    faults: tuple[Fault, ...]
    expect: Expect
    profile: str | None
    driver: str | None
    timeout_s: float
    gpu: bool
    finalize: str
    matrix: Mapping[str, Any]
    position: Position

    def step(self, step_id: str) -> Step:
        """The step of that id. Raises KeyError."""
        for step in self.steps:
            if step.id == step_id:
                return step
        raise KeyError(step_id)
