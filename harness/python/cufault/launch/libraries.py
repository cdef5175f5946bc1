# SPDX-License-Identifier: Apache-2.0
"""Where the shim, the simulated driver and a real driver are."""

from __future__ import annotations

import os
import shutil
import subprocess
from dataclasses import dataclass
from importlib import resources
from pathlib import Path

from cufault.errors import HarnessError
from cufault.libc import LIBRARY as LIBC_LIBRARY

SHIM = "libcuda.so.1"
SIMULATOR = "libcufault_sim.so"
_COMPATIBILITY = Path("/usr/local/cuda/compat")


@dataclass(frozen=True)
class Libraries:
    """The two libraries of this installation, as absolute real paths."""

    shim: Path
    simulator: Path


@dataclass(frozen=True)
class Driver:
    """What answers the calls. `backend` as in the plan request; `path` is empty where the shim itself searches."""

    backend: str
    path: str


def library_folder() -> Path:
    """The folder that the build installs them into."""
    return Path(str(resources.files("cufault").joinpath("_lib")))


def libraries() -> Libraries:
    """Raises HarnessError if this installation lacks one."""
    folder = library_folder()
    for name in (SHIM, SIMULATOR):
        if not (folder / name).is_file():
            raise HarnessError(f"this installation of cufault has no {name} in {folder}")
    return Libraries((folder / SHIM).resolve(), (folder / SIMULATOR).resolve())


def libc_library() -> Path:
    """The second preload. Raises HarnessError if this installation lacks it."""
    path = library_folder() / LIBC_LIBRARY
    if not path.is_file():
        raise HarnessError(f"this installation of cufault has no {LIBC_LIBRARY} in {path.parent}")
    return path.resolve()


def real_driver() -> Path | None:
    """What a process here would load: from LD_LIBRARY_PATH, the loader's cache, then the compatibility folder.

    The toolkit's stub carries the same name and is no driver; the shim makes the same choice by itself.
    """
    candidates = [Path(folder) / SHIM for folder in os.environ.get("LD_LIBRARY_PATH", "").split(":") if folder]
    ldconfig = shutil.which("ldconfig") or "/sbin/ldconfig"
    try:
        listing = subprocess.run([ldconfig, "-p"], capture_output=True, text=True, timeout=20, check=False).stdout
    except (OSError, subprocess.TimeoutExpired):
        listing = ""
    for line in listing.splitlines():
        name, _, target = line.strip().partition(" => ")
        if name.split(" ")[0] == SHIM and "x86-64" in name:
            candidates.append(Path(target))
    candidates.append(_COMPATIBILITY / SHIM)
    own = library_folder().resolve()
    for path in candidates:
        real = path.resolve()
        if real.is_file() and "stubs" not in real.parts and own not in real.parents:
            return real
    return None


def has_gpu() -> bool:
    """Whether an NVIDIA driver's device node is there."""
    return Path("/dev/nvidiactl").exists()


def choose_driver(wanted: str) -> Driver:
    """`simulated`, `real`, or `auto`: real where a driver and a GPU are there. Raises HarnessError."""
    found = real_driver() if wanted in ("real", "auto") else None
    if wanted == "real" and found is None:
        raise HarnessError(
            "no real libcuda.so.1 on this machine (LD_LIBRARY_PATH, ldconfig -p, /usr/local/cuda/compat)"
        )
    if found is not None and (wanted == "real" or has_gpu()):
        return Driver("real", "")
    return Driver("simulated", str(libraries().simulator))
