# SPDX-License-Identifier: Apache-2.0
"""The scenario language as tables: its keys, verbs, kinds and effects. Parser, JSON schema and errors all read them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class Key:
    """One key of a mapping. `type`: text, texts, name, integer, number, boolean, choice, or the name of a form."""

    type: str
    doc: str
    choices: tuple[str, ...] = ()
    minimum: int | None = None
    required: bool = False


@dataclass(frozen=True)
class Kind:
    """A kind of object that a `make` step makes; `driver_kind` is its name in shim/spec/roles.yaml."""

    driver_kind: str
    doc: str
    options: Mapping[str, Key] = field(default_factory=dict)
    uses: tuple[str, ...] = ()
    queries: tuple[str, ...] = ()


@dataclass(frozen=True)
class Verb:
    """A step. `channel`: how a failure may leave it (observation format); `argument`: what stands behind the verb."""

    argument: str
    doc: str
    channel: str
    changes_context: bool = False
    keys: Mapping[str, Key] = field(default_factory=dict)


MEMORY = ("plain", "async", "pool", "pinned")

KINDS: Mapping[str, Kind] = {
    "stream": Kind(
        "stream",
        "a stream of the device's context",
        {"nonblocking": Key("boolean", "default true"), "priority": Key("integer", "default 0")},
        ("sync",),
        ("context", "priority"),
    ),
    "event": Kind(
        "event",
        "an event",
        {"timing": Key("boolean", "default false")},
        ("record", "query", "sync"),
        ("is_done", "context"),
    ),
    "buffer": Kind(
        "device_memory",
        "memory of the device or of the host",
        {
            "memory": Key("choice", "where it comes from; default async", MEMORY),
            "pool": Key("name", "a pool that a step made (memory: pool)"),
            "stream": Key("name", "a stream that a step made; default: the device's default stream"),
            "size": Key("integer", "bytes, default 256", minimum=1),
        },
        ("fill",),
        ("size", "device"),
    ),
    "pool": Kind("pool", "a memory pool", {}, ("allocate",), ("used",)),
    "context": Kind("context", "a plain context of the library's own", {}, ("enter",), ("device",)),
    "graph": Kind(
        "graph",
        "a graph",
        {"nodes": Key("nodes", "nodes in order, each depending on none")},
        ("instantiate",),
        ("nodes",),
    ),
    "graph_exec": Kind(
        "graph_exec",
        "an executable graph",
        {"of": Key("name", "the graph it is made from", required=True)},
        ("launch",),
    ),
}


def driver_kind(kind: str, options: Mapping[str, Any]) -> str:
    """A scenario's kind as shim/spec/roles.yaml names it."""
    if kind == "foreign context":
        return "context"
    return "host_memory" if options.get("memory") == "pinned" else KINDS[kind].driver_kind


DEVICE = "device"
NONE = "none"
DEVICE_QUERIES = ("context", "name", "uuid")

NODES: Mapping[str, Mapping[str, Key]] = {
    "empty": {},
    "memset": {"buffer": Key("name", "what it fills", required=True), "value": Key("integer", "the byte, default 1")},
    "record": {"event": Key("name", "what it records", required=True)},
}

COMMON_STEP_KEYS: Mapping[str, Key] = {
    "id": Key("text", "default: verb and object, `drop s`; a second one like it gets ` #2`"),
    "may_raise": Key("boolean", "false: an exception here ends the scenario's steps; default true"),
}

VERBS: Mapping[str, Verb] = {
    "make": Verb("make", "makes an object and gives it a name", "raises"),
    "use": Verb(
        "names",
        "one ordinary operation of each object",
        "raises",
        keys={"how": Key("text", "which operation, where a kind has several")},
    ),
    "update": Verb("update", "new parameters for a graph's node", "raises"),
    "close": Verb("name", "the object's explicit close(); the library may raise or report", "either"),
    "deallocate": Verb("name", "a buffer's memory is given back through its resource's deallocate()", "raises"),
    "drop": Verb("name", "the last reference goes: destruction that cannot raise", "implicit"),
    "set_current": Verb(
        "current",
        "`device`: Device.set_current(); NAME: that context; `none`: a raw call makes none current",
        "raises",
        True,
    ),
    "foreign_context": Verb(
        "new name", "a context that the library knows nothing of becomes current, by raw driver calls", "free", True
    ),
    "query": Verb("query", "reads a property of an object", "raises"),
    "python": Verb("code", "free Python, with the objects by name", "free"),
    "collect": Verb("nothing", "a garbage collection", "implicit"),
    "retry": Verb("step", "does an earlier step again", "raises"),
    "warnings": Verb("filter", "the warning filter from here on", "free"),
}

