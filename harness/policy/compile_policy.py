# SPDX-License-Identifier: Apache-2.0
"""Makes policy_table.cpp, the rules and profiles as constant tables, from the YAML files of this folder."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import Any

import yaml
from jinja2 import Environment, FileSystemLoader, StrictUndefined

AUTHORS = ("R", "M", "U")
TREATMENTS = ("violation", "hazard", "off")
CLOSE = ("raises", "reports", "either")
BESIDE = ("report", "note", "either")
RULE_KEYS = {"by", "title", "text", "shown"}
PROFILE_KEYS = {
    "format",
    "profile",
    "extends",
    "means",
    "counts",
    "rules",
    "report",
    "recovery",
    "close",
    "beside",
    "expected",
}


class PolicyError(Exception):
    """A policy file says what cannot be meant."""


def _check(condition: bool, path: Path, problem: str) -> None:
    if not condition:
        raise PolicyError(f"{path}: {problem}")


def read_rules(path: Path) -> list[dict[str, Any]]:
    """The rules in the file's order, each with its `id`. Raises PolicyError, OSError, yaml.YAMLError."""
    data = yaml.safe_load(path.read_text(encoding="utf-8"))
    _check(data.get("format") == 1, path, "format is not 1")
    rules = []
    for name, rule in data["rules"].items():
        _check(set(rule) == RULE_KEYS, path, f"{name} needs exactly the keys {sorted(RULE_KEYS)}")
        _check(rule["by"] in AUTHORS, path, f"{name}: 'by' is one of {AUTHORS}")
        rules.append({"id": name, **{key: " ".join(str(value).split()) for key, value in rule.items()}})
    _check([rule["id"] for rule in rules] == sorted(rule["id"] for rule in rules), path, "the rules are not sorted")
    return rules


def read_profile(path: Path, rules: list[dict[str, Any]]) -> dict[str, Any]:
    """One profile. Raises PolicyError, OSError, yaml.YAMLError."""
    data: dict[str, Any] = yaml.safe_load(path.read_text(encoding="utf-8"))
    if "extends" in data:
        base = path.with_name(data.pop("extends") + ".yaml")
        data = {**yaml.safe_load(base.read_text(encoding="utf-8")), **data}
    _check(data.get("format") == 1, path, "format is not 1")
    _check(set(data) <= PROFILE_KEYS, path, f"unknown keys {sorted(set(data) - PROFILE_KEYS)}")
    _check(data["profile"] == path.stem, path, "the profile is not called as its file")
    _check(set(data["counts"]) == set(AUTHORS), path, f"'counts' needs {AUTHORS}")
    by_rule = data.get("rules", {})
    _check(set(by_rule) <= {rule["id"] for rule in rules}, path, "'rules' names a rule that does not exist")
    for treatment in [*data["counts"].values(), *by_rule.values()]:
        _check(treatment in TREATMENTS, path, f"'{treatment}' is none of {TREATMENTS}")
    _check(data["close"] in CLOSE, path, f"'close' is one of {CLOSE}")
    _check(data["beside"] in BESIDE, path, f"'beside' is one of {BESIDE}")
    for entry in data["expected"]:
        _check(set(entry) == {"functions", "codes", "why"}, path, "an expected answer needs functions, codes, why")
    return {**data, "rules": by_rule}


def c_string(text: str) -> str:
    """A C string literal."""
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


def main(argv: list[str]) -> int:
    """`compile_policy.py --template FILE --output FILE --rules FILE PROFILE...`; status 1 for a file that is wrong."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--template", type=Path, required=True)
    parser.add_argument("--output", type=Path, required=True)
    parser.add_argument("--rules", type=Path, required=True)
    parser.add_argument("profiles", type=Path, nargs="+")
    arguments = parser.parse_args(argv)
    try:
        rules = read_rules(arguments.rules)
        profiles = [read_profile(path, rules) for path in arguments.profiles]
    except PolicyError as problem:
        print(f"compile_policy: {problem}", file=sys.stderr)
        return 1
    environment = Environment(
        loader=FileSystemLoader(arguments.template.parent),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        autoescape=False,
    )
    environment.filters["c_string"] = c_string
    text = environment.get_template(arguments.template.name).render(rules=rules, profiles=profiles)
    arguments.output.write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
