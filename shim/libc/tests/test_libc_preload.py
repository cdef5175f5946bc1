# SPDX-License-Identifier: Apache-2.0
"""The second preload under real programs: what fails, what is counted, what survives."""

from __future__ import annotations

import errno
import os
import re
import resource
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from cufault.libc import LibcRecord, parse_libc_fault, read_libc_record, read_libc_records, write_libc_plan

PRELOAD = os.environ["CUFAULT_TEST_LIBC"]
VICTIM = os.environ["CUFAULT_TEST_VICTIM"]
LIBRARY = Path(os.environ["CUFAULT_TEST_VICTIM_LIBRARY"]).name
EXTENSION = Path(os.environ["CUFAULT_TEST_VICTIM_EXTENSION"])
GROW_TWICE = """
import sys
sys.path.insert(0, sys.argv[1])
import victim_extension
for _ in range(2):
    try:
        print(victim_extension.grow(100))
    except MemoryError:
        print("MemoryError")
"""

USE_AND_UNLOAD = """
import _ctypes, ctypes, sys

def use():
    module = ctypes.CDLL(sys.argv[1])
    print(module.victim_new(), "bytes")
    _ctypes.dlclose(module._handle)

use()
maps = open("/proc/self/maps").read()
print(f"module: {sys.argv[1] in maps}, owner: {'libvictim_new.so' in maps}")
use()
"""


def start(folder: Path, command: list[str], *faults: str, firings: int = 0) -> subprocess.CompletedProcess[str]:
    """Runs it under the preload; without faults there is no plan."""
    environment = {**os.environ, "LD_PRELOAD": PRELOAD}
    environment.pop("CUFAULT_LIBC_PLAN", None)
    if faults:
        plan = folder / "libc_plan.bin"
        rules = [parse_libc_fault(text, f"f{number}") for number, text in enumerate(faults, 1)]
        write_libc_plan(plan, rules, firing_capacity=firings)
        environment["CUFAULT_LIBC_PLAN"] = str(plan)
    return subprocess.run(command, env=environment, capture_output=True, text=True, timeout=60, check=False)


def victim(folder: Path, words: str, *faults: str, firings: int = 0) -> list[str]:
    done = start(folder, [VICTIM, *words.split()], *faults, firings=firings)
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    return done.stdout.splitlines()


def refused(plan: Path, first: Callable[[], None] | None = None) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "LD_PRELOAD": PRELOAD, "CUFAULT_LIBC_PLAN": str(plan)}
    return subprocess.run([VICTIM, "ways"], env=environment, capture_output=True, text=True, timeout=60, check=False,
                          preexec_fn=first)  # fmt: skip


def limit_file_size() -> None:
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (65536, 65536))


def only_record(folder: Path) -> LibcRecord:
    (record,) = read_libc_records(folder)
    return record


def answers(lines: list[str]) -> dict[str, int]:
    return {name: int(number) for name, number in (line.rsplit(": ", 1) for line in lines)}


def test_every_way_to_allocate_works_untouched_without_a_plan(tmp_path: Path) -> None:
    ways = answers(victim(tmp_path, "ways"))
    assert len(ways) == 17
    assert set(ways.values()) == {0}
    assert list(tmp_path.iterdir()) == []


def test_every_way_to_allocate_fails_with_enomem_and_counts_once(tmp_path: Path) -> None:
    ways = answers(victim(tmp_path, "ways", f"alloc@{LIBRARY}"))
    assert set(ways.values()) == {errno.ENOMEM}
    record = only_record(tmp_path)
    assert record.matched == record.fired == {"f1": 17}
    assert [firing.function for firing in record.firings] == [
        "malloc", "calloc", "realloc", "realloc", "memalign", "memalign", "memalign", "memalign", "memalign",
        *["new"] * 8,
    ]  # fmt: skip
    assert {firing.module for firing in record.firings} == {LIBRARY}
    assert [firing.ordinal for firing in record.firings] == list(range(1, 18))
    assert {firing.value for firing in record.firings} == {64, 100, 128}


