# SPDX-License-Identifier: Apache-2.0
"""Finding scenario files, and reading one: top-level keys, matrix, and one Scenario for each of its combinations."""

from __future__ import annotations

import itertools
import os
import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from cufault.errors import Position, ScenarioError, UsageError, refusal
from cufault.scenario import grammar
from cufault.scenario.faults import ExpectParser, FaultParser
from cufault.scenario.fields import Fields, choice_of, list_of, refuse, table_of, text_of
from cufault.scenario.model import Expect, Scenario
from cufault.scenario.source import Items, Node, Scalar, Table, compose, read_text
from cufault.scenario.steps import StepParser
from cufault.vocabulary import vocabulary

SUFFIX = ".scenario.yaml"
MAX_COMBINATIONS = 1024

_PLACE = re.compile(r"\$\{([^{}]*)\}")


@dataclass(frozen=True)
class ScenarioFile:
    """One file: its path as given, and the scenario in every combination of its matrix."""

    file: str
    path: Path
    scenarios: tuple[Scenario, ...]


def find(paths: Iterable[str | os.PathLike[str]]) -> tuple[Path, ...]:
    """The scenario files under the given files and folders, sorted. Raises UsageError where there is none."""
    found: list[Path] = []
    for given in paths:
        path = Path(given)
        if path.is_dir():
            below = sorted(path.rglob("*" + SUFFIX))
            if not below:
                raise UsageError(f"{path}: no file *{SUFFIX} below this folder")
            found += below
        elif path.is_file():
            found.append(path)
        else:
            raise UsageError(f"{path}: no such file or folder")
    return tuple(dict.fromkeys(found))


def load(path: Path, subjects: Iterable[str]) -> ScenarioFile:
    """Reads and checks one file; `subjects` are the known names. Raises ScenarioError, whatever the file holds."""
    file = os.path.relpath(path) if path.is_absolute() and Path.cwd() in path.parents else str(path)
    return parse(read_text(path, file), file, path, subjects)


def parse(text: str, file: str, path: Path, subjects: Iterable[str]) -> ScenarioFile:
    """The same for a text that was read already. Raises ScenarioError."""
    root = compose(text, file)
    known = tuple(subjects)
    matrix = _matrix(root)
    if not matrix:
        return ScenarioFile(file, path, (_scenario(_fill(root, {}), {}, known),))
    scenarios = []
    for values in itertools.product(*matrix.values()):
        chosen = dict(zip(matrix, values, strict=True))
        scenarios.append(_scenario(_fill(root, chosen), chosen, known))
    return ScenarioFile(file, path, tuple(scenarios))


def _matrix(root: Node) -> dict[str, tuple[Node, ...]]:
    top = table_of(root, "a scenario file")
    if "matrix" not in top.entries:
        return {}
    table = table_of(top.entries["matrix"], "matrix")
    result: dict[str, tuple[Node, ...]] = {}
    combinations = 1
    for name, node in table.entries.items():
        if not name.isidentifier():
            raise ScenarioError(table.keys[name], f"matrix: a name must be an identifier: read {name!r}")
        result[name] = list_of(node, f"matrix {name}")
        if not result[name]:
            refuse(node, f"matrix {name}: the list is empty")
        combinations *= len(result[name])
        if combinations > MAX_COMBINATIONS:
            refuse(node, f"matrix: more than {MAX_COMBINATIONS} combinations")
    text = _places(root)
    for name in result:
        if name not in text:
            raise ScenarioError(table.keys[name], f"matrix: {name!r} is used nowhere (write ${{{name}}})")
    return result


def _places(node: Node, top: bool = True) -> set[str]:
    if isinstance(node, Scalar):
        return set(_PLACE.findall(node.text))
    if isinstance(node, Items):
        return set().union(*(_places(item, False) for item in node.items)) if node.items else set()
    found: set[str] = set()
    for key, value in node.entries.items():
        found |= set(_PLACE.findall(key))
        if not (top and key == "matrix"):
            found |= _places(value, False)
    return found


