# SPDX-License-Identifier: Apache-2.0
"""The reference handle layer: CUDA objects that keep the error policy in full, under cuda.core's names.

Failed driver calls raise `CUDAError`. What cannot be raised (garbage collection, clean-up after an earlier failure) is
warned of as `CUDAWarning`. See harness/handles/DESIGN.md for each rule and the place that keeps it.
"""

from __future__ import annotations

import atexit

from cufault.reference._reference import (
    LEGACY_DEFAULT_STREAM,
    PER_THREAD_DEFAULT_STREAM,
    Buffer,
    Context,
    CUDAError,
    CUDAWarning,
    Device,
    DeviceMemoryResource,
    EmptyNode,
    Event,
    EventRecordNode,
    EventWaitNode,
    Graph,
    GraphDefinition,
    GraphNode,
    LegacyPinnedMemoryResource,
    MemoryResource,
    MemsetNode,
    Stream,
    SynchronousMemoryResource,
    _forget_primary_contexts,
    _set_context_restore_fault_for_testing,
)

__all__ = [
    "LEGACY_DEFAULT_STREAM",
    "PER_THREAD_DEFAULT_STREAM",
    "Buffer",
    "CUDAError",
    "CUDAWarning",
    "Context",
    "Device",
    "DeviceMemoryResource",
    "EmptyNode",
    "Event",
    "EventRecordNode",
    "EventWaitNode",
    "Graph",
    "GraphDefinition",
    "GraphNode",
    "LegacyPinnedMemoryResource",
    "MemoryResource",
    "MemsetNode",
    "Stream",
    "SynchronousMemoryResource",
    "_set_context_restore_fault_for_testing",
]

# While warnings can still be shown: what fails later than this goes to stderr.
atexit.register(_forget_primary_contexts)
