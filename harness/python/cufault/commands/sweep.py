# SPDX-License-Identifier: Apache-2.0
"""`cufault sweep -- COMMAND`: every destroy call and context switch of a command fails once, each way, each judged."""

from __future__ import annotations

import shutil
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click

from cufault.commands.common import check_profile, driver_option, jobs_option, profile_option, say, timeout_option
from cufault.commands.exec_ import request_for_command
from cufault.errors import EXIT_HARNESS, EXIT_NOT_EXERCISED, EXIT_PASS, EXIT_VIOLATION, HarnessError, UsageError
from cufault.launch import Driver, Launch, Launched, Limits, choose_driver, launch
from cufault.run.points import FaultPoint, read_calls, sweep_points
from cufault.run.verdict import broken, judge

# What a clean-up meets in practice: shutdown, a context that somebody else destroyed, a kernel's fault.
EFFECTS = (
    ("fail", "CUDA_ERROR_DEINITIALIZED"),
    ("fail", "CUDA_ERROR_INVALID_CONTEXT"),
    ("sticky", "CUDA_ERROR_ILLEGAL_ADDRESS"),
)
DEFAULT_TIMEOUT_S = 120.0


@dataclass(frozen=True)
class Swept:
    """One run of the sweep."""

    point: FaultPoint
    effect: str
    code: str
    verdict: dict[str, Any]

    @property
    def violations(self) -> tuple[str, ...]:
        """One line for each violated rule, the same in every sweep of the same program."""
        return tuple(
            f"{self.point} {self.effect}={self.code} {rule['rule']}"
            for rule in self.verdict["rules"]
            if rule["status"] == "violated"
        )


@click.command(
    "sweep",
    context_settings={"ignore_unknown_options": True, "allow_interspersed_args": False},
    help="Record a clean run of a command (or of `pytest FILE::TEST`), then fail each of its destroy calls and context "
    "switches once, with DEINITIALIZED, INVALID_CONTEXT and a sticky ILLEGAL_ADDRESS, and judge each run.",
)
@click.option(
    "--baseline",
    type=click.Path(path_type=Path, dir_okay=False),
    help="Known violations: only new ones are listed and fail.",
)
@click.option("--update-baseline", is_flag=True, help="Write what was found into the baseline file.")
@driver_option
@profile_option
@jobs_option
@timeout_option
@click.argument("words", nargs=-1, required=True, type=click.UNPROCESSED, metavar="-- COMMAND...")
def command(
    baseline: Path | None,
    update_baseline: bool,
    driver: str,
    profile: str | None,
    jobs: int,
    timeout: float | None,
    words: tuple[str, ...],
) -> int:
    """Answers the exit status."""
    if update_baseline and baseline is None:
        raise UsageError("--update-baseline needs --baseline FILE")
    known = frozenset() if baseline is None or update_baseline else read_baseline(baseline)
    profile = check_profile(profile) or "rfc"
    sweep = _Sweep(words, choose_driver(driver), profile, Limits(timeout or DEFAULT_TIMEOUT_S))
    points = sweep.clean_points()
    if not points:
        say("the clean run makes no destroy call and no context switch: nothing to fail")
        return EXIT_NOT_EXERCISED
    say(f"{len(points)} fault points, {len(points) * len(EFFECTS)} runs")
    with ThreadPoolExecutor(max_workers=jobs) as pool:
        swept = list(pool.map(sweep.one, ((point, *effect) for point in points for effect in EFFECTS)))
    found = sorted({line for run in swept for line in run.violations})
    new = [line for line in found if line not in known]
    if baseline is not None and update_baseline:
        write_baseline(baseline, found)
        say(f"{baseline}: {len(found)} known violations")
        new = []
    return _report(swept, new, len(found) - len(new), known - set(found))


class _Sweep:
    def __init__(self, words: tuple[str, ...], driver: Driver, profile: str, limits: Limits) -> None:
        self._words, self._driver, self._profile, self._limits = words, driver, profile, limits

    def _launch(self, faults: list[dict[str, Any]]) -> Launched:
        plan = {"steps": [], "handles": [], "faults": faults}
        return launch(Launch(command=self._words, plan=plan, driver=self._driver, limits=self._limits))

    def clean_points(self) -> list[FaultPoint]:
        """Raises UsageError where the command fails by itself, HarnessError where the shim is not in it."""
        launched = self._launch([])
        try:
            reason = broken(launched, own_child=False)
            if reason is not None:
                raise HarnessError(reason)
            if launched.ended.status != 0:
                how = launched.ended.signal or f"status {launched.ended.status}"
                last = (launched.ended.stderr.strip() or (launched.ended.stdout or "").strip()).splitlines()[-5:]
                raise UsageError(f"the command fails with nothing injected ({how}): {' | '.join(last)}")
            return sweep_points(read_calls(launched.folder))
        finally:
            shutil.rmtree(launched.folder, ignore_errors=True)

    def one(self, what: tuple[FaultPoint, str, str]) -> Swept:
        """One run with one fault."""
        point, effect, code = what
        fault: dict[str, Any] = {
            "label": "f1",
            "symbol": point.symbol,
            "effect": effect,
            "code": code,
            "from": point.ordinal,
            "limit": 1,
        }
        if point.switch is not None:
            fault["switch"] = point.switch
        launched = self._launch([fault])
        try:
            return Swept(
                point, effect, code, judge(launched, request_for_command(self._profile, ["f1"]), own_child=False)
            )
        finally:
            shutil.rmtree(launched.folder, ignore_errors=True)


def read_baseline(path: Path) -> frozenset[str]:
    """The lines of a baseline file, without comments. Raises UsageError."""
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"--baseline: {path} cannot be read: {error}") from error
    return frozenset(line.strip() for line in lines if line.strip() and not line.startswith("# "))


def write_baseline(path: Path, lines: Iterable[str]) -> None:
    """Writes a baseline file, sorted. Raises UsageError."""
    head = (
        "# Violations that `cufault sweep` is to know: fault point, effect and code, rule. Kept by --update-baseline.\n"
    )
    try:
        path.write_text(head + "".join(line + "\n" for line in lines), encoding="utf-8")
    except OSError as error:
        raise UsageError(f"--baseline: {path} cannot be written: {error}") from error


def _report(swept: list[Swept], new: list[str], known: int, gone: frozenset[str]) -> int:
    reasons: dict[str, str] = {}
    for run in swept:
        rules = [line.rsplit(" ", 1)[1] for line in run.violations if line in new]
        word = run.verdict["verdict"].replace("_", " ")
        if rules or word in ("harness error", "not exercised", "inconclusive"):
            click.echo(f"{run.point} {run.effect}={run.code}: {' '.join([word, *rules])}")
        for rule in run.verdict["rules"]:
            if rule["status"] == "violated":
                reasons.setdefault(rule["rule"], f"{rule['rule']} {rule['title']}: {rule['reason']}")
    for rule in sorted({line.rsplit(" ", 1)[1] for line in new}):
        say(reasons[rule])
    words = [run.verdict["verdict"] for run in swept]
    counts = ", ".join(f"{words.count(word)} {word.replace('_', ' ')}" for word in sorted(set(words)))
    say(f"{len(swept)} runs: {counts}")
    say(f"{len(new)} new violations, {known} known" + (f", {len(gone)} known ones not seen again" if gone else ""))
    if "harness_error" in words:
        return EXIT_HARNESS
    if new:
        return EXIT_VIOLATION
    return EXIT_NOT_EXERCISED if {"not_exercised", "inconclusive"} & set(words) else EXIT_PASS
