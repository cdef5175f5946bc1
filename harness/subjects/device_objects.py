# SPDX-License-Identifier: Apache-2.0
"""The steps for libraries whose objects come from a `Device` and carry cuda.core's names; a subject adds the rest."""

from __future__ import annotations

import ctypes
from collections.abc import Mapping
from typing import Any


class Graph:
    """A graph definition with its nodes by the names that the scenario gave them."""

    def __init__(self, definition: Any, nodes: dict[str, Any]) -> None:
        self.definition = definition
        self.nodes = nodes


def keep_for_ever(thing: Any) -> None:
    """Leaks an object on purpose: its destructor never runs."""
    ctypes.pythonapi.Py_IncRef(ctypes.py_object(thing))


class DeviceObjects:
    """Adapter over a module with a `Device` and its objects."""

    def __init__(self, module: Any) -> None:
        self.module = module
        self.device = module.Device(0)

    def open(self) -> None:
        self.set_current(None)

    def make(self, kind: str, options: Mapping[str, Any], objects: Mapping[str, Any]) -> Any:
        return getattr(self, "make_" + kind)(options, objects)

    def make_stream(self, options: Mapping[str, Any], objects: Mapping[str, Any]) -> Any:
        chosen = {"nonblocking": options.get("nonblocking", True)}
        if "priority" in options:
            chosen["priority"] = options["priority"]
        return self.device.create_stream(options=chosen)

    def make_event(self, options: Mapping[str, Any], objects: Mapping[str, Any]) -> Any:
        return self.device.create_event({"timing_enabled": options.get("timing", False)})

    def make_buffer(self, options: Mapping[str, Any], objects: Mapping[str, Any]) -> Any:
        size = options.get("size", 256)
        stream = objects[options["stream"]] if "stream" in options else self.device.default_stream
        memory = options.get("memory", "async")
        if memory == "async":
            return self.device.allocate(size, stream=stream)
        if memory == "pool":
            return objects[options["pool"]].allocate(size, stream=stream)
        if memory == "pinned":
            return self.module.LegacyPinnedMemoryResource().allocate(size)
        return self.plain_resource().allocate(size)

    def plain_resource(self) -> Any:
        """The memory resource over cuMemAlloc and cuMemFree."""
        raise NotImplementedError

    def make_pool(self, options: Mapping[str, Any], objects: Mapping[str, Any]) -> Any:
        return self.module.DeviceMemoryResource(self.device, options={"max_size": 0})

    def make_graph(self, options: Mapping[str, Any], objects: Mapping[str, Any]) -> Any:
        definition = self.graph_definition()
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

    def graph_definition(self) -> Any:
        """An empty graph."""
        raise NotImplementedError

    def make_graph_exec(self, options: Mapping[str, Any], objects: Mapping[str, Any]) -> Any:
        return objects[options["of"]].definition.instantiate()

    def handle(self, kind: str, thing: Any) -> int | None:
        return int(thing.definition.handle if kind == "graph" else thing.handle)

    def use(self, kind: str, thing: Any, how: str, objects: Mapping[str, Any]) -> None:
        getattr(self, f"use_{kind}_{how}")(thing)

    def use_stream_sync(self, stream: Any) -> None:
        stream.sync()

    def use_event_record(self, event: Any) -> None:
        self.device.default_stream.record(event)

    def use_event_query(self, event: Any) -> None:
        _ = event.is_done

    def use_event_sync(self, event: Any) -> None:
        event.sync()

    def use_buffer_fill(self, buffer: Any) -> None:
        buffer.fill(1, stream=self.device.default_stream)

    def use_pool_allocate(self, pool: Any) -> None:
        pool.allocate(256, stream=self.device.default_stream)

    def use_graph_instantiate(self, graph: Any) -> None:
        graph.definition.instantiate()

    def use_graph_exec_launch(self, executable: Any) -> None:
        executable.launch(self.device.default_stream)
        self.device.default_stream.sync()

    def update(self, graph: Any, options: Mapping[str, Any], objects: Mapping[str, Any]) -> None:
        node = graph.nodes[options["node"]]
        if options["kind"] == "record":
            node.update(objects[options["event"]])
            return
        changes: dict[str, Any] = {}
        if "buffer" in options:
            changes["dst"] = objects[options["buffer"]]
        if "value" in options:
            changes["value"] = options["value"]
        node.update(**changes)

    def close(self, kind: str, thing: Any) -> None:
        (thing.definition if kind == "graph" else thing).close()

    def deallocate(self, thing: Any) -> None:
        # The buffer object would free the same memory once more when it goes.
        keep_for_ever(thing)
        resource = thing.memory_resource
        # A stream is what pools free on; with one, the others would wait for it first.
        on = {"stream": self.device.default_stream} if hasattr(resource, "attributes") else {}
        resource.deallocate(thing.handle, thing.size, **on)

    def set_current(self, context: Any | None) -> None:
        if context is None:
            self.device.set_current()
        else:
            self.device.set_current(context)

    def query(self, kind: str, thing: Any, name: str) -> Any:
        if kind == "pool":
            return thing.attributes.used_mem_current
        if kind == "graph":
            return self.count_nodes(thing.definition)
        if kind == "buffer" and name == "device":
            return thing.device_id
        value = getattr(self.device if kind == "device" else thing, name)
        return value if isinstance(value, (int, str)) else type(value).__name__

    def count_nodes(self, definition: Any) -> int:
        """How many nodes a graph has."""
        raise NotImplementedError