@pytest.mark.parametrize("module", [f"@{LIBRARY}", "@*", ""])
def test_what_operator_new_allocates_inside_does_not_count_again(tmp_path: Path, module: str) -> None:
    victim(tmp_path, "ways", f"alloc(100){module}#1000000")
    # Thirteen of the ways take 100 bytes; the aligned forms of new take what their type has.
    assert only_record(tmp_path).matched == {"f1": 13}


def test_only_the_chosen_functions_fail(tmp_path: Path) -> None:
    ways = answers(victim(tmp_path, "ways", f"calloc@{LIBRARY}"))
    assert [name for name, answer in ways.items() if answer] == ["calloc"]


def test_only_the_nth_fails(tmp_path: Path) -> None:
    assert victim(tmp_path, "mallocs 5", f"malloc@{LIBRARY}#3") == ["failed: 3"]
    record = only_record(tmp_path)
    assert record.matched == {"f1": 5}
    (firing,) = record.firings
    assert (firing.label, firing.function, firing.ordinal, firing.value) == ("f1", "malloc", 3, 3)


def test_the_nth_and_all_later_ones_fail(tmp_path: Path) -> None:
    assert victim(tmp_path, "mallocs 5", f"malloc@{LIBRARY}#4+") == ["failed: 4", "failed: 5"]


def test_sizes_choose(tmp_path: Path) -> None:
    assert victim(tmp_path, "mallocs 9", f"malloc(3..4)@{LIBRARY}", f"malloc(8..)@{LIBRARY}#2") == [
        "failed: 3", "failed: 4", "failed: 9",
    ]  # fmt: skip
    assert only_record(tmp_path).matched == {"f1": 2, "f2": 2}


def test_two_rules_on_one_call_both_count_and_the_first_decides(tmp_path: Path) -> None:
    assert victim(tmp_path, "mallocs 3", f"malloc@{LIBRARY}#2", f"malloc@{LIBRARY}#2+") == ["failed: 2", "failed: 3"]
    record = only_record(tmp_path)
    assert record.matched == {"f1": 3, "f2": 3}
    assert record.fired == {"f1": 1, "f2": 1}


def test_another_module_is_left_alone(tmp_path: Path) -> None:
    assert victim(tmp_path, "mallocs 5", "malloc@libother.so") == []
    assert only_record(tmp_path).matched == {"f1": 0}


def test_the_program_itself_is_a_module(tmp_path: Path) -> None:
    assert victim(tmp_path, "threads 2 3", "new@victim#1000000") == ["failed: 0"]
    assert only_record(tmp_path).matched["f1"] > 0


def test_a_careless_owner_loses_its_driver_object_and_a_careful_one_does_not(tmp_path: Path) -> None:
    assert victim(tmp_path, "objects", f"new@{LIBRARY}") == ["careless: -1, live: 1", "careful: -1, live: 1"]


def test_containers_see_bad_alloc_and_keep_what_they_had(tmp_path: Path) -> None:
    clean = answers(victim(tmp_path, "containers 100"))
    assert clean == {"vector": 100, "shared": 2, "regrow": 0}
    # The vector doubles: 1, 2, 4, 8, and the fifth allocation is for 16.
    assert answers(victim(tmp_path, "containers 100", f"new@{LIBRARY}#5")) == {"vector": 8, "shared": 2, "regrow": 0}
    assert answers(victim(tmp_path, "containers 100", f"new(..63)@{LIBRARY}#5"))["shared"] == -1
    assert answers(victim(tmp_path, "containers 100", f"realloc@{LIBRARY}"))["regrow"] == 1


def test_the_new_handler_is_asked_as_when_memory_is_short(tmp_path: Path) -> None:
    assert victim(tmp_path, "handler", f"new@{LIBRARY}#1") == ["answer: 0, handled: 1"]


def test_an_operator_new_that_never_calls_malloc_fails_all_the_same(tmp_path: Path) -> None:
    done = start(tmp_path, [os.environ["CUFAULT_TEST_VICTIM_WITH_ALLOCATOR"]], f"new@{LIBRARY}")
    assert done.stderr == ""
    assert done.stdout.splitlines() == [f"new: {errno.ENOMEM}", f"new nothrow: {errno.ENOMEM}", "given back: 2"]


