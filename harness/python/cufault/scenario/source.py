# SPDX-License-Identifier: Apache-2.0
"""YAML with positions: composed by PyYAML's safe loader, never constructed; bounded in size, depth and nodes."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

import yaml

from cufault.errors import Position, ScenarioError

MAX_BYTES = 256 * 1024
MAX_DEPTH = 16
MAX_NODES = 20_000

Value: TypeAlias = str | int | float | bool | None
Node: TypeAlias = "Scalar | Items | Table"


@dataclass(frozen=True)
class Scalar:
    """One value; `text` is what the file says, `value` what YAML takes it for."""

    value: Value
    text: str
    position: Position


@dataclass(frozen=True)
class Items:
    """A sequence."""

    items: tuple[Node, ...]
    position: Position


@dataclass(frozen=True)
class Table:
    """A mapping with text keys; keys keep their own positions."""

    entries: dict[str, Node]
    keys: dict[str, Position]
    position: Position

    def key(self, name: str) -> Position:
        """Where a key stands, or where the mapping begins if it has no such key."""
        return self.keys.get(name, self.position)


def describe(node: Node) -> str:
    """What was read, for an error."""
    if isinstance(node, Table):
        return "a mapping"
    if isinstance(node, Items):
        return "a list"
    return "nothing" if node.value is None else repr(node.text)


_TAG = "tag:yaml.org,2002:"
_SCALARS = {_TAG + name for name in ("str", "int", "float", "bool", "null", "timestamp", "value", "merge")}
_values = yaml.constructor.SafeConstructor()


class _Reader:
    def __init__(self, file: str) -> None:
        self.file = file
        self.nodes = 0

    def at(self, mark: yaml.Mark | None) -> Position:
        return Position(self.file, 1, 1) if mark is None else Position(self.file, mark.line + 1, mark.column + 1)

    def convert(self, node: yaml.Node, depth: int) -> Node:
        position = self.at(node.start_mark)
        self.nodes += 1
        if self.nodes > MAX_NODES:
            raise ScenarioError(position, f"more than {MAX_NODES} values (aliases are counted where they are used)")
        if depth > MAX_DEPTH:
            raise ScenarioError(position, f"nested more than {MAX_DEPTH} deep")
        if isinstance(node, yaml.MappingNode) and node.tag == _TAG + "map":
            return self.table(node, position, depth)
        if isinstance(node, yaml.SequenceNode) and node.tag == _TAG + "seq":
            return Items(tuple(self.convert(item, depth + 1) for item in node.value), position)
        if isinstance(node, yaml.ScalarNode) and node.tag in _SCALARS:
            return Scalar(self.value(node, position), node.value, position)
        raise ScenarioError(position, f"the tag {node.tag!r} is not allowed (plain YAML values only)")

    def table(self, node: yaml.MappingNode, position: Position, depth: int) -> Table:
        entries: dict[str, Node] = {}
        keys: dict[str, Position] = {}
        for key_node, value_node in node.value:
            at = self.at(key_node.start_mark)
            if not isinstance(key_node, yaml.ScalarNode):
                raise ScenarioError(at, "a key must be text")
            key = key_node.value
            if key in entries:
                raise ScenarioError(at, f"the key {key!r} stands here again (first on line {keys[key].line})")
            keys[key] = at
            entries[key] = self.convert(value_node, depth + 1)
        return Table(entries, keys, position)

    def value(self, node: yaml.ScalarNode, position: Position) -> Value:
        kind = node.tag.removeprefix(_TAG)
        try:
            if kind == "int":
                return int(_values.construct_yaml_int(node))
            if kind == "float":
                return float(_values.construct_yaml_float(node))
            if kind == "bool":
                return bool(_values.construct_yaml_bool(node))
        except (ValueError, KeyError, IndexError, OverflowError) as error:
            raise ScenarioError(position, f"{node.value[:40]!r} is not a value of type {kind}") from error
        return None if kind == "null" else str(node.value)


def read_text(path: Path, file: str) -> str:
    """The text of a file within the bounds. Raises ScenarioError."""
    start = Position(file, 1, 1)
    try:
        with path.open("rb") as stream:
            data = stream.read(MAX_BYTES + 1)
    except OSError as error:
        raise ScenarioError(start, f"cannot be read: {error.strerror or error}") from error
    if len(data) > MAX_BYTES:
        raise ScenarioError(start, f"larger than {MAX_BYTES} bytes")
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        line = data[: error.start].count(b"\n") + 1
        column = error.start - (data.rfind(b"\n", 0, error.start) + 1) + 1
        raise ScenarioError(Position(file, line, column), "not UTF-8") from error


def compose(text: str, file: str) -> Node:
    """The one document of a YAML text. Raises ScenarioError for whatever is wrong with it."""
    reader = _Reader(file)
    try:
        root = yaml.compose(text, yaml.SafeLoader)
        if root is None:
            raise ScenarioError(Position(file, 1, 1), "the file is empty")
        return reader.convert(root, 0)
    except yaml.MarkedYAMLError as error:
        problem = error.problem or error.context or "not YAML"
        raise ScenarioError(reader.at(error.problem_mark or error.context_mark), problem) from error
    except yaml.reader.ReaderError as error:
        before = text[: error.position]
        position = Position(file, before.count("\n") + 1, len(before) - (before.rfind("\n") + 1) + 1)
        raise ScenarioError(position, "a character that YAML does not allow") from error
    except RecursionError as error:
        raise ScenarioError(Position(file, 1, 1), f"nested more than {MAX_DEPTH} deep") from error
