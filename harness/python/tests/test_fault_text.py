# SPDX-License-Identifier: Apache-2.0
"""Faults in one word, as command lines and marks write them."""

from __future__ import annotations

import contextlib
from typing import Any

import pytest
from cufault.errors import UsageError
from cufault.fault_text import parse_fault
from hypothesis import given
from hypothesis import strategies as st


@pytest.mark.parametrize(
    ("text", "meaning"),
    [
        (
            "cuStreamDestroy#1=CUDA_ERROR_INVALID_CONTEXT",
            {"at": "cuStreamDestroy", "effect": "fail", "code": "CUDA_ERROR_INVALID_CONTEXT", "from": 1, "limit": 1},
        ),
        (
            "cuMemAlloc#2:sticky=CUDA_ERROR_ILLEGAL_ADDRESS",
            {"at": "cuMemAlloc", "effect": "sticky", "code": "CUDA_ERROR_ILLEGAL_ADDRESS", "from": 2, "limit": 1},
        ),
        (
            "cuCtxSetCurrent@restore=CUDA_ERROR_DEINITIALIZED",
            {"at": "cuCtxSetCurrent", "effect": "fail", "code": "CUDA_ERROR_DEINITIALIZED", "switch": "restore"},
        ),
        (
            "each destroy#3+=CUDA_ERROR_UNKNOWN",
            {"at": "each destroy", "effect": "fail", "code": "CUDA_ERROR_UNKNOWN", "from": 3},
        ),
        ("cuGraphCreate:deinitialize", {"at": "cuGraphCreate", "effect": "deinitialize"}),
        ("cuGraph*:missing", {"at": "cuGraph*", "effect": "missing"}),
        (
            "cuStreamDestroy_v2:call_then_fail=CUDA_ERROR_UNKNOWN",
            {"symbol": "cuStreamDestroy_v2", "effect": "call_then_fail", "code": "CUDA_ERROR_UNKNOWN"},
        ),
    ],
)
def test_a_fault_means_one_rule_of_the_plan(text: str, meaning: dict[str, Any]) -> None:
    assert parse_fault(text, "f1") == {"label": "f1", **meaning}


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("cuStreamDestory=CUDA_ERROR_UNKNOWN", "did you mean 'cuStreamDestroy'?"),
        ("cuStreamDestroy=CUDA_ERROR_UNKNWON", "did you mean 'CUDA_ERROR_UNKNOWN'?"),
        ("cuStreamDestroy:stciky=CUDA_ERROR_UNKNOWN", "did you mean 'sticky'?"),
        ("each destory=CUDA_ERROR_UNKNOWN", "did you mean 'destroy'?"),
        ("cuCtxSetCurrent@restor=CUDA_ERROR_UNKNOWN", "did you mean 'restore'?"),
        ("cuStreamDestroy", "needs =CODE"),
        ("cuStreamDestroy=", "no such result"),
        ("cuStreamDestroy:missing=CUDA_ERROR_UNKNOWN", "takes no =CODE"),
        ("cuStreamDestroy#0=CUDA_ERROR_UNKNOWN", "N from 1"),
        ("cuStreamDestroy#x=CUDA_ERROR_UNKNOWN", "N from 1"),
        ("cuNothing*=CUDA_ERROR_UNKNOWN", "no function's name matches"),
        ("cuStreamDestroy=CUDA_SUCCESS", "no such result"),
        ("", "is wanted"),
        ("#1", "is wanted"),
    ],
)
def test_a_fault_that_says_nothing_possible_is_refused_with_the_reason(text: str, says: str) -> None:
    with pytest.raises(UsageError) as caught:
        parse_fault(text, "f1")
    assert says in str(caught.value)


@given(st.text(alphabet="cuStreamDestroy#@:=+123_ERROR*?[ ", max_size=40))
def test_any_text_is_a_fault_or_refused(text: str) -> None:
    with contextlib.suppress(UsageError):
        assert parse_fault(text, "f1")["effect"]
