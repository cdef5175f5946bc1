# SPDX-License-Identifier: Apache-2.0
"""What the documents say of the tree is so: licence lines, commands, paths, versions, who may know whom."""

from __future__ import annotations

import ast
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).resolve().parents[3]
README = (ROOT / "README.md").read_text(encoding="utf-8")

# Data without room for a comment.
NO_COMMENTS = {".json", ".tsv", ".gz", ".png"}
NO_COMMENT_NAMES = {"LICENSE", "SHA256SUMS", "py.typed"}


def tracked() -> list[Path]:
    """Files of the repository as git knows them."""
    listing = subprocess.run(["git", "-C", str(ROOT), "ls-files", "-z"], capture_output=True, text=True, check=True)
    return [path for name in listing.stdout.split("\0") if name and (path := ROOT / name).is_file()]


def test_every_file_names_its_licence_in_its_first_lines() -> None:
    bare = []
    for path in tracked():
        if path.suffix in NO_COMMENTS or path.name in NO_COMMENT_NAMES:
            continue
        head = path.read_bytes()[:400]
        if b"SPDX-License-Identifier: Apache-2.0" not in head:
            bare.append(str(path.relative_to(ROOT)))
    assert bare == []


def test_the_documents_of_the_root_lead_to_files_that_exist() -> None:
    missing = []
    for name in ("README.md", "CONTRIBUTING.md", "CHANGELOG.md", "harness/develop/README.md", "reports/README.md"):
        text = (ROOT / name).read_text(encoding="utf-8")
        links = re.findall(r"\]\(([^)#:]+)\)", text)
        missing += [f"{name}: {link}" for link in links if not ((ROOT / name).parent / link).exists()]
    assert missing == []


def test_every_folder_of_the_layout_is_there_and_every_folder_is_in_the_layout() -> None:
    table = README.split("## Layout")[1].split("Who may know whom")[0]
    listed: set[str] = set()
    for parent, said in re.findall(r"^\| \[(\w+)/\]\(\w+\) \| (.*) \|$", table, re.MULTILINE):
        listed.add(parent)
        for folder in re.findall(r"`([\w/]+)/`", said):
            assert (ROOT / parent / folder).is_dir(), f"{parent}/{folder}"
    assert {
        path.relative_to(ROOT).parts[0] for path in tracked() if len(path.relative_to(ROOT).parts) > 1
    } == listed | {".ci"}


def test_every_dev_command_that_a_document_names_exists() -> None:
    code = (ROOT / "dev").read_text(encoding="utf-8")
    commands = set(re.findall(r"^  ([a-z]+)(?: \||\))", code[code.rindex("case $command") :], re.MULTILINE))
    for name in ("README.md", "CONTRIBUTING.md", ".ci/run"):
        used = set(re.findall(r"\./dev ([a-z]+)", (ROOT / name).read_text(encoding="utf-8")))
        assert used
        assert used <= commands, name


def test_every_cufault_command_that_the_readme_names_exists() -> None:
    code = (ROOT / "harness/python/cufault/cli.py").read_text(encoding="utf-8")
    used = set(re.findall(r"cufault (\w+) (?:--|first|scenarios)", README))
    assert used == {"run", "exec", "sweep"}
    for command in used:
        assert re.search(rf"\b{command}_?\.command\b", code), command


def test_the_readme_gives_the_exit_statuses_of_the_command_line() -> None:
    errors = (ROOT / "harness/python/cufault/errors.py").read_text(encoding="utf-8")
    defined = {int(number) for number in re.findall(r"^EXIT_\w+ = (\d+)", errors, re.MULTILINE)}
    said = {int(number) for number in re.findall(r"^\| (\d+) \|", README.split("## Exit statuses")[1], re.MULTILINE)}
    assert {0, 1, 2, 3, 4} <= said
    assert defined <= said


def test_the_readmes_scenario_is_one(tmp_path: Path) -> None:
    (block,) = re.findall(r"```yaml\n(.*?)```", README, re.DOTALL)
    scenario = yaml.safe_load(block)
    assert scenario["rules"] == ["P12"]
    assert [step for step in scenario["steps"] if "drop" in step]


