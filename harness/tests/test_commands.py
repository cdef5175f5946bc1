# SPDX-License-Identifier: Apache-2.0
"""`exec`, `trace`, `sweep` and `doctor` on whole programs, and the reports of `run`."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path

import junitparser
import pytest
from e2e import SCENARIOS, Command, results

Program = Callable[[str], Path]
Write = Callable[[str, str], Path]


def test_exec_leaves_the_programs_output_alone_and_tells_the_verdict(cufault: Command, stream_program: Program) -> None:
    program = stream_program("cufault.reference")
    done = cufault(
        "exec",
        "--profile",
        "strict",
        "--fault",
        "cuStreamDestroy#1=CUDA_ERROR_INVALID_CONTEXT",
        "--",
        sys.executable,
        program,
    )
    assert done.out == "program done\n"
    ours = [line for line in done.err.splitlines() if line.startswith("cufault: ")]
    theirs = [line for line in done.err.splitlines() if not line.startswith("cufault: ")]
    assert "CUDAWarning: cuStreamDestroy" in theirs[0]
    assert any("f1: fired 1 of 1 matching calls CUDA_ERROR_INVALID_CONTEXT" in line for line in ours), done.err
    assert ours[-1].startswith("cufault: verdict: pass")
    assert done.status == 0


def test_exec_finds_what_a_program_swallows(cufault: Command, stream_program: Program) -> None:
    program = stream_program("cuda.core")
    done = cufault("exec", "--fault", "cuStreamDestroy#1=CUDA_ERROR_INVALID_CONTEXT", "--", sys.executable, program)
    assert (done.status, done.out) == (1, "program done\n"), done.err
    assert "P12 violated" in done.err
    assert "verdict: violation" in done.err


def test_exec_of_a_shell_script_judges_the_whole_tree(cufault: Command, write: Write, stream_program: Program) -> None:
    script = write("script.sh", f"echo before\n{sys.executable} {stream_program('cuda.core')}\necho after\n")
    done = cufault("exec", "--fault", "cuStreamDestroy=CUDA_ERROR_UNKNOWN", "--", "sh", script)
    assert (done.status, done.out) == (1, "before\nprogram done\nafter\n"), done.err


def test_exec_without_faults_judges_a_clean_run(cufault: Command, stream_program: Program) -> None:
    done = cufault("exec", "--", sys.executable, stream_program("cufault.reference"))
    assert done.status == 0, done.err


def test_exec_keeps_the_run_folder_if_asked(cufault: Command, stream_program: Program, tmp_path: Path) -> None:
    cufault("exec", "--keep", tmp_path / "kept", "--", sys.executable, stream_program("cufault.reference"))
    names = {path.name.split(".")[0] for path in (tmp_path / "kept").iterdir()}
    assert {"plan", "process", "trace", "observation", "request", "verdict"} <= names


def test_trace_lists_the_driver_calls_in_order(cufault: Command, stream_program: Program) -> None:
    done = cufault("trace", "--", sys.executable, stream_program("cuda.core"))
    assert (done.status, done.out) == (0, "program done\n"), done.err
    made, used, ended = (
        done.err.index(name) for name in ("cuStreamCreateWithPriority", "cuStreamSynchronize", "cuStreamDestroy_v2")
    )
    assert made < used < ended


def test_trace_as_json_goes_where_it_is_told(cufault: Command, stream_program: Program, tmp_path: Path) -> None:
    done = cufault("trace", "--json", "-o", tmp_path / "calls.json", "--", sys.executable, stream_program("cuda.core"))
    assert done.status == 0, done.err
    calls = json.loads((tmp_path / "calls.json").read_text())["calls"]
    (destroy,) = [call for call in calls if call["function"] == "cuStreamDestroy"]
    assert destroy["result"] == "CUDA_SUCCESS"
    assert "destroy" in destroy["classes"]


TEST = """
    from {module} import Device

    def test_a_stream_comes_and_goes():
        device = Device(0)
        device.set_current()
        stream = device.create_stream()
        stream.sync()
