# SPDX-License-Identifier: Apache-2.0
"""The stage: what was installed there is found as if pip had done it."""

from __future__ import annotations

import subprocess
import sys
from importlib.metadata import distributions
from pathlib import Path

import pytest
import stage

ROOT = Path(__file__).resolve().parents[3]


@pytest.fixture
def staged(tmp_path: Path) -> Path:
    package = tmp_path / "python/cufault"
    package.mkdir(parents=True)
    (package / "__init__.py").write_text("", encoding="utf-8")
    (package / "cli.py").write_text("import sys\ndef main():\n    return len(sys.argv)\n", encoding="utf-8")
    stage.write_stage(ROOT, tmp_path / "python", tmp_path / "bin", sys.executable)
    return tmp_path


def test_python_finds_the_distribution_and_its_entry_points(staged: Path) -> None:
    (found,) = distributions(path=[str(staged / "python")])
    assert found.metadata["Name"] == "cufault"
    assert found.version == stage.read_metadata(ROOT).version.__str__()
    points = {(point.group, point.name): point.value for point in found.entry_points}
    assert points["console_scripts", "cufault"] == "cufault.cli:main"
    assert points["pytest11", "cufault"] == "pytest_cufault.plugin"


def test_the_launcher_runs_the_staged_package_and_gives_its_status(staged: Path) -> None:
    assert subprocess.run([str(staged / "bin/cufault"), "a", "b"], check=False).returncode == 3


def test_a_second_run_changes_no_file(staged: Path) -> None:
    def stamps() -> dict[Path, int]:
        return {path: path.stat().st_mtime_ns for path in staged.rglob("*") if path.is_file()}

    before = stamps()
    stage.write_stage(ROOT, staged / "python", staged / "bin", sys.executable)
    assert stamps() == before


def test_a_module_that_is_no_longer_installed_goes_away_and_nothing_else(staged: Path) -> None:
    packages = staged / "python"
    for name in ("kept.py", "preserved.py", "left.py"):
        (packages / "cufault" / name).write_text("", encoding="utf-8")
    log = staged / "install-log.txt"
    kept = [packages / "cufault" / name for name in ("__init__.py", "cli.py", "kept.py")]
    preserved = f"# Preserving old file {packages}/cufault/preserved.py"
    log.write_text("\n".join(["# List of files", *map(str, kept), preserved]), encoding="utf-8")
    assert stage.remove_leftovers(packages, log) == [packages / "cufault/left.py"]
    assert list(packages.glob("*.dist-info/METADATA"))
    assert stage.remove_leftovers(packages, log) == []


def test_the_package_and_the_build_have_one_version() -> None:
    build = (ROOT / "meson.build").read_text(encoding="utf-8")
    assert f"version: '{stage.read_metadata(ROOT).version}'" in build
