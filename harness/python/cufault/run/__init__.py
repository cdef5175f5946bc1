# SPDX-License-Identifier: Apache-2.0
"""Runs cases in processes of their own, has each judged, and leaves results.json."""

from __future__ import annotations

from cufault.run.outcome import Outcome, exit_status
from cufault.run.runner import Options, run_cases

__all__ = ["Options", "Outcome", "exit_status", "run_cases"]
