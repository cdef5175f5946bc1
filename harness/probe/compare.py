# SPDX-License-Identifier: Apache-2.0
"""Compares what a driver answers with what was recorded, row by row, and with the list of what is known to differ.

usage: compare.py ROWS... [--recorded FOLDER] [--listed FILE] [--shrink]

ROWS are files that `probe` wrote. The status is 0 if every recorded row is there and agrees, except those in the list,
all of which differ; otherwise 1.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

from rows import ENDED, RECORDED, Row, RowError, Rows, changed_files, read_recorded, read_steps, result_names

LISTED = Path(__file__).parent / "not_reproduced.tsv"

# Why a simulated driver does not answer as the recording does.
REASONS = {
    "accidental": "reads freed objects: stable on hardware by accident",
    "computing kernel": "needs a kernel to compute",
    "virtual machine": "comes from the machine around the GPU",
    "crash on hardware": "the real driver ends the process",
    "not yet": "to be done",
}

# In the list: every row of the case; rows that no recording has.
WHOLE_CASE = "*"
EXTRA = "+"


@dataclass(frozen=True)
class Difference:
    """A recorded row that is not there or answers otherwise; or a row that no recording has (step 0)."""

    case: str
    step: int
    call: str
    recorded: str
    made: str

    def __str__(self) -> str:
        place = f"{self.step}" if self.step else EXTRA
        return f"{self.case}\t{place}\t{self.call}\trecorded: {self.recorded}\tnow: {self.made}"


def _keyed(rows: Iterable[Row]) -> dict[tuple[str, int], Row]:
    """By call, and by which of its occurrences in the case: a row more or less does not shift the others."""
    seen: Counter[str] = Counter()
    keyed = {}
    for row in rows:
        seen[row.call] += 1
        keyed[row.call, seen[row.call]] = row
    return keyed


def agree(recorded: str, made: str, names: dict[str, str]) -> bool:
    """Whether two answers are the same; a bare number equals its name."""
    return recorded == made or names.get(recorded) == made or names.get(made) == recorded


def compare_case(case: str, recorded: list[Row], made: list[Row], names: dict[str, str]) -> list[Difference]:
    """All differences, in order of the recording; after the call that ended the recorded process all may follow."""
    now = _keyed(made)
    then = _keyed(recorded)
    found = []
    last = 0
    for key, row in then.items():
        if key not in now:
            found.append(Difference(case, row.step, row.call, row.answer, "no such row"))
        elif not agree(row.answer, now[key].answer, names):
            found.append(Difference(case, row.step, row.call, row.answer, now[key].answer))
        elif now[key].step < last:
            found.append(Difference(case, row.step, row.call, row.answer, "the same, but earlier"))
        last = max(last, now[key].step) if key in now else last
    ended = any(row.call == ENDED for row in recorded)
    extra = [row for key, row in now.items() if key not in then and not (ended and row.step > last)]
    return found + [Difference(case, 0, row.call, "no such row", row.answer) for row in extra]


@dataclass
class Comparison:
    """What came out: counts for people, and the differences."""

    rows: int = 0
    cases: int = 0
    identical: int = 0
    differences: list[Difference] = field(default_factory=list)
    not_run: list[str] = field(default_factory=list)
    not_recorded: list[str] = field(default_factory=list)


def compare(recorded: Rows, made: Rows) -> Comparison:
    """Every recorded case that was run; the others are named."""
    names = result_names(recorded)
    result = Comparison(not_recorded=sorted(made.cases.keys() - recorded.cases.keys()))
    for case, rows in recorded.cases.items():
        if case not in made.cases:
            result.not_run.append(case)
            continue
        differences = compare_case(case, rows, made.cases[case], names)
        result.cases += 1
        result.rows += len(rows)
        result.identical += not differences
        result.differences += differences
    return result


@dataclass(frozen=True)
class Listed:
    """One line of the list: case, step (or * or +), reason, and what else there is to say."""

    case: str
    step: str
    reason: str
    note: str = ""

    def covers(self, difference: Difference) -> bool:
        """Whether this line is about that difference."""
        place = str(difference.step) if difference.step else EXTRA
        return self.case == difference.case and self.step in (WHOLE_CASE, place)


def read_listed(path: Path = LISTED) -> list[Listed]:
    """The list. Raises RowError for an unknown reason, a line that stands twice, a line of another shape; OSError."""
    lines: list[Listed] = []
    for number, line in enumerate(path.read_text().splitlines(), start=1):
        if not line or line.startswith("#"):
            continue
        parts = line.split("\t")
        if not 3 <= len(parts) <= 4:
            raise RowError(f"{path}:{number}: not `case<TAB>step<TAB>reason[<TAB>note]`: {line}")
        if parts[2] not in REASONS:
            raise RowError(f"{path}:{number}: no such reason: {parts[2]} (there are: {', '.join(REASONS)})")
        if any(one.case == parts[0] and one.step == parts[1] for one in lines):
            raise RowError(f"{path}:{number}: {parts[0]} {parts[1]} stands twice")
        lines.append(Listed(*parts))
    return lines


def unlisted(differences: list[Difference], listed: list[Listed]) -> list[Difference]:
    """Differences that no line covers."""
    by_case: dict[str, list[Listed]] = {}
    for one in listed:
        by_case.setdefault(one.case, []).append(one)
    return [d for d in differences if not any(one.covers(d) for one in by_case.get(d.case, []))]


def outdated(differences: list[Difference], listed: list[Listed], cases: Iterable[str]) -> list[Listed]:
    """Lines that cover no difference, of cases that were compared or do not exist: the list only shrinks."""
    by_case: dict[str, list[Difference]] = {}
    for one in differences:
        by_case.setdefault(one.case, []).append(one)
    not_compared = set(cases)
    return [
        line
        for line in listed
        if line.case not in not_compared and not any(line.covers(d) for d in by_case.get(line.case, []))
    ]


def shrink(path: Path, gone: list[Listed]) -> None:
    """Take lines out of the list; comments and the rest stay as they are. Raises OSError."""
    starts = {f"{line.case}\t{line.step}\t" for line in gone}
    kept = [line for line in path.read_text().splitlines(keepends=True) if not any(line.startswith(s) for s in starts)]
    path.write_text("".join(kept))


def report(result: Comparison, listed: list[Listed], new: list[Difference], gone: list[Listed]) -> str:
    """The report's text: what is wrong first, then the counts."""
    lines = [f"differs and is not listed: {difference}" for difference in new]
    lines += [f"listed, but agrees: {line.case}\t{line.step}\t{line.reason}" for line in gone]
    lines.append(
        f"{result.rows - sum(d.step > 0 for d in result.differences)} of {result.rows} recorded rows agree; "
        f"{result.identical} of {result.cases} cases are identical"
    )
    sequences = Counter(difference.case for difference in result.differences if difference.case.startswith("seq"))
    lines.append(f"{len(sequences)} random sequences differ")
    reasons = Counter(line.reason for line in listed)
    lines.append(
        "listed: " + (", ".join(f"{count} {reason}" for reason, count in sorted(reasons.items())) or "nothing")
    )
    lines.append(f"recorded, not run: {', '.join(result.not_run) or 'none'}")
    if result.not_recorded:
        lines.append(f"run, not recorded: {len(result.not_recorded)} cases")
    return "\n".join(lines)


