# SPDX-License-Identifier: Apache-2.0
"""Every exit status, and that each has the reason it claims."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from e2e import Command, results

GOOD = """\
scenario: a stream is dropped and cannot be destroyed
rules: [P12]
subject: [{subject}]
steps: [{{make: {{stream: s}}}}, {{drop: s}}]
faults: [{{at: cuStreamDestroy, handle: s, nth: {nth}, fail: CUDA_ERROR_INVALID_CONTEXT}}]
expect: {{{expect}}}
"""


def scenario(subject: str = "reference", nth: int = 1, expect: str = "indeterminate: [s]") -> str:
    return GOOD.format(subject=subject, nth=nth, expect=expect)


Write = Callable[[str, str], Path]


def test_0_when_every_rule_holds(cufault: Command, write: Write, tmp_path: Path) -> None:
    done = cufault("run", write("a.scenario.yaml", scenario()))
    assert done.status == 0, done.err
    assert [run["outcome"] for run in results(tmp_path)["runs"]] == ["pass"]


def test_0_when_an_observed_subject_breaks_a_rule_and_that_is_said(
    cufault: Command, write: Write, tmp_path: Path
) -> None:
    done = cufault("run", write("a.scenario.yaml", scenario("cuda.core")))
    assert done.status == 0, done.err
    assert [run["outcome"] for run in results(tmp_path)["runs"]] == ["finding"]
    assert "findings: they do not fail the run" in done.err


def test_1_when_a_conforming_subject_breaks_what_the_scenario_expects(
    cufault: Command, write: Write, tmp_path: Path
) -> None:
    done = cufault("run", write("a.scenario.yaml", scenario(expect="silent: [drop s]")))
    assert done.status == 1, done.err
    (run,) = results(tmp_path)["runs"]
    assert run["outcome"] == "violation"
    assert [item["met"] for item in run["verdict"]["expectations"]] == [False]


@pytest.mark.parametrize(
    ("written", "instead", "place", "nearest"),
    [
        ("cuStreamDestroy", "cuStreamDestory", "5:15", "cuStreamDestroy"),
        ("CUDA_ERROR_INVALID_CONTEXT", "CUDA_ERROR_INVALID_CONTXT", "5:57", "CUDA_ERROR_INVALID_CONTEXT"),
        ("P12", "p12", "2:9", "P12"),
        ("handle:", "handel:", "5:32", "handle"),
    ],
)
def test_2_when_a_scenario_has_a_typo_which_is_shown_with_its_place(
    cufault: Command, write: Write, written: str, instead: str, place: str, nearest: str
) -> None:
    path = write("a.scenario.yaml", scenario().replace(written, instead))
    done = cufault("run", path)
    assert done.status == 2
    assert f"a.scenario.yaml:{place}: " in done.err
    assert f"did you mean {nearest!r}?" in done.err


def test_2_tells_the_errors_of_every_file_before_anything_runs(cufault: Command, write: Write, tmp_path: Path) -> None:
    for name in ("a", "b"):
        write(f"{name}.scenario.yaml", scenario().replace("cuStreamDestroy", "cuStreamDestory"))
    done = cufault("run", tmp_path)
    assert done.status == 2
    assert "a.scenario.yaml:5:15" in done.err
    assert "b.scenario.yaml:5:15" in done.err
    assert not (tmp_path / "cufault-out").exists()


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["run", "."], "no file *.scenario.yaml"),
        (["run", "nowhere"], "no such file or folder"),
        (["run", "--subject", "cuda.cor", "x"], "did you mean 'cuda.core'?"),
        (["run", "--profile", "rcf", "x"], "did you mean 'rfc'?"),
        (["run"], "Missing argument"),
        (["rnu"], "No such command"),
        (["exec", "--fault", "cuStreamDestory=CUDA_ERROR_UNKNOWN", "--", "true"], "did you mean 'cuStreamDestroy'?"),
        (["exec", "--", "/no/such/program"], "cannot start"),
        (["sweep", "--baseline", "none", "--", "true"], "cannot be read"),
        (["sweep", "--", "false"], "fails with nothing injected"),
    ],
)
def test_2_when_the_command_line_is_wrong(cufault: Command, words: list[str], says: str) -> None:
    done = cufault(*words)
    assert (done.status, "Traceback" in done.err) == (2, False)
    assert says in done.err


def test_2_when_two_scenarios_say_the_same(cufault: Command, write: Write, tmp_path: Path) -> None:
    write("a.scenario.yaml", scenario())
    write("b.scenario.yaml", scenario())
    done = cufault("run", tmp_path)
    assert done.status == 2
    assert "b.scenario.yaml:1:1" in done.err


def test_3_when_a_fault_never_fires(cufault: Command, write: Write, tmp_path: Path) -> None:
    done = cufault("run", write("a.scenario.yaml", scenario(nth=99, expect="")))
    assert done.status == 3, done.err
    (run,) = results(tmp_path)["runs"]
    assert run["outcome"] == "not_exercised"
    assert "f1" in run["reason"]


def test_3_when_a_listed_rule_is_not_exercised(cufault: Command, write: Write, tmp_path: Path) -> None:
    done = cufault("run", write("a.scenario.yaml", scenario().replace("[P12]", "[P12, P24]")))
    assert done.status == 3, done.err
    assert "P24" in results(tmp_path)["runs"][0]["reason"]


def test_3_when_a_program_makes_no_driver_call(cufault: Command) -> None:
    done = cufault("exec", "--", sys.executable, "-c", "print('no driver')")
    assert (done.status, done.out) == (3, "no driver\n"), done.err
    assert "verdict: not exercised" in done.err


def test_4_when_the_shim_was_taken_out_of_the_environment(cufault: Command) -> None:
    done = cufault("exec", "--", "env", "-u", "LD_PRELOAD", sys.executable, "-c", "print('alone')")
    assert (done.status, done.out) == (4, "alone\n"), done.err
    assert "the shim never loaded" in done.err


def test_4_when_nothing_can_be_preloaded_into_the_program(cufault: Command, tmp_path: Path) -> None:
    source, program = tmp_path / "main.c", tmp_path / "program"
    source.write_text("int main(void) { return 0; }")
    subprocess.run(["cc", "-static", "-o", str(program), str(source)], check=True)
    done = cufault("exec", "--", program)
    assert done.status == 4, done.err
    assert "statically linked" in done.err


def test_97_is_how_a_process_ends_whose_plan_cannot_be_honoured(tmp_path: Path) -> None:
    from cufault.launch import libraries
    from cufault.launch.environment import environment, preload_folder

    variables = environment(os.environ, tmp_path, preload_folder(tmp_path, libraries().shim), None)
    (tmp_path / "plan.bin").write_bytes(b"no plan")
    done = subprocess.run(
        [sys.executable, "-c", "import ctypes; ctypes.CDLL('libcuda.so.1').cuInit(0); print('went on')"],
        env=variables,
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert (done.returncode, done.stdout) == (97, "")
    assert "plan" in done.stderr


def test_the_childs_own_status_comes_first(cufault: Command) -> None:
    done = cufault("exec", "--", sys.executable, "-c", "import sys; sys.exit(7)")
    assert done.status == 7
    assert "verdict: not exercised" in done.err
    assert cufault("exec", "--", "sh", "-c", "kill -TERM $$").status == 128 + 15


def test_an_error_of_our_own_is_4_and_never_reads_as_violations(cufault: Command, write: Write, tmp_path: Path) -> None:
    write("broken/cufault_reports/__init__.py", "raise RuntimeError('broken on purpose')")
    path = write("a.scenario.yaml", scenario())
    done = cufault("run", path, env={"PYTHONPATH": f"{tmp_path}/broken:{os.environ['PYTHONPATH']}"})
    assert done.status == 4
    assert "broken on purpose" in done.err
