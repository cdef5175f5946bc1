# SPDX-License-Identifier: Apache-2.0
"""`cufault schema`: the JSON schema of scenario files, made from the tables that the parser reads."""

from __future__ import annotations

import json

import click

from cufault.scenario.schema import schema


@click.command("schema", help="Print the JSON schema of scenario files (scenarios/scenario.schema.json).")
def command() -> int:
    """Answers the exit status."""
    click.echo(json.dumps(schema(), indent=2))
    return 0
