# SPDX-License-Identifier: Apache-2.0
"""The built file of the second preload: loads on glibc 2.28, brings nothing along, exports its functions alone."""

from __future__ import annotations

import os
import re
import subprocess

PRELOAD = os.environ["CUFAULT_TEST_LIBC"]
EXPORTS = {
    "malloc", "calloc", "realloc", "reallocarray", "memalign", "aligned_alloc", "posix_memalign", "valloc", "pvalloc",
    "close",
    "_Znwm", "_Znam", "_ZnwmRKSt9nothrow_t", "_ZnamRKSt9nothrow_t", "_ZnwmSt11align_val_t", "_ZnamSt11align_val_t",
    "_ZnwmSt11align_val_tRKSt9nothrow_t", "_ZnamSt11align_val_tRKSt9nothrow_t",
}  # fmt: skip


def tool(*words: str) -> str:
    return subprocess.run([*words, PRELOAD], capture_output=True, text=True, check=True).stdout


def test_no_symbol_is_newer_than_glibc_2_28() -> None:
    found = re.findall(r"GLIBC_([0-9.]+)", tool("readelf", "-W", "--dyn-syms"))
    versions = {tuple(map(int, version.split("."))) for version in found}
    assert versions
    assert max(versions) <= (2, 28)


def test_it_needs_libc_alone_by_its_old_parts() -> None:
    needed = re.findall(r"\(NEEDED\).*\[(.*)\]", tool("readelf", "-W", "-d"))
    loaders = {"ld-linux-x86-64.so.2", "ld-linux-aarch64.so.1"}
    assert set(needed) - loaders <= {"libc.so.6", "libdl.so.2", "libpthread.so.0"}
    assert "libc.so.6" in needed


def test_it_exports_what_it_stands_in_front_of_and_nothing_else() -> None:
    symbols = re.findall(r"\s[A-TV-Zi]\s(\S+)$", tool("nm", "-D", "--defined-only"), re.MULTILINE)
    assert {symbol.partition("@")[0] for symbol in symbols} == EXPORTS


def test_no_code_of_ours_runs_at_load() -> None:
    # crtbegin's frame_dummy is in every library: one pointer.
    size = re.search(r"\(INIT_ARRAYSZ\)\s+(\d+)", tool("readelf", "-W", "-d"))
    assert size is None or int(size[1]) <= 8


def test_an_idle_entry_is_a_load_a_test_and_a_jump() -> None:
    code = tool("objdump", "-d", "--no-show-raw-insn", "--no-addresses")
    machine = os.uname().machine
    assert machine == "x86_64", "say here what an idle entry looks like on this machine"
    for name in sorted(EXPORTS):
        body = code.split(f"<{name}>:\n")[1].split("\n\n")[0].splitlines()
        words = [line.split()[0] for line in body]
        idle = words[: words.index("jmp") + 1]
        # One more move where an argument has to survive for the other way.
        assert [word for word in idle if word != "mov"] == ["lea", "test", "je", "jmp"], (name, body)
        assert idle.count("mov") <= 2, (name, body)
