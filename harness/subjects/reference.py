# SPDX-License-Identifier: Apache-2.0
"""The reference handle layer through its Python binding: the policy in full, the first subject."""

from __future__ import annotations

from typing import Any, Mapping

from cufault.subjects.device_objects import DeviceObjects, Graph
from cufault.subjects.protocol import Subject

SUBJECT = Subject(
    name="reference",
    distribution="cufault",
    language="python",
    standing="conforming",
    profiles={"": "strict"},
    adapter="cufault.subjects.reference:Reference",
)


class Reference(DeviceObjects):
    """Adapter of cufault.reference."""

    def __init__(self) -> None:
        from cufault import reference

        self._layer = reference
        super().__init__(reference.Device(0))

    def versions(self) -> dict[str, str]:
        from cufault import __version__

        return {"cufault.reference": __version__}

    def make_stream(self, options: Mapping[str, Any], objects: Mapping[str, Any]) -> Any:
        return self.device.create_stream(nonblocking=options.get("nonblocking", True), priority=options.get("priority", 0))

    def make_event(self, options: Mapping[str, Any], objects: Mapping[str, Any]) -> Any:
        return self.device.create_event(timing_enabled=options.get("timing", False))

    def make_pool(self, options: Mapping[str, Any], objects: Mapping[str, Any]) -> Any:
        return self._layer.DeviceMemoryResource(self.device)

    def make_context(self, options: Mapping[str, Any], objects: Mapping[str, Any]) -> Any:
        return self.device.create_context()

    def use_context_enter(self, context: Any) -> None:
        self.device.set_current(context)

    def resource(self, memory: str) -> Any:
        if memory == "pinned":
            return self._layer.PinnedMemoryResource()
        return self._layer.SynchronousMemoryResource(self.device)

    def make_graph(self, options: Mapping[str, Any], objects: Mapping[str, Any]) -> Any:
        definition = self._layer.GraphDefinition()
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
