# SPDX-License-Identifier: Apache-2.0
"""Reads `driver_api.yaml`: functions and their ABI variants."""

from __future__ import annotations

from pathlib import Path

from records import Function, Param, Sources, Spec, Symbol
from strict_yaml import Mapping
from strict_yaml import load as load_yaml


def _param(text: str, place: Mapping) -> Param:
    cut = max(text.rfind(" "), text.rfind("*")) + 1
    if not 0 < cut < len(text):
        raise place.error(f"'{text}' is not a type and a name", "params")
    return Param(text[:cut].strip(), text[cut:])


def _symbol(name: str, function: str, place: Mapping) -> Symbol:
    place.only(frozenset({"since", "params", "returns", "per_thread", "first_header", "exported", "signature", "note"}))
    unknown = place.take("signature", str, "known") == "unknown"
    if unknown == ("params" in place):
        raise place.error(f"{name} needs either 'params' or 'signature: unknown'")
    return Symbol(
        name=name,
        function=function,
        since=place.take("since", int) if "since" in place else None,
        params=None if unknown else tuple(_param(text, place) for text in place.texts("params")),
        returns=place.take("returns", str, "CUresult"),
        per_thread=place.take("per_thread", bool, False),
        first_header=place.take("first_header", str) if "first_header" in place else None,
        exported=place.texts("exported") if "exported" in place else None,
        note=place.take("note", str) if "note" in place else None,
    )


def load_api(folder: Path) -> Spec:
    """Only `driver_api.yaml`: functions and symbols, without roles, results and fault states. Raises SpecError."""
    top = load_yaml(folder / "driver_api.yaml")
    top.only(frozenset({"format", "sources", "functions", "data_objects"}))
    functions = {}
    entries = top.take("functions", Mapping)
    if list(entries) != sorted(entries):
        raise entries.error("the functions are not sorted by name")
    for name, entry in entries.items():
        if not isinstance(entry, Mapping):
            raise entries.error(f"{name} must be a mapping", name)
        entry.only(frozenset({"header", "results", "symbols", "note"}))
        header = entry.take("header", str)
        symbols = entry.take("symbols", Mapping)
        functions[name] = Function(
            name=name,
            header=None if header == "none" else header,
            results=entry.texts("results"),
            symbols=tuple(_symbol(symbol, name, symbols.take(symbol, Mapping)) for symbol in symbols),
            note=entry.take("note", str) if "note" in entry else None,
        )
    sources = top.take("sources", Mapping)
    sources.only(frozenset({"headers", "stub", "exports"}))
    return Spec(
        functions=functions,
        data_objects=top.texts("data_objects"),
        sources=Sources(sources.texts("headers"), sources.take("stub", str), sources.texts("exports")),
    )
