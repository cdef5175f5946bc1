# SPDX-License-Identifier: Apache-2.0
"""Every benchmark still runs and its report can be made. Nothing here looks at a time."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

BENCH = Path(__file__).parents[1]
sys.path.insert(0, str(BENCH))

from report import as_markdown  # noqa: E402

BUILD = os.environ["CUFAULT_TEST_BUILD"]


@pytest.fixture(scope="module")
def out(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("bench")
    command = [
        sys.executable,
        str(BENCH / "run.py"),
        "--build",
        BUILD,
        "--out",
        str(folder),
        "--once",
        "--driver",
        "stand_in",
        "--driver",
        "simulated",
    ]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return folder


def test_every_way_of_calling_ran_on_both_drivers(out: Path) -> None:
    results: dict[str, Any] = json.loads((out / "bench.json").read_text())
    ran = {(line["driver"], line["mode"], line["function"]) for line in results["calls"]}
    skipped = {line["what"]: line["reason"] for line in results["skipped"]}
    for driver in ("stand_in", "simulated"):
        for mode in ("idle", "armed, other function", "armed, waits for its ordinal", "traced"):
            assert (driver, mode, "cuCtxGetCurrent") in ran, skipped
            assert (driver, mode, "cuEventCreate+cuEventDestroy") in ran, skipped
    assert {line["preload"] for line in results["load"]} == {"shim", "libc"}
    assert {line["mode"] for line in results["libc"]} >= {"not preloaded", "idle", "armed, other module"}
    assert {line["function"] for line in results["handles"]} == {"stream", "event", "memory"}
    assert results["trace"][0]["bytes_per_call"] == 256
    assert results["machine"]["commit"] is None or len(results["machine"]["commit"]) == 40


def test_what_was_not_measured_has_a_reason(out: Path) -> None:
    results = json.loads((out / "bench.json").read_text())
    assert all(line["reason"] for line in results["skipped"])
    if not Path("/dev/nvidiactl").exists():
        assert "empty CUPTI callback" in str(results["skipped"])


def test_the_report_says_what_was_measured_and_what_was_not(out: Path) -> None:
    text = (out / "bench.md").read_text()
    assert text == as_markdown(json.loads((out / "bench.json").read_text()))
    assert "One iteration of everything" in text
    assert "reached" not in text
    for title in ("Driver calls", "Trace", "Load", "The second preload", "Not measured here"):
        assert f"## {title}\n" in text


def line(mode: str, added: float) -> dict[str, Any]:
    return {
        "driver": "real",
        "mode": mode,
        "function": "cuCtxGetCurrent",
        "threads": 1,
        "direct_ns": 11.0,
        "ns": 11 + added,
        "added_ns": added,
        "ratio": (11 + added) / 11,
        "least_ns": 1.0,
        "most_ns": 2.0,
        "repetitions": 3,
    }


def results_of(*calls: dict[str, Any]) -> dict[str, Any]:
    return {
        "machine": {"commit": "x", "changed": True},
        "measured": True,
        "calls": list(calls),
        "trace": [],
        "load": [],
        "libc": [],
        "handles": [],
        "runs": [],
        "skipped": [],
    }


def test_a_missed_target_is_called_missed() -> None:
    text = as_markdown(results_of(line("idle", 1.5), line("traced", 30.0), line("empty CUPTI callback", 74.0)))
    assert "| idle shim, added to cuCtxGetCurrent | 1 ns | 1.5 ns | missed |" in text
    assert "| traced | 40 ns | 30.0 ns | reached |" in text
    assert "| idle shim against an empty CUPTI callback | 1/50 | 49 times less | missed |" in text
    assert "| armed, rule does not match | 15 ns | not measured |  |" in text
    assert "the source differs from that commit" in text


def test_a_busy_machine_is_called_busy() -> None:
    results = results_of(line("idle", 0.5))
    results["machine"] |= {"cores": 2, "load": 9.0}
    assert "others were using the machine" in as_markdown(results)
    results["machine"]["load"] = 0.3
    assert "others were using the machine" not in as_markdown(results)


def test_programs_refuse_to_measure_nothing() -> None:
    stand_in = f"{BUILD}/bench/libcuda_stand_in.so"
    # Without a preload the name is the driver itself: there would be nothing to compare.
    done = subprocess.run(
        [f"{BUILD}/bench/bench_calls", f"--direct={stand_in}", f"--via={stand_in}"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 3
    assert "nothing is preloaded" in done.stderr
