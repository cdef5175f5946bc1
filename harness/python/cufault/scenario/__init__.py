# SPDX-License-Identifier: Apache-2.0
"""Scenario files: read with positions, checked against the vocabulary, expanded into runs."""

from __future__ import annotations

from cufault.scenario.load import ScenarioFile, find, load
from cufault.scenario.model import Expect, Fault, Scenario, Step

__all__ = ["Expect", "Fault", "Scenario", "ScenarioFile", "Step", "find", "load"]
