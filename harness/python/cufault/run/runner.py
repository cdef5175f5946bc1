# SPDX-License-Identifier: Apache-2.0
"""Runs scenarios: every case a process of its own, judged, its folder kept, all of them one results.json."""

from __future__ import annotations

import json
import os
import platform
import shlex
import shutil
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

from cufault import __version__
from cufault.errors import HarnessError, UsageError, refusal
from cufault.launch import Driver, Launch, Launched, Limits, launch
from cufault.run.outcome import OUTCOMES, exit_status, outcome_of
from cufault.run.points import calls_of_step, read_calls
from cufault.run.verdict import harness_error, judge
from cufault.scenario.expand import Case, Point, job_of, matrix_text, plan_of
from cufault.subjects import catalog
from cufault.vocabulary import vocabulary

CHILD = "cufault.subjects.child"


@dataclass(frozen=True)
class Options:
    """How to run. `out` is made, or emptied of an earlier run's files; `profile` overrides every subject's own."""

    driver: Driver
    out: Path
    jobs: int
    keep: bool = False
    profile: str | None = None
    point: str | None = None


Progress = Callable[[int, int, str], None]


def run_cases(cases: Iterable[Case], options: Options, progress: Progress) -> dict[str, Any]:
    """Runs every case and writes results.json; returns it. Raises HarnessError where the harness itself fails."""
    started, begin = datetime.now(timezone.utc), time.monotonic_ns()
    _prepare(options.out)
    versions = {name: catalog.version(catalog.find(name)) for name in sorted({case.subject.name for case in cases})}
    with ThreadPoolExecutor(max_workers=options.jobs) as pool:
        listed = list(pool.map(lambda case: _at_points(case, options), cases))
        todo = [case for group in listed for case in group]
        done = 0

        def one(numbered: tuple[int, Case]) -> dict[str, Any]:
            nonlocal done
            number, case = numbered
            entry = _run_one(f"{number:04}", case, options, versions)
            done += 1
            progress(done, len(todo), entry["outcome"])
            return entry

        runs = list(pool.map(one, enumerate(todo, 1)))
    results = _results(runs, options, versions, started, time.monotonic_ns() - begin)
    (options.out / "results.json").write_text(json.dumps(results, indent=1) + "\n", encoding="utf-8")
    return results


def _prepare(out: Path) -> None:
    if out.exists() and any(out.iterdir()) and not (out / "results.json").exists() and not (out / "runs").exists():
        raise UsageError(f"{out} holds other files; name an empty folder or one of an earlier run")
    shutil.rmtree(out / "runs", ignore_errors=True)
    (out / "results.json").unlink(missing_ok=True)
    (out / "runs").mkdir(parents=True)


def package_root() -> Path:
    """The folder that has to be in a child's PYTHONPATH for `import cufault`."""
    return Path(__file__).resolve().parents[2]


def start(case: Case, options: Options, clean: bool = False) -> Launched:
    """Launches a case's child."""
    driver = options.driver
    return launch(
        Launch(
            command=(sys.executable, "-m", CHILD, "{run_folder}/steps.json"),
            plan=plan_of(case, clean),
            driver=driver,
            limits=Limits(time_s=case.scenario.timeout_s),
            package_root=package_root(),
            files={"steps.json": json.dumps(job_of(case))},
        )
    )


def _at_points(case: Case, options: Options) -> list[Case]:
    """The case itself, or one for each driver call that its clean run makes in the step it names."""
    if not case.needs_points:
        return [case]
    launched = start(case, options, clean=True)
    step = next(fault.call_of for fault in case.scenario.faults if fault.call_of is not None)
    points = [Point(symbol, ordinal, step) for symbol, ordinal in calls_of_step(read_calls(launched.folder), step)]
    shutil.rmtree(launched.folder, ignore_errors=True)
    if not points:
        raise HarnessError(
            f"{case.scenario.position}: step {step!r} makes no driver call on {case.subject.name} in a clean run"
        )
    chosen = [point for point in points if options.point in (None, str(point))]
    if not chosen:
        raise UsageError(
            refusal("--point: the clean run has no such call", options.point, [str(point) for point in points])
        )
    return [case.at(point) for point in chosen]


def _profile(case: Case, options: Options, version: str) -> str:
    return options.profile or case.scenario.profile or case.subject.profile(version)


def request_of(case: Case, profile: str, version: str) -> dict[str, Any]:
    """The judge's request for a case, without its folder."""
    subject = case.subject
    everywhere = {
        rule: cannot.reason
        for cannot in subject.cannot
        for rule in cannot.rules
        if cannot.verb is None and cannot.kind is None and cannot.switch is None
    }
    return {
        "profile": profile,
        "subject": {
            "name": subject.name,
            "version": version,
            "language": subject.language,
            "standing": subject.standing,
        },
        "rules": list(case.scenario.rules),
        "not_applicable": everywhere,
        "faults": [{"label": fault.label, "must_fire": fault.must_fire} for fault in case.scenario.faults],
        "expect": dict(case.scenario.expect.entries),
    }


