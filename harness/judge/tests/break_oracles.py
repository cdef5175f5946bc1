# SPDX-License-Identifier: Apache-2.0
"""Shows that every oracle is tested: empties each in turn, builds, runs the policy tests, and asks for red.

    python harness/judge/tests/break_oracles.py BUILD_FOLDER [RULE...]

It then answers "holds" for every run. The sources are put back afterwards, also after an interruption. Exit status 0:
each emptied oracle turned a test of its own rule red; 1: some did not, or the tests are red without any change.
"""

from __future__ import annotations

import re
import signal
import subprocess
import sys
from pathlib import Path

TESTS = Path(__file__).resolve().parent
ORACLES = TESTS.parent / "oracles"
BODY = re.compile(r"(finding p\d\d\(const run& of\) \{\n).*?(\n\}\n\n\}  // namespace cufault::judge::oracles)", re.S)
EMPTY = r"\1  static_cast<void>(of);\n  return {outcome::holds, {}, {}, {}};\2"


def _tests(rule: str) -> list[str]:
    """The test programs that have a test of the rule, as build targets."""
    sources = [path for path in sorted(TESTS.glob("*_test.cpp")) if f"TEST({rule}," in path.read_text(encoding="utf-8")]
    return [f"harness/judge/tests/judge_{path.stem}" for path in sources]


def _red(build: Path, rule: str) -> list[str]:
    """Names of the rule's failing tests. Raises CalledProcessError if the build fails."""
    targets = _tests(rule)
    subprocess.run(["ninja", "-C", str(build), *targets], check=True, capture_output=True)
    failed: list[str] = []
    for target in targets:
        ran = subprocess.run([str(build / target), f"--gtest_filter={rule}.*"], capture_output=True, text=True)
        failed += re.findall(r"^\[  FAILED  \] (\w+\.\w+) \(", ran.stdout, re.M)
    return failed


def main(arguments: list[str]) -> int:
    """The command line, see the module's text."""
    if not arguments:
        print(__doc__, file=sys.stderr)
        return 2
    build = Path(arguments[0]).resolve()
    # A killed run has to put the source back as well as an interrupted one.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(3))
    survived = []
    for source in sorted(ORACLES.glob("p[0-9][0-9].cpp")):
        rule = source.stem.upper()
        if arguments[1:] and rule not in arguments[1:]:
            continue
        if _red(build, rule):
            print(f"{rule}: red without any change")
            return 1
        text = source.read_text(encoding="utf-8")
        emptied, count = BODY.subn(EMPTY, text)
        if count != 1:
            print(f"{source}: its oracle was not found")
            return 1
        try:
            source.write_text(emptied, encoding="utf-8")
            failed = _red(build, rule)
        finally:
            source.write_text(text, encoding="utf-8")
        print(f"{rule}: {len(failed)} tests red" if failed else f"{rule}: NOTHING RED", flush=True)
        if not failed:
            survived.append(rule)
    print("each oracle is tested" if not survived else f"without a test: {', '.join(survived)}")
    return 1 if survived else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
