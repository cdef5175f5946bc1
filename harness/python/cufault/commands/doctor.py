# SPDX-License-Identifier: Apache-2.0
"""`cufault doctor`: what is there, and whether the shim covers the driver of this machine."""

from __future__ import annotations

import json
import platform
from pathlib import Path
from typing import Any

import click

from cufault import __version__
from cufault.errors import EXIT_HARNESS, EXIT_PASS, HarnessError
from cufault.launch.exports import exported_functions
from cufault.launch.libraries import SHIM, SIMULATOR, has_gpu, library_folder, real_driver
from cufault.subjects import catalog
from cufault.subjects.catalog import SUBJECTS
from cufault.vocabulary import vocabulary


def _library(name: str) -> dict[str, Any]:
    path = library_folder() / name
    if not path.is_file():
        return {"path": str(path), "found": False, "functions": 0}
    return {"path": str(path.resolve()), "found": True, "functions": len(_driver_functions(path))}


def _driver_functions(path: Path) -> frozenset[str]:
    return frozenset(
        name for name in exported_functions(path) if name.startswith("cu") and not name.startswith("cufault_")
    )


def examine() -> dict[str, Any]:
    """All findings, as JSON data. `uncovered` are functions of the real driver that the shim does not export."""
    shim, simulator = _library(SHIM), _library(SIMULATOR)
    known = frozenset(vocabulary().function_of)
    problems = [
        f"no {name} in {library_folder()}"
        for name, entry in ((SHIM, shim), (SIMULATOR, simulator))
        if not entry["found"]
    ]
    covered = _driver_functions(Path(shim["path"])) if shim["found"] else frozenset()
    if shim["found"] and known - covered:
        missing = sorted(known - covered)
        problems.append(f"the shim lacks {len(missing)} entry points of its own data files: {', '.join(missing[:5])}")
    driver = real_driver()
    real: dict[str, Any] = {
        "found": driver is not None,
        "path": None if driver is None else str(driver),
        "gpu": has_gpu(),
        "functions": 0,
        "uncovered": [],
    }
    if driver is not None:
        theirs = _driver_functions(driver)
        real.update(functions=len(theirs), uncovered=sorted(theirs - covered))
    subjects = []
    for subject in SUBJECTS.values():
        try:
            version: str | None = catalog.version(subject)
        except HarnessError as error:
            version = None
            problems.append(str(error))
        subjects.append(
            {
                "name": subject.name,
                "version": version,
                "standing": subject.standing,
                "profile": None if version is None else subject.profile(version),
            }
        )
    return {
        "format": 1,
        "cufault": __version__,
        "python": platform.python_version(),
        "system": platform.platform(),
        "api": {"functions": len(vocabulary().functions), "entry_points": len(known)},
        "shim": shim,
        "simulator": simulator,
        "real_driver": real,
        "subjects": subjects,
        "problems": problems,
    }


@click.command(
    "doctor", help="Tell what is there: shim, simulated driver, real driver and what of it is covered, subjects."
)
@click.option("--json", "as_json", is_flag=True, help="As JSON.")
def command(as_json: bool) -> int:
    """Answers the exit status: 4 where something is missing."""
    found = examine()
    click.echo(json.dumps(found, indent=1) if as_json else "\n".join(_lines(found)))
    return EXIT_HARNESS if found["problems"] else EXIT_PASS


def _lines(found: dict[str, Any]) -> list[str]:
    lines = [
        f"cufault {found['cufault']}, Python {found['python']}, {found['system']}",
        f"driver API known: {found['api']['functions']} functions, {found['api']['entry_points']} entry points",
    ]
    for name in ("shim", "simulator"):
        entry = found[name]
        lines.append(
            f"{name}: {entry['path']}" + (f", {entry['functions']} entry points" if entry["found"] else ": not found")
        )
    real = found["real_driver"]
    if real["found"]:
        lines.append(
            f"real driver: {real['path']}, {real['functions']} functions, GPU {'present' if real['gpu'] else 'absent'}"
        )
        lines.append(
            f"not covered by the shim: {len(real['uncovered'])}" + "".join(f"\n  {name}" for name in real["uncovered"])
        )
    else:
        lines.append("real driver: none found")
    for subject in found["subjects"]:
        version = subject["version"] or "not installed"
        lines.append(
            f"subject {subject['name']}: {version}, {subject['standing']}, profile {subject['profile'] or '-'}"
        )
    lines += [f"problem: {problem}" for problem in found["problems"]]
    return lines
