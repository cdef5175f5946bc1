# SPDX-License-Identifier: Apache-2.0
"""The steps for libraries whose objects are made from a `Device` and carry cuda.core's names; each subject fills the rest in."""

from __future__ import annotations

import ctypes
from typing import Any, Mapping


class Graph:
    """A graph definition with its nodes by the names that the scenario gave them."""

    def __init__(self, definition: Any, nodes: dict[str, Any]) -> None:
        self.definition = definition
        self.nodes = nodes


def keep_for_ever(thing: Any) -> None:
    """Leaks an object on purpose: its destructor never runs."""
    ctypes.pythonapi.Py_IncRef(ctypes.py_object(thing))


class DeviceObjects:
    """Adapter over a `Device` and its objects. Subclasses say how buffers, pools and graphs are made."""

    def __init__(self, device: Any) -> None:
        self.device = device

    def open(self) -> None:
        self.set_current(None)

    def make(self, kind: str, options: Mapping[str, Any], objects: Mapping[str, Any]) -> Any:
        return getattr(self, "make_" + kind)(options, objects)

    def make_buffer(self, options: Mapping[str, Any], objects: Mapping[str, Any]) -> Any:
        size = options.get("size", 256)
        stream = objects[options["stream"]] if "stream" in options else self.device.default_stream
        memory = options.get("memory", "async")
        if memory == "async":
            return self.device.allocate(size, stream=stream)
        if memory == "pool":
            return objects[options["pool"]].allocate(size, stream=stream)
        return self.resource(memory).allocate(size)

    def resource(self, memory: str) -> Any:
        """The memory resource for `plain` or `pinned` memory."""
        raise NotImplementedError

    def handle(self, kind: str, thing: Any) -> int | None:
        if kind == "graph":
            return int(thing.definition.handle)
        return int(thing.handle)

    def use(self, kind: str, thing: Any, how: str, objects: Mapping[str, Any]) -> None:
        getattr(self, f"use_{kind}_{how}")(thing)

    def use_stream_sync(self, stream: Any) -> None:
        stream.sync()

    def use_event_record(self, event: Any) -> None:
        self.device.default_stream.record(event)

    def use_event_query(self, event: Any) -> None:
        event.is_done

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
        thing.close()

    def deallocate(self, thing: Any) -> None:
        # The buffer object would free the same memory once more when it goes.
        keep_for_ever(thing)
        thing.memory_resource.deallocate(thing.handle, thing.size, stream=self.device.default_stream)

    def set_current(self, context: Any | None) -> None:
        if context is None:
            self.device.set_current()
        else:
            self.device.set_current(context)

    def query(self, kind: str, thing: Any | None, name: str) -> Any:
        if kind == "pool":
            return thing.attributes.used_mem_current  # type: ignore[union-attr]
        if kind == "graph":
            return len(thing.definition.nodes())  # type: ignore[union-attr]
        if kind == "buffer" and name == "device":
            return thing.device_id  # type: ignore[union-attr]
        value = getattr(self.device if thing is None else thing, name)
        return value if isinstance(value, (int, str)) else str(type(value).__name__)
