# SPDX-License-Identifier: Apache-2.0
"""A run that was judged and did not pass: its lines are the whole failure, no Python traceback."""

from __future__ import annotations

import pytest


class JudgedFailure(Exception):
    """The lines tell what was hit, which rules were broken, and the verdict."""

    def __init__(self, lines: list[str]) -> None:
        super().__init__("\n".join(lines))


def text_of(info: pytest.ExceptionInfo[BaseException]) -> str | None:
    """The text of a failure that people are meant to read without a traceback; None for any other exception."""
    from cufault.errors import CufaultError

    return str(info.value) if isinstance(info.value, (JudgedFailure, CufaultError)) else None
