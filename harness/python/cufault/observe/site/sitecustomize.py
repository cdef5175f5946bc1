# SPDX-License-Identifier: Apache-2.0
"""At the start of every Python process under a launched command: attaches the observer, runs the original file."""

from __future__ import annotations

import os
import sys


def _chain(here: str) -> None:
    """Runs the sitecustomize that this one hides; it, not this file, is `sitecustomize` afterwards."""
    finder = sys.modules["_frozen_importlib_external"].PathFinder  # importlib.machinery's, without that import
    rest = [path for path in sys.path if os.path.abspath(path or os.curdir) != here]
    spec = finder.find_spec("sitecustomize", rest)
    if spec is None or spec.loader is None:
        return
    module = type(sys)("sitecustomize")
    module.__spec__ = spec
    module.__file__ = spec.origin
    module.__loader__ = spec.loader
    sys.modules["sitecustomize"] = module
    spec.loader.exec_module(module)


if os.environ.get("CUFAULT_PLAN"):
    import _cufault_observer

    _cufault_observer.attach()
_chain(os.path.dirname(os.path.abspath(__file__)))
