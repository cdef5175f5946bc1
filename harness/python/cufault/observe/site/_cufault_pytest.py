# SPDX-License-Identifier: Apache-2.0
"""Makes each test of a pytest under a launched command one step; needs nothing of the package cufault."""

from __future__ import annotations

import os
from collections.abc import Generator
from typing import Any

import pytest

if os.environ.get("CUFAULT_PLAN"):
    import _cufault_control
    import _cufault_observer

    # A step's name has room for 175 bytes in a trace record.
    MAX_NAME = 160

    def _name(nodeid: str) -> str:
        return (
            nodeid
            if len(nodeid.encode()) <= MAX_NAME
            else "..." + nodeid.encode()[-MAX_NAME:].decode("utf-8", "replace")
        )

    @pytest.hookimpl(hookwrapper=True, tryfirst=True)
    def pytest_runtest_protocol(item: pytest.Item) -> Generator[None, Any, None]:
        """Opens the test's step before its fixtures and closes it after them."""
        name = _name(item.nodeid)
        _cufault_control.step_begin(name)
        _cufault_observer.event(
            "step_begin", name=name, verb="test", object=None, kind=None, channel="free", changes_context=True
        )
        item.config._cufault_outcome = "ok"  # type: ignore[attr-defined]
        yield
        _cufault_observer.event("step_end", name=name, outcome=item.config._cufault_outcome)  # type: ignore[attr-defined]
        _cufault_control.step_end()

    @pytest.hookimpl(hookwrapper=True)
    def pytest_runtest_makereport(item: pytest.Item, call: pytest.CallInfo[Any]) -> Generator[None, Any, None]:
        """Records what left the test."""
        outcome = yield
        report = outcome.get_result()
        if call.excinfo is not None and not report.skipped:
            _cufault_observer.exception(call.excinfo.value, handled=True)
            item.config._cufault_outcome = "raised"  # type: ignore[attr-defined]
