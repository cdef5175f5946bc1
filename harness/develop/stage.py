# SPDX-License-Identifier: Apache-2.0
"""Makes an installed tree what `pip install` would: no leftovers, the metadata, a launcher for each console script."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from pyproject_metadata import StandardMetadata

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

LAUNCHER = """\
#!{python}
# SPDX-License-Identifier: Apache-2.0
import sys
sys.path.insert(0, {packages!r})
from {module} import {function}
sys.exit({function}())
"""


def read_metadata(source: Path) -> StandardMetadata:
    """The [project] table of `source`/pyproject.toml."""
    with (source / "pyproject.toml").open("rb") as file:
        return StandardMetadata.from_pyproject(tomllib.load(file), source)


def entry_points(metadata: StandardMetadata) -> str:
    """The text of `entry_points.txt`."""
    groups = {"console_scripts": metadata.scripts, **metadata.entrypoints}
    return "\n".join(
        f"[{group}]\n" + "".join(f"{name} = {target}\n" for name, target in sorted(points.items()))
        for group, points in sorted(groups.items())
    )


def remove_leftovers(packages: Path, log: Path) -> list[Path]:
    """Removes modules that an earlier build installed and Meson's latest install log no longer names; returns them."""
    lines = log.read_text(encoding="utf-8").splitlines()
    named = {line.removeprefix("# Preserving old file ") for line in lines}
    found = (path for path in packages.rglob("*") if path.is_file() and not path.parent.name.endswith(".dist-info"))
    leftovers = [path for path in found if path.suffix != ".pyc" and str(path) not in named]
    for path in leftovers:
        path.unlink()
    return leftovers


def write_if_changed(path: Path, text: str) -> None:
    """Leaves a file that is right alone, so that a second run changes no time stamp."""
    if not path.is_file() or path.read_text(encoding="utf-8") != text:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")


def write_stage(source: Path, packages: Path, scripts: Path, python: str) -> None:
    metadata = read_metadata(source)
    info = packages / f"{metadata.name}-{metadata.version}.dist-info"
    write_if_changed(info / "METADATA", str(metadata.as_rfc822()))
    write_if_changed(info / "entry_points.txt", entry_points(metadata))
    write_if_changed(info / "INSTALLER", "./dev\n")
    for name, target in metadata.scripts.items():
        module, function = target.split(":")
        launcher = scripts / name
        write_if_changed(
            launcher, LAUNCHER.format(python=python, packages=str(packages), module=module, function=function)
        )
        launcher.chmod(0o755)


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--source", required=True, type=Path, help="the folder of pyproject.toml")
    parser.add_argument("--packages", required=True, type=Path, help="where the Python packages were installed")
    parser.add_argument("--scripts", required=True, type=Path, help="where launchers go")
    parser.add_argument("--log", required=True, type=Path, help="Meson's install log")
    options = parser.parse_args(arguments)
    remove_leftovers(options.packages.resolve(), options.log)
    write_stage(options.source, options.packages.resolve(), options.scripts.resolve(), sys.executable)


if __name__ == "__main__":
    main()