"""


def test_sweep_of_a_pytest_test_finds_each_swallowed_destroy_and_a_baseline_silences_it(
    cufault: Command, write: Write, tmp_path: Path
) -> None:
    write("test_stream.py", TEST.format(module="cuda.core"))
    words = (
        "--",
        sys.executable,
        "-m",
        "pytest",
        "-q",
        "-p",
        "no:cacheprovider",
        "test_stream.py::test_a_stream_comes_and_goes",
    )
    first = cufault("sweep", *words)
    assert first.status == 1, first.err
    assert "cuStreamDestroy_v2#1" in first.out
    assert "P12" in first.out
    update = cufault("sweep", "--baseline", tmp_path / "known", "--update-baseline", *words)
    assert update.status == 0, update.err
    known = (tmp_path / "known").read_text()
    assert "cuStreamDestroy_v2#1 fail=CUDA_ERROR_INVALID_CONTEXT P12" in known
    again = cufault("sweep", "--baseline", tmp_path / "known", *words)
    assert (again.status, again.out) == (0, ""), again.err
    assert "0 new violations" in again.err
    (tmp_path / "known").write_text("\n".join(line for line in known.splitlines() if "INVALID_CONTEXT P12" not in line))
    new = cufault("sweep", "--baseline", tmp_path / "known", *words)
    assert new.status == 1
    assert "ILLEGAL_ADDRESS" not in new.out


def test_sweep_of_the_reference_layer_finds_nothing(cufault: Command, write: Write) -> None:
    write("test_stream.py", TEST.format(module="cufault.reference"))
    done = cufault("sweep", "--", sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "test_stream.py")
    assert (done.status, done.out) == (0, ""), done.err


def test_sweep_of_a_program_without_destroys_is_not_exercised(cufault: Command) -> None:
    done = cufault("sweep", "--", sys.executable, "-c", "import ctypes; ctypes.CDLL('libcuda.so.1').cuInit(0)")
    assert done.status == 3
    assert "nothing to fail" in done.err


def test_doctor_tells_what_is_there(cufault: Command) -> None:
    done = cufault("doctor", "--json")
    found = json.loads(done.out)
    assert (done.status, found["problems"]) == (0, [])
    assert found["shim"]["functions"] >= found["api"]["entry_points"]
    assert {subject["name"]: subject["version"] for subject in found["subjects"]}["cuda.core"] == "1.2.2"
    text = cufault("doctor").out
    assert "shim: " in text
    assert "subject cuda.core: 1.2.2, observed" in text


def test_doctor_names_what_a_real_driver_has_and_the_shim_has_not(
    cufault: Command, write: Write, tmp_path: Path
) -> None:
    import subprocess

    write("driver.c", "int cuInit(unsigned flags) { return (int)flags; } int cuFromTheFuture(void) { return 0; }")
    (tmp_path / "driver").mkdir()
    subprocess.run(
        ["cc", "-shared", "-fPIC", "-o", tmp_path / "driver/libcuda.so.1", tmp_path / "driver.c"], check=True
    )
    done = cufault("doctor", "--json", env={"LD_LIBRARY_PATH": str(tmp_path / "driver")})
    real = json.loads(done.out)["real_driver"]
    assert (real["functions"], real["uncovered"]) == (2, ["cuFromTheFuture"])


def test_doctor_says_what_is_missing_with_status_4(cufault: Command, tmp_path: Path) -> None:
    import shutil

    import cufault as package

    copy = tmp_path / "copy"
    shutil.copytree(Path(package.__file__).parents[1], copy, symlinks=True)
    (copy / "cufault" / "_lib" / "libcufault_sim.so").unlink()
    done = cufault("doctor", env={"PYTHONPATH": str(copy)})
    assert done.status == 4
    assert "problem: no libcufault_sim.so" in done.out


def test_run_leaves_results_reports_and_a_command_that_repeats_each_run(cufault: Command, tmp_path: Path) -> None:
    done = cufault("run", SCENARIOS / "stream" / "drop_fails.scenario.yaml", "--junit", "out.xml")
    assert done.status == 0, done.err
    runs = results(tmp_path)["runs"]
    assert len(runs) == 4
    assert (tmp_path / "cufault-out" / "report.html").stat().st_size > 1000
    suites = junitparser.JUnitXml.fromfile(str(tmp_path / "out.xml"))
    assert suites.tests == 4
    words = runs[0]["command"].split(" ", 1)[1]
    import shlex

    again = cufault(*shlex.split(words))
    assert again.status == 0, again.err
    (only,) = results(tmp_path)["runs"]
    assert (only["subject"], only["matrix"]) == (runs[0]["subject"], runs[0]["matrix"])


def test_run_of_each_call_makes_a_run_for_every_driver_call(cufault: Command, tmp_path: Path) -> None:
    path = SCENARIOS / "stream" / "make_any_call_fails.scenario.yaml"
    done = cufault("run", path, "--subject", "cuda.core")
    assert done.status == 0, done.err
    points = [run["point"] for run in results(tmp_path)["runs"]]
    assert points == ["cuCtxGetStreamPriorityRange #1", "cuStreamCreateWithPriority #1"]
    one = cufault("run", path, "--subject", "cuda.core", "--point", points[1])
    assert one.status == 0, one.err
    assert [run["point"] for run in results(tmp_path)["runs"]] == points[1:]


@pytest.mark.parametrize(
    "words",
    [["--help"], ["run", "--help"], ["exec", "--help"], ["sweep", "--help"], ["trace", "--help"], ["doctor", "--help"]],
)
def test_help_is_there(cufault: Command, words: list[str]) -> None:
    done = cufault(*words)
    assert done.status == 0
    assert "Usage:" in done.out


def test_an_output_folder_with_other_files_is_left_alone(cufault: Command, write: Write, tmp_path: Path) -> None:
    kept = write("precious/thesis.txt", "do not delete")
    done = cufault("run", SCENARIOS / "stream" / "drop_fails.scenario.yaml", "--out", "precious")
    assert done.status == 2
    assert "holds other files" in done.err
    assert kept.read_text() == "do not delete"


def test_compare_says_what_differs_and_only_that(cufault: Command, write: Write, tmp_path: Path) -> None:
    scenario = write(
        "two.scenario.yaml",
        """
        scenario: a stream that cannot be destroyed
        rules: [P12]
        subject: [reference]
        steps:
          - make: {stream: s}
          - drop: s
        faults:
          - {at: cuStreamDestroy, fail: CUDA_ERROR_UNKNOWN}
        """,
    )
    for out in ("first", "second"):
        assert cufault("run", scenario, "--out", tmp_path / out).status == 0
    same = cufault("compare", tmp_path / "first", tmp_path / "second")
    assert (same.status, "1 runs" in same.out, " 0 differences" in same.out) == (0, True, True), same
    changed = json.loads((tmp_path / "second" / "results.json").read_text(encoding="utf-8"))
    changed["runs"][0]["outcome"] = "finding"
    (tmp_path / "second" / "results.json").write_text(json.dumps(changed), encoding="utf-8")
    differs = cufault("compare", tmp_path / "first", tmp_path / "second", "--out", tmp_path / "compare.txt")
    assert differs.status == 1
    assert "outcome: pass | finding" in differs.out
    assert (tmp_path / "compare.txt").read_text(encoding="utf-8") == differs.out
    assert cufault("compare", tmp_path / "first", scenario).status == 2
