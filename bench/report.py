# SPDX-License-Identifier: Apache-2.0
"""What run.py measured, as Markdown: python bench/report.py bench.json"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

Line = dict[str, Any]


def as_markdown(results: dict[str, Any]) -> str:
    """The whole report. Every time is a median, compared with a direct call in the same process."""
    parts = [
        "<!-- SPDX-License-Identifier: Apache-2.0 -->\n<!-- Made by bench/run.py. -->\n# Benchmarks\n",
        _machine(results["machine"]),
        _targets(results),
        _section(
            "Driver calls",
            "Nanoseconds a call, on each of so many threads at once.",
            results["calls"],
            [
                ("driver", lambda line: line["driver"]),
                ("function", lambda line: f"`{line['function']}`"),
                ("what", lambda line: line["mode"]),
                ("threads", lambda line: str(line["threads"])),
                *_compared(),
            ],
        ),
        _section(
            "Trace",
            "Space in a run folder; a file's space is reserved before the first record.",
            results["trace"],
            [
                ("driver", lambda line: line["driver"]),
                ("what", lambda line: line["mode"]),
                ("records", lambda line: str(line["records"])),
                ("bytes a record", lambda line: str(line["bytes_per_call"])),
                ("with reserve and headers", lambda line: f"{line['reserved_bytes_per_call']:.0f}"),
            ],
        ),
        _section(
            "Load",
            "Microseconds from start to end of `/bin/true`.",
            results["load"],
            [
                ("preload", lambda line: line["preload"]),
                ("alone", lambda line: f"{line['alone_us']:.0f}"),
                ("with it", lambda line: f"{line['us']:.0f}"),
                ("added", lambda line: f"{line['added_us']:.0f}"),
            ],
        ),
        _section(
            "The second preload",
            "Nanoseconds; `direct` is glibc's function by its internal name.",
            results["libc"],
            [("function", lambda line: f"`{line['function']}`"), ("what", lambda line: line["mode"]), *_compared()],
        ),
        _section(
            "Reference handle layer",
            "Nanoseconds to make and destroy one object; `direct` is the bare driver calls.",
            results["handles"],
            [("driver", lambda line: line["driver"]), ("object", lambda line: line["function"]), *_compared()],
        ),
        _section(
            "Judged runs",
            "From scenario to verdict, one after another, on the simulated driver.",
            results["runs"],
            [
                ("scenarios", lambda line: f"`{line['scenarios']}`"),
                ("subject", lambda line: line["subject"]),
                ("runs", lambda line: str(line["runs"])),
                ("per second", lambda line: f"{line['per_second']:.1f}"),
            ],
        ),
        _section(
            "Not measured here",
            "",
            results["skipped"],
            [("what", lambda line: line["what"]), ("because", lambda line: line["reason"].replace("|", "\\|"))],
        ),
    ]
    return "\n".join(part for part in parts if part)


def _machine(machine: dict[str, Any]) -> str:
    lines = [f"* {name}: {value}" for name, value in machine.items() if value is not None and name != "changed"]
    if machine.get("changed"):
        lines.append("* the source differs from that commit")
    if machine.get("load", 0) > machine.get("cores", 1) / 2:
        lines.append("* others were using the machine: the least times are nearer the truth than the medians")
    return "\n".join(lines) + "\n"


def _compared() -> list[tuple[str, Callable[[Line], str]]]:
    return [
        ("direct", lambda line: f"{line['direct_ns']:.1f}"),
        ("with it", lambda line: f"{line['ns']:.1f}"),
        ("added", lambda line: f"{line['added_ns']:.1f}"),
        ("ratio", lambda line: f"{line['ratio']:.2f}"),
        ("least to most", lambda line: f"{line['least_ns']:.1f} to {line['most_ns']:.1f}"),
    ]


def _section(title: str, about: str, lines: Sequence[Line], columns: list[tuple[str, Callable[[Line], str]]]) -> str:
    if not lines:
        return ""
    rows = [
        [name for name, _ in columns],
        ["---"] * len(columns),
        *([show(line) for _, show in columns] for line in lines),
    ]
    table = "\n".join("| " + " | ".join(row) + " |" for row in rows)
    return "\n".join(part for part in (f"## {title}\n", f"{about}\n" if about else "", table) if part) + "\n"


def _targets(results: dict[str, Any]) -> str:
    """The numbers to reach, each with what this run says; a missing measurement is said to be missing."""
    if not results["measured"]:
        return "One iteration of everything: this shows that it runs, and says nothing of its time.\n"
    calls: list[Line] = results["calls"]

    def added(mode: str, threads: int = 1) -> float | None:
        found = [
            line["added_ns"]
            for line in _best_driver(calls)
            if line["mode"] == mode and line["threads"] == threads and line["function"] == "cuCtxGetCurrent"
        ]
        return found[0] if found else None

    idle, cupti = added("idle"), added("empty CUPTI callback")
    armed = [
        value for value in (added("armed, other function"), added("armed, waits for its ordinal")) if value is not None
    ]
    load = [line["added_us"] for line in results["load"] if line["preload"] == "shim"]
    rows = [
        ("idle shim, added to cuCtxGetCurrent", "1 ns", idle, "ns", 1.0),
        ("armed, rule does not match", "15 ns", max(armed) if armed else None, "ns", 15.0),
        ("traced", "40 ns", added("traced"), "ns", 40.0),
        ("load into a process that never uses CUDA", "1000 us", load[0] if load else None, "us", 1000.0),
    ]
    table = ["## Against the targets\n", "| what | at most | here | |", "|---|---|---|---|"]
    for what, target, value, unit, most in rows:
        here = "not measured" if value is None else f"{value:.1f} {unit}"
        table.append(
            f"| {what} | {target} | {here} | {'' if value is None else 'reached' if value <= most else 'missed'} |"
        )
    if idle is not None and cupti is not None:
        less = "no time at all" if idle <= 0 else f"{cupti / idle:.0f} times less"
        table.append(
            f"| idle shim against an empty CUPTI callback | 1/50 | {less} | "
            f"{'reached' if idle <= cupti / 50 else 'missed'} |"
        )
    else:
        table.append("| idle shim against an empty CUPTI callback | 1/50 | not measured | |")
    return "\n".join(table) + "\n"


def _best_driver(calls: Iterable[Line]) -> list[Line]:
    """The lines of the driver that counts most: real before stand-in before simulated."""
    lines = list(calls)
    for driver in ("real", "stand_in", "simulated"):
        found = [line for line in lines if line["driver"] == driver]
        if found:
            return found
    return []


def main() -> int:
    if len(sys.argv) != 2:
        print(__doc__, file=sys.stderr)
        return 2
    print(as_markdown(json.loads(Path(sys.argv[1]).read_text(encoding="utf-8"))), end="")
    return 0


if __name__ == "__main__":
    sys.exit(main())