WARNING_FILTERS = ("error", "always")

EFFECTS: Mapping[str, Key] = {
    "fail": Key("code", "the call is skipped and answers this"),
    "call_then_fail": Key("code", "the call happens and answers this"),
    "sticky": Key("code", "this call and, as recorded on hardware, later ones answer this"),
    "deinitialize": Key("true", "from this call on everything answers CUDA_ERROR_DEINITIALIZED"),
    "missing": Key("true", "the function is not in this driver"),
}

SWITCHES = ("enter", "restore")
NESTED = ("no", "also", "only")
SCOPES = ("observed", "documented")

FAULT_KEYS: Mapping[str, Key] = {
    "at": Key("target", "a function's plain name, a glob, `each CLASS`, or `each call of STEP`"),
    "symbol": Key("symbol", "exactly one exported entry point"),
    "label": Key("text", "what reports call it; default f1, f2 ..."),
    "nth": Key("integer", "only the n-th matching call", minimum=1),
    "from": Key("integer", "the first matching call that fails", minimum=1),
    "every": Key("integer", "then every k-th", minimum=1),
    "limit": Key("integer", "at most so often", minimum=1),
    "probability": Key("number", "of failing where the ordinal allows it"),
    "seed": Key("integer", "of that fault's own generator", minimum=0),
    "step": Key("step", "only inside this step"),
    "handle": Key("handle", "only calls on the object that a step made, or {kind: K, ordinal: N}"),
    "switch": Key("choice", "only a context switch of this role", SWITCHES),
    "after": Key("text", "only once the fault of this label has fired"),
    "nested": Key("choice", "calls inside a driver callback; default no", NESTED),
    "thread": Key("thread", "main, {name: N} or {ordinal: N}"),
    "argument": Key("argument", "{INDEX: VALUE}: only where the argument equals the value"),
    "must_fire": Key("boolean", "false allows it not to fire; default true"),
    "scope": Key("choice", "of a sticky fault; default observed", SCOPES),
    "effect": Key("effect", "a mapping of one effect (and its scope), for use with a matrix"),
    **EFFECTS,
}

EXPECT_KEYS: Mapping[str, Key] = {
    "raises": Key("raises", "exceptions: {step, code, type}, one or a list"),
    "reported": Key("reported", "reports: {category, names, handle, count}, one or a list"),
    "silent": Key("steps", "steps that show nothing"),
    "indeterminate": Key("names", "objects whose destroy was failed"),
    "leaked": Key("names", "objects that are still there at the end"),
    "destroyed": Key("names", "objects that are gone at the end"),
    "context_unchanged": Key("steps", "steps that leave the current context as it was"),
    "ends": Key("choice", "how the process ends", ("normally", "by signal")),
}

UPDATE_KEYS: Mapping[str, Key] = {
    "graph": Key("name", "the graph", required=True),
    "node": Key("text", "one of its nodes", required=True),
    "buffer": Key("name", "what a memset node fills now"),
    "value": Key("integer", "the byte that a memset node writes now"),
    "event": Key("name", "what a record node records now"),
}

RAISES_KEYS: Mapping[str, Key] = {
    "step": Key("step", "the step it leaves", required=True),
    "code": Key("code", "the result it carries"),
    "type": Key("text", "its class"),
}

REPORTED_KEYS: Mapping[str, Key] = {
    "category": Key("text", "the warning's class"),
    "names": Key("texts", "texts that the message has; `${handle:s}` is the handle of s"),
    "handle": Key("name", "the object whose handle it names"),
    "count": Key("integer", "how many of them, default at least one", minimum=0),
}

DRIVERS = ("simulated", "real")

TOP_KEYS: Mapping[str, Key] = {
    "scenario": Key("text", "one sentence, unique in a run", required=True),
    "rules": Key("rules", "the rules that this scenario must exercise", required=True),
    "subject": Key("subjects", "who runs it, unchanged; default: all that need no GPU"),
    "steps": Key("step list", "what is done", required=True),
    "matrix": Key("matrix", "one run per combination; `${name}` below is replaced by a value"),
    "faults": Key("faults", "what the driver refuses meanwhile"),
    "expect": Key("expect", "what must be seen, beyond the rules"),
    "profile": Key("profile", "judged by; default: the subject's own"),
    "driver": Key("choice", "default: what the command line says", DRIVERS),
    "timeout": Key("number", "seconds, default 30"),
    "gpu": Key("choice", "required: runs on hardware only", ("required",)),
    "finalize": Key("choice", "how the child ends; default normal", ("normal", "skip")),
}
