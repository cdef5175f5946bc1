# SPDX-License-Identifier: Apache-2.0
"""Results whose every foreign text is an attack or an accident: tags, escapes, broken characters, megabytes."""

from __future__ import annotations

from typing import Any

import sample
from cufault_reports.results import Results

TEXT = (
    "</script><script>alert(1)</script><img src=x onerror=alert(2)> \" ' & ]]> {{ 7*7 }} {% raw %} "
    "| `code` ``` **bold** [link](http://evil.example/) @mention #12 [red]markup[/red] "
    "\x00\x01\x08\x0b\x1b[31m\x1b]0;title\x07\x7f\x85\x9b31m\ud800\ufffe\uffff\u2028\u202egnirts\r\nnext\tline"
)


def spoil(value: Any, text: str = TEXT) -> Any:
    """`value` with `text` after each string that is not empty, except for the words that the formats define."""
    fixed = {"status", "outcome", "standing"}
    if isinstance(value, str):
        return value and value + text
    if isinstance(value, list):
        return [spoil(each, text) for each in value]
    if isinstance(value, dict):
        return {key: each if key in fixed else spoil(each, text) for key, each in value.items()}
    return value


def results(text: str = TEXT) -> Results:
    plain = sample.results(
        sample.run(1, "reference"),
        sample.finding(2),
        sample.run(3, "reference", outcome="violation", verdict=sample.verdict("violated")),
        sample.run(4, "reference", outcome="harness_error", verdict=None),
        sample.run(5, outcome="not_applicable", verdict=None, not_applicable={"P12": "because"}),
    )
    spoilt: Results = spoil(plain, text)
    for run in spoilt["runs"]:
        run["not_applicable"] = {rule + text: reason for rule, reason in run["not_applicable"].items()}
    return spoilt
