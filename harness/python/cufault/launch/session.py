# SPDX-License-Identifier: Apache-2.0
"""One launch from a plan request to the folder that the judge reads."""

from __future__ import annotations

import json
import os
import shutil
import struct
import tempfile
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from cufault.errors import HarnessError
from cufault.launch.environment import environment, preload_folder
from cufault.launch.libraries import Driver, libc_library, libraries
from cufault.launch.process import Ended, Limits, run
from cufault.libc import LibcRule, preload_libc

PRELOAD_REFUSED = "from LD_PRELOAD cannot be preloaded"


@dataclass(frozen=True)
class Launch:
    """What to start. `plan` is a plan request without format, run folder and backend."""

    command: tuple[str, ...]
    plan: Mapping[str, Any]
    driver: Driver
    limits: Limits = field(default_factory=Limits)
    cwd: str | None = None
    through: bool = False
    package_root: Path | None = None
    files: Mapping[str, str] = field(default_factory=dict)
    base_environment: Mapping[str, str] | None = None
    libc_rules: tuple[LibcRule, ...] = ()


@dataclass(frozen=True)
class Launched:
    """What a launch left. `processes`: the pids that the shim started in; `unloaded`: why it is not there, if so."""

    folder: Path
    ended: Ended
    processes: tuple[int, ...]
    unloaded: str | None


def make_run_folder() -> Path:
    """A private folder whose path the loader can take: no space, no colon."""
    folder = tempfile.gettempdir()
    if any(sign.isspace() or sign == ":" for sign in folder):
        folder = "/tmp"
    return Path(tempfile.mkdtemp(prefix="cufault-", dir=folder))


def launch(what: Launch) -> Launched:
    """Runs it to its end. Raises UsageError (command, plan) and HarnessError (installation)."""
    folder = make_run_folder()
    preload = preload_folder(folder, libraries().shim)
    for name, text in what.files.items():
        (folder / name).write_text(text, encoding="utf-8")
    write_plan(folder, what.plan, what.driver)
    base = os.environ if what.base_environment is None else what.base_environment
    command = tuple(part.replace("{run_folder}", str(folder)) for part in what.command)
    variables = environment(base, folder, preload, what.package_root)
    if what.libc_rules:
        preload_libc(variables, folder, preload, libc_library(), what.libc_rules)
    ended = run(command, variables, what.limits, cwd=what.cwd, through=what.through)
    processes = tuple(sorted(int(path.suffix[1:]) for path in folder.glob("process.*") if path.suffix[1:].isdigit()))
    _write_parent_observation(folder, ended, processes)
    return Launched(folder, ended, processes, None if processes else _why_unloaded(folder, command, ended, base))


def write_plan(folder: Path, plan: Mapping[str, Any], driver: Driver) -> None:
    """Writes plan.bin. Raises HarnessError where the plan request is refused: what people wrote was checked before."""
    import cufault._judge as _judge

    request = {
        "format": 1,
        "run_folder": str(folder),
        "backend": driver.backend,
        "backend_path": driver.path,
        "trace": True,
        "stacks": False,
        **plan,
    }
    try:
        _judge.write_plan(str(folder / "plan.bin"), json.dumps(request))
    except ValueError as error:
        raise HarnessError(f"the plan was refused: {error}") from error


def _write_parent_observation(folder: Path, ended: Ended, processes: tuple[int, ...]) -> None:
    pid, now = os.getpid(), time.monotonic_ns()
    events: list[dict[str, Any]] = []
    if ended.stdout is not None:
        events.append({"event": "stdout", "text": ended.stdout})
    events.append({"event": "stderr", "text": ended.stderr})
    events.append(
        {
            "event": "exit",
            "status": ended.status,
            "signal": ended.signal,
            "timed_out": ended.timed_out,
            "duration_ns": ended.duration_ns,
            "processes": list(processes),
        }
    )
    with (folder / "observation.parent.jsonl").open("w", encoding="utf-8") as file:
        for number, event in enumerate(events):
            head = {"event": event["event"], "pid": pid, "time_ns": now, "step": None}
            file.write(json.dumps({**head, **({"format": 1} if number == 0 else {}), **event}) + "\n")


def _why_unloaded(folder: Path, command: tuple[str, ...], ended: Ended, base: Mapping[str, str]) -> str | None:
    """None: the shim was there and no driver call came. Otherwise the evidence that it was not."""
    if PRELOAD_REFUSED in ended.stderr:
        return "the loader refused to preload it (see stderr)"
    for path in sorted(folder.glob("observation.[0-9]*.jsonl")):
        for line in path.read_text(encoding="utf-8", errors="replace").splitlines():
            if '"event": "finalizing"' in line and '"preloaded": false' in line:
                return f"process {path.name.split('.')[1]} ran without it (was its environment scrubbed?)"
    if _is_static(command[0], base):
        return f"{command[0]} is statically linked: nothing can be preloaded into it"
    return None


def _is_static(name: str, base: Mapping[str, str]) -> bool:
    """Whether an ELF program asks for no loader; False for scripts and for what cannot be read."""

    path = shutil.which(name, path=base.get("PATH"))
    try:
        with open(path or name, "rb") as file:
            head = file.read(64)
            if len(head) < 64 or head[:5] != b"\x7fELF\x02":
                return False
            (offset,) = struct.unpack_from("<Q", head, 32)
            size, count = struct.unpack_from("<HH", head, 54)
            file.seek(offset)
            table = file.read(size * count)
    except OSError:
        return False
    kinds = [
        struct.unpack_from("<I", table, size * index)[0] for index in range(count) if size * index + 4 <= len(table)
    ]
    return bool(kinds) and 3 not in kinds  # PT_INTERP
