# SPDX-License-Identifier: Apache-2.0
"""The data files of `shim/spec` as records: what every generator works from.

spec = load()
for symbol in spec.symbols: ...            # sorted by name
spec.functions["cuStreamDestroy"].roles    # what the function does to handles, in any of its ABI variants
spec.roles_of(spec.symbol["cuStreamDestroy_v2"])   # the same for one variant, with parameter positions
"""

from __future__ import annotations

from pathlib import Path
from typing import Final

import api_file
import roles_file
from records import (
    CLASSES,
    CONTEXT_NEEDS,
    FLAVOURS,
    SWITCHES,
    VERBS,
    BoundRole,
    FaultState,
    Function,
    Kind,
    Param,
    Result,
    Role,
    Sources,
    Spec,
    Symbol,
)
from strict_yaml import SpecError

__all__ = [
    "CLASSES",
    "CONTEXT_NEEDS",
    "FLAVOURS",
    "SPEC_FOLDER",
    "SWITCHES",
    "VERBS",
    "BoundRole",
    "FaultState",
    "Function",
    "Kind",
    "Param",
    "Result",
    "Role",
    "Sources",
    "Spec",
    "SpecError",
    "Symbol",
    "load",
    "load_api",
]

SPEC_FOLDER: Final = Path(__file__).resolve().parent.parent / "spec"


def load_api(folder: Path = SPEC_FOLDER) -> Spec:
    """Only `driver_api.yaml`: no roles, results or fault states. Raises SpecError, OSError."""
    return api_file.load_api(folder)


def load(folder: Path = SPEC_FOLDER) -> Spec:
    """Everything, cross-checked: each function is classified, each role names a parameter, each result exists.

    Raises SpecError, OSError.
    """
    return roles_file.complete(api_file.load_api(folder), folder)