def _run_one(run_id: str, case: Case, options: Options, versions: dict[str, str]) -> dict[str, Any]:
    version = versions[case.subject.name]
    profile = _profile(case, options, version)
    entry: dict[str, Any] = {
        "id": run_id,
        "scenario": case.scenario.sentence,
        "file": case.file,
        "line": case.scenario.position.line,
        "matrix": {key: matrix_text(value) for key, value in case.scenario.matrix.items()},
        "point": None if case.point is None else str(case.point),
        "rules": list(case.scenario.rules),
        "subject": case.subject.name,
        "standing": case.subject.standing,
        "profile": profile,
        "driver": options.driver.backend,
        "command": command_of(case),
        "run_folder": None,
        "not_applicable": {},
        "verdict": None,
        "duration_ns": 0,
    }
    reason = case.not_applicable or _needs(case, options)
    if reason is not None:
        return {
            **entry,
            "outcome": "not_applicable",
            "reason": reason,
            "not_applicable": dict.fromkeys(case.scenario.rules, reason),
        }
    request = request_of(case, profile, version)
    try:
        launched = start(case, options)
        verdict = judge(launched, request, own_child=True)
    except HarnessError as error:
        return {
            **entry,
            "outcome": "harness_error",
            "reason": str(error),
            "verdict": harness_error(str(error), profile),
        }
    kept = keep_folder(launched.folder, options.out / "runs" / run_id, options.keep)
    return {
        **entry,
        "run_folder": str(kept.relative_to(options.out)),
        "duration_ns": launched.ended.duration_ns,
        "outcome": outcome_of(verdict["verdict"], case.subject.standing),
        "reason": verdict["reason"],
        "not_applicable": request["not_applicable"],
        "verdict": verdict,
    }


def _needs(case: Case, options: Options) -> str | None:
    backend = options.driver.backend
    if case.scenario.gpu and backend != "real":
        return "needs a GPU (gpu: required), and this run uses the simulated driver"
    if case.scenario.driver is not None and case.scenario.driver != backend:
        return f"is for the {case.scenario.driver} driver only, and this run uses the {backend} one"
    return None


def command_of(case: Case) -> str:
    """What repeats this run alone."""
    words = ["cufault", "run", case.file, "--subject", case.subject.name]
    for key, value in case.scenario.matrix.items():
        words += ["--only", f"{key}={matrix_text(value)}"]
    if case.point is not None:
        words += ["--point", str(case.point)]
    return shlex.join(words)


def keep_folder(folder: Path, target: Path, traces: bool) -> Path:
    """Moves a run's folder to its place; the trace files, which are large, only if asked for."""
    shutil.rmtree(folder / "preload", ignore_errors=True)
    if not traces:
        for pattern in ("trace.*", "stacks.*", "maps.*", "process.*"):
            for path in folder.glob(pattern):
                path.unlink()
    shutil.move(str(folder), target)
    return target


def _results(
    runs: list[dict[str, Any]], options: Options, versions: dict[str, str], started: datetime, duration_ns: int
) -> dict[str, Any]:
    counts = Counter(run["outcome"] for run in runs)
    processes = [process for run in runs if run["verdict"] for process in run["verdict"]["processes"]]
    subjects = [catalog.find(name) for name in versions]
    return {
        "format": 1,
        "cufault_version": __version__,
        "started": started.isoformat(timespec="seconds"),
        "duration_ns": duration_ns,
        "host": {
            "name": platform.node(),
            "system": f"{platform.system()} {platform.release()} {platform.machine()}",
            "python": platform.python_version(),
            "cpus": os.cpu_count(),
        },
        "driver": {
            "backend": options.driver.backend,
            "path": options.driver.path,
            "version": max((process["driver_version"] for process in processes), default=0),
        },
        "rules": [{"rule": rule.id, "title": rule.title, "by": rule.by} for rule in vocabulary().rules.values()],
        "subjects": [
            {
                "name": subject.name,
                "version": versions[subject.name],
                "language": subject.language,
                "standing": subject.standing,
                "profile": options.profile or subject.profile(versions[subject.name]),
            }
            for subject in subjects
        ],
        "summary": {
            "runs": len(runs),
            **{outcome: counts[outcome] for outcome in OUTCOMES},
            "exit_status": exit_status(run["outcome"] for run in runs),
        },
        "runs": runs,
    }
