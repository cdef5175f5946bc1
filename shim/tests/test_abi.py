# SPDX-License-Identifier: Apache-2.0
"""The built library as a loader and a program see it: names, needs, symbol versions, one jump for each entry point."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "codegen"))

import spec

SHIM = os.environ["SHIM"]
OLDEST_LIBC = (2, 28)


def output(*command: str) -> str:
    """What a tool of binutils prints."""
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


@pytest.fixture(scope="module")
def dynamic() -> str:
    return output("readelf", "-dW", SHIM)


@pytest.fixture(scope="module")
def symbols() -> list[list[str]]:
    """Rows of the dynamic symbol table: number, value, size, type, bind, visibility, section, name."""
    rows = [line.split() for line in output("readelf", "--dyn-syms", "-W", SHIM).splitlines()]
    return [row for row in rows if len(row) >= 8 and row[0].rstrip(":").isdigit()]


def exported(symbols: list[list[str]]) -> set[str]:
    return {row[7] for row in symbols if row[6] != "UND"}


def test_every_entry_point_of_the_spec_is_exported_as_itself(symbols: list[list[str]]) -> None:
    assert {symbol.name for symbol in spec.load_api().symbols} <= exported(symbols)


def test_nothing_else_is_exported_but_the_control_api(symbols: list[list[str]]) -> None:
    header = (Path(__file__).resolve().parent.parent / "include" / "cufault" / "control.h").read_text(encoding="utf-8")
    control = set(re.findall(r"^\w+ (cufault_\w+)\(", header, re.MULTILINE))
    entry_points = {symbol.name for symbol in spec.load_api().symbols}
    assert exported(symbols) - entry_points == control


def test_every_export_is_a_function(symbols: list[list[str]]) -> None:
    assert {row[3] for row in symbols if row[6] != "UND"} == {"FUNC"}


def test_its_soname_is_the_drivers(dynamic: str) -> None:
    assert "Library soname: [libcuda.so.1]" in dynamic


def test_it_needs_libc_alone_under_the_names_of_its_old_parts(dynamic: str) -> None:
    needed = set(re.findall(r"Shared library: \[(.+)\]", dynamic))
    assert needed == {"libc.so.6", "libdl.so.2", "libpthread.so.0"}


def test_no_symbol_is_newer_than_the_oldest_libc() -> None:
    versions = set(re.findall(r"GLIBC_(\d+)\.(\d+)", output("readelf", "-VW", SHIM)))
    assert versions, "the library asks for no version at all?"
    assert max((int(major), int(minor)) for major, minor in versions) <= OLDEST_LIBC


def test_it_has_no_constructor_of_its_own() -> None:
    """The preload lands in every child of a shell: frame_dummy of the C start files is all that may run."""
    size = re.search(r"\(INIT_ARRAYSZ\)\s+(\d+)", output("readelf", "-dW", SHIM))
    assert size is None or int(size.group(1)) == 8


def test_its_thread_local_memory_fits_a_late_load() -> None:
    """Static TLS, which is one load away, has little room left when a library is opened by dlopen."""
    segment = re.search(
        r"^\s+TLS\s+\S+\s+\S+\s+\S+\s+\S+\s+(0x[0-9a-f]+)", output("readelf", "-lW", SHIM), re.MULTILINE
    )
    assert segment is not None
    assert int(segment.group(1), 16) <= 64


def test_every_entry_point_is_one_jump_through_its_slot() -> None:
    listing = output("objdump", "-d", "--no-show-raw-insn", SHIM)
    bodies = dict(re.findall(r"^[0-9a-f]+ <(cu\w+)>:\n((?:\s+[0-9a-f]+:.*\n)+)", listing, re.MULTILINE))
    portable = os.environ["TRAMPOLINES"] == "portable"
    # Passed in memory: the portable form may have to copy it, and then makes a call.
    by_value = {
        "cuEGLStreamProducerPresentFrame",
        "cuIpcOpenEventHandle",
        "cuIpcOpenMemHandle",
        "cuIpcOpenMemHandle_v2",
    }
    for symbol in spec.load_api().symbols:
        lines = [line.split(":", 1)[1].strip() for line in bodies[symbol.name].splitlines()]
        steps = [line for line in lines if line and not re.match(r"nop|cs nop|data16|endbr64|xchg", line)]
        if portable and symbol.name in by_value:
            continue
        # A load and a jump, and a short integer is widened before.
        assert len(steps) <= (3 if portable else 1), f"{symbol.name}: {steps}"
        assert re.match(r"jmp\s+\*", steps[-1]), f"{symbol.name}: {steps}"
