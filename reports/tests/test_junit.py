# SPDX-License-Identifier: Apache-2.0
"""JUnit XML: valid whatever the texts hold, and red exactly where the run fails."""

from __future__ import annotations

import tempfile
import xml.etree.ElementTree as ET
from pathlib import Path

import hostile
import pytest
import sample
from cufault_reports import write_junit
from cufault_reports.results import Results
from hypothesis import given, settings
from hypothesis import strategies as st


def parse(results: Results) -> ET.Element:
    """Through a file and a strict parser, as a CI server would."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "junit.xml"
        write_junit(results, path)
        return ET.parse(path).getroot()


def test_a_suite_is_a_subject_and_a_case_is_a_run() -> None:
    root = parse(sample.results())
    assert [suite.get("name") for suite in root] == ["reference 0.1.0", "cuda.core 1.2.2"]
    case = root.find("./testsuite/testcase")
    assert case is not None
    assert case.get("classname") == "scenarios/stream/drop.scenario.yaml"
    name = "a stream dropped by the garbage collector cannot be destroyed [code=CUDA_ERROR_INVALID_CONTEXT]"
    assert case.get("name") == name


def test_a_finding_passes_and_its_evidence_is_in_the_output() -> None:
    root = parse(sample.results(sample.finding(1)))
    assert (root.get("tests"), root.get("failures"), root.get("errors")) == ("1", "0", "0")
    output = root.findtext("./testsuite[2]/testcase/system-out") or ""
    assert output.startswith("finding: P12: the failure shows nowhere")
    assert "P12 violated: no warning names cuStreamDestroy" in output
    assert "repeat: cufault run" in output


@pytest.mark.parametrize(
    ("outcome", "element"),
    [
        ("violation", "failure"),
        ("not_exercised", "failure"),
        ("inconclusive", "failure"),
        ("harness_error", "error"),
        ("not_applicable", "skipped"),
    ],
)
def test_each_outcome_has_its_element(outcome: str, element: str) -> None:
    root = parse(sample.results(sample.run(1, outcome=outcome, verdict=None, reason="why")))
    found = root.find(f"./testsuite/testcase/{element}")
    assert found is not None
    assert (found.get("type"), found.get("message")) == (outcome, "why")
    assert len(root.findall(f"./testsuite/testcase/{element}")) == 1


def test_an_outcome_that_nobody_knows_fails() -> None:
    assert parse(sample.results(sample.run(1, outcome="surprise"))).get("failures") == "1"


def test_hostile_texts_stay_valid_xml() -> None:
    root = parse(hostile.results())
    assert "<script>alert(1)</script>" in (root.findtext("./testsuite/testcase/system-out") or "")


@settings(max_examples=60, deadline=None)
@given(st.text())
def test_any_text_gives_valid_xml(text: str) -> None:
    parse(hostile.results(text))


def test_megabytes_of_text_are_cut(tmp_path: Path) -> None:
    path = tmp_path / "junit.xml"
    write_junit(hostile.results("x" * 5_000_000), path)
    assert path.stat().st_size < 1_000_000
