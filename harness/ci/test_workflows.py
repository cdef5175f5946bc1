# SPDX-License-Identifier: Apache-2.0
"""The workflows to copy: what a maintainer edits is in one place, and their shell steps do what they say."""

from __future__ import annotations

import difflib
import os
import re
import shutil
import subprocess
import sys
import sysconfig
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
WORKFLOWS = ("cpu.yml", "gpu.yml")

SCENARIO = """\
# SPDX-License-Identifier: Apache-2.0
scenario: a stream of ours cannot be destroyed
rules: [P12]
subject: [reference]
steps:
  - make: {stream: s}
  - drop: s
faults:
  - {at: cuStreamDestroy, handle: s, fail: CUDA_ERROR_INVALID_CONTEXT}
"""

TESTS = """\
from ours import make_event

def test_an_event_is_made_and_closed():
    make_event().close()
"""

LIBRARY = {
    "pyproject.toml": '[build-system]\nbuild-backend = "mesonpy"\nrequires = ["meson-python"]\n'
    '[project]\nname = "ours"\nversion = "1"\n',
    "meson.build": "project('ours')\nimport('python').find_installation('python3').install_sources('ours.py')\n",
    "ours.py": "from cuda.core import Device\n\n\ndef make_event():\n    device = Device(0)\n    device.set_current()\n"
    "    return device.create_event()\n",
    "tests/test_faults.py": TESTS,
    "tests/cufault/stream.scenario.yaml": SCENARIO,
    "tests/cufault/baseline.txt": "",
}

# What the packages of the workflows' apt-get step must be, checked without installing anything.
SUDO = """\
#!/bin/sh
[ "$1 $2" != "apt-get update" ] || exit 0
[ "$1 $2" = "apt-get install" ] || { echo "sudo: unexpected: $*" >&2; exit 1; }
shift 2
for package; do
  case "$package" in -*) ;; *) dpkg-query -W -f '${db:Status-Status}' "$package" | grep -qx installed || exit 1 ;; esac
done
"""


def workflow(name: str) -> dict[str, Any]:
    loaded: dict[str, Any] = yaml.safe_load((HERE / name).read_text(encoding="utf-8"))
    return loaded


def steps(name: str) -> list[dict[str, Any]]:
    (job,) = workflow(name)["jobs"].values()
    found: list[dict[str, Any]] = job["steps"]
    return found


def shell_steps(name: str) -> dict[str, str]:
    return {step["name"]: step["run"] for step in steps(name) if "run" in step}


@pytest.mark.parametrize("name", WORKFLOWS)
def test_every_setting_is_used_and_nothing_else_is(name: str) -> None:
    settings = set(workflow(name)["env"])
    text = "\n".join(shell_steps(name).values()) + str([step.get("with") for step in steps(name)])
    used = set(re.findall(r"\$\{?([A-Z_]+)|env\.([A-Z_]+)", text))
    assert {first or second for first, second in used} - {"GITHUB_STEP_SUMMARY"} == settings


@pytest.mark.parametrize("name", WORKFLOWS)
def test_no_shell_step_pastes_an_expression_into_its_script(name: str) -> None:
    assert not [run for run in shell_steps(name).values() if "${{" in run]


def test_the_two_differ_in_driver_and_runner_only() -> None:
    first, second = ((HERE / name).read_text(encoding="utf-8").splitlines() for name in WORKFLOWS)
    lines = [line for line in difflib.ndiff(first, second) if line.startswith(("- ", "+ "))]
    assert {line[2:].split(":")[0].strip() for line in lines if "# cufault in" not in line} == {
        "name",
        "DRIVER",
        "runs-on",
    }


