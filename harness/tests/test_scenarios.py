# SPDX-License-Identifier: Apache-2.0
"""All scenarios of the repository on both subjects: the reference layer passes, cuda.core is judged to the end."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

from e2e import SCENARIOS, Command, results

LISTED = {
    "P01",
    "P02",
    "P04",
    "P05",
    "P08",
    "P09",
    "P12",
    "P15",
    "P16",
    "P17",
    "P18",
    "P20",
    "P21",
    "P24",
    "P25",
    "P26",
}


def test_every_scenario_passes_on_the_reference_layer(cufault: Command, tmp_path: Path) -> None:
    done = cufault("run", SCENARIOS, "--subject", "reference", timeout=900)
    bad = [
        (run["file"], run["matrix"], run["point"], run["reason"])
        for run in results(tmp_path)["runs"]
        if run["outcome"] != "pass"
    ]
    assert (done.status, bad) == (0, [])


def test_every_scenario_is_judged_to_the_end_on_cuda_core(cufault: Command, tmp_path: Path) -> None:
    done = cufault("run", SCENARIOS, "--subject", "cuda.core", timeout=900)
    runs = results(tmp_path)["runs"]
    bad = [
        (run["file"], run["matrix"], run["point"], run["outcome"], run["reason"])
        for run in runs
        if run["outcome"] not in ("pass", "finding", "not_applicable")
    ]
    assert (done.status, bad) == (0, [])
    counts = Counter(run["outcome"] for run in runs)
    assert counts["pass"] > 0
    assert counts["finding"] > 0
    assert all(run["reason"] for run in runs if run["outcome"] == "not_applicable")


def test_the_scenarios_are_enough_and_cover_the_rules() -> None:
    from cufault.scenario.load import find, load
    from cufault.subjects.catalog import SUBJECTS

    files = [load(path, SUBJECTS) for path in find([SCENARIOS])]
    assert len(files) >= 25
    assert {rule for file in files for rule in file.scenarios[0].rules} >= LISTED
    assert all(file.scenarios[0].subjects is None for file in files), "each runs unchanged on every subject"
