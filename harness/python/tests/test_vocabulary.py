# SPDX-License-Identifier: Apache-2.0
"""The names that the build took from the data files."""

from __future__ import annotations

import pytest
from cufault.errors import nearest, refusal
from cufault.scenario.grammar import KINDS
from cufault.vocabulary import vocabulary


def test_functions_know_their_variants_and_codes_their_numbers() -> None:
    words = vocabulary()
    assert {"cuStreamDestroy", "cuStreamDestroy_v2"} <= set(words.functions["cuStreamDestroy"])
    assert words.function_of["cuCtxCreate_v2"] == "cuCtxCreate"
    assert words.codes["CUDA_ERROR_ILLEGAL_ADDRESS"] == 700
    assert words.code_names[4] == "CUDA_ERROR_DEINITIALIZED"
    assert "cuStreamDestroy" in words.classes["destroy"]
    assert words.rules["P12"].by == "R"
    assert {"rfc", "strict"} <= set(words.profiles)


def test_every_kind_of_the_scenario_language_is_a_kind_of_the_drivers() -> None:
    assert {kind.driver_kind for kind in KINDS.values()} <= set(vocabulary().kinds)


@pytest.mark.parametrize(
    ("read", "right"),
    [
        ("cuStreamDestory", "cuStreamDestroy"),
        ("custreamdestroy", "cuStreamDestroy"),
        ("INVALID_CONTEXT", "CUDA_ERROR_INVALID_CONTEXT"),
        ("xyzzy", None),
        ("", None),
    ],
)
def test_the_nearest_name_is_close_or_none(read: str, right: str | None) -> None:
    words = vocabulary()
    assert nearest(read, [*words.functions, *words.codes]) == right


def test_a_refusal_lists_what_is_allowed_if_that_is_short() -> None:
    assert refusal("x", "b", ["a", "c"]) == "x: read 'b' (allowed: a, c)"
    assert "40 are allowed, such as 0, 1, 10" in refusal("x", "none", [str(n) for n in range(40)])