class Runner:
    """A stand-in for a CI runner: a work folder, an environment of its own, and no network."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.work = folder / "work"
        for name, text in LIBRARY.items():
            path = self.work / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
        self._check_out(self.work / ".cufault")
        venv = folder / "venv"
        subprocess.run([sys.executable, "-m", "venv", str(venv)], check=True)
        (packages,) = venv.glob("lib/python*/site-packages")
        # What pip would fetch is borrowed from the environment of this test.
        (packages / "borrowed.pth").write_text(sysconfig.get_path("purelib") + "\n", encoding="utf-8")
        (venv / "bin/pytest").write_text('#!/bin/sh\nexec python -m pytest "$@"\n', encoding="utf-8")
        (venv / "bin/pytest").chmod(0o755)
        tools = folder / "bin"
        tools.mkdir()
        (tools / "sudo").write_text(SUDO, encoding="utf-8")
        (tools / "sudo").chmod(0o755)
        self.environment = {
            key: value for key, value in os.environ.items() if not key.startswith(("PYTHON", "CUFAULT"))
        }
        self.environment.update(
            PATH=f"{tools}:{venv}/bin:{Path(sys.executable).parent}:/usr/bin:/bin:/usr/sbin:/sbin",
            PIP_NO_INDEX="1",
            PIP_NO_BUILD_ISOLATION="0",  # pip's own reading of it: 0 means no isolation
            PIP_CONFIG_SETTINGS=f"build-dir={folder}/build",
            PIP_DISABLE_PIP_VERSION_CHECK="1",
        )
        self.environment.pop("PIP_FIND_LINKS", None)

    @staticmethod
    def _check_out(target: Path) -> None:
        left_out = shutil.ignore_patterns("build", ".venv", ".git", "cufault-out", "__pycache__", ".*_cache", "dist")
        shutil.copytree(ROOT, target, ignore=left_out)

    def run(self, script: str, settings: dict[str, str]) -> subprocess.CompletedProcess[str]:
        """One step, by the shell that GitHub uses."""
        summary = self.folder / "summary.md"
        return subprocess.run(
            ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", script],
            cwd=self.work,
            env={**self.environment, **settings, "GITHUB_STEP_SUMMARY": str(summary)},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=900,
            check=False,
        )


@pytest.fixture(scope="module")
def runner(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Runner]:
    folder = tmp_path_factory.mktemp("runner")
    yield Runner(folder)
    shutil.rmtree(folder, ignore_errors=True)


@pytest.mark.parametrize("name", WORKFLOWS)
def test_the_shell_steps_install_run_and_report(runner: Runner, name: str) -> None:
    settings = {key: str(value) for key, value in workflow(name)["env"].items()}
    if not Path("/dev/nvidiactl").exists():
        settings["DRIVER"] = "simulated"
    shutil.rmtree(runner.work / "cufault-out", ignore_errors=True)
    (runner.folder / "summary.md").unlink(missing_ok=True)
    for title, script in shell_steps(name).items():
        if "each clean-up call" in title:
            assert_only_new_violations_fail(runner, script, settings)
            continue
        done = runner.run(script, settings)
        assert done.returncode == 0, f"{title}:\n{done.stdout}"
    assert (runner.work / "cufault-out/report.html").stat().st_size > 10_000
    assert "<testsuite " in (runner.work / "cufault-out/junit.xml").read_text(encoding="utf-8")
    assert (runner.folder / "summary.md").read_text(encoding="utf-8").startswith("# cufault")


def assert_only_new_violations_fail(runner: Runner, script: str, settings: dict[str, str]) -> None:
    """The step is red while cuda.core's silence about a failed destroy is new, green once the baseline knows it."""
    (runner.work / settings["BASELINE"]).write_text("", encoding="utf-8")
    red = runner.run(script, settings)
    assert red.returncode == 1, red.stdout
    assert "cuEventDestroy" in red.stdout
    update = 'cufault sweep --driver "$DRIVER" --baseline "$BASELINE" --update-baseline -- $TESTS'
    assert runner.run(update, settings).returncode == 0
    green = runner.run(script, settings)
    assert green.returncode == 0, green.stdout


@pytest.mark.parametrize("name", WORKFLOWS)
def test_what_is_not_wanted_can_be_left_empty(runner: Runner, name: str) -> None:
    settings = dict.fromkeys(workflow(name)["env"], "")
    for title in ("Scenarios", "The library's own tests, each clean-up call failing once"):
        done = runner.run(shell_steps(name)[title], settings)
        assert done.returncode == 0, done.stdout
        assert done.stdout.startswith("no ")
