# SPDX-License-Identifier: Apache-2.0
"""The second preload, libcufault_libc.so: its faults in one word, its plan, and the record of what fired."""

from __future__ import annotations

import errno
import re
import struct
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from cufault.errors import HarnessError, UsageError, refusal

LIBRARY = "libcufault_libc.so"
PLAN_VARIABLE = "CUFAULT_LIBC_PLAN"
CLOSE = "close"

# As in shim/include/cufault/libc_plan_format.h; a test compares the two.
FUNCTIONS = {"malloc": 1, "calloc": 2, "realloc": 4, "memalign": 8, "new": 16, CLOSE: 32}
ALLOCATIONS = tuple(name for name in FUNCTIONS if name != CLOSE)
EFFECTS = ("fail", "call_then_fail")
MOST_RULES = 64
LONGEST_LABEL = 63
MOST_LINES = 10
_VERSION = 1
_PLAN_MAGIC = b"CUFLIBC\0"
_RECORD_MAGIC = b"CUFLREC\0"
_PLAN_HEADER = struct.Struct("<8sIIQQIIIIII40x")
_RULE = struct.Struct("<IIIIQQQQQii24x")
_RECORD_HEADER = struct.Struct("<8sIIQQQIIIIIIQQ48x")
_RULE_COUNT = struct.Struct("<64sQQ")
_FIRING = struct.Struct("<IIIIQQQQ64s16x")
_REALLY_CLOSE = 1
_CHECKSUM_AT = 24
_WORD = 2**64

GRAMMAR = """A LIBC FAULT is FUNCTIONS[(ARGUMENT)][@MODULE][#N[+]][:EFFECT][=ERRNO]

\b
  FUNCTIONS  malloc, calloc, realloc, memalign (with its kin), new (every operator new), several of them joined by '+';
             alloc for all of these; or close
  ARGUMENT   of close the descriptor: close(7); of an allocation the bytes: malloc(4096..), malloc(..64), malloc(100)
  @MODULE    only calls that this library or program makes itself; basename or glob. Without: any caller
  #N         only the N-th matching call of the process; #N+ the N-th and all later ones; without: every one
  :EFFECT    of close: fail (default: the descriptor stays open) or call_then_fail (it is closed all the same)
  =ERRNO     of close, by name; EIO if not given. An allocation always says ENOMEM, and operator new throws bad_alloc

\b
  malloc@libfoo.so#3
  new+malloc@libfoo.so*#1+
  'alloc(4096..)@_mine.cpython-*.so#2'
  close(7)#1=EINTR
  close@libfoo.so#2:call_then_fail=EIO
"""

_FAULT = re.compile(
    r"(?P<functions>[^()@#:=]+)(\((?P<argument>[^()]*)\))?(@(?P<module>[^#:=]*))?(#(?P<nth>[^:=]*))?"
    r"(:(?P<effect>[^=]*))?(=(?P<error>.*))?"
)


@dataclass(frozen=True)
class LibcRule:
    """One fault. `module`: a glob of the calling module's basename, empty for any caller; `limit`, `most_size` 0: none.

    `descriptor` (None: any), `error` (an errno) and `really_close` are of close alone; allocations always say ENOMEM.
    """

    label: str
    functions: tuple[str, ...]
    module: str = ""
    first: int = 1
    every: int = 1
    limit: int = 0
    least_size: int = 0
    most_size: int = 0
    descriptor: int | None = None
    error: int = 0
    really_close: bool = False


@dataclass(frozen=True)
class LibcFiring:
    """One call that was made to fail. `value`: bytes asked for, or the descriptor; `module_offset` is for addr2line."""

    label: str
    function: str
    tid: int
    time_ns: int
    ordinal: int
    value: int
    module: str
    module_offset: int


