# SPDX-License-Identifier: Apache-2.0
"""Scenario files and marked tests in a user's suite pass, fail and explain themselves as judged."""

from __future__ import annotations

import pytest

SCENARIO = """\
scenario: a stream is dropped and cannot be destroyed
rules: [P12]
steps: [{make: {stream: s}}, {drop: s}]
faults: [{at: cuStreamDestroy, handle: s, nth: NTH, fail: "${code}"}]
matrix: {code: [CUDA_ERROR_INVALID_CONTEXT]}
"""

# Each test of the suite under test uses the driver through a library, as a user's would.
MARKED = """
import pytest
from {module} import Device

@pytest.fixture
def device():
    device = Device(0)
    device.set_current()
    return device

@pytest.mark.cufault(faults=["{fault}"], rules={rules})
def test_stream(device):
    stream = device.create_stream()
    del stream
    {more}
"""


def marked(
    module: str, fault: str = "cuStreamDestroy#1=CUDA_ERROR_INVALID_CONTEXT", rules: str = "['P12']", more: str = ""
) -> str:
    return MARKED.format(module=module, fault=fault, rules=rules, more=more)


def run(pytester: pytest.Pytester, *words: str) -> pytest.RunResult:
    return pytester.runpytest_subprocess("-p", "no:cacheprovider", *words)


def scenario(pytester: pytest.Pytester, text: str) -> None:
    (pytester.path / "a.scenario.yaml").write_text(text, encoding="utf-8")


def test_a_scenario_file_is_one_item_for_each_run(pytester: pytest.Pytester) -> None:
    scenario(pytester, SCENARIO.replace("NTH", "1"))
    done = run(pytester, "-v")
    done.assert_outcomes(passed=2)
    done.stdout.fnmatch_lines(
        [
            "*[[]reference, code=CUDA_ERROR_INVALID_CONTEXT[]] PASSED*",
            "*[[]cuda.core, code=*PASSED*",
            "cufault: 2 judged runs: 1 finding, 1 pass",
        ]
    )


def test_a_fault_that_never_fires_fails_the_item_and_says_so(pytester: pytest.Pytester) -> None:
    scenario(pytester, SCENARIO.replace("NTH", "99"))
    done = run(pytester, "--cufault-subject", "reference")
    done.assert_outcomes(failed=1)
    done.stdout.fnmatch_lines(
        ["*verdict: not exercised*", "again: cufault run a.scenario.yaml --subject reference --only *"]
    )
    assert "Traceback" not in done.stdout.str()


def test_a_scenario_with_a_typo_is_a_collection_error_with_its_place(pytester: pytest.Pytester) -> None:
    scenario(pytester, SCENARIO.replace("cuStreamDestroy", "cuStreamDestory"))
    done = run(pytester)
    assert done.ret == pytest.ExitCode.INTERRUPTED
    done.stdout.fnmatch_lines(["*a.scenario.yaml:4:15: no such driver function*did you mean 'cuStreamDestroy'*"])


def test_what_a_subject_cannot_do_is_skipped_with_its_reason(pytester: pytest.Pytester) -> None:
    scenario(pytester, "scenario: x\nrules: [P16]\nsubject: [cuda.core]\nsteps: [{make: {context: c}}]\n")
    done = run(pytester, "-rs")
    done.assert_outcomes(skipped=1)
    done.stdout.fnmatch_lines(["*not applicable: cuda.core 1.2 makes no plain contexts*"])


def test_a_marked_test_that_swallows_a_failure_fails_with_the_rule(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(marked("cuda.core"))
    done = run(pytester)
    done.assert_outcomes(failed=1)
    done.stdout.fnmatch_lines(
        ["f1: fired 1 of 1 matching calls CUDA_ERROR_INVALID_CONTEXT*", "P12 violated: *", "verdict: violation*"]
    )
    assert "Traceback" not in done.stdout.str()


def test_a_marked_test_whose_library_keeps_the_rules_passes(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(marked("cufault.reference"))
    done = run(pytester)
    done.assert_outcomes(passed=1)
    done.stdout.fnmatch_lines(["cufault: 1 judged runs: 1 pass"])


def test_a_marked_test_whose_fault_never_fires_fails(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(marked("cufault.reference", fault="cuStreamDestroy#99=CUDA_ERROR_UNKNOWN", rules="[]"))
    done = run(pytester)
    done.assert_outcomes(failed=1)
    done.stdout.fnmatch_lines(["verdict: not exercised*"])


def test_a_marked_test_that_fails_by_itself_shows_its_own_failure(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(marked("cufault.reference", more="assert False, 'by itself'"))
    done = run(pytester)
    done.assert_outcomes(failed=1)
    done.stdout.fnmatch_lines(["the test itself failed in its process*", "*by itself*"])


def test_a_marked_test_runs_once_and_in_another_process(pytester: pytest.Pytester) -> None:
    record = pytester.path / "pids"
    more = f"import os; open({str(record)!r}, 'a').write(f'{{os.getpid()}} ')"
    pytester.makepyfile(marked("cufault.reference", more=more))
    result = run(pytester)
    result.assert_outcomes(passed=1)
    assert len(record.read_text().split()) == 1


@pytest.mark.parametrize(
    ("mark", "says"),
    [
        ("faults=['cuStreamDestory=CUDA_ERROR_UNKNOWN']", "did you mean 'cuStreamDestroy'?"),
        ("rules=['p12']", "did you mean 'P12'?"),
        ("profile='rcf'", "did you mean 'rfc'?"),
        ("fautls=[]", "did you mean 'faults'?"),
        ("['x']", "takes keys only"),
    ],
)
def test_a_mark_that_says_nothing_possible_fails_with_the_nearest_right_name(
    pytester: pytest.Pytester, mark: str, says: str
) -> None:
    pytester.makepyfile(f"import pytest\n@pytest.mark.cufault({mark})\ndef test_x(): pass\n")
    done = run(pytester)
    done.assert_outcomes(failed=1)
    assert says in done.stdout.str()
    assert "Traceback" not in done.stdout.str()


def test_a_suite_without_scenarios_and_marks_is_left_alone(pytester: pytest.Pytester) -> None:
    pytester.makepyfile("def test_x():\n    import sys\n    assert 'cufault.run' not in sys.modules\n")
    done = run(pytester, "--strict-markers")
    done.assert_outcomes(passed=1)
    assert "cufault: " not in done.stdout.str()
