# SPDX-License-Identifier: Apache-2.0
"""Children end as they end, within their limits, and their output is kept or passed on untouched."""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest
from cufault.errors import UsageError
from cufault.launch.process import Limits, run


def python(code: str) -> list[str]:
    return [sys.executable, "-c", textwrap.dedent(code)]


def test_status_and_both_outputs_are_kept() -> None:
    ended = run(python("import sys; print('out'); print('err', file=sys.stderr); sys.exit(7)"), os.environ, Limits())
    assert (ended.status, ended.signal, ended.timed_out) == (7, None, False)
    assert (ended.stdout, ended.stderr) == ("out\n", "err\n")


def test_a_killed_child_is_told_by_the_signals_name() -> None:
    ended = run(python("import os; os.abort()"), os.environ, Limits())
    assert (ended.status, ended.signal) == (None, "SIGABRT")


def test_invalid_bytes_are_replaced() -> None:
    assert run(python(r"import os; os.write(2, b'a\xffb')"), os.environ, Limits()).stderr == "a\ufffdb"


def test_a_child_out_of_time_shows_its_stacks_and_ends() -> None:
    ended = run(
        python("""
        import faulthandler, time
        faulthandler.enable()
        def waits_here(): time.sleep(600)
        waits_here()
    """),
        os.environ,
        Limits(time_s=1.0),
    )
    assert ended.timed_out
    assert ended.signal == "SIGABRT"
    assert "waits_here" in ended.stderr


def test_a_child_that_ignores_the_abort_is_killed_with_its_group() -> None:
    ended = run(["sh", "-c", "trap '' ABRT; sleep 600 & echo $!; wait; sleep 600"], os.environ, Limits(time_s=0.2))
    assert ended.timed_out
    assert ended.signal == "SIGKILL"
    left = int((ended.stdout or "").split()[0])
    state = Path(f"/proc/{left}/stat")
    assert not state.exists() or state.read_text().rsplit(") ", 1)[1].startswith("Z")


def test_a_memory_limit_is_met_inside_the_child() -> None:
    ended = run(
        python("""
        import sys, time
        time.sleep(0.2)
        try: bytearray(2 << 30)
        except MemoryError: sys.exit(5)
    """),
        os.environ,
        Limits(memory_bytes=1 << 30),
    )
    assert ended.status == 5


def test_what_the_child_left_running_does_not_hold_us() -> None:
    ended = run(["sh", "-c", "sleep 600 & echo done"], os.environ, Limits(time_s=20))
    assert (ended.status, ended.timed_out) == (0, False)
    assert ended.duration_ns < 10_000_000_000


def test_a_command_that_is_not_there_is_a_usage_error() -> None:
    with pytest.raises(UsageError, match="cannot start '/no/such/program'"):
        run(["/no/such/program"], os.environ, Limits())


def test_output_is_passed_on_as_it_is_and_fd_2_is_also_kept() -> None:
    code = """
        import os, sys
        from cufault.launch.process import Limits, run
        child = "import sys, os; sys.stdout.write('to out'); os.write(2, b'to \\\\xfe err')"
        child += "; sys.stdout.write(sys.stdin.read())"
        ended = run([sys.executable, "-c", child], os.environ, Limits(), through=True)
        sys.exit(0 if ended.stdout is None and ended.stderr == "to \\ufffd err" else 3)
    """
    done = subprocess.run(python(code), input=b" and in", capture_output=True, check=False, timeout=60)
    assert done.stderr == b"to \xfe err"
    assert done.stdout == b"to out and in"
    assert done.returncode == 0


def test_under_a_terminal_the_child_still_sees_a_terminal_on_fd_2() -> None:
    import pty

    code = """
        import os, sys
        from cufault.launch.process import Limits, run
        child = "import os; os.write(2, b'tty\\\\n' if os.isatty(2) else b'pipe\\\\n')"
        ended = run([sys.executable, "-c", child], os.environ, Limits(), through=True)
        sys.exit(0 if ended.stderr == "tty\\n" else 3)
    """
    master, slave = pty.openpty()
    child = subprocess.Popen(python(code), stdin=slave, stdout=slave, stderr=slave, start_new_session=True)
    os.close(slave)
    assert child.wait(60) == 0
    assert os.read(master, 100) == b"tty\r\n"
    os.close(master)
