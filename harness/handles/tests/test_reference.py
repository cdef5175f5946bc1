# SPDX-License-Identifier: Apache-2.0
"""The Python binding over the simulated driver, in children under the shim: channels, finalization, memory."""

from __future__ import annotations

import subprocess
import sys
import textwrap

import pytest

START = """
import gc, sys, warnings
warnings.simplefilter("always")
from cufault import reference
device = reference.Device(0)
device.set_current()
stream = device.create_stream()
"""


def run(program: str, *faults: str) -> subprocess.CompletedProcess[str]:
    options = [part for fault in faults for part in ("--fault", fault)]
    command = [sys.executable, "-c", "from cufault.cli import main; main()", "exec", "--driver", "simulated", *options]
    code = START + textwrap.dedent(program)
    return subprocess.run(
        [*command, "--", sys.executable, "-c", code], capture_output=True, text=True, timeout=120, check=False
    )


def test_a_failed_destroy_of_a_dropped_object_is_one_warning_with_call_handle_and_error() -> None:
    done = run(
        """
        number = hex(stream.handle)
        with warnings.catch_warnings(record=True) as seen:
            warnings.simplefilter("always")
            del stream
        print(len(seen), seen[0].category is reference.CUDAWarning)
        print(f"cuStreamDestroy({number})" in str(seen[0].message))
        print("CUDA_ERROR_INVALID_CONTEXT" in str(seen[0].message))
        """,
        "cuStreamDestroy#1=CUDA_ERROR_INVALID_CONTEXT",
    )
    assert done.stdout.split() == ["1", "True", "True", "True"], done.stderr


def test_an_escalated_warning_arrives_as_unraisable_and_the_pending_exception_survives() -> None:
    done = run(
        """
        seen = []
        sys.unraisablehook = lambda unraisable: seen.append(unraisable.exc_type)
        warnings.simplefilter("error", reference.CUDAWarning)
        def fails():
            dropped = device.create_stream()
            raise ValueError("pending")
        try:
            fails()
        except ValueError as error:
            print(error)
            error.__traceback__ = None
        gc.collect()
        print(seen == [reference.CUDAWarning])
        """,
        "cuStreamDestroy#1=CUDA_ERROR_INVALID_CONTEXT",
    )
    assert done.stdout.split() == ["pending", "True"], done.stderr


def test_an_explicit_close_raises_and_warns_of_nothing() -> None:
    done = run(
        """
        warnings.simplefilter("error")
        try:
            stream.close()
        except reference.CUDAError as error:
            print(error.code, error.name, error.call, stream.is_closed)
        stream.close()
        """,
        "cuStreamDestroy#1=CUDA_ERROR_INVALID_CONTEXT",
    )
    assert done.stdout.split() == ["201", "CUDA_ERROR_INVALID_CONTEXT", "cuStreamDestroy", "True"], done.stderr


def test_a_warning_filter_may_use_the_layer_and_sees_the_callers_context() -> None:
    done = run(
        """
        other = device.create_context()
        buffer = device.allocate(64, stream=device.default_stream)
        device.set_current(other)
        def shown(message, category, filename, lineno, file=None, line=None):
            event = device.create_event()
            print(device.set_current(other) == other, event.is_closed)
        warnings.showwarning = shown
        del buffer
        """,
        "cuMemFreeAsync#1=CUDA_ERROR_INVALID_VALUE",
    )
    assert done.stdout.split() == ["True", "False"], done.stderr


def test_what_fails_while_the_interpreter_ends_goes_to_stderr_and_changes_no_exit_status() -> None:
    done = run("", "cuStreamDestroy#1=CUDA_ERROR_INVALID_CONTEXT")
    assert "cufault.handles: cuStreamDestroy(0x" in done.stderr
    assert "Traceback" not in done.stderr


def test_a_driver_that_is_gone_when_the_interpreter_ends_is_met_in_silence() -> None:
    done = run("", "cuStreamDestroy#1=CUDA_ERROR_DEINITIALIZED")
    assert "cufault.handles" not in done.stderr


@pytest.mark.parametrize(("end", "expected"), [("del buffer", "warned"), ("buffer.close()", "raised")])
def test_what_a_users_memory_resource_raises_is_warned_of_when_dropped_and_raised_when_closed(
    end: str, expected: str
) -> None:
    done = run(
        f"""
        class Mine(reference.MemoryResource):
            def deallocate(self, ptr, size, *, stream):
                raise KeyError(ptr + size)
        buffer = reference.Buffer.from_handle(0x100, 0x10, mr=Mine())
        with warnings.catch_warnings(record=True) as seen:
            warnings.simplefilter("always")
            try:
                {end}
            except KeyError as error:
                print("raised", error.args[0] == 0x110)
        for warning in seen:
            print("warned", "KeyError" in str(warning.message) and "0x100" in str(warning.message))
        """
    )
    assert done.stdout.split() == [expected, "True"], done.stderr


def test_a_graph_keeps_what_a_node_uses_until_nobody_needs_it() -> None:
    done = run(
        """
        import time, weakref
        class Owner: pass
        first, second = Owner(), Owner()
        memory = reference.SynchronousMemoryResource(device).allocate(64)
        graph = reference.GraphDefinition()
        node = graph.memset(memory.handle, 1, 64, dst_owner=first)
        references = [weakref.ref(first), weakref.ref(second)]
        del first
        print(references[0]() is not None)
        node.update(dst=memory.handle, dst_owner=second)
        del second
        # The driver calls back on a thread of its own, when it likes; a pending call of this thread releases the owner.
        # CPython 3.11 looks for pending calls of other threads only when it takes its lock: sleep(0) gives it away.
        while references[0]() is not None:
            time.sleep(0)
        print(references[1]() is not None)
        del node, graph
        while references[1]() is not None:
            time.sleep(0)
        print("released")
        """
    )
    assert done.stdout.split() == ["True", "True", "released"], done.stderr


def test_the_types_are_those_of_the_module() -> None:
    stubtest = [
        sys.executable,
        "-m",
        "mypy.stubtest",
        "--concise",
        "--ignore-missing-stub",
        "cufault.reference._reference",
    ]
    done = subprocess.run(stubtest, capture_output=True, text=True, timeout=300, check=False)
    wrong = [line for line in done.stdout.splitlines() if "is not present at runtime" in line]
    assert not wrong, wrong
