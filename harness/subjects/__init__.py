# SPDX-License-Identifier: Apache-2.0
"""The libraries that scenarios drive; each is one small file that says how to do each step and what it cannot do."""

from __future__ import annotations

from cufault.subjects.catalog import SUBJECTS, find
from cufault.subjects.protocol import Adapter, Cannot, Subject

__all__ = ["SUBJECTS", "Adapter", "Cannot", "Subject", "find"]
