# SPDX-License-Identifier: Apache-2.0
"""What a Python child shows is recorded whatever hooks and filters it has, and without changing what it prints."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import textwrap
from pathlib import Path
from typing import Any

import pytest
from cufault.observe import site_folder


def run(
    tmp_path: Path, code: str, *, observed: bool = True, path: str = "", python: str = sys.executable
) -> tuple[list[dict[str, Any]], str]:
    folder = tmp_path / "run"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    program = tmp_path / "program.py"
    program.write_text(textwrap.dedent(code))
    environment = {**os.environ, "PYTHONPATH": ":".join(part for part in (str(site_folder()), path) if part)}
    if observed:
        environment["CUFAULT_PLAN"] = str(folder / "plan.bin")
    done = subprocess.run(
        [python, str(program)], env=environment, capture_output=True, text=True, check=False, timeout=60
    )
    events = [
        json.loads(line)
        for file in sorted(folder.glob("observation.*.jsonl"))
        for line in file.read_text().splitlines()
    ]
    return events, done.stderr


def named(events: list[dict[str, Any]], name: str) -> list[dict[str, Any]]:
    return [event for event in events if event["event"] == name]


def test_the_first_line_tells_the_process_and_the_last_that_it_finalizes(tmp_path: Path) -> None:
    events, _ = run(tmp_path, "pass")
    assert [event["event"] for event in events] == ["process", "finalizing"]
    head = events[0]
    assert (head["format"], head["language"], head["subject"], head["warning_filter"]) == (1, "python", None, "seen")
    assert head["argv"][-1] == str(tmp_path / "program.py")
    assert events[1]["preloaded"] is False


def test_warnings_are_recorded_also_where_the_program_records_or_replaces_them(tmp_path: Path) -> None:
    events, stderr = run(
        tmp_path,
        """
        import warnings
        class Mine(RuntimeWarning): pass
        warnings.warn("shown", Mine)
        with warnings.catch_warnings(record=True) as seen:
            warnings.simplefilter("always")
            warnings.warn("recorded", Mine)
        assert len(seen) == 1
        warnings.showwarning = lambda *a, **k: None
        warnings.warn("replaced", Mine)
        warnings.simplefilter("ignore")
        warnings.warn("ignored", Mine)
    """,
    )
    found = named(events, "warning")
    assert [event["message"] for event in found] == ["shown", "recorded", "replaced", "ignored"]
    assert found[0]["category"] == "Mine"
    assert found[0]["mro"][:2] == ["__main__.Mine", "builtins.RuntimeWarning"]
    assert found[0]["lineno"] == 4
    assert "Mine: shown" in stderr
    assert "Mine: recorded" not in stderr


def test_warnings_that_the_programs_filters_hide_are_recorded_all_the_same(tmp_path: Path) -> None:
    events, stderr = run(
        tmp_path,
        """
        import warnings
        class Mine(RuntimeWarning): pass
        warnings.simplefilter("ignore")
        warnings.warn("simple", Mine)
        with warnings.catch_warnings():
            warnings.resetwarnings()
            warnings.filterwarnings("ignore", message="by text", category=RuntimeWarning)
            warnings.warn("by text", Mine)
            warnings.warn("shown after all", Mine)
        with warnings.catch_warnings():
            warnings.filterwarnings("error", category=Mine)
            try: warnings.warn("raised", Mine)
            except Mine: pass
        with warnings.catch_warnings():
            warnings.filters[:] = [("ignore", None, Warning, "__main__", 0)]
            warnings.warn("by module", Mine)
        """,
    )
    found = [event["message"] for event in named(events, "warning")]
    assert found == ["simple", "by text", "shown after all", "by module"]
    assert stderr.count("Mine:") == 1
    assert [event["warning_filter"] for event in named(events, "process")] == ["seen"]


def test_a_program_that_puts_a_list_of_its_own_in_place_of_the_filters_is_told(tmp_path: Path) -> None:
    events, _ = run(
        tmp_path, "import warnings; warnings.warn('x'); warnings.filters = [('ignore', None, Warning, None, 0)]"
    )
    assert [event["warning_filter"] for event in named(events, "process")] == ["seen", "program"]


def test_an_unraisable_error_is_recorded_under_a_replaced_hook(tmp_path: Path) -> None:
    events, stderr = run(
        tmp_path,
        """
        import sys, warnings
        sys.unraisablehook = lambda arguments: None
        class Noisy:
            def __del__(self): raise ValueError("in del")
        Noisy()
        warnings.simplefilter("error")
        class Warns:
            def __del__(self): warnings.warn("escalated", RuntimeWarning)
        Warns()
    """,
    )
    first, second = named(events, "unraisable")
    assert (first["type"], first["message"], first["warning_mro"]) == ("ValueError", "in del", None)
    assert "Noisy.__del__" in first["object"]
    assert second["warning_mro"][0] == "builtins.RuntimeWarning"
    assert "in del" not in stderr


def test_an_exception_that_ends_the_program_is_recorded_with_cause_notes_and_code(tmp_path: Path) -> None:
    events, stderr = run(
        tmp_path,
        """
        import sys
        sys.excepthook = lambda *a: print("mine", file=sys.stderr)
        class Failed(Exception):
            code = 201
        try:
            raise KeyError("first")
        except KeyError as first:
            error = Failed("second")
            error.__notes__ = ["a note"]
            raise error from first
    """,
    )
    (found,) = named(events, "exception")
    assert (found["type"], found["code"], found["notes"], found["handled"]) == ("Failed", 201, ["a note"], False)
    assert found["cause"]["type"] == "KeyError"
    assert found["context"] is None
    assert "line 11" in found["traceback"]
    assert stderr == "mine\n"


def test_an_exception_that_ends_a_thread_is_recorded(tmp_path: Path) -> None:
    events, stderr = run(
        tmp_path,
        """
        import threading
        def body(): raise LookupError("in a thread")
        thread = threading.Thread(target=body); thread.start(); thread.join()
    """,
    )
    assert [event["message"] for event in named(events, "exception")] == ["in a thread"]
    assert "LookupError: in a thread" in stderr


def test_the_code_is_taken_from_a_result_among_the_arguments(tmp_path: Path) -> None:
    events, _ = run(
        tmp_path,
        """
        import enum
        class CUresult(enum.IntEnum): CUDA_ERROR_INVALID_CONTEXT = 201
        raise RuntimeError(CUresult.CUDA_ERROR_INVALID_CONTEXT)
    """,
    )
    assert named(events, "exception")[0]["code"] == 201


def test_an_exit_status_is_no_result(tmp_path: Path) -> None:
    events, _ = run(
        tmp_path,
        """
        import threading
        class Wrapped(Exception): pass
        try: raise SystemExit(3)
        except SystemExit as end: raise Wrapped() from end
    """,
    )
    assert named(events, "exception")[0]["cause"]["code"] is None


def test_a_forked_child_writes_a_file_of_its_own(tmp_path: Path) -> None:
    events, _ = run(
        tmp_path,
        """
        import os, warnings
        warnings.warn("parent")
        if os.fork() == 0:
            warnings.warn("child")
            os._exit(0)
        os.wait()
    """,
    )
    parent, child = (event["pid"] for event in named(events, "warning"))
    assert parent != child or len(named(events, "process")) == 2
    assert len({event["pid"] for event in named(events, "process")}) == 2


def test_what_cannot_be_printed_is_still_one_line_of_json(tmp_path: Path) -> None:
    events, _ = run(
        tmp_path,
        r"""
        import warnings
        warnings.warn('tab\t "quote" back\\slash \x01 \ud800 \u20ac ' + "x" * 70000)
    """,
    )
    message = named(events, "warning")[0]["message"]
    assert message.startswith('tab\t "quote" back\\slash \x01 \ufffd \u20ac xx')
    assert message.endswith("...")


def test_an_exception_whose_text_cannot_be_made_is_still_recorded(tmp_path: Path) -> None:
    events, _ = run(
        tmp_path,
        """
        class Broken(Exception):
            def __str__(self): raise ValueError
        raise Broken
    """,
    )
    assert "ValueError" in named(events, "exception")[0]["message"]


def test_without_a_plan_nothing_is_written_or_hooked(tmp_path: Path) -> None:
    events, stderr = run(tmp_path, "import sys; assert '_cufault_observer' not in sys.modules", observed=False)
    assert (events, stderr) == ([], "")


def test_the_original_sitecustomize_runs_and_keeps_its_name(tmp_path: Path) -> None:
    original = tmp_path / "original"
    original.mkdir()
    (original / "sitecustomize.py").write_text("ran = True")
    events, stderr = run(tmp_path, "import sitecustomize; assert sitecustomize.ran", path=str(original))
    assert stderr == ""
    assert named(events, "finalizing")


def test_a_broken_original_sitecustomize_is_told_as_python_tells_it(tmp_path: Path) -> None:
    original = tmp_path / "original"
    original.mkdir()
    (original / "sitecustomize.py").write_text("raise RuntimeError('theirs')")
    events, stderr = run(tmp_path, "pass", path=str(original))
    assert "theirs" in stderr
    assert named(events, "finalizing")


def test_no_module_is_imported_that_an_interpreter_does_not_have_anyway(tmp_path: Path) -> None:
    code = "import sys; print(*sorted(sys.modules), file=sys.stderr)"
    _, with_us = run(tmp_path, code)
    _, without = run(tmp_path, code, observed=False)
    allowed = {"_cufault_observer", "atexit", "warnings", "__future__", "_thread", "time"}
    assert set(with_us.split()) - set(without.split()) <= allowed


def pythons() -> list[str]:
    """Every Python from 3.10 on that this machine has, this one included."""
    found = {sys.executable}
    for minor in range(10, 15):
        on_path = shutil.which(f"python3.{minor}")
        others = [*Path.home().glob(f".pyenv/versions/3.{minor}.*/bin/python"), *([Path(on_path)] if on_path else [])]
        works = [
            path
            for path in others
            if subprocess.run([path, "-c", ""], check=False, capture_output=True).returncode == 0
        ]
        found |= {str(path) for path in works[:1]}
    return sorted(found)


@pytest.mark.parametrize("python", pythons())
def test_every_python_from_3_10_on_is_observed(tmp_path: Path, python: str) -> None:
    events, stderr = run(
        tmp_path,
        """
        import threading, warnings
        warnings.warn("one")
        with warnings.catch_warnings(record=True):
            warnings.simplefilter("always")
            warnings.warn("two")
        class Noisy:
            def __del__(self): raise ValueError("three")
        Noisy()
        def body(): raise LookupError("four")
        thread = threading.Thread(target=body); thread.start(); thread.join()
        raise KeyError("five")
    """,
        python=python,
    )
    assert [event["message"] for event in events if "message" in event] == ["one", "two", "three", "four", "'five'"], (
        stderr
    )
