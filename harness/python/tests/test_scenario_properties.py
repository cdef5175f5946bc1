# SPDX-License-Identifier: Apache-2.0
"""Whatever a file holds, reading it ends in scenarios or in one refusal with a place: never in another exception."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import yaml
from cufault.errors import ScenarioError
from cufault.scenario import grammar
from cufault.scenario.expand import Point, cases, job_of, plan_of
from cufault.scenario.load import parse
from cufault.subjects.catalog import SUBJECTS
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

SCENARIOS = Path(__file__).resolve().parents[3] / "scenarios"
TEXTS = sorted(path.read_text(encoding="utf-8") for path in SCENARIOS.rglob("*.scenario.yaml"))

QUICK = settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow])

WORDS = st.sampled_from(
    sorted(
        {
            *grammar.TOP_KEYS,
            *grammar.VERBS,
            *grammar.KINDS,
            *grammar.FAULT_KEYS,
            *grammar.EXPECT_KEYS,
            *grammar.RAISES_KEYS,
            "s",
            "b",
            "g",
            "make s",
            "drop s",
            "cuStreamDestroy",
            "each destroy",
            "each call of make s",
            "P12",
            "reference",
            "CUDA_ERROR_UNKNOWN",
            "${code}",
            "${handle:s}",
            "code",
            "device",
            "none",
            "cu*Destroy",
            "x = 1",
            "${",
            "}",
        }
    )
)
SCALARS = WORDS | st.integers() | st.booleans() | st.none() | st.floats() | st.text(max_size=8)
TREES = st.recursive(
    SCALARS, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(WORDS, inner, max_size=4), max_leaves=20
)


def refusal_of(text: str) -> ScenarioError | None:
    try:
        file = parse(text, "x.yaml", Path("x.yaml"), SUBJECTS)
    except ScenarioError as error:
        return error
    for case in cases([file], SUBJECTS):
        plan_of(case.at(Point("cuInit", 1, "x")))
        job_of(case)
    return None


def read(text: str) -> None:
    refusal = refusal_of(text)
    if refusal is not None:
        assert refusal.position.line >= 1
        assert refusal.position.column >= 1
        assert str(refusal).startswith("x.yaml:")


def test_there_are_scenarios_to_start_from() -> None:
    assert len(TEXTS) >= 25


@QUICK
@given(st.data())
def test_a_scenario_file_with_bytes_changed_is_read_or_refused(data: st.DataObject) -> None:
    text = data.draw(st.sampled_from(TEXTS))
    for _ in range(data.draw(st.integers(1, 4))):
        at = data.draw(st.integers(0, len(text)))
        until = min(len(text), at + data.draw(st.integers(0, 6)))
        text = text[:at] + data.draw(st.text(max_size=4) | WORDS) + text[until:]
    read(text)


@QUICK
@given(st.data())
def test_a_scenario_file_with_lines_of_another_is_read_or_refused(data: st.DataObject) -> None:
    first, second = (data.draw(st.sampled_from(TEXTS)).splitlines() for _ in range(2))
    at, taken = data.draw(st.integers(0, len(first))), data.draw(st.integers(0, len(second)))
    read("\n".join([*first[:at], *second[taken : taken + 3], *first[at:]]))


@QUICK
@given(st.dictionaries(st.sampled_from(sorted(grammar.TOP_KEYS)), TREES))
def test_any_tree_of_the_languages_words_is_read_or_refused(tree: dict[str, Any]) -> None:
    read(
        yaml.safe_dump(
            {"scenario": "x", "rules": ["P12"], "steps": [{"make": {"stream": "s"}}], **tree}, allow_unicode=True
        )
    )


@QUICK
@given(TREES)
def test_any_tree_at_the_top_is_read_or_refused(tree: Any) -> None:
    read(yaml.safe_dump(tree))


@QUICK
@given(st.text(max_size=200))
def test_any_text_is_read_or_refused(text: str) -> None:
    read(text)


@QUICK
@given(st.lists(st.tuples(st.sampled_from(sorted(grammar.KINDS)), st.booleans()), min_size=1, max_size=6))
def test_objects_made_and_dropped_in_any_order_keep_their_steps(made: list[tuple[str, bool]]) -> None:
    steps: list[Any] = [{"make": {"graph": "base"}}]
    for number, (kind, dropped) in enumerate(made):
        steps.append({"make": {kind: f"o{number}", **({"of": "base"} if kind == "graph_exec" else {})}})
        if dropped:
            steps.append({"drop": f"o{number}"})
    text = yaml.safe_dump({"scenario": "x", "rules": ["P16"], "steps": steps})
    (scenario,) = parse(text, "x.yaml", Path("x.yaml"), SUBJECTS).scenarios
    assert len(scenario.steps) == len(steps)
    assert len({step.id for step in scenario.steps}) == len(steps)
