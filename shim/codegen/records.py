# SPDX-License-Identifier: Apache-2.0
"""The records that the data files of `shim/spec` become."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import Final

# The order of each tuple is the numbering in the generated tables: append, never insert.
CLASSES: Final = (
    "create",
    "destroy",
    "context",
    "alloc",
    "free",
    "launch",
    "sync",
    "query",
    "graph",
    "module",
    "export",
    "capture",
    "memory",
    "other",
    "passes_through",
)
VERBS: Final = ("makes", "finds", "uses", "destroys", "retains", "releases")
FLAVOURS: Final = (
    "none",
    "plain",
    "async",
    "pool",
    "host",
    "managed",
    "registered",
    "graph",
    "ipc",
    "external",
)
SWITCHES: Final = ("none", "set", "push", "pop", "create", "destroy")
CONTEXT_NEEDS: Final = ("ignores", "needs", "switches")
STICKY: Final = ("no", "observed", "documented")


@dataclass(frozen=True)
class Param:
    """One parameter as its header declares it: type and name are the driver's own spelling."""

    type: str
    name: str

    @property
    def text(self) -> str:
        """The parameter as C writes it, e.g. `const char *name`."""
        return self.type + ("" if self.type.endswith("*") else " ") + self.name


@dataclass(frozen=True)
class Symbol:
    """One exported entry point: one ABI variant of a function."""

    name: str
    function: str
    # The CUDA version (1000 * major + 10 * minor) from which cuGetProcAddress knows it; none: not in any header.
    since: int | None
    # None: the signature is unknown, and the symbol can only be passed through.
    params: tuple[Param, ...] | None
    returns: str
    # True for _ptsz and _ptds: the null stream means the calling thread's own.
    per_thread: bool
    # The first CUDA header that declares it, if that is not the oldest one the spec was read from.
    first_header: str | None
    # Who exports it ("stub" or a driver version) if that is not everybody.
    exported: tuple[str, ...] | None
    # What a person had to say about it; an entry with a note stays when no source has it.
    note: str | None = None

    @property
    def known_signature(self) -> bool:
        """Whether a call can be written: without a signature only a jump can pass it on."""
        return self.params is not None


@dataclass(frozen=True)
class Role:
    """What a function does to the handle in one of its parameters."""

    verb: str
    kind: str
    # The parameter's names; more than one where ABI variants name it differently.
    args: tuple[str, ...]
    flavour: str = "none"
    # The parameter that says how many handles `args` points to, or points to that number; none: one.
    count: str | None = None
    # The parameter that says how many references come or go; none: one.
    times: str | None = None
    # The parameter with the object whose references they are; none: the caller's.
    holder: str | None = None
    # The member that holds the handle, if the parameter points to a structure.
    field: str | None = None
    # The variants it holds for; none: all.
    only: tuple[str, ...] | None = None
    # The parameter points to the handle, to several, or to a structure with it; otherwise it is the handle.
    pointer: bool = False


@dataclass(frozen=True)
class BoundRole:
    """A role in one symbol: positions of parameters, from 0, instead of names."""

    role: Role
    arg: int
    count: int | None
    times: int | None
    holder: int | None


@dataclass(frozen=True)
class Function:
    """A function by its plain name, which means every ABI variant of it."""

    name: str
    # The header's file name; none: known from a driver's exports only.
    header: str | None
    # What the header's comment says it may return; empty: the header does not say.
    results: tuple[str, ...]
    symbols: tuple[Symbol, ...]
    note: str | None = None
    classes: tuple[str, ...] = ()
    context: str = "ignores"
    switches: str = "none"
    may_block: bool = False
    may_call_back: bool = False
    roles: tuple[Role, ...] = ()


@dataclass(frozen=True)
class Kind:
    """A kind of driver object."""

    name: str
    # The C types that stand for it in a prototype.
    types: tuple[str, ...]
    # Kinds of owners whose end is its end too.
    dies_with: tuple[str, ...]
    # Whether the one who made it must destroy it; a node or a kernel goes with its owner.
    owned: bool
    means: str


@dataclass(frozen=True)
class Result:
    """One CUresult."""

    name: str
    value: int
    description: str
    # "observed", "documented" or "no": whether every later call of the process is affected.
    sticky: str
    first_header: str | None


@dataclass(frozen=True)
class FaultState:
    """What a function answered after a sticky fault: "success", or "fault" for the fault's code."""

    answer: str
    cases: tuple[str, ...]


@dataclass(frozen=True)
class Shutdown:
    """What functions answer in exit handlers that run after the driver's own teardown."""

    answer: str
    # Those recorded; no other function is known to differ.
    functions: tuple[str, ...]
    cases: tuple[str, ...]
    note: str


@dataclass(frozen=True)
class Sources:
    """What `driver_api.yaml` was read from: versions of headers, stub libraries and drivers."""

    headers: tuple[str, ...]
    stub: str
    exports: tuple[str, ...]


@dataclass(frozen=True)
class Spec:
    """The whole driver API as the data files state it."""

    functions: dict[str, Function]
    data_objects: tuple[str, ...]
    sources: Sources
    kinds: dict[str, Kind] = field(default_factory=dict)
    results: dict[str, Result] = field(default_factory=dict)
    after_sticky_fault: dict[str, FaultState] = field(default_factory=dict)
    after_shutdown: Shutdown | None = None

    @cached_property
    def symbols(self) -> tuple[Symbol, ...]:
        """Every entry point, sorted by name."""
        return tuple(sorted((s for f in self.functions.values() for s in f.symbols), key=lambda symbol: symbol.name))

    @cached_property
    def symbol(self) -> dict[str, Symbol]:
        """Every entry point by name."""
        return {symbol.name: symbol for symbol in self.symbols}

    def roles_of(self, symbol: Symbol) -> tuple[BoundRole, ...]:
        """The roles of one entry point; empty if its signature is unknown."""
        if symbol.params is None:
            return ()
        position = {param.name: index for index, param in enumerate(symbol.params)}

        def at(name: str | None) -> int | None:
            return None if name is None else position[name]

        return tuple(
            BoundRole(
                role=role,
                arg=next(position[name] for name in role.args if name in position),
                count=at(role.count),
                times=at(role.times),
                holder=at(role.holder),
            )
            for role in self.functions[symbol.function].roles
            if role.only is None or symbol.name in role.only
        )
