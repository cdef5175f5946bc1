# SPDX-License-Identifier: Apache-2.0
"""Scenarios expand over their matrix and subjects, and become plan requests, jobs and commands."""

from __future__ import annotations

from pathlib import Path

import pytest
from cufault.errors import ScenarioError
from cufault.scenario.expand import Case, Point, cases, job_of, matrix_text, plan_of
from cufault.scenario.load import ScenarioFile, parse
from cufault.subjects.protocol import Cannot, Subject

ABLE = Subject("able", "able", "python", "conforming", {"": "strict", "1.": "rfc"}, "a:B")
UNABLE = Subject(
    "unable",
    "unable",
    "python",
    "observed",
    {"": "rfc"},
    "a:B",
    cannot=(
        Cannot("makes no contexts", verb="make", kind="context"),
        Cannot("makes without switching", verb="make", switch="any"),
        Cannot("has no pinned memory", verb="make", kind="buffer", options={"memory": "pinned"}),
    ),
)
SUBJECTS = {"able": ABLE, "unable": UNABLE}


def file_of(steps: str, faults: str = "[]", more: str = "") -> ScenarioFile:
    text = f"scenario: one\nrules: [P12]\nsteps: {steps}\nfaults: {faults}\n{more}"
    return parse(text, "x.yaml", Path("x.yaml"), SUBJECTS)


def case_of(steps: str, faults: str = "[]", more: str = "") -> Case:
    return cases([file_of(steps, faults, more)], SUBJECTS)[0]


def test_a_matrix_makes_one_scenario_for_each_combination_in_order() -> None:
    file = file_of(
        "[{make: {'${kind}': x}}]",
        "[{at: each destroy, effect: '${effect}'}]",
        "matrix: {kind: [stream, event], effect: [{fail: CUDA_ERROR_UNKNOWN}, {sticky: CUDA_ERROR_ILLEGAL_ADDRESS}]}",
    )
    seen = [(s.steps[0].kind, s.faults[0].effect, matrix_text(s.matrix["effect"])) for s in file.scenarios]
    assert seen == [
        ("stream", "fail", "fail CUDA_ERROR_UNKNOWN"),
        ("stream", "sticky", "sticky CUDA_ERROR_ILLEGAL_ADDRESS"),
        ("event", "fail", "fail CUDA_ERROR_UNKNOWN"),
        ("event", "sticky", "sticky CUDA_ERROR_ILLEGAL_ADDRESS"),
    ]


def test_a_scenario_without_subjects_runs_on_all_that_need_no_gpu() -> None:
    found = cases([file_of("[{make: {stream: s}}]")], SUBJECTS)
    assert [case.subject.name for case in found] == ["able", "unable"]
    assert [case.subject.name for case in cases([file_of("[{make: {stream: s}}]")], SUBJECTS, ["unable"])] == ["unable"]


@pytest.mark.parametrize(
    ("steps", "faults", "reason"),
    [
        ("[{make: {context: c}}]", "[]", "makes no contexts"),
        (
            "[{make: {stream: s}}]",
            "[{at: cuCtxSetCurrent, step: make s, switch: restore, fail: CUDA_ERROR_UNKNOWN}]",
            "makes without switching",
        ),
        ("[{make: {stream: s}}]", "[{at: cuCtxSetCurrent, step: make s, fail: CUDA_ERROR_UNKNOWN}]", None),
        ("[{make: {buffer: b, memory: pinned}}]", "[]", "has no pinned memory"),
        ("[{make: {buffer: b, memory: plain}}]", "[]", None),
    ],
)
def test_what_a_subject_cannot_do_is_not_applicable_with_its_reason(
    steps: str, faults: str, reason: str | None
) -> None:
    able, unable = cases([file_of(steps, faults)], SUBJECTS)
    assert able.not_applicable is None
    assert unable.not_applicable == reason


def test_step_ids_say_verb_and_object_and_count_what_repeats() -> None:
    case = case_of("[{make: {stream: s}}, {use: s}, {use: [s, s]}, {use: s}, {use: s, id: mine}, collect]")
    assert [step.id for step in case.scenario.steps] == ["make s", "use s", "use s s", "use s #2", "mine", "collect"]


def test_the_plan_binds_each_name_to_the_step_that_makes_it() -> None:
    case = case_of(
        "[{make: {stream: s}}, {make: {buffer: b, memory: pinned}}, {foreign_context: f}]",
        "[{at: cuStreamDestroy, handle: s, nth: 2, fail: CUDA_ERROR_UNKNOWN}]",
    )
    assert plan_of(case) == {
        "steps": ["make s", "make b", "foreign_context f"],
        "handles": [
            {"name": "s", "kind": "stream", "step": "make s"},
            {"name": "b", "kind": "host_memory", "step": "make b"},
            {"name": "f", "kind": "context", "step": "foreign_context f"},
        ],
        "faults": [
            {
                "label": "f1",
                "effect": "fail",
                "from": 2,
                "limit": 1,
                "handle": "s",
                "at": "cuStreamDestroy",
                "code": "CUDA_ERROR_UNKNOWN",
            }
        ],
    }
    assert plan_of(case, clean=True)["faults"] == []


def test_each_call_of_a_step_becomes_one_entry_point_and_ordinal() -> None:
    case = case_of("[{make: {stream: s}}]", "[{at: each call of make s, fail: CUDA_ERROR_UNKNOWN}]")
    assert case.needs_points
    at = case.at(Point("cuStreamCreateWithPriority", 1, "make s"))
    assert not at.needs_points
    assert plan_of(at)["faults"] == [
        {
            "label": "f1",
            "effect": "fail",
            "symbol": "cuStreamCreateWithPriority",
            "step": "make s",
            "from": 1,
            "limit": 1,
            "code": "CUDA_ERROR_UNKNOWN",
        }
    ]


def test_each_call_of_a_step_chooses_ordinals_itself() -> None:
    with pytest.raises(ScenarioError, match="'nth' is not allowed"):
        case_of("[{make: {stream: s}}]", "[{at: each call of make s, nth: 1, fail: CUDA_ERROR_UNKNOWN}]")


def test_the_job_is_plain_json_for_the_child() -> None:
    case = case_of("[{make: {stream: s, priority: -1}}, {retry: make s}]", more="finalize: skip")
    assert job_of(case) == {
        "subject": "able",
        "finalize": "skip",
        "steps": [
            {
                "id": "make s",
                "verb": "make",
                "objects": ["s"],
                "kind": "stream",
                "options": {"priority": -1},
                "may_raise": True,
            },
            {
                "id": "retry make s",
                "verb": "retry",
                "objects": ["s"],
                "kind": "stream",
                "options": {"of": "make s"},
                "may_raise": True,
            },
        ],
    }


def test_the_longest_version_prefix_chooses_the_profile() -> None:
    assert ABLE.profile("1.2") == "rfc"
    assert ABLE.profile("2.0") == "strict"
