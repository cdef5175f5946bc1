# SPDX-License-Identifier: Apache-2.0
"""Reads `roles.yaml`, `results.yaml` and `fault_states.yaml`, and joins them with the functions they speak of."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

from records import (
    CLASSES,
    CONTEXT_NEEDS,
    FLAVOURS,
    STICKY,
    SWITCHES,
    VERBS,
    FaultState,
    Function,
    Kind,
    Result,
    Role,
    Shutdown,
    Spec,
    Symbol,
)
from strict_yaml import Mapping
from strict_yaml import load as load_yaml

_ROLE_KEYS = frozenset({"kind", "arg", "flavour", "count", "times", "holder", "field", "only"})
_FUNCTION_KEYS = frozenset({"class", "context", "switches", "may_block", "may_call_back", *VERBS})


def _one_of(place: Mapping, key: str, allowed: tuple[str, ...], default: str | None = None) -> str:
    value = place.take(key, str, default)
    if value not in allowed:
        raise place.error(f"'{key}' is one of {', '.join(allowed)}, not '{value}'", key)
    return value


def _results(folder: Path, api: Spec) -> dict[str, Result]:
    top = load_yaml(folder / "results.yaml")
    top.only(frozenset({"format", "recorded", "results"}))
    results = {}
    values: dict[int, str] = {}
    entries = top.take("results", Mapping)
    for name in entries:
        entry = entries.take(name, Mapping)
        entry.only(frozenset({"value", "description", "sticky", "first_header"}))
        value = entry.take("value", int)
        if value in values:
            raise entry.error(f"{name} has the value of {values[value]}")
        values[value] = name
        results[name] = Result(
            name=name,
            value=value,
            description=entry.take("description", str),
            sticky=_one_of(entry, "sticky", STICKY, "no"),
            first_header=entry.take("first_header", str) if "first_header" in entry else None,
        )
    for function in api.functions.values():
        for code in function.results:
            if code not in results:
                raise entries.error(f"{code} is missing, which {function.name} is documented to return")
    return results


def _kinds(top: Mapping) -> dict[str, Kind]:
    kinds = {}
    entries = top.take("kinds", Mapping)
    for name in entries:
        entry = entries.take(name, Mapping)
        entry.only(frozenset({"types", "dies_with", "owned", "means"}))
        kinds[name] = Kind(
            name,
            entry.texts("types"),
            entry.texts("dies_with"),
            entry.take("owned", bool, True),
            entry.take("means", str),
        )
        if not kinds[name].types:
            raise entry.error(f"{name} has no C type")
    for name, kind in kinds.items():
        for owner in kind.dies_with:
            if owner not in kinds:
                raise entries.take(name, Mapping).error(f"no kind is called '{owner}'", "dies_with")
    return kinds


# Kinds that begin at a handle the caller already has: a capture on its stream, a registration of its host memory, a
# mapping at its address, a descriptor in its own memory, an endpoint at its number.
_IN_PLACE = frozenset({"capture", "host_memory", "vmm_mapping", "tensor_map", "logical_endpoint"})


def _points(place: Mapping, symbol: Symbol, role: Role, types: tuple[str, ...]) -> bool:
    """Whether the role's parameter of `symbol` points to the handle. Raises SpecError if a parameter does not fit."""
    params = {param.name: param for param in symbol.params or ()}
    param = next((params[name] for name in role.args if name in params), None)
    if param is None:
        raise place.error(f"{symbol.name} has no parameter {' or '.join(role.args)}", "arg")
    for key, name in (("count", role.count), ("times", role.times), ("holder", role.holder)):
        if name is not None and name not in params:
            raise place.error(f"{symbol.name} has no parameter {name}", key)
    if role.field is not None:
        return True
    base = re.sub(r"^const |[* ]+$", "", param.type)
    base = re.sub(r"_v\d+$", "", base)
    if base not in types:
        raise place.error(f"'{param.text}' of {symbol.name} is no {role.kind} ({', '.join(types)})", "arg")
    # Host memory and tensor maps are named by their address, so that their own star is no level of indirection.
    stars = param.type.count("*") - (1 if base in {"void", "CUtensorMap"} else 0)
    if role.verb in {"makes", "finds"} and stars == 0 and role.kind not in _IN_PLACE:
        raise place.error(f"'{param.text}' of {symbol.name} cannot carry a {role.kind} out", "arg")
    return stars > 0


