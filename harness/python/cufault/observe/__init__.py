# SPDX-License-Identifier: Apache-2.0
"""What a Python child shows of itself: `site/` comes first in its PYTHONPATH and needs nothing of this package."""

from __future__ import annotations

from importlib import resources
from pathlib import Path


def site_folder() -> Path:
    """The folder with sitecustomize and its helpers."""
    return Path(str(resources.files("cufault").joinpath("observe", "site")))