def judge(
    made: Rows, recorded_folder: Path, listed_path: Path, *, complete: bool = False, shrinking: bool = False
) -> int:
    """Compare, print the report, answer the exit status; `complete`: every recorded case must have been run.

    Raises RowError, OSError.
    """
    problems = changed_files(recorded_folder)
    for problem in problems:
        print(f"recorded rows are never edited: {problem}")
    recorded = read_recorded(recorded_folder)
    listed = read_listed(listed_path)
    result = compare(recorded, made)
    new = unlisted(result.differences, listed)
    gone = outdated(result.differences, listed, result.not_run)
    if shrinking:
        shrink(listed_path, gone)
        listed = [line for line in listed if line not in gone]
        gone = []
    print(report(result, listed, new, gone))
    wrong = problems or new or gone or (complete and result.not_run)
    return 1 if wrong or not result.rows else 0


def main(argv: list[str]) -> int:
    """The command line; 2 for files that cannot be read."""
    parser = argparse.ArgumentParser(description="Compare rows of `probe` with the recorded ones.")
    parser.add_argument("rows", nargs="+", type=Path, metavar="ROWS")
    parser.add_argument("--recorded", type=Path, default=RECORDED, metavar="FOLDER")
    parser.add_argument("--listed", type=Path, default=LISTED, metavar="FILE")
    parser.add_argument("--shrink", action="store_true", help="take out of the list what agrees now")
    arguments = parser.parse_args(argv)
    made = Rows()
    try:
        for path in arguments.rows:
            read_steps(path, made)
        return judge(made, arguments.recorded, arguments.listed, shrinking=arguments.shrink)
    except (RowError, OSError) as error:
        print(f"compare.py: {error}", file=sys.stderr)
        return 2


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
