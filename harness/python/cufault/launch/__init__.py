# SPDX-License-Identifier: Apache-2.0
"""Starts a command under the shim: run folder, plan, environment, process, and what it left behind."""

from __future__ import annotations

from cufault.launch.libraries import Driver, choose_driver, libraries
from cufault.launch.process import Ended, Limits
from cufault.launch.session import Launch, Launched, launch

__all__ = ["Driver", "Ended", "Launch", "Launched", "Limits", "choose_driver", "launch", "libraries"]
