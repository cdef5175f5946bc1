# SPDX-License-Identifier: Apache-2.0
"""What can end a command early, each with the exit status that it means; `cli.main` alone turns them into one."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from difflib import get_close_matches

EXIT_PASS = 0
EXIT_VIOLATION = 1
EXIT_USAGE = 2
EXIT_NOT_EXERCISED = 3
EXIT_HARNESS = 4
EXIT_PLAN_REFUSED = 97


class CufaultError(Exception):
    """Any error that a person is meant to read: one text, no traceback."""

    exit_status = EXIT_HARNESS


class UsageError(CufaultError):
    """The command line, or a file it names, does not say something that can be done."""

    exit_status = EXIT_USAGE


class HarnessError(CufaultError):
    """The harness could not do its own work (a missing library, a shim that never loaded)."""

    exit_status = EXIT_HARNESS


@dataclass(frozen=True, order=True)
class Position:
    """A place in a file, counted from 1 as editors do."""

    file: str
    line: int
    column: int

    def __str__(self) -> str:
        return f"{self.file}:{self.line}:{self.column}"


class ScenarioError(UsageError):
    """A scenario that cannot be run as written; the text begins with file, line and column."""

    def __init__(self, position: Position, message: str) -> None:
        super().__init__(f"{position}: {message}")
        self.position = position
        self.message = message


def nearest(read: str, allowed: Iterable[str]) -> str | None:
    """The allowed name closest to what was read, or None if nothing is close; case is forgiven."""
    by_folded: dict[str, str] = {}
    for name in allowed:
        by_folded.setdefault(name.casefold(), name)
    found = get_close_matches(read.casefold(), by_folded, n=1, cutoff=0.6)
    if found:
        return by_folded[found[0]]
    tails = [name for folded, name in by_folded.items() if read and folded.endswith("_" + read.casefold())]
    return min(tails, key=len) if tails else None


def refusal(what: str, read: object, allowed: Iterable[str]) -> str:
    """The sentence of a refused name: what was read, the nearest right one, and what is allowed if that is short."""
    names = sorted(allowed)
    close = nearest(read, names) if isinstance(read, str) else None
    text = f"{what}: read {read!r}"
    if close is not None:
        text += f", did you mean {close!r}?"
    if not names:
        text += " (nothing is allowed here)"
    elif len(names) <= 24:
        text += f" (allowed: {', '.join(names)})"
    else:
        text += f" ({len(names)} are allowed, such as {', '.join(names[:3])})"
    return text