@dataclass(frozen=True)
class LibcRecord:
    """What one process left: `matched` and `fired` by label, and the firings, of which `lost` more found no room."""

    pid: int
    parent_pid: int
    forked: bool
    start_ns: int
    plan_checksum: int
    matched: dict[str, int]
    fired: dict[str, int]
    firings: tuple[LibcFiring, ...]
    lost: int
    modules_lost: int


def parse_libc_fault(text: str, label: str = "f1") -> LibcRule:
    """A fault as GRAMMAR has it. Raises UsageError that says what was read, what is allowed, and the nearest name."""
    match = _FAULT.fullmatch(text)
    if match is None:
        raise UsageError(f"libc fault {text!r}: FUNCTIONS[(ARGUMENT)][@MODULE][#N[+]][:EFFECT][=ERRNO] is wanted")
    functions = _functions(text, match["functions"])
    closes = functions == (CLOSE,)
    first, limit = _ordinals(text, match["nth"])
    least, most, descriptor = 0, 0, None
    if match["argument"] is not None and closes:
        descriptor = _number(text, "descriptor", match["argument"], 2**31 - 1)
    elif match["argument"] is not None:
        least, most = _sizes(text, match["argument"])
    if match["module"] is not None and (not match["module"] or "/" in match["module"]):
        raise UsageError(
            f"libc fault {text!r}: read @{match['module']}, allowed is a basename or a glob of one, such as @libfoo.so*"
        )
    if not closes and (match["effect"] is not None or match["error"] is not None):
        raise UsageError(f"libc fault {text!r}: an allocation takes no :EFFECT and no =ERRNO, it always says ENOMEM")
    effect = match["effect"] or "fail"
    if effect not in EFFECTS:
        raise UsageError(refusal(f"libc fault {text!r}: no such effect", effect, EFFECTS))
    return LibcRule(
        label,
        functions,
        match["module"] or "",
        first,
        1,
        limit,
        least,
        most,
        descriptor,
        _errno(text, match["error"] or "EIO") if closes else 0,
        effect == "call_then_fail",
    )


def write_libc_plan(
    path: Path, rules: Sequence[LibcRule], run_folder: Path | None = None, firing_capacity: int = 0
) -> None:
    """Writes the plan that CUFAULT_LIBC_PLAN names. Records go to `run_folder`, by default the plan's own folder.

    Raises UsageError for a rule that the library would refuse.
    """
    if len(rules) > MOST_RULES:
        raise UsageError(f"libc plan: {len(rules)} rules, allowed are {MOST_RULES}")
    labels = [rule.label for rule in rules]
    strings = bytearray(b"\0")
    records = b"".join(
        _rule_bytes(rule, labels.index(rule.label) == index, strings) for index, rule in enumerate(rules)
    )
    folder = _string(strings, str((path.parent if run_folder is None else run_folder).absolute()))
    strings_at = _PLAN_HEADER.size + len(records)
    header = _PLAN_HEADER.pack(
        _PLAN_MAGIC,
        _VERSION,
        _PLAN_HEADER.size,
        strings_at + len(strings),
        0,
        folder,
        firing_capacity,
        _PLAN_HEADER.size,
        len(rules),
        strings_at,
        len(strings),
    )
    content = bytearray(header + records + strings)
    struct.pack_into("<Q", content, _CHECKSUM_AT, checksum(content))
    path.write_bytes(content)


def preload_libc(
    variables: dict[str, str], run_folder: Path, preload: Path, library: Path, rules: Sequence[LibcRule]
) -> None:
    """Writes libc_plan.bin and puts the library into a child's environment, behind what is preloaded already.

    It is linked into `preload`, because the loader drops a path with a space silently. Raises UsageError.
    """
    plan = run_folder / "libc_plan.bin"
    write_libc_plan(plan, rules)
    (preload / LIBRARY).symlink_to(library)
    variables[PLAN_VARIABLE] = str(plan)
    before = variables.get("LD_PRELOAD")
    variables["LD_PRELOAD"] = f"{before}:{preload / LIBRARY}" if before else str(preload / LIBRARY)


