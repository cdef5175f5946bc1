# SPDX-License-Identifier: Apache-2.0
"""What the end-to-end tests name in common: places, programs, and how to read what a command left."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
SCENARIOS = ROOT / "scenarios"

# The smallest programs over each library: a stream that is made, used and dropped.
STREAM = """
    from {module} import Device
    device = Device(0)
    device.set_current()
    stream = device.create_stream()
    stream.sync()
    del stream
    print("program done")
"""


@dataclass(frozen=True)
class Done:
    """A finished command."""

    status: int
    out: str
    err: str


Command = Callable[..., Done]


def results(folder: Path) -> dict[str, Any]:
    """What `cufault run` left in its output folder."""
    found: dict[str, Any] = json.loads((folder / "cufault-out" / "results.json").read_text(encoding="utf-8"))
    return found


def statuses(run: dict[str, Any]) -> dict[str, str]:
    """The status of each rule in one run's verdict."""
    return {rule["rule"]: rule["status"] for rule in run["verdict"]["rules"]}
