# SPDX-License-Identifier: Apache-2.0
"""YAML as the spec uses it: plain data, no key twice, and every error with its file and line."""

from __future__ import annotations

from pathlib import Path
from typing import Any, TypeVar

import yaml

T = TypeVar("T")


class SpecError(Exception):
    """A spec file that does not say what its grammar asks for; the text starts with file and line."""

    def __init__(self, path: Path, line: int, message: str) -> None:
        super().__init__(f"{path}:{line}: {message}")


class Mapping(dict[str, Any]):
    """A YAML mapping that knows where it stands, so that an error can say so."""

    path: Path
    line: int
    lines: dict[str, int]

    def error(self, message: str, key: str | None = None) -> SpecError:
        """An error at `key`, or at the mapping itself."""
        line = self.line if key is None else self.lines.get(key, self.line)
        return SpecError(self.path, line, message)

    def only(self, allowed: frozenset[str]) -> None:
        """Refuse a key the grammar does not know: a misspelt key would otherwise be a fact silently lost."""
        for key in self:
            if key not in allowed:
                raise self.error(f"unknown key '{key}' (allowed: {', '.join(sorted(allowed))})", key)

    def take(self, key: str, kind: type[T], default: T | None = None) -> T:
        """The value of `key`, which must be a `kind`; without a default the key must be there.

        Raises SpecError.
        """
        if key not in self:
            if default is None:
                raise self.error(f"'{key}' is missing")
            return default
        value = self[key]
        if not isinstance(value, kind) or (kind is int and isinstance(value, bool)):
            raise self.error(f"'{key}' must be {kind.__name__}, not {value!r}", key)
        return value

    def texts(self, key: str) -> tuple[str, ...]:
        """The list of texts under `key`, empty if the key is not there. Raises SpecError."""
        value = self.get(key, [])
        if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
            raise self.error(f"'{key}' must be a list of texts, not {value!r}", key)
        return tuple(value)

    def maps(self, key: str) -> list[Mapping]:
        """The list of mappings under `key`, empty if the key is not there. Raises SpecError."""
        value = self.get(key, [])
        if not isinstance(value, list) or not all(isinstance(item, Mapping) for item in value):
            raise self.error(f"'{key}' must be a list of mappings, not {value!r}", key)
        return value


def load(path: Path) -> Mapping:
    """The mapping at the top of a YAML file of `format: 1`. Raises SpecError, also for a key that stands twice."""

    class Loader(getattr(yaml, "CSafeLoader", yaml.SafeLoader)):  # type: ignore[misc]
        """PyYAML's safe loader, which by itself lets the second of two equal keys win."""

    def mapping(loader: Any, node: yaml.MappingNode) -> Mapping:
        result = Mapping()
        result.path, result.line, result.lines = path, node.start_mark.line + 1, {}
        for key_node, value_node in node.value:
            key = loader.construct_object(key_node, deep=True)
            line = key_node.start_mark.line + 1
            if not isinstance(key, str):
                raise SpecError(path, line, f"a key must be text, not {key!r}")
            if key in result:
                raise SpecError(path, line, f"'{key}' stands here again (first on line {result.lines[key]})")
            result[key] = loader.construct_object(value_node, deep=True)
            result.lines[key] = line
        return result

    Loader.add_constructor(yaml.resolver.BaseResolver.DEFAULT_MAPPING_TAG, mapping)
    try:
        with path.open(encoding="utf-8") as file:
            top = yaml.load(file, Loader)
    except yaml.MarkedYAMLError as error:
        line = error.problem_mark.line + 1 if error.problem_mark else 1
        raise SpecError(path, line, error.problem or "not YAML") from error
    if not isinstance(top, Mapping):
        raise SpecError(path, 1, "the file must be a mapping")
    if top.get("format") != 1:
        raise top.error(f"format {top.get('format')!r} is not one this version reads (1)", "format")
    return top