def test_the_nth_is_exact_under_threads(tmp_path: Path) -> None:
    assert victim(tmp_path, "threads 8 100000", f"malloc@{LIBRARY}#1000") == ["failed: 1"]
    record = only_record(tmp_path)
    assert record.matched == {"f1": 800000}
    assert [firing.ordinal for firing in record.firings] == [1000]


def test_firings_without_room_are_counted_as_lost(tmp_path: Path) -> None:
    assert victim(tmp_path, "threads 4 100", f"malloc@{LIBRARY}", firings=16) == ["failed: 400"]
    record = only_record(tmp_path)
    assert len(record.firings) == 16
    assert record.lost == 384
    assert record.fired == {"f1": 400}
    assert len({firing.tid for firing in record.firings}) >= 1


def test_a_forked_child_counts_from_zero_in_its_own_record(tmp_path: Path) -> None:
    assert victim(tmp_path, "forks", f"malloc@{LIBRARY}#2") == [
        "parent kept errno: 1", "parent failed: 2", "child kept errno: 1", "child failed: 2",
    ]  # fmt: skip
    parent, child = sorted(read_libc_records(tmp_path), key=lambda record: record.forked)
    assert child.forked
    assert child.parent_pid == parent.pid
    assert parent.matched == child.matched == {"f1": 3}


def test_a_second_program_of_one_pid_has_its_own_record(tmp_path: Path) -> None:
    start(tmp_path, ["bash", "-c", f"echo first; exec {VICTIM} mallocs 3"], f"malloc@{LIBRARY}#2")
    records = sorted(tmp_path.glob("libc.*"))
    assert [path.name.partition("-")[2] for path in records] == ["", "2"]
    assert read_libc_record(records[1]).fired == {"f1": 1}


def test_what_fired_is_there_after_sigkill(tmp_path: Path) -> None:
    done = start(tmp_path, [VICTIM, "killed"], f"malloc@{LIBRARY}#2")
    assert done.returncode == -signal.SIGKILL
    record = only_record(tmp_path)
    assert record.matched == {"f1": 2}
    assert [firing.ordinal for firing in record.firings] == [2]


def test_errno_is_kept_by_an_allocation_that_is_watched_and_set_by_one_that_fails(tmp_path: Path) -> None:
    assert victim(tmp_path, "errno", f"malloc@{LIBRARY}#2") == ["answer: 0, errno: 77"]
    assert victim(tmp_path, "errno", f"malloc@{LIBRARY}#1") == [f"answer: {errno.ENOMEM}, errno: {errno.ENOMEM}"]


def test_close_of_a_chosen_descriptor_fails_and_leaves_it_open(tmp_path: Path) -> None:
    assert victim(tmp_path, "closes 77", "close(77)#1=EINTR", "close(78)") == [
        "close: -1, errno: 4, open: 1", "close: 0, errno: 0, open: 0", f"close: -1, errno: {errno.EBADF}, open: 0",
    ]  # fmt: skip
    record = only_record(tmp_path)
    assert record.matched == {"f1": 3, "f2": 0}
    assert [(firing.function, firing.value) for firing in record.firings] == [("close", 77)]


def test_close_can_fail_and_close_all_the_same(tmp_path: Path) -> None:
    lines = victim(tmp_path, "closes 77", f"close@{LIBRARY}#1:call_then_fail=EIO")
    assert lines[0] == f"close: -1, errno: {errno.EIO}, open: 0"


def test_the_nth_close_of_a_module_fails(tmp_path: Path) -> None:
    lines = victim(tmp_path, "closes 77", f"close@{LIBRARY}#2")
    assert lines[0] == "close: 0, errno: 0, open: 0"
    assert lines[1].startswith(f"close: -1, errno: {errno.EIO}")


