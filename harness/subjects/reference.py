# SPDX-License-Identifier: Apache-2.0
"""The reference handle layer through its Python binding: the policy in full, the first subject."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from cufault.subjects.device_objects import DeviceObjects
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
        import cufault.reference as reference

        super().__init__(reference)

    def versions(self) -> dict[str, str]:
        from cufault import __version__

        return {"cufault.reference": __version__}

    def make_context(self, options: Mapping[str, Any], objects: Mapping[str, Any]) -> Any:
        return self.device.create_context()

    def use_context_enter(self, context: Any) -> None:
        self.device.set_current(context)

    def plain_resource(self) -> Any:
        return self.module.SynchronousMemoryResource(self.device)

    def graph_definition(self) -> Any:
        return self.module.GraphDefinition()

    def count_nodes(self, definition: Any) -> int:
        return len(definition)