def _role(place: Mapping, verb: str, kinds: dict[str, Kind], function: Function) -> Role:
    place.only(_ROLE_KEYS)
    kind = _one_of(place, "kind", tuple(kinds))
    role = Role(
        verb=verb,
        kind=kind,
        args=place.texts("arg") if isinstance(place.get("arg"), list) else (place.take("arg", str),),
        flavour=_one_of(place, "flavour", FLAVOURS, "none"),
        count=place.take("count", str) if "count" in place else None,
        times=place.take("times", str) if "times" in place else None,
        holder=place.take("holder", str) if "holder" in place else None,
        field=place.take("field", str) if "field" in place else None,
        only=place.texts("only") if "only" in place else None,
    )
    names = {symbol.name for symbol in function.symbols}
    for name in role.only or ():
        if name not in names:
            raise place.error(f"{function.name} has no variant {name}", "only")
    concerned = [s for s in function.symbols if s.known_signature and (role.only is None or s.name in role.only)]
    if not concerned:
        raise place.error(f"no variant of {function.name} has a known signature")
    points = {_points(place, symbol, role, kinds[kind].types) for symbol in concerned}
    if len(points) != 1:
        raise place.error("the parameter is a pointer in some variants only: write one role for each, with 'only'")
    return replace(role, pointer=points.pop())


def _function(place: Mapping, function: Function, kinds: dict[str, Kind]) -> Function:
    place.only(_FUNCTION_KEYS)
    classes = place.texts("class")
    for name in classes:
        if name not in CLASSES:
            raise place.error(f"no class is called '{name}' (there are: {', '.join(CLASSES)})", "class")
    if not classes:
        raise place.error("a function needs a class")
    context = _one_of(place, "context", CONTEXT_NEEDS)
    switches = _one_of(place, "switches", SWITCHES, "none")
    if (context == "switches") != (switches != "none"):
        raise place.error("'context: switches' and 'switches' go together")
    return replace(
        function,
        classes=classes,
        context=context,
        switches=switches,
        may_block=place.take("may_block", bool, False),
        may_call_back=place.take("may_call_back", bool, False),
        roles=tuple(_role(entry, verb, kinds, function) for verb in VERBS for entry in place.maps(verb)),
    )


def _fault_states(folder: Path, spec: Spec) -> tuple[dict[str, FaultState], Shutdown]:
    top = load_yaml(folder / "fault_states.yaml")
    top.only(frozenset({"format", "recorded", "after_sticky_fault", "after_shutdown"}))
    states = {}
    entries = top.take("after_sticky_fault", Mapping)
    for name in entries:
        entry = entries.take(name, Mapping)
        entry.only(frozenset({"answer", "cases", "note"}))
        if name not in spec.functions:
            raise entry.error(f"no function is called '{name}'")
        states[name] = FaultState(_one_of(entry, "answer", ("success", "fault")), entry.texts("cases"))
    entry = top.take("after_shutdown", Mapping)
    entry.only(frozenset({"answer", "functions", "cases", "note"}))
    shutdown = Shutdown(
        answer=_one_of(entry, "answer", tuple(spec.results)),
        functions=entry.texts("functions"),
        cases=entry.texts("cases"),
        note=entry.take("note", str),
    )
    for name in shutdown.functions:
        if name not in spec.functions:
            raise entry.error(f"no function is called '{name}'", "functions")
    return states, shutdown


def complete(api: Spec, folder: Path) -> Spec:
    """`api` with roles, results and fault states. Raises SpecError where the files contradict each other."""
    results = _results(folder, api)
    top = load_yaml(folder / "roles.yaml")
    top.only(frozenset({"format", "kinds", "functions"}))
    kinds = _kinds(top)
    entries = top.take("functions", Mapping)
    functions = {}
    for name, function in api.functions.items():
        if name not in entries:
            raise entries.error(f"{name} is not classified")
        functions[name] = _function(entries.take(name, Mapping), function, kinds)
    for name in entries:
        if name not in functions:
            raise entries.error(f"no function is called '{name}'", name)
    spec = replace(api, functions=functions, kinds=kinds, results=results)
    states, shutdown = _fault_states(folder, spec)
    return replace(spec, after_sticky_fault=states, after_shutdown=shutdown)
