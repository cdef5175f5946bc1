# SPDX-License-Identifier: Apache-2.0
"""The `faults` and `expect` of a scenario: from nodes to records, checked against the vocabulary and the steps."""

from __future__ import annotations

import re
from typing import Any

from cufault.errors import ScenarioError, refusal
from cufault.scenario import grammar
from cufault.scenario.fields import Fields, choice_of, list_of, refuse, table_of, text_of
from cufault.scenario.grammar import EFFECTS
from cufault.scenario.model import Expect, Fault, Step
from cufault.scenario.names import Names
from cufault.scenario.source import Node, Scalar, Table, describe
from cufault.vocabulary import vocabulary

_EACH_CALL = re.compile(r"each call of (.+)")
_HANDLE = re.compile(r"\$\{handle:([^}]*)\}")


def code_of(node: Node, what: str) -> str:
    """The name of a result; a number is refused with the name it has."""
    codes = vocabulary().codes
    name = text_of(node, what)
    if name not in codes or name == "CUDA_SUCCESS":
        named = vocabulary().code_names.get(int(name)) if name.isascii() and name.isdigit() and len(name) < 6 else None
        if named is not None:
            refuse(node, f"{what}: read {name}, results are written by name: {named}")
        refuse(node, refusal(f"{what}: no such result", name, [code for code in codes if code != "CUDA_SUCCESS"]))
    return name


class FaultParser:
    """Parses the faults of one scenario, whose steps are known."""

    def __init__(self, steps: tuple[Step, ...], names: Names) -> None:
        self._steps = [step.id for step in steps]
        self._names = names
        self._labels: list[str] = []

    def parse(self, node: Node) -> tuple[Fault, ...]:
        """All faults. Raises ScenarioError."""
        faults: list[Fault] = []
        for item in list_of(node, "faults"):
            faults.append(self._fault(item, len(faults) + 1))
            self._labels.append(faults[-1].label)
        return tuple(faults)

    def _fault(self, node: Node, number: int) -> Fault:
        fields = Fields(node, "a fault", grammar.FAULT_KEYS)
        at, symbol, call_of = self._target(fields)
        effect, code, scope = self._effect(fields)
        label = fields.text("label") or f"f{number}"
        if label in self._labels:
            raise ScenarioError(fields.position("label"), f"the label {label!r} belongs to an earlier fault")
        filters = self._filters(fields)
        if call_of is not None:
            clash = next((key for key in ("nth", "from", "every", "limit", "step", "switch") if key in fields), None)
            if clash is not None:
                raise ScenarioError(
                    fields.position(clash), f"`each call of` chooses step and ordinal itself: {clash!r} is not allowed"
                )
        return Fault(
            label,
            at,
            symbol,
            call_of,
            effect,
            code,
            scope,
            filters,
            fields.boolean("must_fire", True),
            fields.table.position,
        )

    def _target(self, fields: Fields) -> tuple[str | None, str | None, str | None]:
        if ("at" in fields) == ("symbol" in fields):
            raise ScenarioError(fields.table.position, "a fault has exactly one of `at` and `symbol`")
        words = vocabulary()
        if "symbol" in fields:
            name = text_of(fields.node("symbol"), "symbol")
            if name not in words.function_of:
                refuse(fields.node("symbol"), refusal("symbol: no such entry point", name, words.function_of))
            return None, name, None
        node = fields.node("at")
        at = text_of(node, "at")
        each_call = _EACH_CALL.fullmatch(at)
        if each_call is not None:
            if each_call[1] not in self._steps:
                refuse(node, refusal("each call of: no such step", each_call[1], self._steps))
            return None, None, each_call[1]
        if at.startswith("each "):
            if at[5:] not in words.classes:
                refuse(node, refusal("no such class of functions", at[5:], words.classes) + " or `each call of STEP`")
            return at, None, None
        if any(sign in at for sign in "*?["):
            if not words.matching(at):
                refuse(node, f"no function's name matches {at!r}")
            return at, None, None
        if at not in words.functions:
            plain = words.function_of.get(at)
            if plain is not None:
                refuse(node, f"{at!r} is one ABI variant: write `symbol: {at}`, or `at: {plain}` for all of them")
            refuse(node, refusal("no such driver function", at, words.functions))
        return at, None, None

    def _effect(self, fields: Fields) -> tuple[str, str | None, str | None]:
        if "effect" in fields:
            clash = next((name for name in (*EFFECTS, "scope") if name in fields), None)
            if clash is not None:
                raise ScenarioError(
                    fields.position(clash), f"`effect:` holds the effect: {clash!r} beside it is not allowed"
                )
            allowed = {**EFFECTS, "scope": grammar.FAULT_KEYS["scope"]}
            return self._effect(Fields(fields.node("effect"), "effect", allowed))
        names = [name for name in EFFECTS if name in fields]
        if len(names) != 1:
            position = fields.position(names[1]) if names else fields.table.position
            raise ScenarioError(
                position,
                f"a fault has exactly one effect: read {' and '.join(names) or 'none'} (allowed: {', '.join(EFFECTS)})",
            )
        effect = names[0]
        scope = fields.choice("scope")
        if scope is not None and effect != "sticky":
            raise ScenarioError(fields.position("scope"), f"`scope` belongs to `sticky`, not to {effect!r}")
        node = fields.node(effect)
        if EFFECTS[effect].type == "code":
            return effect, code_of(node, effect), scope
        if not (isinstance(node, Scalar) and node.value is True):
            refuse(node, f"{effect}: read {describe(node)}, allowed is true")
        return effect, None, scope

    def _filters(self, fields: Fields) -> dict[str, Any]:
        filters: dict[str, Any] = {}
        nth = fields.integer("nth")
        if nth is not None:
            clash = next((key for key in ("from", "every", "limit") if key in fields), None)
            if clash is not None:
                raise ScenarioError(fields.position(clash), f"`nth` is one call: {clash!r} beside it is not allowed")
            filters.update({"from": nth, "limit": 1})
        for key in ("from", "every", "limit", "seed"):
            value = fields.integer(key)
            if value is not None:
                filters[key] = value
        if "probability" in fields:
            filters["probability"] = fields.number("probability", 0.0, 1.0, 1.0)
        if "step" in fields:
            filters["step"] = choice_of(fields.node("step"), "step", self._steps)
        for key in ("switch", "nested"):
            if key in fields:
                filters[key] = fields.choice(key)
        if "after" in fields:
            filters["after"] = choice_of(fields.node("after"), "after", self._labels)
        if "handle" in fields:
            filters["handle"] = self._handle(fields.node("handle"))
        if "thread" in fields:
            filters["thread"] = self._thread(fields.node("thread"))
        if "argument" in fields:
            filters["argument"] = self._argument(fields.node("argument"))
        return filters

    def _handle(self, node: Node) -> str | dict[str, Any]:
        if not isinstance(node, Table):
            return self._names.known(node, "handle")
        inner = Fields(
            node,
            "handle",
            {
                "kind": grammar.Key("text", "a kind of roles.yaml", required=True),
                "ordinal": grammar.Key("integer", "the n-th made", minimum=1, required=True),
            },
        )
        return {"kind": choice_of(inner.node("kind"), "kind", vocabulary().kinds), "ordinal": inner.integer("ordinal")}

    @staticmethod
    def _thread(node: Node) -> str | dict[str, Any]:
        if not isinstance(node, Table):
            return choice_of(node, "thread", ("main",))
        inner = Fields(
            node, "thread", {"name": grammar.Key("text", "its name"), "ordinal": grammar.Key("integer", "", minimum=1)}
        )
        if ("name" in inner) == ("ordinal" in inner):
            refuse(node, "thread: exactly one of `name` and `ordinal`")
        return {"name": inner.text("name")} if "name" in inner else {"ordinal": inner.integer("ordinal")}

    @staticmethod
    def _argument(node: Node) -> dict[str, Any]:
        table = table_of(node, "argument")
        if len(table.entries) != 1:
            refuse(node, "argument: one argument, {INDEX: VALUE}")
        index, value = next(iter(table.entries.items()))
        if not (index.isascii() and index.isdigit()) or int(index[:4]) > 11:
            raise ScenarioError(table.keys[index], f"argument: read {index!r}, allowed is an index from 0 to 11")
        if (
            not isinstance(value, Scalar)
            or isinstance(value.value, bool)
            or not isinstance(value.value, int)
            or not 0 <= value.value < 2**64
        ):
            refuse(value, f"argument: read {describe(value)}, a whole number from 0 to 2^64 - 1 is wanted")
        return {"index": int(index), "compare": "equal", "value": hex(value.value)}


