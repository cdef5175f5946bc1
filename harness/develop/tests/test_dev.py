# SPDX-License-Identifier: Apache-2.0
"""./dev: installs what is missing and nothing else, says so in its exit status, and leaves a finished set-up alone."""

from __future__ import annotations

import re

import pytest
from machine import Machine

PACKAGES = "g++ clang pkg-config libgtest-dev libgmock-dev nlohmann-json3-dev libbenchmark-dev valgrind binutils"


def test_a_bare_machine_gets_every_package_and_the_lock_file(machine: Machine) -> None:
    done = machine.dev("build", PARTS="none")
    assert done.returncode == 0, done.stderr
    install = f"apt-get install -y -q --no-install-recommends {PACKAGES} python3-venv python3-dev"
    pip = f"pip -m pip install -q --disable-pip-version-check --require-hashes -r {machine.root}/requirements.lock"
    assert machine.calls == [install, pip]


def test_only_missing_packages_are_installed(machine: Machine) -> None:
    assert machine.dev("build", INSTALLED=PACKAGES.replace("valgrind", "")).returncode == 0
    assert machine.calls[0] == "apt-get install -y -q --no-install-recommends valgrind"


def test_package_lists_are_fetched_only_where_installing_fails(machine: Machine) -> None:
    done = machine.dev("build", INSTALLED=PACKAGES.replace("valgrind", ""), APT_LISTS="missing")
    assert done.returncode == 0, done.stderr
    assert [call.split()[1] for call in machine.calls if call.startswith("apt-get")] == ["install", "update", "install"]


def test_a_valid_stamp_means_that_neither_apt_nor_pip_runs(machine: Machine) -> None:
    assert machine.dev("build").returncode == 0
    machine.forget_calls()
    machine.write_stub("apt-get", 'echo apt-get >>"$CALLS"; exit 1')
    done = machine.dev("build", PIP_STATUS="1", INSTALLED="")
    assert done.returncode == 0, done.stderr
    assert machine.calls == []


def test_a_changed_lock_file_makes_the_environment_anew(machine: Machine) -> None:
    assert machine.dev("build", INSTALLED=PACKAGES).returncode == 0
    machine.forget_calls()
    (machine.root / "requirements.lock").write_text("# nothing else\n", encoding="utf-8")
    assert machine.dev("build", INSTALLED=PACKAGES).returncode == 0
    assert [call.split()[0] for call in machine.calls] == ["pip"]


def test_a_set_up_that_broke_off_is_tried_again(machine: Machine) -> None:
    assert machine.dev("build", INSTALLED=PACKAGES, PIP_STATUS="1").returncode != 0
    machine.forget_calls()
    assert machine.dev("build", INSTALLED=PACKAGES).returncode == 0
    assert [call.split()[0] for call in machine.calls] == ["pip"]


def test_an_ordinary_user_installs_through_sudo(machine: Machine) -> None:
    assert machine.dev("build", USER_ID="1000").returncode == 0
    assert machine.calls[0].startswith("sudo env DEBIAN_FRONTEND=noninteractive apt-get install")


def test_without_root_and_sudo_it_says_what_to_run(machine: Machine) -> None:
    (machine.stubs / "sudo").unlink()
    machine.environment["PATH"] = machine.environment["PATH"].replace(":/usr/bin:/bin", f":{machine.stubs.parent}/usr")
    tools = machine.stubs.parent / "usr"
    tools.mkdir()
    for tool in ("bash", "sh", "env", "dirname", "sha256sum", "touch", "rm", "mkdir", "chmod", "cat", "grep"):
        (tools / tool).symlink_to(f"/usr/bin/{tool}" if tool != "sh" else "/bin/sh")
    done = machine.dev("build", USER_ID="1000")
    assert done.returncode == 2
    assert "please run as root: env DEBIAN_FRONTEND=noninteractive apt-get install" in done.stderr
    assert machine.calls == []


def test_what_runs_in_the_built_environment_finds_it_and_keeps_its_exit_status(machine: Machine) -> None:
    done = machine.dev("run", "sh", "-c", 'command -v cufault; echo "$PYTHONPATH"; exit 7')
    assert done.returncode == 7
    stage = machine.root / "build/plain/stage"
    assert done.stdout.splitlines()[0] == str(stage / "bin/cufault")
    assert done.stdout.splitlines()[1].split(":")[0] == str(stage / "python")


