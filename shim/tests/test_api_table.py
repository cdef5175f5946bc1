# SPDX-License-Identifier: Apache-2.0
"""The generated api_table.h says what the spec says, to both compilers, without a C++ runtime library."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest
import spec
import tables
from records import CLASSES, Spec

TESTS = Path(__file__).resolve().parent
CODEGEN = TESTS.parent / "codegen"
COMPILERS = ("g++", "clang++")
FLAGS = ("-std=c++20", "-Wall", "-Wextra", "-Wpedantic", "-Wconversion", "-Wshadow", "-Werror")

LIBRARY = r"""
#include <cufault/api_table.h>
extern "C" const char* plain_name(const char* symbol) {
  const auto* found = cufault::api::find_symbol(symbol);
  return found ? cufault::api::function_of(*found).name : nullptr;
}
"""


@pytest.fixture(scope="module")
def api() -> Spec:
    return spec.load()


@pytest.fixture(scope="module")
def include(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("include")
    (folder / "cufault").mkdir()
    output = folder / "cufault" / "api_table.h"
    assert tables.main([f"--template={CODEGEN / 'api_table.h.jinja'}", f"--output={output}"]) == 0
    return folder


def expected(api: Spec) -> str:
    """What api_table_dump.cpp prints, said by the spec alone."""
    lines = [f"{tables.fnv1a([symbol.name for symbol in api.symbols] + list(api.kinds)):016x}"]
    for symbol in api.symbols:
        params = symbol.params or ()
        known = symbol.known_signature
        flags = f"{symbol.per_thread:d}{known and symbol.returns == 'CUresult':d}{known:d}"
        words = [symbol.name, symbol.function, str(symbol.since or 0), flags]
        words += [f"({param.type}){param.name}" for param in params]
        at = {param.name: position for position, param in enumerate(params)}
        for role in api.functions[symbol.function].roles:
            if symbol.known_signature and (role.only is None or symbol.name in role.only):
                arg = next(at[name] for name in role.args if name in at)
                places = [255 if name is None else at[name] for name in (role.count, role.times, role.holder)]
                out = role.pointer and role.verb in ("makes", "finds", "retains")
                words.append(
                    f"{role.verb}:{role.kind}:{role.flavour}:{arg}:{':'.join(map(str, places))}"
                    f":{role.pointer:d}{out:d}:{role.field or ''}"
                )
        lines.append(" ".join(words))
    for name, function in sorted(api.functions.items()):
        classes = sum(1 << CLASSES.index(item) for item in function.classes)
        state = api.after_sticky_fault.get(name)
        context = ("ignores", "needs", "switches").index(function.context)
        switches = ("none", "set", "push", "pop", "create", "destroy").index(function.switches)
        sticky = 0 if state is None else ("success", "fault").index(state.answer) + 1
        lines.append(
            " ".join(
                [
                    f"{name} {classes:x} {context}{switches} {function.may_block:d}{function.may_call_back:d} {sticky}",
                    *function.results,
                    *(symbol.name for symbol in function.symbols),
                ]
            )
        )
    for result in sorted(api.results.values(), key=lambda item: item.value):
        sticky = ("no", "observed", "documented").index(result.sticky)
        lines.append(f"{result.name} {result.value} {sticky} {result.description}")
    order = list(api.kinds)
    lines += [
        " ".join([kind.name, f"{kind.owned:d}", *sorted(kind.dies_with, key=order.index)])
        for kind in api.kinds.values()
    ]
    return "\n".join(lines) + "\n"


@pytest.mark.parametrize("compiler", COMPILERS)
def test_the_header_says_what_the_spec_says(compiler: str, include: Path, api: Spec, tmp_path: Path) -> None:
    if shutil.which(compiler) is None:
        pytest.skip(f"no {compiler} here")
    program = tmp_path / "dump"
    command = [compiler, *FLAGS, f"-I{include}", str(TESTS / "api_table_dump.cpp"), "-o", str(program)]
    subprocess.run(command, check=True)
    done = subprocess.run([program], capture_output=True, text=True, check=False)
    assert done.returncode == 0
    assert done.stdout.splitlines() == expected(api).splitlines()


@pytest.mark.parametrize("compiler", COMPILERS)
def test_the_header_needs_no_cxx_runtime(compiler: str, include: Path, tmp_path: Path) -> None:
    if shutil.which(compiler) is None:
        pytest.skip(f"no {compiler} here")
    library = tmp_path / "table.so"
    command = [
        compiler,
        *FLAGS,
        "-O0",
        "-fPIC",
        "-shared",
        "-nodefaultlibs",
        "-fno-exceptions",
        "-fno-rtti",
        "-Wl,--no-undefined",
        f"-I{include}",
        "-x",
        "c++",
        "-",
        "-o",
        str(library),
        "-lc",
    ]
    subprocess.run(command, input=LIBRARY, text=True, check=True)


def test_the_header_is_the_same_each_time(include: Path, tmp_path: Path) -> None:
    again = tmp_path / "api_table.h"
    assert tables.main([f"--template={CODEGEN / 'api_table.h.jinja'}", f"--output={again}"]) == 0
    assert again.read_bytes() == (include / "cufault" / "api_table.h").read_bytes()


def test_the_hash_is_fnv_1a_of_64_bits() -> None:
    # The published value of FNV-1a for the one byte 0: the offset basis times the prime.
    assert tables.fnv1a([""]) == 0xAF63BD4C8601B7DF
