# SPDX-License-Identifier: Apache-2.0
"""Driver calls that a scenario makes beside the library under test, as another component of the process would."""

from __future__ import annotations

import ctypes

CUDA_ERROR_NOT_FOUND = 500


class RawDriverError(RuntimeError):
    """A raw call failed: the scenario's own set-up did not work."""

    def __init__(self, function: str, code: int) -> None:
        super().__init__(f"raw {function} answered {code}")
        self.code = code


class RawDriver:
    """The exported functions of the process's libcuda.so.1, which is the shim."""

    def __init__(self) -> None:
        self._library = ctypes.CDLL("libcuda.so.1")

    def _call(self, name: str, *arguments: object) -> None:
        function = getattr(self._library, name)
        function.restype = ctypes.c_int
        code = function(*arguments)
        if code != 0:
            raise RawDriverError(name, code)

    def make_context(self, device: int = 0) -> int:
        """A plain context, current on this thread from here on; the caller's is below it on the thread's stack."""
        context, ordinal = ctypes.c_void_p(), ctypes.c_int()
        self._call("cuInit", ctypes.c_uint(0))
        self._call("cuDeviceGet", ctypes.byref(ordinal), ctypes.c_int(device))
        try:
            self._call("cuCtxCreate_v4", ctypes.byref(context), None, ctypes.c_uint(0), ordinal)
        except (AttributeError, RawDriverError) as error:
            # A driver older than 12.5 lacks that variant: no such symbol, or CUDA_ERROR_NOT_FOUND from the shim.
            if isinstance(error, RawDriverError) and error.code != CUDA_ERROR_NOT_FOUND:
                raise
            self._call("cuCtxCreate_v2", ctypes.byref(context), ctypes.c_uint(0), ordinal)
        return context.value or 0

    def set_current(self, context: int) -> None:
        """Makes a context current; 0 leaves none current."""
        self._call("cuCtxSetCurrent", ctypes.c_void_p(context or None))

    def destroy_context(self, context: int) -> None:
        """What a third party does to a context that others may still use."""
        self._call("cuCtxDestroy_v2", ctypes.c_void_p(context))
