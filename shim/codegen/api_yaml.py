# SPDX-License-Identifier: Apache-2.0
"""Writes `driver_api.yaml`: sorted, one line a symbol where it fits, so that a change shows as the lines it is."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable

from records import Function, Sources, Spec, Symbol

WIDTH = 150
HEAD = """\
# SPDX-License-Identifier: Apache-2.0
# Every entry point of libcuda and its ABI variants. Written by `codegen/read_headers.py write`, which keeps notes and
# whatever it could not know; the grammar is in README.md.
"""


def _sequence(items: Iterable[str]) -> str:
    return "[" + ", ".join(items) + "]"


def _wrapped(indent: str, text: str) -> str:
    # YAML folds a line break inside brackets into nothing, so long lists may be wrapped at any blank after a comma.
    return "\n".join(
        textwrap.wrap(
            text,
            WIDTH,
            initial_indent=indent,
            subsequent_indent=indent + "  ",
            break_long_words=False,
            break_on_hyphens=False,
        )
    )


def _quoted(text: str) -> str:
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


def _symbol(symbol: Symbol) -> str:
    fields = []
    if symbol.since is not None:
        fields.append(f"since: {symbol.since}")
    if symbol.per_thread:
        fields.append("per_thread: true")
    if symbol.first_header is not None:
        fields.append(f"first_header: {_quoted(symbol.first_header)}")
    if symbol.exported is not None:
        fields.append(f"exported: {_sequence(map(_quoted, symbol.exported))}")
    if symbol.returns != "CUresult":
        fields.append(f"returns: {symbol.returns}")
    if symbol.note is not None:
        fields.append(f"note: {_quoted(symbol.note)}")
    if symbol.params is None:
        fields.append("signature: unknown")
    else:
        fields.append(f"params: {_sequence(param.text for param in symbol.params)}")
    return _wrapped("      ", f"{symbol.name}: {{{', '.join(fields)}}}")


def _function(function: Function) -> list[str]:
    lines = [f"  {function.name}:", f"    header: {function.header or 'none'}"]
    if function.note is not None:
        lines.append(f"    note: {_quoted(function.note)}")
    if function.results:
        lines.append(_wrapped("    ", f"results: {_sequence(function.results)}"))
    lines.append("    symbols:")
    lines += [_symbol(symbol) for symbol in function.symbols]
    return lines


def _sources(sources: Sources) -> str:
    headers = _sequence(map(_quoted, sources.headers))
    exports = _sequence(map(_quoted, sources.exports))
    return f"sources: {{headers: {headers}, stub: {_quoted(sources.stub)}, exports: {exports}}}"


def text(spec: Spec) -> str:
    """The whole file."""
    lines = ["format: 1", _sources(spec.sources), "functions:"]
    for _, function in sorted(spec.functions.items()):
        lines += _function(function)
    lines += [
        "# Variables in the driver's data segment: no call passes through them, so nothing here can reach them.",
        "data_objects:",
    ]
    lines += [f"  - {name}" for name in sorted(spec.data_objects)]
    return HEAD + "\n".join(lines) + "\n"