def libc_lines(rules: Sequence[LibcRule], records: Sequence[LibcRecord]) -> list[str]:
    """For people: of every rule how often it matched and fired in all processes, and where."""
    lines = []
    for rule in rules:
        fired = sum(record.fired.get(rule.label, 0) for record in records)
        matched = sum(record.matched.get(rule.label, 0) for record in records)
        lines.append(f"libc fault {rule.label}: {matched} calls matched, {fired} failed")
        lines += [
            f"  pid {record.pid}: {firing.function}({firing.value}), number {firing.ordinal}, "
            f"from {firing.module or 'no module'}+{firing.module_offset:#x}"
            for record in records
            for firing in record.firings
            if firing.label == rule.label
        ][:MOST_LINES]
    return lines


def never_fired(rules: Sequence[LibcRule], records: Sequence[LibcRecord]) -> list[str]:
    """The labels of rules that failed no call in any process: such a run has exercised nothing of them."""
    return [rule.label for rule in rules if not any(record.fired.get(rule.label) for record in records)]


def checksum(content: bytes | bytearray) -> int:
    """FNV-1a, 64 bits; the checksum field itself has to be zero."""
    value = 0xCBF29CE484222325
    for byte in content:
        value = (value ^ byte) * 0x100000001B3 % _WORD
    return value


def read_libc_records(run_folder: Path) -> list[LibcRecord]:
    """Every process's record, by pid; killed ones included. Raises HarnessError for a file that is none."""
    return [read_libc_record(path) for path in sorted(run_folder.glob("libc.[0-9]*"))]


def read_libc_record(path: Path) -> LibcRecord:
    """One record. Raises HarnessError where it is cut, or of another version."""
    content = path.read_bytes()
    if len(content) < _RECORD_HEADER.size or content[:8] != _RECORD_MAGIC:
        raise HarnessError(f"{path}: no record of {LIBRARY}")
    (
        _,
        version,
        size,
        file_size,
        plan_checksum,
        start_ns,
        pid,
        parent,
        forked,
        rule_count,
        capacity,
        _,
        firings,
        modules_lost,
    ) = _RECORD_HEADER.unpack_from(content)
    if version != _VERSION or size != _RECORD_HEADER.size:
        raise HarnessError(f"{path}: version {version}, this reads version {_VERSION}")
    firings_at = size + rule_count * _RULE_COUNT.size
    if file_size != len(content) or file_size != firings_at + capacity * _FIRING.size:
        raise HarnessError(
            f"{path}: {len(content)} bytes are not the {file_size} of {rule_count} rules and {capacity} firings"
        )
    matched: dict[str, int] = {}
    fired: dict[str, int] = {}
    labels: list[str] = []
    for index in range(rule_count):
        name, matches, fires = _RULE_COUNT.unpack_from(content, size + index * _RULE_COUNT.size)
        labels.append(_text(name))
        matched[labels[-1]], fired[labels[-1]] = matches, fires
    kept = (
        _firing(path, content, firings_at + index * _FIRING.size, labels) for index in range(min(firings, capacity))
    )
    return LibcRecord(
        pid,
        parent,
        forked == 1,
        start_ns,
        plan_checksum,
        matched,
        fired,
        tuple(firing for firing in kept if firing is not None),
        max(0, firings - capacity),
        modules_lost,
    )


def _functions(text: str, names: str) -> tuple[str, ...]:
    found: list[str] = []
    for name in names.split("+"):
        if name != "alloc" and name not in FUNCTIONS:
            raise UsageError(refusal(f"libc fault {text!r}: no such function", name, [*FUNCTIONS, "alloc"]))
        found += ALLOCATIONS if name == "alloc" else [name]
    if CLOSE in found and len(found) > 1:
        raise UsageError(f"libc fault {text!r}: close stands alone")
    return tuple(name for name in FUNCTIONS if name in found)


