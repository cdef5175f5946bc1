# SPDX-License-Identifier: Apache-2.0
"""One child process: its own group, limits, and its output kept, or passed on untouched with a copy of fd 2 kept."""

from __future__ import annotations

import contextlib
import fcntl
import os
import pty
import resource
import signal
import subprocess
import termios
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from cufault.errors import UsageError

ABORT_GRACE_S = 3.0
DRAIN_GRACE_S = 0.5
MAX_KEPT = 4 * 1024 * 1024


@dataclass(frozen=True)
class Limits:
    """None: no limit. `time_s` wall clock; `memory_bytes` address space."""

    time_s: float | None = None
    memory_bytes: int | None = None


@dataclass(frozen=True)
class Ended:
    """How a child ended; exactly one of `status` and `signal` is set. `stdout` is None where it was not kept."""

    pid: int
    status: int | None
    signal: str | None
    timed_out: bool
    duration_ns: int
    stdout: str | None
    stderr: str


class _Kept:
    """The bytes of one stream, up to a bound."""

    def __init__(self) -> None:
        self._parts: list[bytes] = []
        self._size = 0

    def add(self, data: bytes) -> None:
        if self._size < MAX_KEPT:
            self._parts.append(data[: MAX_KEPT - self._size])
        self._size += len(data)

    def text(self) -> str:
        cut = "" if self._size <= MAX_KEPT else f"\n[cufault kept the first {MAX_KEPT} of {self._size} bytes]\n"
        return b"".join(self._parts).decode("utf-8", "replace") + cut


def _pump(source: int, kept: _Kept, copy_to: int | None) -> None:
    while True:
        try:
            data = os.read(source, 65536)
        except OSError:  # EIO: the last writer of a pseudo terminal is gone
            return
        if not data:
            return
        kept.add(data)
        while copy_to is not None and data:
            try:
                data = data[os.write(copy_to, data) :]
            except OSError:
                copy_to = None


def _stderr_pair(like_terminal: int | None) -> tuple[int, int]:
    """Read and write end of the child's fd 2: a pseudo terminal where ours is a terminal, else a pipe."""
    if like_terminal is None or not os.isatty(like_terminal):
        return os.pipe()
    master, slave = pty.openpty()
    with contextlib.suppress(OSError):
        fcntl.ioctl(slave, termios.TIOCSWINSZ, fcntl.ioctl(like_terminal, termios.TIOCGWINSZ, b"\0" * 8))
    settings = termios.tcgetattr(slave)
    settings[1] &= ~termios.OPOST  # bytes arrive as written; the real terminal does the rest
    termios.tcsetattr(slave, termios.TCSANOW, settings)
    return master, slave


@contextlib.contextmanager
def _interrupts_left_to_child() -> Iterator[None]:
    """Ctrl-C reaches the child through the terminal's foreground group; we stay to judge what it did."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


def run(
    command: Sequence[str],
    environment: Mapping[str, str],
    limits: Limits,
    *,
    cwd: str | None = None,
    through: bool = False,
) -> Ended:
    """Runs a command to its end. With `through` stdin and stdout are ours and fd 2 is passed on as it comes.

    Raises UsageError if the command cannot be started.
    """
    own_group = not (through and os.isatty(0))
    kept_out, kept_err = _Kept(), _Kept()
    out_read, out_write = (-1, -1) if through else os.pipe()
    err_read, err_write = _stderr_pair(2 if through else None)
    begin = time.monotonic_ns()
    guard = contextlib.nullcontext() if own_group else _interrupts_left_to_child()
    with guard:
        try:
            child = subprocess.Popen(
                list(command),
                env=dict(environment),
                cwd=cwd,
                start_new_session=own_group,
                stdin=None if through else subprocess.DEVNULL,
                stdout=None if through else out_write,
                stderr=err_write,
                # Ignored signals are inherited: the child must see Ctrl-C as it would without us.
                restore_signals=True,
                preexec_fn=None if own_group else _default_interrupt,
            )
        except OSError as error:
            for fd in (out_read, err_read):
                if fd >= 0:
                    os.close(fd)
            raise UsageError(f"cannot start {command[0]!r}: {error.strerror or error}") from error
        finally:
            os.close(err_write)
            if out_write >= 0:
                os.close(out_write)
        _limit(child.pid, limits, keep_core=through)
        pumps = [threading.Thread(target=_pump, args=(err_read, kept_err, 2 if through else None), daemon=True)]
        if not through:
            pumps.append(threading.Thread(target=_pump, args=(out_read, kept_out, None), daemon=True))
        for pump in pumps:
            pump.start()
        timed_out = _wait(child, limits.time_s, own_group)
    duration = time.monotonic_ns() - begin
    if own_group and not through:
        _signal_group(child.pid, signal.SIGKILL)  # what it left behind in its group
    # A daemon may hold our ends open for ever: what it writes later is not this run's.
    for pump in pumps:
        pump.join(DRAIN_GRACE_S if through else ABORT_GRACE_S)
    for fd, pump in zip((err_read, out_read), pumps, strict=False):
        if not pump.is_alive():
            os.close(fd)
    status = child.returncode
    name = signal.Signals(-status).name if status < 0 else None
    return Ended(
        child.pid,
        None if status < 0 else status,
        name,
        timed_out,
        duration,
        None if through else kept_out.text(),
        kept_err.text(),
    )


def _default_interrupt() -> None:
    signal.signal(signal.SIGINT, signal.SIG_DFL)


def _limit(pid: int, limits: Limits, keep_core: bool) -> None:
    with contextlib.suppress(OSError, ValueError):
        if limits.memory_bytes is not None:
            resource.prlimit(pid, resource.RLIMIT_AS, (limits.memory_bytes, limits.memory_bytes))
        if not keep_core:
            resource.prlimit(pid, resource.RLIMIT_CORE, (0, resource.prlimit(pid, resource.RLIMIT_CORE)[1]))


def _signal_group(pid: int, number: signal.Signals) -> None:
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(pid, number)


def _wait(child: subprocess.Popen[bytes], time_s: float | None, own_group: bool) -> bool:
    """Whether time ran out. SIGABRT first, so that a fault handler can print stacks."""
    try:
        child.wait(time_s)
    except subprocess.TimeoutExpired:
        pass
    else:
        return False
    for number in (signal.SIGABRT, signal.SIGKILL):
        if own_group:
            _signal_group(child.pid, number)
        else:
            child.send_signal(number)
        with contextlib.suppress(subprocess.TimeoutExpired):
            child.wait(ABORT_GRACE_S if number == signal.SIGABRT else None)
            break
    return True
