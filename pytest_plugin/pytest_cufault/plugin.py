# SPDX-License-Identifier: Apache-2.0
"""The plugin's hooks, loaded in every pytest of an environment with cufault: what is heavy is imported when used."""

from __future__ import annotations

import os
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from pytest_cufault.scenarios import ScenarioFile

SUFFIX = ".scenario.yaml"
MARK = "cufault"

outcomes = pytest.StashKey[Counter[str]]()


def pytest_addoption(parser: pytest.Parser) -> None:
    """The plugin's options."""
    group = parser.getgroup("cufault", "CUDA driver faults")
    group.addoption(
        "--cufault-driver",
        choices=["simulated", "real", "auto"],
        default="simulated",
        help="who answers driver calls in scenarios and marked tests (default: simulated)",
    )
    group.addoption("--cufault-subject", action="append", metavar="NAME", help="run scenarios on this subject only")


def pytest_configure(config: pytest.Config) -> None:
    """Registers the mark."""
    config.stash[outcomes] = Counter()
    config.addinivalue_line(
        "markers",
        "cufault(faults=[...], rules=[...], driver=..., profile=..., timeout=...): run this test in a fresh process in "
        "which the driver calls that `faults` names ('cuStreamDestroy#1=CUDA_ERROR_UNKNOWN') fail, and judge it; "
        "a fault that never fires, or a rule of `rules` that was not exercised, fails the test",
    )


def pytest_collect_file(file_path: Path, parent: pytest.Collector) -> ScenarioFile | None:
    """A scenario file is a collection of runs."""
    if not file_path.name.endswith(SUFFIX):
        return None
    from pytest_cufault.scenarios import ScenarioFile

    return ScenarioFile.from_parent(parent, path=file_path)


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Marked tests are run by a child; in that child, which has a plan, they run as they are."""
    if os.environ.get("CUFAULT_PLAN"):
        return
    for item in items:
        if isinstance(item, pytest.Function) and item.get_closest_marker(MARK) is not None:
            from pytest_cufault.marked import run_in_child

            run_in_child(item)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    """One line for all judged runs of the session."""
    counts = config.stash[outcomes]
    if counts:
        words = ", ".join(f"{count} {outcome.replace('_', ' ')}" for outcome, count in sorted(counts.items()))
        terminalreporter.write_line(f"cufault: {sum(counts.values())} judged runs: {words}")
