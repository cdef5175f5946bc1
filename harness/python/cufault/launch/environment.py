# SPDX-License-Identifier: Apache-2.0
"""The environment of a launched command: preload, library path, plan, and the folder with the observer."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

from cufault.errors import HarnessError
from cufault.launch.libraries import SHIM
from cufault.observe import site_folder

PLAN_VARIABLE = "CUFAULT_PLAN"


def preload_folder(run_folder: Path, shim: Path) -> Path:
    """Makes the folder that comes first in the library path: both names of the driver, links to the one shim file.

    One file under two names would be loaded twice, as two shims with separate state.
    """
    folder = run_folder / "preload"
    if any(sign.isspace() or sign == ":" for sign in str(folder)):
        raise HarnessError(f"the loader drops a preload path with a space or colon silently: {folder}")
    folder.mkdir(mode=0o700)
    for name in (SHIM, SHIM.removesuffix(".1")):
        (folder / name).symlink_to(shim)
    return folder


def environment(base: Mapping[str, str], run_folder: Path, preload: Path, package_root: Path | None) -> dict[str, str]:
    """`base` with what the shim and the observer need; `package_root` is added for children that import cufault."""
    result = dict(base)
    result[PLAN_VARIABLE] = str(run_folder / "plan.bin")
    # A sanitizer's runtime has to stay the first library; everything else comes after the shim.
    before = [path for path in result.get("LD_PRELOAD", "").replace(":", " ").split() if path]
    runtimes = [path for path in before if os.path.basename(path).startswith(("libasan", "libtsan", "libclang_rt"))]
    others = [path for path in before if path not in runtimes]
    result["LD_PRELOAD"] = ":".join([*runtimes, str(preload / SHIM), *others])
    _prepend(result, "LD_LIBRARY_PATH", str(preload))
    _prepend(
        result,
        "PYTHONPATH",
        *([str(site_folder())] if package_root is None else [str(site_folder()), str(package_root)]),
    )
    plugins = [name for name in result.get("PYTEST_PLUGINS", "").split(",") if name]
    result["PYTEST_PLUGINS"] = ",".join([*plugins, "_cufault_pytest"])
    return result


def _prepend(variables: dict[str, str], name: str, *paths: str) -> None:
    before = variables.get(name)
    variables[name] = ":".join([*paths, before] if before else paths)
