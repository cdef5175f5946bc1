# SPDX-License-Identifier: Apache-2.0
"""On a real GPU: the driver is covered, libraries are reached, and the simulated driver gives the same verdicts."""

from __future__ import annotations

import importlib.util
import json
import subprocess
import sys
from pathlib import Path

import pytest
from programs import PROGRAMS

ROOT = Path(__file__).resolve().parents[3]
CODE = "CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES"

# Scenarios whose calls may come in another order, each with its reason; their outcomes must agree all the same.
ORDER_IS_OPEN = {
    "scenarios/graph/owners_live.scenario.yaml": "what a launched graph held is given up on a thread of the driver",
}


def cufault(*words: str | Path, timeout: float = 900) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "cufault.cli", *map(str, words)],
        capture_output=True,
        text=True,
        check=False,
        cwd=ROOT,
        timeout=timeout,
    )


def test_every_function_of_the_real_driver_is_covered() -> None:
    done = cufault("doctor", "--json")
    driver = json.loads(done.stdout)["real_driver"]
    assert driver["found"], done.stdout
    assert driver["functions"] > 600
    assert driver["uncovered"] == []


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_library_is_reached_and_sees_an_injected_failure(name: str, tmp_path: Path) -> None:
    program = PROGRAMS[name]
    if importlib.util.find_spec(program.module.partition(".")[0]) is None:
        pytest.skip(f"{name} is not installed here")
    file = tmp_path / "program.py"
    file.write_text(program.text, encoding="utf-8")
    clean = cufault("exec", "--driver", "real", "--", sys.executable, file)
    assert clean.returncode == 0, clean.stderr
    failing = cufault("exec", "--driver", "real", "--fault", f"{program.at}#1={CODE}", "--", sys.executable, file)
    assert "fired 1 of" in failing.stderr, failing.stderr
    assert failing.returncode == 1, failing.stderr
    assert (
        "too many resources requested for launch" in failing.stderr or CODE in failing.stderr.partition("cufault: ")[0]
    )


def test_scenarios_give_the_same_verdicts_on_the_real_driver_as_on_the_simulated_one(tmp_path: Path) -> None:
    for driver in ("simulated", "real"):
        done = cufault("run", "scenarios", "--driver", driver, "--out", tmp_path / driver)
        assert done.returncode == 0, f"{driver}: {done.stdout[-4000:]}"
    compared = cufault("compare", tmp_path / "simulated", tmp_path / "real")
    first, second, counts, *differences = compared.stdout.splitlines()
    assert int(counts.partition(" ")[0]) > 0, counts
    unexplained = [line for line in differences if not line.startswith(tuple(ORDER_IS_OPEN)) or ": outcome: " in line]
    assert unexplained == [], "\n".join([first, second, *unexplained])
