# SPDX-License-Identifier: Apache-2.0
"""Fault points of a recorded run are counted as a plan's rule counts."""

from __future__ import annotations

from typing import Any

from cufault.run.points import calls_of_step, sweep_points


def call(
    symbol: str,
    step: str | None = None,
    classes: tuple[str, ...] = (),
    switch: str = "none",
    pid: int = 1,
    nested: bool = False,
) -> dict[str, Any]:
    return {
        "symbol": symbol,
        "function": symbol.removesuffix("_v2"),
        "step": step,
        "classes": list(classes),
        "switch": switch,
        "pid": pid,
        "nested": nested,
    }


def test_the_calls_of_a_step_are_counted_within_it_and_nested_ones_left_out() -> None:
    calls = [
        call("cuA"),
        call("cuA", "make s"),
        call("cuB", "make s"),
        call("cuA", "make s"),
        call("cuA", "make s", nested=True),
    ]
    assert calls_of_step(calls, "make s") == [("cuA", 1), ("cuB", 1), ("cuA", 2)]


def test_a_sweep_takes_destroys_and_switches_with_the_ordinals_their_rules_will_see() -> None:
    destroy = ("destroy",)
    calls = [
        call("cuCtxSetCurrent", switch="enter"),
        call("cuStreamDestroy_v2", classes=destroy),
        call("cuMemFree_v2", classes=("free",)),
        call("cuCtxSetCurrent", switch="restore"),
        call("cuCtxSetCurrent"),
        call("cuCtxSetCurrent", switch="enter"),
        call("cuStreamDestroy_v2", classes=destroy),
        call("cuStreamCreate", classes=("create",)),
        call("cuStreamDestroy_v2", classes=destroy, nested=True),
        call("cuStreamDestroy_v2", classes=destroy, pid=2),
    ]
    assert [(str(point), point.process) for point in sweep_points(calls)] == [
        ("cuCtxSetCurrent@enter#1", 0),
        ("cuStreamDestroy_v2#1", 0),
        ("cuMemFree_v2#1", 0),
        ("cuCtxSetCurrent@restore#1", 0),
        ("cuCtxSetCurrent@enter#2", 0),
        ("cuStreamDestroy_v2#2", 0),
        ("cuStreamDestroy_v2#1", 1),
    ]


def test_a_destroy_that_also_switches_is_counted_in_its_role() -> None:
    calls = [
        call("cuCtxDestroy_v2", classes=("destroy",)),
        call("cuCtxDestroy_v2", classes=("destroy",), switch="restore"),
        call("cuCtxDestroy_v2", classes=("destroy",)),
    ]
    assert [str(point) for point in sweep_points(calls)] == [
        "cuCtxDestroy_v2#1",
        "cuCtxDestroy_v2@restore#1",
        "cuCtxDestroy_v2#3",
    ]