def _ordinals(text: str, nth: str | None) -> tuple[int, int]:
    if nth is None:
        return 1, 0
    first = _number(text, "#N", nth.removesuffix("+"), _WORD // 2, least=1)
    return first, 0 if nth.endswith("+") else 1


def _sizes(text: str, argument: str) -> tuple[int, int]:
    least, dots, most = argument.partition("..")
    if not dots:
        most = least
    low = _number(text, "bytes", least, _WORD // 2) if least else 0
    high = _number(text, "bytes", most, _WORD // 2, least=1) if most else 0
    if (not least and not most) or (high != 0 and high < low):
        raise UsageError(
            f"libc fault {text!r}: read ({argument}), allowed is a number of bytes, LEAST.., ..MOST or LEAST..MOST"
        )
    return low, high


def _number(text: str, what: str, read: str, most: int, least: int = 0) -> int:
    if not (read.isascii() and read.isdigit()) or len(read) > 20 or not least <= int(read) <= most:
        raise UsageError(f"libc fault {text!r}: {what}: read {read!r}, allowed is a number from {least}")
    return int(read)


def _errno(text: str, name: str) -> int:
    codes = {text: code for code, text in errno.errorcode.items()}
    if name not in codes:
        raise UsageError(refusal(f"libc fault {text!r}: no such errno", name, codes))
    return codes[name]


def _string(strings: bytearray, text: str) -> int:
    if not text:
        return 0
    at = len(strings)
    strings += text.encode() + b"\0"
    return at


def _rule_bytes(rule: LibcRule, first_of_its_name: bool, strings: bytearray) -> bytes:
    wrong = None
    closes = rule.functions == (CLOSE,)
    if not rule.label or len(rule.label.encode()) > LONGEST_LABEL or "\0" in rule.label:
        wrong = f"a label has 1 to {LONGEST_LABEL} bytes"
    elif not first_of_its_name:
        wrong = "another rule has this label"
    elif not rule.functions or any(name not in FUNCTIONS for name in rule.functions):
        wrong = refusal("functions", next((name for name in rule.functions if name not in FUNCTIONS), ""), FUNCTIONS)
    elif CLOSE in rule.functions and not closes:
        wrong = "close stands alone"
    elif rule.first < 1 or rule.every < 1 or rule.limit < 0:
        wrong = "first and every count from 1"
    elif closes != (rule.error != 0):
        wrong = "close has an errno, an allocation has none"
    elif not closes and (rule.descriptor is not None or rule.really_close):
        wrong = "only close has a descriptor"
    elif (closes and (rule.least_size or rule.most_size)) or 0 < rule.most_size < rule.least_size:
        wrong = f"sizes from {rule.least_size} to {rule.most_size} hold for no call"
    if wrong is not None:
        raise UsageError(f"libc plan, rule {rule.label!r}: {wrong}")
    bits = sum(FUNCTIONS[name] for name in set(rule.functions))
    return _RULE.pack(
        _string(strings, rule.label),
        bits,
        _string(strings, rule.module),
        _REALLY_CLOSE if rule.really_close else 0,
        rule.first,
        rule.every,
        rule.limit,
        rule.least_size,
        rule.most_size,
        -1 if rule.descriptor is None else rule.descriptor,
        rule.error,
    )


def _text(name: bytes) -> str:
    return name.split(b"\0", 1)[0].decode("utf-8", "replace")


def _firing(path: Path, content: bytes, at: int, labels: list[str]) -> LibcFiring | None:
    """None: the process was killed while it wrote this one."""
    state, rule, function, tid, time_ns, ordinal, value, offset, module = _FIRING.unpack_from(content, at)
    if state == 0:
        return None
    names = [name for name, bit in FUNCTIONS.items() if bit == function]
    if not names or not 0 < rule <= len(labels):
        raise HarnessError(f"{path}: the firing at byte {at} names rule {rule} and function {function:#x}")
    return LibcFiring(labels[rule - 1], names[0], tid, time_ns, ordinal, value, _text(module), offset)
