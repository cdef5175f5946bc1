# SPDX-License-Identifier: Apache-2.0
"""The committed JSON schema is what the parser's tables make."""

from __future__ import annotations

import json
from pathlib import Path

from cufault.scenario.grammar import EFFECTS, KINDS, TOP_KEYS, VERBS
from cufault.scenario.schema import schema

SCHEMA = Path(__file__).resolve().parents[3] / "scenarios" / "scenario.schema.json"


def test_the_committed_schema_is_fresh() -> None:
    assert json.loads(SCHEMA.read_text(encoding="utf-8")) == schema(), (
        "make it anew: cufault schema > scenarios/scenario.schema.json"
    )


def test_the_schema_knows_every_key_verb_kind_and_effect() -> None:
    made = schema()
    assert set(made["properties"]) == set(TOP_KEYS)
    verbs = {name for form in made["$defs"]["step"]["anyOf"] for name in form.get("required", [])}
    assert verbs == set(VERBS)
    assert set(EFFECTS) < set(made["$defs"]["fault"]["properties"])
    text = json.dumps(made)
    assert all(f'"{kind}"' in text for kind in KINDS)
