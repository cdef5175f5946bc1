# SPDX-License-Identifier: Apache-2.0
"""Reports on the results of `cufault run`: a terminal's table, one HTML page, JUnit XML, Markdown."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Protocol

from cufault_reports.html import write_html
from cufault_reports.junit import write_junit
from cufault_reports.markdown import write_markdown
from cufault_reports.results import Results, read_results
from cufault_reports.text import print_table


class Writer(Protocol):
    """A report that is a file. A new one is a module with such a function, and its name below."""

    def __call__(self, results: Results, path: Path) -> None: ...


WRITERS: Mapping[str, Writer] = {"html": write_html, "junit": write_junit, "markdown": write_markdown}

__all__ = ["WRITERS", "Results", "Writer", "print_table", "read_results", "write_html", "write_junit", "write_markdown"]
