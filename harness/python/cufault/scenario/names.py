# SPDX-License-Identifier: Apache-2.0
"""Which objects a scenario's steps have made: a name that nobody made, or that is gone, is refused on reading."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from cufault.errors import nearest, refusal
from cufault.scenario.fields import refuse, text_of
from cufault.scenario.grammar import DEVICE, NONE
from cufault.scenario.source import Node

_RESERVED = frozenset({DEVICE, NONE})


@dataclass
class Names:
    """The objects by name, and for those that a step took away, which step."""

    kinds: dict[str, str] = field(default_factory=dict)
    made_in: dict[str, str] = field(default_factory=dict)
    gone: dict[str, str] = field(default_factory=dict)
    nodes: dict[str, dict[str, str]] = field(default_factory=dict)

    def make(self, node: Node, kind: str, step_id: str) -> str:
        """A new name."""
        name = text_of(node, f"the name of a {kind}")
        if not name.isidentifier() or name in _RESERVED:
            refuse(node, f"a name must be an identifier other than {DEVICE} and {NONE}: read {name!r}")
        if name in self.kinds and name not in self.gone:
            refuse(node, f"{name!r} is the name of a {self.kinds[name]} that step {self.made_in[name]!r} made")
        self.kinds[name] = kind
        self.made_in[name] = step_id
        self.gone.pop(name, None)
        return name

    def live(self, node: Node, what: str, kinds: Iterable[str] | None = None) -> str:
        """The name of an object that is there, of one of the kinds if given."""
        wanted = None if kinds is None else tuple(kinds)
        name = text_of(node, what)
        if name in self.gone:
            refuse(node, f"{what}: {name!r} is gone since step {self.gone[name]!r}")
        there = [known for known in self.kinds if known not in self.gone]
        if name not in there:
            refuse(node, refusal(f"{what}: no step makes it", name, there))
        if wanted is not None and self.kinds[name] not in wanted:
            fitting = [known for known in there if self.kinds[known] in wanted]
            close = nearest(name, fitting)
            hint = f", did you mean {close!r}?" if close else ""
            refuse(node, f"{what}: {name!r} is a {self.kinds[name]}, wanted is a {' or '.join(wanted)}{hint}")
        return name

    def known(self, node: Node, what: str) -> str:
        """The name of an object that some step makes, gone or not."""
        name = text_of(node, what)
        if name not in self.kinds:
            refuse(node, refusal(f"{what}: no step makes it", name, self.kinds))
        return name
