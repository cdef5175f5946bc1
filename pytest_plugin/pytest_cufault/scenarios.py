# SPDX-License-Identifier: Apache-2.0
"""Scenario files as pytest items: one for each run, its points included."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from cufault.commands.common import verdict_lines
from cufault.errors import UsageError, refusal
from cufault.launch import choose_driver
from cufault.run import Options, run_cases
from cufault.scenario.expand import Case, cases, matrix_text
from cufault.scenario.load import load
from cufault.subjects.catalog import SUBJECTS

from pytest_cufault.failure import JudgedFailure, text_of
from pytest_cufault.plugin import outcomes

# Findings pass: a subject that is only observed breaks rules without failing the suite, and the summary counts them.
PASSING = ("pass", "finding")


class ScenarioFile(pytest.File):
    """One scenario file."""

    def collect(self) -> Iterator[ScenarioRun]:
        chosen = self.config.getoption("--cufault-subject")
        for name in chosen or ():
            if name not in SUBJECTS:
                raise self.CollectError(refusal("--cufault-subject: no such subject", name, SUBJECTS))
        try:
            found = load(self.path, SUBJECTS)
        except UsageError as error:
            raise self.CollectError(str(error)) from error
        for case in cases([found], SUBJECTS, chosen):
            values = [f"{key}={matrix_text(value)}" for key, value in case.scenario.matrix.items()]
            yield ScenarioRun.from_parent(self, name=f"[{', '.join([case.subject.name, *values])}]", case=case)


class ScenarioRun(pytest.Item):
    """One run: a scenario with one combination of its matrix, on one subject."""

    def __init__(self, *, case: Case, **keys: Any) -> None:
        super().__init__(**keys)
        self.case = case

    def runtest(self) -> None:
        out = Path(tempfile.mkdtemp(prefix="cufault-pytest-"))
        try:
            driver = choose_driver(self.config.getoption("--cufault-driver"))
            results = run_cases([self.case], Options(driver, out, jobs=1), lambda done, total, outcome: None)
        finally:
            shutil.rmtree(out, ignore_errors=True)
        lines: list[str] = []
        for run in results["runs"]:
            self.config.stash[outcomes][run["outcome"]] += 1
            if run["outcome"] not in (*PASSING, "not_applicable"):
                lines += [
                    *([f"at {run['point']}"] if run["point"] else []),
                    *verdict_lines(run["verdict"]),
                    f"again: {run['command']}",
                ]
        if lines:
            raise JudgedFailure(lines)
        if all(run["outcome"] == "not_applicable" for run in results["runs"]):
            pytest.skip(f"not applicable: {results['runs'][0]['reason']}")

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], style: Any = None) -> Any:
        return text_of(excinfo) or super().repr_failure(excinfo, style)

    def reportinfo(self) -> tuple[Path, int, str]:
        return self.path, self.case.scenario.position.line - 1, f"{self.case.scenario.sentence} {self.name}"
