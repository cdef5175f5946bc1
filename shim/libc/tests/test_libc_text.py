# SPDX-License-Identifier: Apache-2.0
"""Faults in one word, plans and records on the Python side."""

from __future__ import annotations

import errno
import re
import struct
from pathlib import Path

import pytest
from cufault.errors import HarnessError, UsageError
from cufault.libc import (
    FUNCTIONS,
    LONGEST_LABEL,
    MOST_RULES,
    PLAN_VARIABLE,
    LibcRule,
    libc_lines,
    never_fired,
    parse_libc_fault,
    preload_libc,
    read_libc_record,
    read_libc_records,
    write_libc_plan,
)

HEADER = Path(__file__).parents[2] / "include" / "cufault" / "libc_plan_format.h"
ALL = ("malloc", "calloc", "realloc", "memalign", "new")


@pytest.mark.parametrize(
    ("text", "rule"),
    [
        ("malloc@libfoo.so#3", LibcRule("f1", ("malloc",), "libfoo.so", first=3, limit=1)),
        ("malloc", LibcRule("f1", ("malloc",))),
        ("new+malloc#2+", LibcRule("f1", ("malloc", "new"), first=2)),
        ("alloc(4096..)@*.so", LibcRule("f1", ALL, "*.so", least_size=4096)),
        ("alloc(..64)", LibcRule("f1", ALL, most_size=64)),
        ("calloc(10..20)", LibcRule("f1", ("calloc",), least_size=10, most_size=20)),
        ("realloc(10)", LibcRule("f1", ("realloc",), least_size=10, most_size=10)),
        ("close(7)#1=EINTR", LibcRule("f1", ("close",), first=1, limit=1, descriptor=7, error=errno.EINTR)),
        ("close(0)", LibcRule("f1", ("close",), descriptor=0, error=errno.EIO)),
        ("close@a.so:call_then_fail", LibcRule("f1", ("close",), "a.so", error=errno.EIO, really_close=True)),
    ],
)
def test_a_fault_is_read(text: str, rule: LibcRule) -> None:
    assert parse_libc_fault(text) == rule


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("mallok", "did you mean 'malloc'?"),
        ("", "is wanted"),
        ("malloc@", "read @"),
        ("malloc@a/b.so", "basename"),
        ("malloc#0", "read '0'"),
        ("malloc#-1", "read '-1'"),
        ("malloc#²", "read '²'"),
        ("malloc#1++", "read '1+'"),
        ("malloc(x)", "read 'x'"),
        ("malloc(..)", "LEAST..MOST"),
        ("malloc(9..2)", "LEAST..MOST"),
        ("malloc(1)(2)", "is wanted"),
        ("malloc=ENOMEM", "takes no :EFFECT"),
        ("malloc:fail", "takes no :EFFECT"),
        ("close+malloc", "close stands alone"),
        ("close(x)", "descriptor: read 'x'"),
        ("close(4294967296)", "descriptor"),
        ("close=EINTRR", "did you mean 'EINTR'?"),
        ("close:call_than_fail", "did you mean 'call_then_fail'?"),
    ],
)
def test_a_wrong_fault_is_refused_with_its_reason(text: str, reason: str) -> None:
    with pytest.raises(UsageError) as refused:
        parse_libc_fault(text)
    assert reason in str(refused.value)


@pytest.mark.parametrize(
    ("rules", "reason"),
    [
        ([LibcRule("", ("malloc",))], "1 to 63 bytes"),
        ([LibcRule("x" * (LONGEST_LABEL + 1), ("malloc",))], "1 to 63 bytes"),
        ([LibcRule("a", ("malloc",)), LibcRule("a", ("new",))], "another rule"),
        ([LibcRule("a", ())], "functions"),
        ([LibcRule("a", ("free",))], "functions: read 'free'"),
        ([LibcRule("a", ("close", "new"))], "stands alone"),
        ([LibcRule("a", ("malloc",), every=0)], "count from 1"),
        ([LibcRule("a", ("close",))], "an errno"),
        ([LibcRule("a", ("malloc",), error=5)], "an errno"),
        ([LibcRule("a", ("malloc",), descriptor=5)], "only close"),
        ([LibcRule("a", ("malloc",), least_size=5, most_size=4)], "hold for no call"),
        ([LibcRule(f"{n}", ("malloc",)) for n in range(MOST_RULES + 1)], "65 rules"),
    ],
)
def test_a_rule_that_the_library_would_refuse_is_refused_by_the_writer(
    tmp_path: Path, rules: list[LibcRule], reason: str
) -> None:
    with pytest.raises(UsageError) as refused:
        write_libc_plan(tmp_path / "plan", rules)
    assert reason in str(refused.value)
    assert not (tmp_path / "plan").exists()


