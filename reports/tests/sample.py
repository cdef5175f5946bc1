# SPDX-License-Identifier: Apache-2.0
"""Results to report on, built by hand: small, complete, and easy to change in one place."""

from __future__ import annotations

from typing import Any, cast

from cufault_reports.results import Results, Run, Verdict

RULES = {
    "P01": "a failure that can propagate is raised",
    "P12": "a failure that cannot be raised is reported as CUDAWarning",
    "P16": "leak rather than dangle",
    "P24": "Device.set_current is one cuCtxSetCurrent",
}


def verdict(status: str = "holds", **changes: Any) -> Verdict:
    """A run whose fault fired once; P12 has `status`."""
    call = "cuStreamDestroy_v2(0x55d0) answered CUDA_ERROR_INVALID_CONTEXT (injected by f1)"
    made: dict[str, Any] = {
        "format": 1,
        "verdict": "violation" if status == "violated" else "pass",
        "exit_status": 1 if status == "violated" else 0,
        "profile": "rfc",
        "reason": "P12: the failure shows nowhere" if status == "violated" else "every listed rule holds",
        "rules": [
            {
                "rule": "P12",
                "title": RULES["P12"],
                "by": "R",
                "status": status,
                "listed": True,
                "reason": "no warning names cuStreamDestroy"
                if status == "violated"
                else "reported once as CUDAWarning",
                "evidence": [
                    {
                        "what": "call",
                        "text": call,
                        "pid": 7,
                        "thread": 1,
                        "sequence": 3,
                        "time_ns": 4_000_000,
                        "step": "drop s",
                    }
                ],
            },
            {
                "rule": "P16",
                "title": RULES["P16"],
                "by": "R",
                "status": "holds",
                "listed": False,
                "reason": "",
                "evidence": [],
            },
            {
                "rule": "P01",
                "title": RULES["P01"],
                "by": "R",
                "status": "not_exercised",
                "listed": False,
                "reason": "",
                "evidence": [],
            },
        ],
        "faults": [
            {
                "label": "f1",
                "matched": 1,
                "fired": 1,
                "code": "CUDA_ERROR_INVALID_CONTEXT",
                "standing": "observed",
                "at": [call],
            }
        ],
        "expectations": [{"text": "drop s reported", "met": status != "violated", "reason": ""}],
        "objects": {"made": 1, "destroyed": 0, "indeterminate": ["stream 0x55d0 (s)"], "leaked": []},
        "calls": {"total": 61, "injected": 1, "lost": 0, "unmodelled": [], "misuse": [], "invisible": []},
        "processes": [{"pid": 7, "program": "python", "backend": "simulated", "driver_version": 13000, "calls": 61}],
        "timeline": [
            {"time_ns": 1_000_000, "text": "step drop s begins", "kind": "step_begin", "mark": None},
            {"time_ns": 4_000_000, "text": call, "kind": "call", "mark": "injected"},
        ],
    }
    made.update(changes)
    return cast(Verdict, made)


def run(number: int, subject: str = "cuda.core", **changes: Any) -> Run:
    made: dict[str, Any] = {
        "id": f"{number:04}",
        "scenario": "a stream dropped by the garbage collector cannot be destroyed",
        "file": "scenarios/stream/drop.scenario.yaml",
        "line": 2,
        "matrix": {"code": "CUDA_ERROR_INVALID_CONTEXT"},
        "point": None,
        "rules": ["P12", "P16"],
        "subject": subject,
        "standing": "observed" if subject == "cuda.core" else "conforming",
        "profile": "rfc",
        "driver": "simulated",
        "command": f"cufault run scenarios/stream/drop.scenario.yaml --subject {subject}",
        "run_folder": f"runs/{number:04}",
        "outcome": "pass",
        "reason": "every listed rule holds",
        "not_applicable": {},
        "verdict": verdict(),
        "duration_ns": 30_000_000,
    }
    made.update(changes)
    return cast(Run, made)


def finding(number: int, **changes: Any) -> Run:
    return run(
        number,
        **{"outcome": "finding", "reason": "P12: the failure shows nowhere", "verdict": verdict("violated"), **changes},
    )


def results(*runs: Run, **changes: Any) -> Results:
    """Results of a conforming and an observed subject; by default one run that passes and one finding."""
    made: dict[str, Any] = {
        "format": 1,
        "cufault_version": "0.1.0",
        "started": "2025-01-01T00:00:00+00:00",
        "duration_ns": 1_500_000_000,
        "host": {"name": "box", "system": "Linux 6.1 x86_64", "python": "3.11.7", "cpus": 2},
        "driver": {"backend": "simulated", "path": "/lib/libcufault_sim.so", "version": 13000},
        "rules": [{"rule": rule, "title": title, "by": "R"} for rule, title in RULES.items()],
        "subjects": [
            {
                "name": "reference",
                "version": "0.1.0",
                "language": "python",
                "standing": "conforming",
                "profile": "strict",
            },
            {"name": "cuda.core", "version": "1.2.2", "language": "python", "standing": "observed", "profile": "rfc"},
        ],
        "summary": {"runs": len(runs), "exit_status": 0},
        "runs": list(runs) or [run(1, "reference"), finding(2)],
        "root": "/out",
    }
    made.update(changes)
    return cast(Results, made)
