# SPDX-License-Identifier: Apache-2.0
"""The environment of a child: one shim under both names, first in every path, and what was there before kept."""

from __future__ import annotations

from pathlib import Path

import pytest
from cufault.errors import HarnessError
from cufault.launch.environment import environment, preload_folder
from cufault.observe import site_folder


def test_both_names_of_the_driver_are_links_to_the_one_shim(tmp_path: Path) -> None:
    shim = tmp_path / "shim.so"
    shim.touch()
    folder = preload_folder(tmp_path, shim)
    assert {path.name: path.resolve() for path in folder.iterdir()} == {"libcuda.so": shim, "libcuda.so.1": shim}


def test_a_path_that_the_loader_would_drop_is_refused(tmp_path: Path) -> None:
    spaced = tmp_path / "a b"
    spaced.mkdir()
    with pytest.raises(HarnessError, match="space or colon"):
        preload_folder(spaced, tmp_path / "shim.so")


def test_what_was_there_before_is_kept_behind_ours() -> None:
    run, preload = Path("/run"), Path("/run/preload")
    base = {
        "LD_PRELOAD": "/x/libasan.so.8 /x/other.so",
        "LD_LIBRARY_PATH": "/old",
        "PYTHONPATH": "/mine",
        "PYTEST_PLUGINS": "p",
        "A": "b",
    }
    made = environment(base, run, preload, Path("/package"))
    assert made["LD_PRELOAD"] == "/x/libasan.so.8:/run/preload/libcuda.so.1:/x/other.so"
    assert made["LD_LIBRARY_PATH"] == "/run/preload:/old"
    assert made["PYTHONPATH"] == f"{site_folder()}:/package:/mine"
    assert made["PYTEST_PLUGINS"] == "p,_cufault_pytest"
    assert made["CUFAULT_PLAN"] == "/run/plan.bin"
    assert made["A"] == "b"


def test_a_program_that_is_not_ours_gets_the_observer_and_no_package() -> None:
    made = environment({}, Path("/run"), Path("/run/preload"), None)
    assert made["PYTHONPATH"] == str(site_folder())
    assert made["LD_LIBRARY_PATH"] == "/run/preload"
