# SPDX-License-Identifier: Apache-2.0
"""Makes `cufault/api_table.h`: the driver API as constant tables for the shim, the simulated driver and the judge."""

from __future__ import annotations

import sys
from collections.abc import Hashable, Iterable, Sequence
from typing import Generic, TypeVar

from records import CLASSES, CONTEXT_NEEDS, FLAVOURS, STICKY, SWITCHES, VERBS, BoundRole, Param, Spec
from render import job, render
from spec import load

T = TypeVar("T", bound=Hashable)

# How a role's optional parameter positions are written when there is none.
NO_ARG = 255


class Pool(Generic[T]):
    """Runs of items in one array; equal runs are stored once."""

    def __init__(self) -> None:
        self.items: list[T] = []
        self._at: dict[tuple[T, ...], int] = {}

    def first(self, run: Iterable[T]) -> int:
        """The index at which `run` stands in `items`."""
        key = tuple(run)
        if key not in self._at:
            self._at[key] = len(self.items) if key else 0
            self.items.extend(key)
        return self._at[key]


def fnv1a(texts: Sequence[str]) -> int:
    """64-bit FNV-1a over all texts, each with its closing NUL."""
    value = 0xCBF29CE484222325
    for text in texts:
        for byte in text.encode() + b"\0":
            value = (value ^ byte) * 0x100000001B3 % 2**64
    return value


def _role(bound: BoundRole) -> dict[str, object]:
    role = bound.role
    return {
        "verb": role.verb,
        "kind": role.kind,
        "flavour": role.flavour,
        "pointer": role.pointer,
        "field": role.field,
        "out": role.pointer and role.verb in {"makes", "finds", "retains"},
        "arg": bound.arg,
        "count": NO_ARG if bound.count is None else bound.count,
        "times": NO_ARG if bound.times is None else bound.times,
        "holder": NO_ARG if bound.holder is None else bound.holder,
    }


def values(spec: Spec) -> dict[str, object]:
    """What the template needs, in its final order."""
    params: Pool[Param] = Pool()
    roles: Pool[BoundRole] = Pool()
    documented: Pool[int] = Pool()
    family: Pool[int] = Pool()
    functions = [spec.functions[name] for name in sorted(spec.functions)]
    results = sorted(spec.results.values(), key=lambda result: result.value)
    function_index = {function.name: index for index, function in enumerate(functions)}
    symbol_index = {symbol.name: index for index, symbol in enumerate(spec.symbols)}
    result_index = {result.name: index for index, result in enumerate(results)}

    symbols = []
    for symbol in spec.symbols:
        bound = spec.roles_of(symbol)
        symbols.append(
            {
                "name": symbol.name,
                "function": function_index[symbol.function],
                "since": symbol.since or 0,
                "params_first": params.first(symbol.params or ()),
                "argc": len(symbol.params or ()),
                "roles_first": roles.first(bound),
                "roles_count": len(bound),
                "per_thread": symbol.per_thread,
                "returns_result": symbol.known_signature and symbol.returns == "CUresult",
                "known_signature": symbol.known_signature,
            }
        )

    rows = []
    for function in functions:
        state = spec.after_sticky_fault.get(function.name)
        rows.append(
            {
                "function": function,
                "classes": sum(1 << CLASSES.index(name) for name in function.classes),
                "after_sticky_fault": state.answer if state else "unrecorded",
                "results_first": documented.first(result_index[name] for name in function.results),
                "symbols_first": family.first(symbol_index[symbol.name] for symbol in function.symbols),
            }
        )

    return {
        "classes": CLASSES,
        "verbs": VERBS,
        "flavours": FLAVOURS,
        "context_needs": CONTEXT_NEEDS,
        "switches": SWITCHES,
        "stickiness": STICKY,
        "kinds": list(spec.kinds.values()),
        "api_hash": fnv1a([symbol.name for symbol in spec.symbols] + list(spec.kinds)),
        "symbols": symbols,
        "functions": rows,
        "results": results,
        "results_by_name": sorted(range(len(results)), key=lambda index: results[index].name),
        "params": params.items,
        "roles": [_role(role) for role in roles.items],
        "documented": documented.items,
        "family": family.items,
        "no_arg": NO_ARG,
    }


def main(argv: list[str]) -> int:
    """The command line: see render.job."""
    asked = job(argv, (__doc__ or "").strip())
    render(asked, "tables.py", values(load(asked.spec)))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