def test_running_something_compiles_what_is_installed_and_no_test(machine: Machine) -> None:
    build = machine.root / "meson.build"
    target = "custom_target(output: '{0}', command: ['touch', '@OUTPUT@'], build_by_default: true, install: {1}"
    target += ", install_dir: 'x')"
    targets = "\n".join(target.format(*each) for each in (("product", "true"), ("checker", "false")))
    build.write_text(f"{build.read_text(encoding='utf-8')}{targets}\n", encoding="utf-8")
    folder = machine.root / "build/plain"
    assert machine.dev("run", "true").returncode == 0
    assert ((folder / "product").exists(), (folder / "checker").exists()) == (True, False)
    assert (folder / "stage/x/product").exists()
    assert machine.dev("build").returncode == 0
    assert (folder / "checker").exists()


def test_a_build_that_fails_shows_the_compilers_words(machine: Machine) -> None:
    build = machine.root / "meson.build"
    bad = "custom_target(output: 'x', command: ['sh', '-c', 'echo no such luck; false'], build_by_default: true)"
    build.write_text(build.read_text(encoding="utf-8") + bad, encoding="utf-8")
    done = machine.dev("build")
    assert done.returncode == 2
    assert "no such luck" in done.stderr
    assert "the build failed" in done.stderr


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("fly",), "no command called 'fly'"),
        (("build", "--setup", "msan"), "no set-up called 'msan'; there are plain, asan, tsan, valgrind"),
        (("run",), "run what?"),
    ],
)
def test_a_wrong_command_line_is_a_usage_error(machine: Machine, arguments: tuple[str, ...], message: str) -> None:
    done = machine.dev(*arguments)
    assert done.returncode == 2
    assert message in done.stderr


def test_help_lists_every_command(machine: Machine) -> None:
    text = machine.dev("help").stdout
    code = (machine.root / "dev").read_text(encoding="utf-8")
    commands = re.findall(r"^  ([a-z]+)(?: \||\))", code[code.rindex("case $command") :], re.MULTILINE)
    assert {"demo", "test", "run", "build", "lint", "clean", "help"} <= set(commands)
    for command in commands:
        assert re.search(rf"^  {command}\b", text, re.MULTILINE), command


def closing(machine: Machine, *arguments: str) -> tuple[int, str, str]:
    done = machine.dev("test", *arguments)
    lines = done.stdout.splitlines()
    return done.returncode, lines[-1] if lines else "", done.stdout + done.stderr


def without_gpu(line: str) -> str:
    """The closing line as on a machine without a GPU, so that these tests say the same everywhere."""
    found = re.fullmatch(r"(\d+) passed, (\d+) failed, (\d+) skipped", line)
    assert found, line
    passed, failed, skipped = map(int, found.groups())
    return f"{passed - (skipped == 0)} passed, {failed} failed, 1 skipped"


def test_one_line_closes_all_suites(machine: Machine) -> None:
    status, line, text = closing(machine)
    assert (status, without_gpu(line)) == (0, "2 passed, 0 failed, 1 skipped"), text


def test_quick_leaves_out_the_longest_suite(machine: Machine) -> None:
    status, line, text = closing(machine, "--quick")
    assert (status, without_gpu(line)) == (0, "1 passed, 0 failed, 1 skipped"), text


def test_one_failing_test_fails_the_whole(machine: Machine) -> None:
    build = machine.root / "meson.build"
    build.write_text(
        build.read_text(encoding="utf-8").replace("'one', find_program('true')", "'one', find_program('false')")
    )
    status, line, text = closing(machine)
    assert (status, without_gpu(line)) == (1, "1 passed, 1 failed, 1 skipped"), text
    assert "FAILED   " in text


def test_a_selection_that_runs_nothing_fails(machine: Machine) -> None:
    status, line, text = closing(machine, "no-such-test")
    assert status == 1, text
    assert line.startswith("0 passed, 1 failed")


def test_yesterdays_log_does_not_pass_for_todays_run(machine: Machine) -> None:
    assert closing(machine)[0] == 0
    assert closing(machine, "no-such-test")[0] == 1
