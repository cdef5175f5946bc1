# SPDX-License-Identifier: Apache-2.0
"""Reading one mapping against its table of keys: every refusal says what was read, what is allowed and where."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NoReturn

from cufault.errors import Position, ScenarioError, refusal
from cufault.scenario.grammar import Key
from cufault.scenario.source import Items, Node, Scalar, Table, describe


def refuse(node: Node, message: str) -> NoReturn:
    """A refusal at a node."""
    raise ScenarioError(node.position, message)


def text_of(node: Node, what: str) -> str:
    """A text; numbers and such count as the text that stands in the file."""
    if not isinstance(node, Scalar) or node.value is None or not node.text.strip():
        refuse(node, f"{what}: read {describe(node)}, a text is wanted")
    return node.text


def choice_of(node: Node, what: str, allowed: Iterable[str]) -> str:
    """One of the allowed names."""
    names = tuple(allowed)
    if not isinstance(node, Scalar) or node.value is None:
        refuse(node, refusal(what, describe(node), names))
    if node.text not in names:
        refuse(node, refusal(what, node.text, names))
    return node.text


def list_of(node: Node, what: str, one: bool = False) -> tuple[Node, ...]:
    """The items of a list; with `one`, a single value stands for a list of it."""
    if isinstance(node, Items):
        return node.items
    if one and not (isinstance(node, Scalar) and node.value is None):
        return (node,)
    refuse(node, f"{what}: read {describe(node)}, a list is wanted")


def table_of(node: Node, what: str) -> Table:
    """A mapping."""
    if not isinstance(node, Table):
        refuse(node, f"{what}: read {describe(node)}, a mapping is wanted")
    return node


class Fields:
    """A mapping whose keys have been checked."""

    def __init__(self, node: Node, what: str, keys: Mapping[str, Key]) -> None:
        self.table = table_of(node, what)
        self.what = what
        self.keys = keys
        for name, position in self.table.keys.items():
            if name not in keys:
                raise ScenarioError(position, refusal(f"unknown key in {what}", name, keys))
        for name, key in keys.items():
            if key.required and name not in self.table.entries:
                raise ScenarioError(self.table.position, f"{what}: the key {name!r} is missing ({key.doc})")

    def __contains__(self, name: str) -> bool:
        return name in self.table.entries

    def position(self, name: str) -> Position:
        """Where a key stands."""
        return self.table.key(name)

    def node(self, name: str) -> Node:
        """The value of a key that is there."""
        return self.table.entries[name]

    def text(self, name: str, default: str | None = None) -> str | None:
        """A text."""
        return text_of(self.node(name), name) if name in self else default

    def choice(self, name: str, default: str | None = None) -> str | None:
        """One of the key's choices."""
        return choice_of(self.node(name), name, self.keys[name].choices) if name in self else default

    def integer(self, name: str, default: int | None = None) -> int | None:
        """A whole number, not below the key's minimum and within 63 bits."""
        if name not in self:
            return default
        node = self.node(name)
        if not isinstance(node, Scalar) or isinstance(node.value, bool) or not isinstance(node.value, int):
            refuse(node, f"{name}: read {describe(node)}, a whole number is wanted")
        minimum = self.keys[name].minimum
        if (minimum is not None and node.value < minimum) or abs(node.value) >= 2**63:
            refuse(
                node, f"{name}: read {node.text[:40]}, allowed is {'any' if minimum is None else minimum} to 2^63 - 1"
            )
        return node.value

    def number(self, name: str, low: float, high: float, default: float) -> float:
        """A number from low (excluded) to high."""
        if name not in self:
            return default
        node = self.node(name)
        if not isinstance(node, Scalar) or isinstance(node.value, bool) or not isinstance(node.value, (int, float)):
            refuse(node, f"{name}: read {describe(node)}, a number is wanted")
        if not low < node.value <= high:
            refuse(node, f"{name}: read {node.text[:40]}, allowed is more than {low:g} and at most {high:g}")
        return float(node.value)

    def boolean(self, name: str, default: bool) -> bool:
        """true or false."""
        if name not in self:
            return default
        node = self.node(name)
        if not isinstance(node, Scalar) or not isinstance(node.value, bool):
            refuse(node, f"{name}: read {describe(node)}, true or false is wanted")
        return node.value
