# SPDX-License-Identifier: Apache-2.0
"""Renders a template that stands next to its generator into the build folder."""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from spec import SPEC_FOLDER


@dataclass(frozen=True)
class Job:
    """What a generator was asked for on its command line."""

    template: Path
    output: Path
    spec: Path


def job(argv: list[str], purpose: str) -> Job:
    """Read `--template FILE --output FILE [--spec FOLDER]`; a usage error ends the process with status 2."""
    parser = argparse.ArgumentParser(description=purpose)
    parser.add_argument("--template", type=Path, required=True, metavar="FILE")
    parser.add_argument("--output", type=Path, required=True, metavar="FILE")
    parser.add_argument("--spec", type=Path, default=SPEC_FOLDER, metavar="FOLDER")
    arguments = parser.parse_args(argv)
    return Job(arguments.template, arguments.output, arguments.spec)


def c_string(text: str | None) -> str:
    """A C string literal, or nullptr for none."""
    return "nullptr" if text is None else '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


def identifier(name: str) -> str:
    """A name as a C++ identifier: one that is a keyword gets an underscore behind it."""
    return name + "_" if name in {"export", "default", "delete", "register"} else name


def render(job: Job, generator: str, values: Mapping[str, object]) -> None:
    """Write the output; `banner` in a template is the comment that says what made the file.

    Raises jinja2.TemplateError, also for a name the template uses and nobody gave; OSError.
    """
    environment = Environment(
        loader=FileSystemLoader(job.template.parent),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        # The output is C++ source, never HTML.
        autoescape=False,
    )
    environment.filters["c_string"] = c_string
    environment.filters["identifier"] = identifier
    banner = f"// Made from shim/spec by shim/codegen/{generator} and {job.template.name}: change those, not this file."
    job.output.write_text(environment.get_template(job.template.name).render(values, banner=banner), encoding="utf-8")
