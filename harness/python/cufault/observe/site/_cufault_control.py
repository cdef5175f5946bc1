# SPDX-License-Identifier: Apache-2.0
"""The shim's control functions (control.h), looked up in the running process; without a shim they do nothing."""

from __future__ import annotations

import ctypes

import _cufault_observer

_library = ctypes.CDLL(None)


def _call(name: str, *arguments: object) -> int:
    function = getattr(_library, name, None)
    if function is None:
        return 1  # CUFAULT_IDLE
    function.restype = ctypes.c_int
    return int(function(*arguments))


def present() -> bool:
    """Whether the shim is in this process."""
    return hasattr(_library, "cufault_control_version")


def step_begin(name: str) -> int:
    """Opens a step, for the shim and the observer; answers the shim's status."""
    status = _call("cufault_step_begin", name.encode())
    _cufault_observer.set_step(name)
    return status


def step_end() -> int:
    """Closes the open step."""
    _cufault_observer.set_step(None)
    return _call("cufault_step_end")


def name_handle(kind: str, handle: int, name: str) -> int:
    """Names a live driver object."""
    return _call("cufault_name_handle", kind.encode(), ctypes.c_uint64(handle), name.encode())


def calls() -> int:
    """How many driver calls this process has made through the shim."""
    function = getattr(_library, "cufault_calls", None)
    if function is None:
        return 0
    function.restype = ctypes.c_uint64
    return int(function())