def test_the_header_and_this_module_say_the_same() -> None:
    text = HEADER.read_text()
    names = {"OPERATOR_NEW": "new"}
    found = re.findall(r"CUFAULT_LIBC_(\w+) = 1u << (\d+)", text)
    bits = {names.get(name, name.lower()): 1 << int(bit) for name, bit in found}
    assert bits.pop("really_close") == 1
    assert bits == FUNCTIONS
    assert f'#define CUFAULT_LIBC_PLAN_VARIABLE "{PLAN_VARIABLE}"' in text
    assert f"#define CUFAULT_LIBC_MOST_RULES {MOST_RULES}" in text
    assert f"#define CUFAULT_LIBC_NAME {LONGEST_LABEL + 1}" in text


def record_bytes(rules: int = 1, capacity: int = 1, firing_rule: int = 1) -> bytes:
    size = 128 + rules * 80 + capacity * 128
    header = struct.pack("<8sIIQQQIIIIIIQQ48x", b"CUFLREC\0", 1, 128, size, 9, 8, 7, 6, 0, rules, capacity, 0, 1, 0)
    counts = b"".join(struct.pack("<64sQQ", f"f{n}".encode(), 5, 1) for n in range(1, rules + 1))
    firing = struct.pack("<IIIIQQQQ64s16x", 1, firing_rule, 1, 2, 3, 4, 5, 6, b"libfoo.so")
    return header + counts + firing * capacity


def test_a_record_is_read(tmp_path: Path) -> None:
    path = tmp_path / "libc.7"
    path.write_bytes(record_bytes())
    record = read_libc_record(path)
    assert (record.pid, record.parent_pid, record.forked, record.matched, record.lost) == (7, 6, False, {"f1": 5}, 0)
    assert record.firings[0].module == "libfoo.so"


def test_a_firing_that_was_never_finished_is_left_out(tmp_path: Path) -> None:
    path = tmp_path / "libc.7"
    content = bytearray(record_bytes())
    content[128 + 80] = 0
    path.write_bytes(content)
    assert read_libc_record(path).firings == ()


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"", "no record"),
        (record_bytes()[:-1], "bytes are not"),
        (b"X" + record_bytes()[1:], "no record"),
        (record_bytes()[:8] + b"\2" + record_bytes()[9:], "version 2"),
        (record_bytes(firing_rule=2), "names rule 2"),
    ],
)
def test_a_broken_record_is_refused(tmp_path: Path, content: bytes, reason: str) -> None:
    path = tmp_path / "libc.7"
    path.write_bytes(content)
    with pytest.raises(HarnessError) as refused:
        read_libc_record(path)
    assert reason in str(refused.value)


def test_a_child_gets_the_library_behind_what_is_preloaded_already(tmp_path: Path) -> None:
    preload = tmp_path / "preload"
    preload.mkdir()
    variables = {"LD_PRELOAD": "/x/libcuda.so.1"}
    preload_libc(variables, tmp_path, preload, tmp_path / "with space.so", [LibcRule("a", ("new",))])
    assert variables["LD_PRELOAD"] == f"/x/libcuda.so.1:{preload}/libcufault_libc.so"
    assert variables["CUFAULT_LIBC_PLAN"] == str(tmp_path / "libc_plan.bin")
    assert (preload / "libcufault_libc.so").readlink() == tmp_path / "with space.so"


def test_people_are_told_what_fired_and_what_never_did(tmp_path: Path) -> None:
    (tmp_path / "libc.7").write_bytes(record_bytes(rules=2))
    (tmp_path / "libc.8-2").write_bytes(record_bytes(rules=2))
    rules = [LibcRule("f1", ("malloc",)), LibcRule("f3", ("malloc",))]
    records = read_libc_records(tmp_path)
    assert libc_lines(rules, records) == [
        "libc fault f1: 10 calls matched, 2 failed",
        "  pid 7: malloc(5), number 4, from libfoo.so+0x6",
        "  pid 7: malloc(5), number 4, from libfoo.so+0x6",
        "libc fault f3: 0 calls matched, 0 failed",
    ]
    assert never_fired(rules, records) == ["f3"]
