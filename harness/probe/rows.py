# SPDX-License-Identifier: Apache-2.0
"""Rows that a probe wrote: what real drivers answered, kept in `recorded/`, and what some driver answers now."""

from __future__ import annotations

import gzip
import hashlib
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

RECORDED = Path(__file__).parent / "recorded"
SUMS = "SHA256SUMS"

# What stands before the call where the call ended the process.
ENDED = "PROCESS"


class RowError(Exception):
    """A file of rows that cannot be read; the text names file and line."""


@dataclass(frozen=True)
class Row:
    """One step of a case: what was called, and what it answered."""

    step: int
    call: str
    answer: str


@dataclass
class Rows:
    """Rows by case, each case's in order of its steps, and the comment lines of the files."""

    cases: dict[str, list[Row]] = field(default_factory=dict)
    remarks: list[str] = field(default_factory=list)

    def add(self, case: str, call: str, answer: str, step: int | None = None) -> None:
        """Append a row; a recorded `PROCESS call` becomes that call with the signal as its answer."""
        call = call.removeprefix(ENDED + " ")
        rows = self.cases.setdefault(case, [])
        rows.append(Row(len(rows) + 1 if step is None else step, call, answer.removeprefix("killed by ")))


def _lines(path: Path) -> Iterator[tuple[int, str]]:
    data = path.read_bytes()
    text = (gzip.decompress(data) if path.suffix == ".gz" else data).decode()
    for number, line in enumerate(text.splitlines(), start=1):
        if line:
            yield number, line


def read_steps(path: Path, into: Rows) -> None:
    """`case<TAB>step<TAB>call<TAB>answer`, as the probe writes it. Raises RowError, OSError."""
    for number, line in _lines(path):
        if line.startswith("#"):
            into.remarks.append(line)
            continue
        parts = line.split("\t", 3)
        if len(parts) != 4 or not parts[1].isdecimal():
            raise RowError(f"{path}:{number}: not a row: {line}")
        into.add(parts[0], parts[2], parts[3], int(parts[1]))


def _read_sequences(path: Path, into: Rows) -> None:
    """`seqN | call | answer`: how the first sequences were recorded."""
    for number, line in _lines(path):
        parts = line.split(" | ", 2)
        if len(parts) != 3:
            raise RowError(f"{path}:{number}: not a row: {line}")
        into.add(parts[0], parts[1], parts[2])


def _read_error_names(path: Path, into: Rows) -> None:
    """`number<TAB>name<TAB>description`: the rows of the case `error_names`."""
    for _, line in _lines(path):
        number, answer = line.split("\t", 1)
        into.add("error_names", number, answer)


def read_recorded(folder: Path = RECORDED) -> Rows:
    """Everything that was recorded. Raises RowError, also for a case in two files; OSError."""
    everything = Rows()
    for path in sorted(folder.iterdir()):
        rows = Rows()
        if path.name.startswith("error-names"):
            _read_error_names(path, rows)
        elif path.suffixes[-2:] == [".txt", ".gz"]:
            _read_sequences(path, rows)
        elif path.suffix == ".tsv":
            read_steps(path, rows)
        for case, steps in rows.cases.items():
            if case in everything.cases:
                raise RowError(f"{path}: the case {case} is recorded in another file too")
            everything.cases[case] = steps
    return everything


def changed_files(folder: Path = RECORDED) -> list[str]:
    """What differs from SHA256SUMS: recorded rows are never edited, and each file is listed. Raises OSError."""
    sums = {name: digest for digest, name in (line.split("  ", 1) for line in (folder / SUMS).read_text().splitlines())}
    found = {path.name for path in folder.iterdir()} - {SUMS}
    problems = [f"{name}: not in {SUMS}" for name in sorted(found - sums.keys())]
    problems += [f"{name}: gone" for name in sorted(sums.keys() - found)]
    for name in sorted(found & sums.keys()):
        if hashlib.sha256((folder / name).read_bytes()).hexdigest() != sums[name]:
            problems.append(f"{name}: edited")
    return problems


def result_names(recorded: Rows) -> dict[str, str]:
    """Number to name of every result: where a driver gave no names, the number stands for the name."""
    return {row.call: row.answer.split("\t")[0] for row in recorded.cases.get("error_names", [])}
