# SPDX-License-Identifier: Apache-2.0
"""Reading results: the folder or the file, this format and no other."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import sample
from cufault_reports import WRITERS, read_results


def test_a_folder_or_its_file_can_be_named(tmp_path: Path) -> None:
    (tmp_path / "results.json").write_text(json.dumps(sample.results()), encoding="utf-8")
    assert read_results(tmp_path) == read_results(tmp_path / "results.json")
    assert read_results(tmp_path)["root"] == str(tmp_path.resolve())


@pytest.mark.parametrize("content", ['{"format": 2}', "{}", "[]"])
def test_another_format_is_refused(tmp_path: Path, content: str) -> None:
    path = tmp_path / "results.json"
    path.write_text(content, encoding="utf-8")
    with pytest.raises(ValueError, match=r"results\.json: results of format 1 are needed"):
        read_results(path)


@pytest.mark.parametrize("name", sorted(WRITERS))
def test_every_writer_writes_a_file(tmp_path: Path, name: str) -> None:
    WRITERS[name](sample.results(), tmp_path / name)
    assert (tmp_path / name).stat().st_size > 500