def _fill(node: Node, values: dict[str, Node], top: bool = True) -> Node:
    """The node with every `${name}` replaced; `${handle:s}` stays for the judge."""
    if isinstance(node, Scalar):
        whole = _PLACE.fullmatch(node.text)
        if whole is not None and whole[1] in values:
            return values[whole[1]]
        text = _replace(node.text, values, node.position)
        return node if text == node.text else Scalar(text, text, node.position)
    if isinstance(node, Items):
        return Items(tuple(_fill(item, values, False) for item in node.items), node.position)
    entries: dict[str, Node] = {}
    keys: dict[str, Position] = {}
    for key, value in node.entries.items():
        name = _replace(key, values, node.keys[key])
        if name in entries:
            raise ScenarioError(node.keys[key], f"the key {name!r} stands here again, through {key!r}")
        keys[name] = node.keys[key]
        entries[name] = value if top and key in ("matrix", "scenario") else _fill(value, values, False)
    return Table(entries, keys, node.position)


def _replace(text: str, values: dict[str, Node], position: Position) -> str:
    def one(match: re.Match[str]) -> str:
        name = match[1]
        if name.startswith("handle:"):
            return match[0]
        if name not in values:
            raise ScenarioError(position, refusal("${...}: not in the matrix", name, values))
        value = values[name]
        if not isinstance(value, Scalar):
            raise ScenarioError(position, f"${{{name}}} is not a single value: it can only stand alone")
        return value.text

    return _PLACE.sub(one, text)


def _plain(node: Node) -> object:
    """A matrix value as JSON."""
    if isinstance(node, Scalar):
        return node.value
    if isinstance(node, Items):
        return [_plain(item) for item in node.items]
    return {key: _plain(value) for key, value in node.entries.items()}


def _scenario(root: Node, chosen: dict[str, Node], subjects: tuple[str, ...]) -> Scenario:
    fields = Fields(root, "a scenario file", grammar.TOP_KEYS)
    sentence = text_of(fields.node("scenario"), "scenario")
    rules = tuple(
        choice_of(item, "rules: no such rule", vocabulary().rules) for item in list_of(fields.node("rules"), "rules")
    )
    if not rules:
        refuse(fields.node("rules"), "rules: the list is empty; a scenario exercises at least one rule")
    chosen_subjects = None
    if "subject" in fields:
        items = list_of(fields.node("subject"), "subject", one=True)
        chosen_subjects = tuple(dict.fromkeys(choice_of(item, "no such subject", subjects) for item in items))
        if not chosen_subjects:
            refuse(fields.node("subject"), "subject: the list is empty")
    parser = StepParser()
    steps = parser.parse(fields.node("steps"))
    faults = FaultParser(steps, parser.names).parse(fields.node("faults")) if "faults" in fields else ()
    if sum(fault.call_of is not None for fault in faults) > 1:
        refuse(fields.node("faults"), "faults: one `each call of` a scenario")
    expect = ExpectParser(steps, parser.names).parse(fields.node("expect")) if "expect" in fields else Expect()
    profile = choice_of(fields.node("profile"), "profile", vocabulary().profiles) if "profile" in fields else None
    return Scenario(
        sentence=" ".join(sentence.split()),
        rules=tuple(dict.fromkeys(rules)),
        subjects=chosen_subjects,
        steps=steps,
        faults=faults,
        expect=expect,
        profile=profile,
        driver=fields.choice("driver"),
        timeout_s=fields.number("timeout", 0.0, 3600.0, 30.0),
        gpu="gpu" in fields and fields.choice("gpu") == "required",
        finalize=fields.choice("finalize", "normal") or "normal",
        matrix={name: _plain(node) for name, node in chosen.items()},
        position=fields.position("scenario"),
    )