def locked() -> dict[str, set[str]]:
    found: dict[str, set[str]] = {}
    text = (ROOT / "requirements.lock").read_text(encoding="utf-8")
    for name, version in re.findall(r"^([\w.-]+)==([\w.]+)", text, re.MULTILINE):
        found.setdefault(name.lower().replace("_", "-"), set()).add(version)
    return found


def test_the_lock_file_holds_exactly_what_is_asked_for_with_hashes() -> None:
    wanted = re.findall(
        r"^([\w.-]+)==([\w.]+)(.*)$", (ROOT / "requirements.in").read_text(encoding="utf-8"), re.MULTILINE
    )
    assert len(wanted) > 15
    for name, version, rest in wanted:
        assert version in locked()[name.lower().replace("_", "-")], name
        assert "#" in rest, f"{name}: no reason given"
    text = (ROOT / "requirements.lock").read_text(encoding="utf-8")
    for entry in re.split(r"^(?=[\w.-]+==)", text, flags=re.MULTILINE)[1:]:
        assert "--hash=sha256:" in entry, entry.split()[0]


# --- who may know whom ---------------------------------------------------------------------------------------------

KNOWS = {
    folder: set() if known.startswith("nothing") else set(known.split(", "))
    for folder, known in re.findall(r"^([\w/]+) +─► (.+)$", README, re.MULTILINE)
}
PYTHON = {  # folders whose names as modules differ
    "pytest_plugin": "pytest_cufault",
    "harness/python": "cufault",
    "harness/subjects": "cufault",
    "harness/judge": "cufault",
    "reports": "cufault_reports",
}
SOURCES = (".h", ".hpp", ".c", ".cpp", ".jinja", ".j2", ".inc")
ROOTS = (
    "shim/include",
    "shim",
    "shim/interpose",
    "shim/sim",
    "harness/judge",
    "harness/handles",
    "harness/handles/include",
)


def included(path: Path) -> Iterator[Path]:
    """Headers of this repository that a source includes, found as the compiler would; generated ones belong to none."""
    for name in re.findall(r'^\s*#\s*include "([^"]+)"', path.read_text(encoding="utf-8"), re.MULTILINE):
        places = [path.parent, *path.parent.parents, *(ROOT / root for root in ROOTS)]
        for place in places:
            if (place / name).is_file() and ROOT in [place, *place.parents]:
                yield (place / name).resolve()
                break


@pytest.mark.parametrize("area", sorted(KNOWS.keys() - PYTHON.keys() | {"harness/judge"}))
def test_a_folder_includes_only_what_it_may_know(area: str) -> None:
    allowed = {area, *KNOWS[area]}
    sources = [path for path in tracked() if path.suffix in SOURCES and (ROOT / area) in path.parents]
    wrong = []
    for path in sources:
        if "tests" in path.parts:
            continue
        for header in included(path):
            if not any((ROOT / other) in header.parents for other in allowed):
                wrong.append(f"{path.relative_to(ROOT)} includes {header.relative_to(ROOT)}")
    assert sources
    assert wrong == []


def imported(path: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.level == 0 and node.module:
            yield node.module


@pytest.mark.parametrize("area", sorted(PYTHON.keys() - {"harness/judge"}))
def test_a_package_imports_only_what_it_may_know(area: str) -> None:
    sources = [path for path in tracked() if path.suffix == ".py" and (ROOT / area) in path.parents]
    found = {module.split(".")[0] for path in sources if "tests" not in path.parts for module in imported(path)}
    assert found
    assert found & set(PYTHON.values()) <= {PYTHON[folder] for folder in {area, *KNOWS[area]}}


def test_every_folder_that_knows_something_is_drawn() -> None:
    assert KNOWS.keys() >= PYTHON.keys()
    parts = {
        path.relative_to(ROOT / "shim").parts[0]
        for path in tracked()
        if path.suffix == ".cpp" and (ROOT / "shim") in path.parents
    }
    assert {f"shim/{part}" for part in parts - {"tests"}} <= KNOWS.keys()
