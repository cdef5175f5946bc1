# SPDX-License-Identifier: Apache-2.0
"""Writes `vocabulary.json`: the names of shim/spec and harness/policy that the Python side checks its input against."""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path

import yaml


def main() -> None:
    """Reads the data files of a source tree; ends with a message where one does not say what its grammar asks for."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--source", type=Path, required=True, help="root of the source tree")
    parser.add_argument("--output", type=Path, required=True)
    options = parser.parse_args()
    sys.path.insert(0, str(options.source / "shim" / "codegen"))
    import spec as driver_spec

    spec = driver_spec.load(options.source / "shim" / "spec")
    policy = options.source / "harness" / "policy"
    rules = yaml.safe_load((policy / "rules.yaml").read_text(encoding="utf-8"))["rules"]
    classes = {
        name: sorted(function.name for function in spec.functions.values() if name in function.classes)
        for name in driver_spec.CLASSES
    }
    vocabulary = {
        "functions": {name: sorted(s.name for s in spec.functions[name].symbols) for name in sorted(spec.functions)},
        "classes": {name: members for name, members in sorted(classes.items()) if members},
        "codes": {name: spec.results[name].value for name in sorted(spec.results)},
        "kinds": sorted(spec.kinds),
        "rules": [{"rule": name, "title": rules[name]["title"], "by": rules[name]["by"]} for name in sorted(rules)],
        "profiles": sorted(path.stem for path in (policy / "profiles").glob("*.yaml")),
    }
    options.output.write_text(json.dumps(vocabulary, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
