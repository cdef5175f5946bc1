# SPDX-License-Identifier: Apache-2.0
"""Re-reads CUDA headers, a stub library, recorded exports; writes `spec/driver_api.yaml` or says what differs.

    read_headers.py diff --headers 13.0=/usr/local/cuda/include --headers 13.5=/other/include --stub 13.0=.../libcuda.so

Exit status: 0 nothing differs (or written), 1 something differs, 2 the sources cannot be used.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import api_yaml
import exports
import headers
from spec import SPEC_FOLDER, Function, Param, Sources, Spec, SpecError, Symbol, load_api


class SourceError(Exception):
    """Sources that are not enough to compare the spec with."""


def _version(text: str) -> tuple[int, ...]:
    return tuple(int(part) for part in text.split("."))


def _symbol(name: str, found: dict[str, dict[str, headers.Prototype]], exported: dict[str, exports.Exports]) -> Symbol:
    declaring = [version for version, prototypes in found.items() if name in prototypes]
    newest = found[declaring[-1]][name] if declaring else None
    exporters = tuple(who for who, what in exported.items() if name in what.functions)
    return Symbol(
        name=name,
        function=headers.plain_name(name),
        since=newest.since if newest else None,
        params=tuple(Param(*param) for param in newest.params) if newest else None,
        returns=newest.returns if newest else "CUresult",
        per_thread=headers.is_per_thread(name),
        first_header=declaring[0] if declaring and declaring[0] != next(iter(found)) else None,
        exported=None if len(exporters) == len(exported) else exporters,
    )


def read(include: dict[str, Path], stub: tuple[str, Path], recordings: dict[str, Path]) -> Spec:
    """The union of all sources: headers and recordings by version, oldest first.

    Raises HeaderError, OSError, subprocess.CalledProcessError.
    """
    found = {version: headers.read(folder) for version, folder in include.items()}
    exported = {"stub": exports.of_library(stub[1])}
    exported |= {version: exports.of_recording(path) for version, path in recordings.items()}

    names = {name for prototypes in found.values() for name in prototypes}
    names |= {name for what in exported.values() for name in what.functions if name.startswith("cu")}
    families: dict[str, list[str]] = defaultdict(list)
    for name in names:
        families[headers.plain_name(name)].append(name)

    functions = {}
    for plain, family in families.items():
        family.sort(key=lambda name: (headers.is_per_thread(name), headers.abi_number(name)))
        # The newest header's word on each variant, the newest variant's first.
        newest: dict[str, headers.Prototype] = {}
        for prototypes in found.values():
            newest |= {name: prototypes[name] for name in family if name in prototypes}
        results = [code for name in reversed(family) if name in newest for code in newest[name].results]
        functions[plain] = Function(
            name=plain,
            header=next((prototype.header for prototype in newest.values()), None),
            results=tuple(dict.fromkeys(results)),
            symbols=tuple(_symbol(name, found, exported) for name in family),
        )
    data_objects = {name for what in exported.values() for name in what.data_objects if name.startswith("cu")}
    return Spec(functions, tuple(sorted(data_objects)), Sources(tuple(include), stub[0], tuple(recordings)))


def merge(read_now: Spec, existing: Spec) -> Spec:
    """What was read, with what a person added: notes, facts no source states, and entries a note speaks for."""
    functions = dict(read_now.functions)
    for name, old in existing.functions.items():
        new = functions.get(name)
        if new is None:
            kept = tuple(symbol for symbol in old.symbols if symbol.note or old.note)
            if kept:
                functions[name] = replace(old, symbols=kept)
            continue
        symbols = {symbol.name: symbol for symbol in new.symbols}
        for symbol in old.symbols:
            fresh = symbols.get(symbol.name)
            if fresh is None and symbol.note is not None:
                symbols[symbol.name] = symbol
            elif fresh is not None and fresh.params is None and symbol.params is not None:
                symbols[symbol.name] = replace(
                    fresh, params=symbol.params, returns=symbol.returns, since=symbol.since, note=symbol.note
                )
            elif fresh is not None:
                symbols[symbol.name] = replace(fresh, note=symbol.note)
        functions[name] = replace(
            new, symbols=tuple(symbols.values()), results=new.results or old.results, note=old.note
        )
    return replace(read_now, functions=functions)


def differences(old: Spec, new: Spec) -> Iterator[str]:
    """One line for each fact of `new` that `old` does not state, and the other way round."""
    if old.sources != new.sources:
        yield f"sources: {old.sources} -> {new.sources}"
    yield from (f"added: {name}" for name in sorted(new.symbol.keys() - old.symbol.keys()))
    yield from (f"removed: {name}" for name in sorted(old.symbol.keys() - new.symbol.keys()))
    for name in sorted(old.symbol.keys() & new.symbol.keys()):
        was, now = old.symbol[name], new.symbol[name]
        for field in ("since", "params", "returns", "per_thread", "first_header", "exported", "note"):
            if getattr(was, field) != getattr(now, field):
                yield f"changed: {name}: {field}: {_shown(getattr(was, field))} -> {_shown(getattr(now, field))}"
    for name in sorted(old.functions.keys() & new.functions.keys()):
        before, after = old.functions[name], new.functions[name]
        for field in ("header", "results"):
            if getattr(before, field) != getattr(after, field):
                yield f"changed: {name}: {field}: {_shown(getattr(before, field))} -> {_shown(getattr(after, field))}"
    for name in sorted(set(old.data_objects) ^ set(new.data_objects)):
        yield f"{'removed' if name in old.data_objects else 'added'}: data object {name}"


def _shown(value: object) -> str:
    if isinstance(value, tuple):
        return "(" + ", ".join(item.text if isinstance(item, Param) else str(item) for item in value) + ")"
    return str(value)


def _versioned(text: str) -> tuple[str, Path]:
    version, _, path = text.partition("=")
    if not path or not Path(path).exists():
        raise argparse.ArgumentTypeError(f"'{text}' is not VERSION=PATH of something that exists")
    return version, Path(path)


def _arguments(argv: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("verb", choices=("write", "diff"))
    parser.add_argument("--headers", type=_versioned, action="append", required=True, metavar="VERSION=FOLDER")
    parser.add_argument("--stub", type=_versioned, required=True, metavar="VERSION=LIBRARY")
    parser.add_argument("--spec", type=Path, default=SPEC_FOLDER, metavar="FOLDER")
    return parser.parse_args(argv)


def main(argv: list[str]) -> int:
    """The command line; see the module's text for the exit status."""
    arguments = _arguments(argv)
    include = dict(sorted(arguments.headers, key=lambda pair: _version(pair[0])))
    recordings = {path.stem: path for path in (arguments.spec / "exports").glob("*.txt")}
    recordings = dict(sorted(recordings.items(), key=lambda pair: _version(pair[0])))
    target = arguments.spec / "driver_api.yaml"
    try:
        existing = load_api(arguments.spec) if target.exists() else Spec({}, (), Sources((), "", ()))
        missing = set(existing.sources.headers) - set(include)
        if missing:
            raise SourceError(f"the spec was read from the headers of {', '.join(sorted(missing))} too: give all")
        merged = merge(read(include, arguments.stub, recordings), existing)
    except (SourceError, SpecError, headers.HeaderError, OSError, subprocess.CalledProcessError) as error:
        print(f"read_headers.py: {error}", file=sys.stderr)
        return 2
    if arguments.verb == "write":
        target.write_text(api_yaml.text(merged), encoding="utf-8")
        return 0
    lines = list(differences(existing, merged))
    print("\n".join(lines), end="\n" if lines else "")
    return 1 if lines else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
