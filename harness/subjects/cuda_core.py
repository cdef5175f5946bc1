# SPDX-License-Identifier: Apache-2.0
"""cuda.core, as installed from the package index."""

from __future__ import annotations

from typing import Any

from cufault.subjects.device_objects import DeviceObjects
from cufault.subjects.protocol import Cannot, Subject

SUBJECT = Subject(
    name="cuda.core",
    distribution="cuda-core",
    language="python",
    standing="observed",
    profiles={"": "rfc"},
    adapter="cufault.subjects.cuda_core:CudaCore",
    cannot=(
        Cannot(
            "cuda.core 1.2 makes no plain contexts: its contexts are the devices' primary ones, and green ones",
            verb="make",
            kind="context",
            rules=("P05",),
            never=("cuCtxCreate", "cuCtxDestroy"),
        ),
        Cannot(
            "cuda.core 1.2 makes an object in whatever context is current: creating switches no context",
            verb="make",
            switch="any",
            never=("cuCtxSetCurrent", "cuCtxPushCurrent", "cuCtxPopCurrent"),
        ),
        Cannot(
            "cuda.core 1.2 updates a graph's node in whatever context is current: updating switches no context",
            verb="update",
            switch="any",
            never=("cuCtxPushCurrent", "cuCtxPopCurrent"),
        ),
    ),
)


class CudaCore(DeviceObjects):
    """Adapter of cuda.core 1.2."""

    def __init__(self) -> None:
        import cuda.core

        super().__init__(cuda.core)

    def versions(self) -> dict[str, str]:
        import cuda.bindings

        return {"cuda.core": self.module.__version__, "cuda.bindings": cuda.bindings.__version__}

    def plain_resource(self) -> Any:
        # Private, and what Device.allocate() uses on devices without memory pools.
        from cuda.core._memory._legacy import _SynchronousMemoryResource

        return _SynchronousMemoryResource(self.device.device_id)

    def graph_definition(self) -> Any:
        from cuda.core.graph import GraphDefinition

        return GraphDefinition()

    def count_nodes(self, definition: Any) -> int:
        return len(definition.nodes())
