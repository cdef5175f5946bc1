# SPDX-License-Identifier: Apache-2.0
"""The names that people may write: driver functions, results, classes, handle kinds and rules, from the data files.

`vocabulary.json` beside this file is made by the build (`codegen/vocabulary.py`) from `shim/spec` and `harness/policy`.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import cached_property, lru_cache
from importlib import resources

from cufault.errors import HarnessError


@dataclass(frozen=True)
class Rule:
    """One rule of the policy: `by` is R (the document), M (decided later) or U (a duty of any library)."""

    id: str
    title: str
    by: str


@dataclass(frozen=True)
class Vocabulary:
    """All names, as the data files spell them."""

    functions: dict[str, tuple[str, ...]]
    classes: dict[str, tuple[str, ...]]
    codes: dict[str, int]
    kinds: tuple[str, ...]
    rules: dict[str, Rule]
    profiles: tuple[str, ...]

    @cached_property
    def function_of(self) -> dict[str, str]:
        """The plain name of each exported symbol."""
        return {symbol: name for name, symbols in self.functions.items() for symbol in symbols}

    @cached_property
    def code_names(self) -> dict[int, str]:
        """The name of each result by its number."""
        return {value: name for name, value in self.codes.items()}

    def matching(self, glob: str) -> tuple[str, ...]:
        """The plain names that a glob means."""
        return tuple(sorted(name for name in self.functions if fnmatchcase(name, glob)))


@lru_cache(maxsize=1)
def vocabulary() -> Vocabulary:
    """The names of this installation. Raises HarnessError if the build's file is not there."""
    try:
        text = resources.files("cufault").joinpath("vocabulary.json").read_text(encoding="utf-8")
    except OSError as error:
        raise HarnessError(f"this installation of cufault has no vocabulary.json: {error}") from error
    data = json.loads(text)
    return Vocabulary(
        functions={name: tuple(symbols) for name, symbols in data["functions"].items()},
        classes={name: tuple(members) for name, members in data["classes"].items()},
        codes=dict(data["codes"]),
        kinds=tuple(data["kinds"]),
        rules={rule["rule"]: Rule(rule["rule"], rule["title"], rule["by"]) for rule in data["rules"]},
        profiles=tuple(data["profiles"]),
    )
