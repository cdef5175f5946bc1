# SPDX-License-Identifier: Apache-2.0
"""Runs every recorded case and random sequence on a driver, each in its process, and compares all rows.

usage: conformance.py --probe PROGRAM --driver LIBRARY [--shrink]
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
from pathlib import Path

from compare import LISTED, judge
from rows import RECORDED, RowError, Rows, read_recorded, read_steps


def seeds(recorded: Rows) -> str:
    """The recorded random sequences as the probe's --seed wants them."""
    numbers = [int(case.removeprefix("seq")) for case in recorded.cases if case.startswith("seq")]
    return f"{min(numbers)}-{max(numbers)}"


def case_names(probe: Path) -> set[str]:
    """The probe's cases. Raises CalledProcessError, OSError."""
    return set(subprocess.run([str(probe), "--list"], check=True, capture_output=True, text=True).stdout.split())


def run(probe: Path, driver: Path, arguments: list[str], into: Rows) -> None:
    """One run of the probe. Raises CalledProcessError, with what it said; RowError; OSError."""
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "rows.tsv"
        jobs = str((os.cpu_count() or 1) + 1)  # many cases only wait
        command = [
            str(probe),
            "--driver",
            str(driver),
            "--jobs",
            jobs,
            "--timeout",
            "10",
            "--out",
            str(out),
            *arguments,
        ]
        # Cases end their process on purpose, and so does a driver that finds itself broken: its words are the finding.
        subprocess.run(command, check=True)
        read_steps(out, into)


def main(argv: list[str]) -> int:
    """The command line; 2 where the probe did not run."""
    parser = argparse.ArgumentParser(description="Compare a driver with the recorded answers of real ones.")
    parser.add_argument("--probe", type=Path, required=True)
    parser.add_argument("--driver", type=Path, required=True)
    parser.add_argument("--shrink", action="store_true", help="take out of the list what agrees now")
    arguments = parser.parse_args(argv)
    made = Rows()
    try:
        recorded = read_recorded()
        cases = case_names(arguments.probe)
        chosen = [word for case in sorted(recorded.cases.keys() & cases) for word in ("--case", case)]
        run(arguments.probe, arguments.driver, chosen, made)
        run(arguments.probe, arguments.driver, ["--case", "two_gpu*", "--simulated-devices", "2"], made)
        run(arguments.probe, arguments.driver, ["--seed", seeds(recorded)], made)
        status = judge(made, RECORDED, LISTED, complete=True, shrinking=arguments.shrink)
        print(f"not recorded yet, not run: {len(cases - recorded.cases.keys())} cases")
        return status
    except (subprocess.CalledProcessError, RowError, OSError) as error:
        print(f"conformance.py: {error}", file=sys.stderr)
        return 2


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
