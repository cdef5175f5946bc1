# SPDX-License-Identifier: Apache-2.0
"""cuda.core, as installed from the package index."""

from __future__ import annotations

from typing import Any, Mapping

from cufault.subjects.device_objects import DeviceObjects, Graph
from cufault.subjects.protocol import Cannot, Subject

SUBJECT = Subject(
    name="cuda.core",
    distribution="cuda-core",
    language="python",
    standing="observed",
    profiles={"": "rfc"},
    adapter="cufault.subjects.cuda_core:CudaCore",
    cannot=(
        Cannot("cuda.core 1.2 makes no plain contexts: its contexts are the devices' primary ones, and green ones",
               verb="make", kind="context", rules=("P05",), never=("cuCtxCreate", "cuCtxDestroy")),
        Cannot("cuda.core 1.2 makes an object in whatever context is current: creating switches no context",
               verb="make", switch="any", never=("cuCtxSetCurrent", "cuCtxPushCurrent", "cuCtxPopCurrent")),
        Cannot("cuda.core 1.2 updates a graph's node in whatever context is current: updating switches no context",
               verb="update", switch="any", never=("cuCtxPushCurrent", "cuCtxPopCurrent")),
    ),
)


class CudaCore(DeviceObjects):
    """Adapter of cuda.core 1.2."""

    def __init__(self) -> None:
        import cuda.core

        self._core = cuda.core
        super().__init__(cuda.core.Device(0))

    def versions(self) -> dict[str, str]:
        import cuda.bindings

        return {"cuda.core": self._core.__version__, "cuda.bindings": cuda.bindings.__version__}

    def make_stream(self, options: Mapping[str, Any], objects: Mapping[str, Any]) -> Any:
        return self.device.create_stream(options={"nonblocking": options.get("nonblocking", True),
                                                  "priority": options.get("priority")})

    def make_event(self, options: Mapping[str, Any], objects: Mapping[str, Any]) -> Any:
        return self.device.create_event({"timing_enabled": options.get("timing", False)})

    def make_pool(self, options: Mapping[str, Any], objects: Mapping[str, Any]) -> Any:
        return self._core.DeviceMemoryResource(self.device, {"ipc_enabled": False})

    def resource(self, memory: str) -> Any:
        if memory == "pinned":
            return self._core.LegacyPinnedMemoryResource()
        from cuda.core._memory._legacy import _SynchronousMemoryResource

        return _SynchronousMemoryResource(self.device.device_id)

    def make_graph(self, options: Mapping[str, Any], objects: Mapping[str, Any]) -> Any:
        from cuda.core.graph import GraphDefinition

        definition = GraphDefinition()
        nodes: dict[str, Any] = {}
        for node in options.get("nodes", ()):
            if node["kind"] == "memset":
                buffer = objects[node["buffer"]]
                made = definition.memset(buffer, node.get("value", 1), buffer.size)
            elif node["kind"] == "record":
                made = definition.record(objects[node["event"]])
            else:
                made = definition.empty()
            nodes[node["node"]] = made
        return Graph(definition, nodes)

    def make_graph_exec(self, options: Mapping[str, Any], objects: Mapping[str, Any]) -> Any:
        return objects[options["of"]].definition.instantiate()
