# SPDX-License-Identifier: Apache-2.0
"""The `steps` of a scenario: from nodes to records."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from cufault.errors import Position, ScenarioError, refusal
from cufault.scenario import grammar
from cufault.scenario.fields import Fields, choice_of, list_of, refuse, table_of, text_of
from cufault.scenario.grammar import DEVICE, KINDS, NODES, NONE, VERBS, Key
from cufault.scenario.model import Step
from cufault.scenario.names import Names
from cufault.scenario.source import Node, Scalar, Table

MAX_STEPS = 500


class StepParser:
    """Parses one scenario's steps in order; `names` is what they have made so far."""

    def __init__(self) -> None:
        self.names = Names()
        self.steps: list[Step] = []
        self._arguments: dict[
            str, Callable[[Node, Fields, str], tuple[tuple[str, ...], str | None, dict[str, Any]]]
        ] = {
            "make": self._make,
            "names": self._use,
            "update": self._update,
            "name": self._one,
            "current": self._current,
            "new name": self._foreign,
            "query": self._query,
            "code": self._code,
            "nothing": self._nothing,
            "step": self._retry,
            "filter": self._filter,
        }

    def parse(self, node: Node) -> tuple[Step, ...]:
        """All steps. Raises ScenarioError."""
        items = list_of(node, "steps")
        if not items:
            refuse(node, "steps: the list is empty")
        if len(items) > MAX_STEPS:
            refuse(node, f"steps: {len(items)} steps, allowed are {MAX_STEPS}")
        for item in items:
            self.steps.append(self._step(item))
        return tuple(self.steps)

    def _step(self, node: Node) -> Step:
        if isinstance(node, Scalar):
            verb = choice_of(node, "step", [name for name, spec in VERBS.items() if spec.argument == "nothing"])
            node = Table({verb: Scalar(None, "", node.position)}, {verb: node.position}, node.position)
        table = table_of(node, "step")
        verb = self._verb(table)
        spec = VERBS[verb]
        fields = Fields(
            table,
            f"a step of verb {verb}",
            {verb: Key(spec.argument, spec.doc), **spec.keys, **grammar.COMMON_STEP_KEYS},
        )
        argument = fields.node(verb)
        step_id = self._id(fields, verb, argument)
        objects, kind, options = self._arguments[spec.argument](argument, fields, step_id)
        if "how" in fields:
            options["how"] = self._how(fields.node("how"), objects)
        return Step(step_id, verb, objects, kind, options, fields.boolean("may_raise", True), table.position)

    def _verb(self, table: Table) -> str:
        verbs = [key for key in table.entries if key in VERBS]
        if len(verbs) == 1:
            return verbs[0]
        if verbs:
            raise ScenarioError(table.keys[verbs[1]], f"one step has one verb: read {verbs[0]!r} and {verbs[1]!r}")
        others = [key for key in table.entries if key not in grammar.COMMON_STEP_KEYS]
        position = table.keys[others[0]] if others else table.position
        raise ScenarioError(position, refusal("unknown step verb", others[0] if others else "nothing", VERBS))

    def _id(self, fields: Fields, verb: str, argument: Node) -> str:
        taken = {step.id for step in self.steps}
        given = fields.text("id")
        if given is not None:
            if given in taken:
                raise ScenarioError(fields.table.entries["id"].position, f"the id {given!r} belongs to an earlier step")
            if len(given.encode()) > 100:
                raise ScenarioError(fields.table.entries["id"].position, "an id has at most 100 bytes")
            return given
        base = " ".join([verb, *self._about(verb, argument)])[:100]
        number = 1
        candidate = base
        while candidate in taken:
            number += 1
            candidate = f"{base} #{number}"
        return candidate

    @staticmethod
    def _about(verb: str, argument: Node) -> list[str]:
        """What a default id says after the verb."""
        if verb == "python":
            return []
        if isinstance(argument, Scalar):
            return [argument.text] if argument.value is not None else []
        if isinstance(argument, Table):
            if verb == "update":
                values = [argument.entries.get("graph"), argument.entries.get("node")]
                return [node.text for node in values if isinstance(node, Scalar)]
            if verb == "query":
                return list(argument.entries)
            first = next((node for key, node in argument.entries.items() if key in KINDS), None)
            return [first.text] if isinstance(first, Scalar) else []
        return [item.text for item in argument.items if isinstance(item, Scalar)]

    def _make(self, node: Node, fields: Fields, step_id: str) -> tuple[tuple[str, ...], str | None, dict[str, Any]]:
        table = table_of(node, "make")
        kinds = [key for key in table.entries if key in KINDS and isinstance(table.entries[key], Scalar)]
        options = {key for kind in KINDS.values() for key in kind.options}
        # An option may share its name with a kind ({buffer: b, pool: p}): then the first kind written is what is made.
        if not kinds:
            others = [key for key in table.entries if key not in options] or list(table.entries)
            position = table.keys[others[0]] if others else table.position
            raise ScenarioError(position, refusal("unknown kind to make", others[0] if others else "nothing", KINDS))
        kind = kinds[0]
        spec = KINDS[kind]
        inner = Fields(table, f"make {kind}", {kind: Key("new name", spec.doc, required=True), **spec.options})
        result: dict[str, Any] = {}
        for key, option in spec.options.items():
            if key not in inner:
                continue
            if option.type == "name":
                wanted = {"pool": "pool", "stream": "stream", "of": "graph"}[key]
                result[key] = self.names.live(inner.node(key), key, (wanted,))
            elif option.type == "choice":
                result[key] = inner.choice(key)
            elif option.type == "boolean":
                result[key] = inner.boolean(key, False)
            elif option.type == "integer":
                result[key] = inner.integer(key)
        if kind == "buffer" and ("pool" in result) != (result.get("memory") == "pool"):
            raise ScenarioError(table.position, "make buffer: `memory: pool` and `pool: NAME` go together")
        nodes, made_nodes = self._nodes(inner.node("nodes")) if "nodes" in inner else ([], {})
        if kind == "graph":
            result["nodes"] = nodes
        name = self.names.make(inner.node(kind), kind, step_id)
        if kind == "graph":
            self.names.nodes[name] = made_nodes
        return (name,), kind, result

    def _nodes(self, node: Node) -> tuple[list[dict[str, Any]], dict[str, str]]:
        result: list[dict[str, Any]] = []
        made: dict[str, str] = {}
        for item in list_of(node, "nodes"):
            table = table_of(item, "a graph's node")
            kind = next(iter(table.entries), "nothing")
            if kind not in NODES:
                raise ScenarioError(table.key(kind), refusal("unknown kind of node", kind, NODES))
            inner = Fields(table, f"a {kind} node", {kind: Key("text", "its name"), **NODES[kind]})
            name = text_of(inner.node(kind), "the name of a node")
            if name in made:
                raise ScenarioError(table.position, f"the graph has a node {name!r} already")
            made[name] = kind
            entry: dict[str, Any] = {"node": name, "kind": kind}
            if "buffer" in inner:
                entry["buffer"] = self.names.live(inner.node("buffer"), "buffer", ("buffer",))
            if "event" in inner:
                entry["event"] = self.names.live(inner.node("event"), "event", ("event",))
            if "value" in inner:
                entry["value"] = self._byte(inner)
            result.append(entry)
        return result, made

    @staticmethod
    def _byte(fields: Fields) -> int:
        value = fields.integer("value")
        if value is None or not 0 <= value <= 255:
            raise ScenarioError(fields.node("value").position, f"value: read {value}, allowed is 0 to 255")
        return value

    def _use(self, node: Node, fields: Fields, step_id: str) -> tuple[tuple[str, ...], str | None, dict[str, Any]]:
        names = tuple(self.names.live(item, "use", KINDS) for item in list_of(node, "use", one=True))
        kinds = {self.names.kinds[name] for name in names}
        return names, kinds.pop() if len(kinds) == 1 else None, {}

    def _how(self, node: Node, objects: tuple[str, ...]) -> str:
        allowed = set.intersection(*(set(KINDS[self.names.kinds[name]].uses) for name in objects)) if objects else set()
        return choice_of(node, "how", sorted(allowed))

    def _update(self, node: Node, fields: Fields, step_id: str) -> tuple[tuple[str, ...], str | None, dict[str, Any]]:
        inner = Fields(node, "update", grammar.UPDATE_KEYS)
        graph = self.names.live(inner.node("graph"), "graph", ("graph",))
        nodes = self.names.nodes.get(graph, {})
        name = choice_of(inner.node("node"), "node", nodes)
        result: dict[str, Any] = {"node": name, "kind": nodes[name]}
        wanted = {"memset": {"buffer", "value"}, "record": {"event"}}.get(nodes[name], set())
        for key in ("buffer", "value", "event"):
            if key in inner and key not in wanted:
                raise ScenarioError(inner.position(key), refusal(f"update of a {nodes[name]} node", key, wanted))
        if "buffer" in inner:
            result["buffer"] = self.names.live(inner.node("buffer"), "buffer", ("buffer",))
        if "event" in inner:
            result["event"] = self.names.live(inner.node("event"), "event", ("event",))
        if "value" in inner:
            result["value"] = self._byte(inner)
        if len(result) == 2:
            raise ScenarioError(inner.table.position, f"update of a {nodes[name]} node: nothing to change")
        return (graph,), "graph", result

    def _one(self, node: Node, fields: Fields, step_id: str) -> tuple[tuple[str, ...], str | None, dict[str, Any]]:
        verb = next(key for key in fields.table.entries if key in VERBS)
        wanted = ("buffer",) if verb == "deallocate" else tuple(KINDS)
        name = self.names.live(node, verb, wanted)
        if verb in ("drop", "deallocate"):
            self.names.gone[name] = step_id
        return (name,), self.names.kinds[name], {}

    def _current(self, node: Node, fields: Fields, step_id: str) -> tuple[tuple[str, ...], str | None, dict[str, Any]]:
        target = text_of(node, "set_current")
        if target in (DEVICE, NONE):
            return (), None, {"target": target}
        contexts = [name for name, kind in self.names.kinds.items() if kind in ("context", "foreign context")]
        if target not in contexts or target in self.names.gone:
            refuse(node, refusal("set_current", target, [DEVICE, NONE, *contexts]))
        return (target,), "context", {"target": target}

    def _foreign(self, node: Node, fields: Fields, step_id: str) -> tuple[tuple[str, ...], str | None, dict[str, Any]]:
        return (self.names.make(node, "foreign context", step_id),), "context", {}

    def _query(self, node: Node, fields: Fields, step_id: str) -> tuple[tuple[str, ...], str | None, dict[str, Any]]:
        table = table_of(node, "query")
        if len(table.entries) != 1:
            refuse(node, "query: one step reads one property, {NAME: PROPERTY}")
        name, prop = next(iter(table.entries.items()))
        if name == DEVICE:
            return (
                (),
                None,
                {"of": DEVICE, "property": choice_of(prop, "property of the device", grammar.DEVICE_QUERIES)},
            )
        self.names.live(Scalar(name, name, table.keys[name]), "query", KINDS)
        kind = self.names.kinds[name]
        return (name,), kind, {"of": name, "property": choice_of(prop, f"property of a {kind}", KINDS[kind].queries)}

    def _code(self, node: Node, fields: Fields, step_id: str) -> tuple[tuple[str, ...], str | None, dict[str, Any]]:
        code = text_of(node, "python")
        position = node.position
        try:
            compile(code, position.file, "exec")
        except SyntaxError as error:
            # A block scalar's text begins on the line below its mark.
            line = position.line + (error.lineno or 1)
            raise ScenarioError(Position(position.file, line, error.offset or 1), f"python: {error.msg}") from error
        except (ValueError, RecursionError, MemoryError, OverflowError) as error:
            raise ScenarioError(position, f"python: cannot be compiled: {error}") from error
        return (), None, {"code": code, "line": position.line, "file": position.file}

    def _nothing(self, node: Node, fields: Fields, step_id: str) -> tuple[tuple[str, ...], str | None, dict[str, Any]]:
        if not (isinstance(node, Scalar) and node.value is None):
            refuse(node, "collect: nothing is wanted here")
        return (), None, {}

    def _retry(self, node: Node, fields: Fields, step_id: str) -> tuple[tuple[str, ...], str | None, dict[str, Any]]:
        by_id = {step.id: step for step in self.steps if step.verb != "retry"}
        earlier = by_id[choice_of(node, "retry", by_id)]
        return earlier.objects, earlier.kind, {"of": earlier.id}

    def _filter(self, node: Node, fields: Fields, step_id: str) -> tuple[tuple[str, ...], str | None, dict[str, Any]]:
        return (), None, {"filter": choice_of(node, "warnings", grammar.WARNING_FILTERS)}