def test_a_module_is_known_after_others_came_and_went_at_its_place(tmp_path: Path) -> None:
    one, other = os.environ["CUFAULT_TEST_VICTIM_MODULE"], os.environ["CUFAULT_TEST_OTHER_MODULE"]
    lines = victim(tmp_path, f"reloads {one} {other} {other} {one}", "malloc@libother_module.so")
    assert [(line.split()[0], line.split()[-1]) for line in lines] == [
        ("libvictim_module.so", "0"), ("libother_module.so", "3"),
        ("libother_module.so", "3"), ("libvictim_module.so", "0"),
    ]  # fmt: skip
    # Otherwise this would prove nothing: they do lie at one address, one after the other.
    assert len({line.split()[2] for line in lines}) == 1


def test_a_python_extension_raises_memory_error(tmp_path: Path) -> None:
    done = start(tmp_path, [sys.executable, "-c", GROW_TWICE, str(EXTENSION.parent)], "new@victim_extension.*.so#3")
    assert done.stderr == ""
    assert done.stdout.splitlines() == ["MemoryError", "100"]
    fired = [record for record in read_libc_records(tmp_path) if record.fired["f1"]]
    assert [firing.module for record in fired for firing in record.firings] == [EXTENSION.name]


@pytest.mark.parametrize("faults", [(), ("new@libother.so",)])
def test_the_owner_of_operator_new_stays_when_the_module_that_brought_it_goes(
    tmp_path: Path, faults: tuple[str, ...]
) -> None:
    done = start(tmp_path, [sys.executable, "-c", USE_AND_UNLOAD, os.environ["CUFAULT_TEST_MODULE_ON_NEW"]], *faults)
    assert done.stderr == ""
    assert done.stdout.splitlines() == ["16 bytes", "module: False, owner: True", "16 bytes"]


def test_the_offset_is_one_that_addr2line_takes(tmp_path: Path) -> None:
    victim(tmp_path, "mallocs 1", f"malloc@{LIBRARY}#1")
    (firing,) = only_record(tmp_path).firings
    library = os.environ["CUFAULT_TEST_VICTIM_LIBRARY"]
    command = ["addr2line", "-f", "-e", library, hex(firing.module_offset - 1)]
    found = subprocess.run(command, capture_output=True, text=True, check=True)
    assert re.search("by_malloc|victim_malloc", found.stdout), found.stdout


@pytest.mark.parametrize(
    ("spoil", "reason"),
    [
        (lambda plan: plan.unlink(), "No such file"),
        (lambda plan: plan.write_bytes(b""), "0 bytes"),
        (lambda plan: plan.write_bytes(plan.read_bytes()[:-1]), "instead of"),
        (lambda plan: plan.write_bytes(b"CUFPLAN\0" + plan.read_bytes()[8:]), "not a plan"),
        (lambda plan: plan.write_bytes(plan.read_bytes().replace(b"f1", b"f2")), "checksum"),
    ],
)
def test_a_broken_plan_ends_the_process_with_97(tmp_path: Path, spoil: object, reason: str) -> None:
    plan = tmp_path / "plan.bin"
    write_libc_plan(plan, [parse_libc_fault("malloc#1")])
    assert callable(spoil)
    spoil(plan)
    done = refused(plan)
    assert done.returncode == 97
    assert done.stdout == ""
    assert f"cufault: the libc plan {plan} is refused: " in done.stderr
    assert reason in done.stderr


def test_a_run_folder_that_cannot_be_written_ends_the_process_with_97(tmp_path: Path) -> None:
    plan = tmp_path / "plan.bin"
    write_libc_plan(plan, [parse_libc_fault("malloc#1")], run_folder=tmp_path / "missing")
    done = refused(plan)
    assert done.returncode == 97
    assert "No such file" in done.stderr


def test_a_record_without_room_refuses_the_run_instead_of_killing_it_later(tmp_path: Path) -> None:
    plan = tmp_path / "plan.bin"
    write_libc_plan(plan, [parse_libc_fault("malloc#1")])
    # As on a full disk: the space is refused when it is reserved, not when a mapped page is written.
    done = refused(plan, limit_file_size)
    assert done.returncode == 97
    assert "File too large" in done.stderr
    assert not list(tmp_path.glob("libc.*"))
    assert not list(tmp_path.glob(".new*"))
