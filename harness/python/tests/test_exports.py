# SPDX-License-Identifier: Apache-2.0
"""Exported functions are read from the file itself."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from cufault.launch.exports import exported_functions


def build(tmp_path: Path) -> Path:
    source, library = tmp_path / "a.c", tmp_path / "liba.so"
    source.write_text(
        "int shown(void) { return 1; } int data = 2; static int hidden(void) { return 3; } int puts(const char *); "
        '__attribute__((weak)) int weak(void) { return puts("") + hidden(); }'
    )
    subprocess.run(["cc", "-shared", "-fPIC", "-o", str(library), str(source)], check=True)
    return library


def test_defined_functions_are_exports_and_data_and_imports_are_not(tmp_path: Path) -> None:
    found = exported_functions(build(tmp_path))
    assert {"shown", "weak"} <= found
    assert not {"data", "hidden", "puts"} & found


def test_what_is_no_library_is_refused(tmp_path: Path) -> None:
    text = tmp_path / "text"
    text.write_text("x" * 100)
    with pytest.raises(ValueError, match="not a 64-bit"):
        exported_functions(text)
    cut = tmp_path / "cut"
    cut.write_bytes(build(tmp_path).read_bytes()[:5000])
    with pytest.raises(ValueError, match="cut off"):
        exported_functions(cut)
