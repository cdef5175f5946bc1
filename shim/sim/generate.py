# SPDX-License-Identifier: Apache-2.0
"""Writes generated sources of the simulated driver: `generate.py entries|lookup|results|profile TEMPLATE OUTPUT`."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import jinja2
import yaml

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "codegen"))

import spec as driver_spec  # noqa: E402  (a folder of scripts, not a package)


def _entries() -> dict[str, Any]:
    """Every symbol, with the symbol its default body forwards to, if the two differ only in the default stream."""
    spec = driver_spec.load()
    entries = []
    for symbol in spec.symbols:
        function = spec.functions[symbol.function]
        forward = None
        if symbol.params is not None:
            same = [
                other
                for other in function.symbols
                if other is not symbol
                and not other.per_thread
                and other.params is not None
                and other.returns == symbol.returns
                and [p.type for p in other.params] == [p.type for p in symbol.params]
                and (other.since or 0) >= (0 if symbol.per_thread else symbol.since or 0)
            ]
            forward = max(same, key=lambda other: other.since or 0, default=None)
        entries.append(
            {"symbol": symbol, "forward": forward, "foreign": function.header not in ("cuda.h", "cudaProfiler.h")}
        )
    return {"entries": entries}


def _lookup() -> dict[str, Any]:
    """What cuGetProcAddress hands out: rows of one function in order of version."""
    spec = driver_spec.load()
    rows = [symbol for symbol in spec.symbols if symbol.since is not None]
    return {"rows": sorted(rows, key=lambda symbol: (symbol.function, symbol.since, symbol.name))}


def _results() -> dict[str, Any]:
    """Names and descriptions of results."""
    return {"results": sorted(driver_spec.load().results.values(), key=lambda result: result.value)}


def _profile() -> dict[str, Any]:
    """The recorded device profile."""
    source = HERE / "device" / "profiles" / "nvidia_h200.yaml"
    data = yaml.safe_load(source.read_text(encoding="utf-8"))
    return {
        "source": source.name,
        "name": data["name"],
        "total_memory": data["total_memory"],
        "attributes": {**data["attributes"], **data["places"]},
    }


VALUES = {"entries": _entries, "lookup": _lookup, "results": _results, "profile": _profile}


def main(what: str, template: str, output: str) -> None:
    """Renders one template."""
    source = Path(template)
    environment = jinja2.Environment(
        trim_blocks=True, lstrip_blocks=True, keep_trailing_newline=True, undefined=jinja2.StrictUndefined
    )
    text = environment.from_string(source.read_text(encoding="utf-8")).render(template=source.name, **VALUES[what]())
    Path(output).write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main(*sys.argv[1:])
