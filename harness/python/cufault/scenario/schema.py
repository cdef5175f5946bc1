# SPDX-License-Identifier: Apache-2.0
"""The JSON schema of scenario files, for editors: shapes only; the parser checks names of functions, codes, steps.

Any value may be `${name}` of the matrix, so every scalar also allows a text with a place in it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from cufault.scenario import grammar
from cufault.scenario.grammar import EFFECTS, KINDS, NODES, VERBS, Key

_PLACE = {"type": "string", "pattern": r"\$\{[^{}]+\}"}
_TEXT = {"type": ["string", "number", "boolean"]}
_ANY: dict[str, Any] = {}


def _or_place(form: dict[str, Any]) -> dict[str, Any]:
    return {"anyOf": [form, _PLACE]}


def _one_or_list(form: dict[str, Any]) -> dict[str, Any]:
    return {"anyOf": [form, {"type": "array", "items": form}]}


def _mapping(keys: Mapping[str, Key], required: Iterable[str] = ()) -> dict[str, Any]:
    needed = sorted({*required, *(name for name, key in keys.items() if key.required)})
    form: dict[str, Any] = {
        "type": "object",
        "additionalProperties": False,
        "properties": {name: _key(key) for name, key in keys.items()},
    }
    if needed:
        form["required"] = needed
    return form


def _key(key: Key) -> dict[str, Any]:
    return {"description": key.doc, **_form(key)}


def _form(key: Key) -> dict[str, Any]:
    make = _FORMS.get(key.type)
    return _TEXT if make is None else make(key)


_FORMS: Mapping[str, Callable[[Key], dict[str, Any]]] = {
    "boolean": lambda key: _or_place({"type": "boolean"}),
    "number": lambda key: _or_place({"type": "number"}),
    "true": lambda key: _or_place({"const": True}),
    "integer": lambda key: _or_place({"type": "integer", **({} if key.minimum is None else {"minimum": key.minimum})}),
    "choice": lambda key: _or_place({"enum": list(key.choices)}),
    "matrix": lambda key: {"type": "object", "additionalProperties": {"type": "array", "minItems": 1}},
    "texts": lambda key: _one_or_list(_TEXT),
    "steps": lambda key: _one_or_list(_TEXT),
    "names": lambda key: _one_or_list(_TEXT),
    "subjects": lambda key: _one_or_list(_TEXT),
    "rules": lambda key: {"type": "array", "items": _TEXT, "minItems": 1},
    "step list": lambda key: {"type": "array", "minItems": 1, "items": {"$ref": "#/$defs/step"}},
    "faults": lambda key: _or_place({"type": "array", "items": {"$ref": "#/$defs/fault"}}),
    "expect": lambda key: {"$ref": "#/$defs/expect"},
    "raises": lambda key: _one_or_list(_mapping(grammar.RAISES_KEYS)),
    "reported": lambda key: _one_or_list(_mapping(grammar.REPORTED_KEYS)),
    "nodes": lambda key: {
        "type": "array",
        "items": {
            "anyOf": [_mapping({kind: Key("text", "its name", required=True), **keys}) for kind, keys in NODES.items()]
        },
    },
    "effect": lambda key: _or_place(_mapping({**EFFECTS, "scope": grammar.FAULT_KEYS["scope"]})),
    "handle": lambda key: {"anyOf": [_TEXT, {"type": "object"}]},
    "thread": lambda key: {"anyOf": [_TEXT, {"type": "object"}]},
    "argument": lambda key: {"type": "object"},
}


def _verb(name: str) -> dict[str, Any]:
    spec = VERBS[name]
    forms: dict[str, dict[str, Any]] = {
        "make": {
            "anyOf": [
                _mapping({kind: Key("text", entry.doc, required=True), **entry.options})
                for kind, entry in KINDS.items()
            ]
        },
        "update": _mapping(grammar.UPDATE_KEYS),
        "names": _one_or_list(_TEXT),
        "nothing": {"type": "null"},
        "query": {"type": "object", "minProperties": 1, "maxProperties": 1},
        "filter": {"enum": list(grammar.WARNING_FILTERS)},
    }
    form = forms.get(spec.argument, _TEXT)
    if spec.argument == "make":
        form = {"anyOf": [*form["anyOf"], _PLACE, {"type": "object", "patternProperties": {r"^\$\{": _ANY}}]}
    keys = {**spec.keys, **grammar.COMMON_STEP_KEYS}
    return {
        "type": "object",
        "additionalProperties": False,
        "required": [name],
        "properties": {name: {"description": spec.doc, **form}, **{key: _key(value) for key, value in keys.items()}},
    }


def schema() -> dict[str, Any]:
    """The schema as JSON data, always the same for the same tables."""
    bare = [name for name, verb in VERBS.items() if verb.argument == "nothing"]
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "cufault scenario",
        "description": "Made from the parser's tables by `cufault schema`; the language is described in README.md.",
        **_mapping(grammar.TOP_KEYS),
        "$defs": {
            "step": {"anyOf": [*({"const": name} for name in bare), *(_verb(name) for name in VERBS)]},
            "fault": _mapping(grammar.FAULT_KEYS),
            "expect": _mapping(grammar.EXPECT_KEYS),
        },
    }
