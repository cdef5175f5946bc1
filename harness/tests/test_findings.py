# SPDX-License-Identifier: Apache-2.0
"""What the oracles find in cuda.core 1.2.2 and not in the reference layer, and that it is so without the judge too."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from e2e import SCENARIOS, Command, results, statuses

SUBJECTS = ("reference", "cuda.core")


def run_both(cufault: Command, tmp_path: Path, scenario: str) -> dict[str, list[dict[str, Any]]]:
    done = cufault("run", SCENARIOS / f"{scenario}.scenario.yaml")
    assert done.status == 0, done.err
    runs = results(tmp_path)["runs"]
    return {name: [run for run in runs if run["subject"] == name] for name in SUBJECTS}


def evidence(run: dict[str, Any], rule: str) -> str:
    return " ".join(
        item["text"] for entry in run["verdict"]["rules"] if entry["rule"] == rule for item in entry["evidence"]
    )


@pytest.mark.parametrize(
    ("scenario", "function"), [("stream/drop_fails", "cuStreamDestroy"), ("event/drop_fails", "cuEventDestroy")]
)
def test_destroy_failures_of_streams_and_events_are_swallowed(
    cufault: Command, tmp_path: Path, scenario: str, function: str
) -> None:
    runs = run_both(cufault, tmp_path, scenario)
    for run in runs["cuda.core"]:
        assert run["outcome"] == "finding"
        assert statuses(run)["P12"] == "violated"
        assert statuses(run)["P08"] == "violated"
        assert function in evidence(run, "P12")
    for run in runs["reference"]:
        assert run["outcome"] == "pass"
        assert statuses(run)["P12"] == "holds"


@pytest.mark.parametrize("scenario", ["memory/drop_async_fails", "memory/drop_plain_fails"])
def test_a_failed_free_is_printed_on_stderr_and_not_warned_of(cufault: Command, tmp_path: Path, scenario: str) -> None:
    runs = run_both(cufault, tmp_path, scenario)
    for run in runs["cuda.core"]:
        assert statuses(run)["P12"] == "violated"
        assert "Warning: " in evidence(run, "P12")
    for run in runs["reference"]:
        assert statuses(run)["P12"] == "holds"


def test_a_failed_event_creation_is_a_generic_error_without_code_or_name(cufault: Command, tmp_path: Path) -> None:
    runs = run_both(cufault, tmp_path, "event/make_fails")
    for run in runs["cuda.core"]:
        assert statuses(run)["P02"] == "violated"
        assert statuses(run)["P01"] == "holds"
        assert "RuntimeError" in evidence(run, "P02")
    for run in runs["reference"]:
        assert statuses(run)["P02"] == "holds"


# A program of a few lines, the shim preloaded by hand, and no judge: what it prints is the whole evidence.
PROGRAM = """
import gc, sys, warnings
warnings.simplefilter("always")
from cuda.core import Device
device = Device(0)
device.set_current()
try:
    {make}
except Exception as error:
    print("raised", type(error).__name__, str(error))
with warnings.catch_warnings(record=True) as seen:
    warnings.simplefilter("always")
    thing = None
    gc.collect()
print("warnings", len(seen))
"""


def bare(tmp_path: Path, function: str, make: str) -> subprocess.CompletedProcess[str]:
    from cufault import _judge
    from cufault.launch import libraries

    folder = tmp_path / "bare"
    (folder / "preload").mkdir(parents=True)
    for name in ("libcuda.so.1", "libcuda.so"):
        (folder / "preload" / name).symlink_to(libraries().shim)
    fault = {"label": "f1", "at": function, "effect": "fail", "code": "CUDA_ERROR_INVALID_CONTEXT"}
    plan = {
        "format": 1,
        "run_folder": str(folder),
        "backend": "simulated",
        "backend_path": str(libraries().simulator),
        "trace": False,
        "faults": [fault],
    }
    _judge.write_plan(str(folder / "plan.bin"), json.dumps(plan))
    environment = {
        "PATH": os.environ["PATH"],
        "CUFAULT_PLAN": str(folder / "plan.bin"),
        "LD_PRELOAD": str(folder / "preload" / "libcuda.so.1"),
        "LD_LIBRARY_PATH": str(folder / "preload"),
    }
    return subprocess.run(
        [sys.executable, "-c", PROGRAM.format(make=make)],
        env=environment,
        capture_output=True,
        text=True,
        check=True,
        timeout=120,
    )


@pytest.mark.parametrize(
    ("function", "make"),
    [("cuStreamDestroy", "thing = device.create_stream()"), ("cuEventDestroy", "thing = device.create_event()")],
)
def test_a_bare_program_confirms_that_the_failure_shows_nowhere(tmp_path: Path, function: str, make: str) -> None:
    done = bare(tmp_path, function, make)
    assert (done.stdout, done.stderr) == ("warnings 0\n", "")


def test_a_bare_program_confirms_the_line_on_stderr(tmp_path: Path) -> None:
    done = bare(tmp_path, "cuMemFreeAsync", "thing = device.allocate(256, stream=device.default_stream)")
    assert done.stdout == "warnings 0\n"
    assert done.stderr.startswith("Warning: cuMemFreeAsync failed")


def test_a_bare_program_confirms_the_generic_error(tmp_path: Path) -> None:
    done = bare(tmp_path, "cuEventCreate", "thing = device.create_event()")
    assert done.stdout == "raised RuntimeError Failed to create CUDA event\nwarnings 0\n"


def test_a_bare_program_that_meets_no_fault_shows_that_the_others_did(tmp_path: Path) -> None:
    done = bare(tmp_path, "cuGraphCreate", "thing = device.create_event(); print('made')")
    assert (done.stdout, done.stderr) == ("made\nwarnings 0\n", "")