class ExpectParser:
    """Parses `expect` into the judge request's words."""

    def __init__(self, steps: tuple[Step, ...], names: Names) -> None:
        self._steps = [step.id for step in steps]
        self._names = names

    def parse(self, node: Node) -> Expect:
        """The expectations. Raises ScenarioError."""
        fields = Fields(node, "expect", grammar.EXPECT_KEYS)
        entries: dict[str, Any] = {}
        for name in fields.table.entries:
            value = fields.node(name)
            kind = grammar.EXPECT_KEYS[name].type
            if kind == "raises":
                entries[name] = [self._raises(item) for item in list_of(value, name, one=True)]
            elif kind == "reported":
                entries[name] = [self._reported(item) for item in list_of(value, name, one=True)]
            elif kind == "steps":
                entries[name] = [choice_of(item, name, self._steps) for item in list_of(value, name, one=True)]
            elif kind == "names":
                entries[name] = [self._names.known(item, name) for item in list_of(value, name, one=True)]
            else:
                entries[name] = fields.choice(name)
        return Expect(entries)

    def _raises(self, node: Node) -> dict[str, Any]:
        fields = Fields(node, "raises", grammar.RAISES_KEYS)
        return {
            "step": choice_of(fields.node("step"), "step", self._steps),
            "code": code_of(fields.node("code"), "code") if "code" in fields else None,
            "type": fields.text("type"),
        }

    def _reported(self, node: Node) -> dict[str, Any]:
        fields = Fields(node, "reported", grammar.REPORTED_KEYS)
        entry: dict[str, Any] = {}
        if "category" in fields:
            entry["category"] = fields.text("category")
        if "names" in fields:
            self._reported_names(fields, entry)
        if "handle" in fields:
            entry["handle"] = self._names.known(fields.node("handle"), "handle")
        if "count" in fields:
            entry["count"] = fields.integer("count")
        if not entry:
            refuse(node, "reported: nothing is asked for")
        return entry

    def _reported_names(self, fields: Fields, entry: dict[str, Any]) -> None:
        """Texts as they are; `${handle:s}` becomes the entry's handle, which the judge compares as a number."""
        names = []
        for item in list_of(fields.node("names"), "names", one=True):
            text = text_of(item, "names")
            place = _HANDLE.search(text)
            if place is None:
                names.append(text)
                continue
            if place[0] != text or "handle" in entry or "handle" in fields:
                refuse(item, "names: `${handle:NAME}` stands alone, and once in a report")
            entry["handle"] = self._names.known(Scalar(place[1], place[1], item.position), "${handle:...}")
        entry["names"] = names
