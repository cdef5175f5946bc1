# SPDX-License-Identifier: Apache-2.0
"""What a subject declares about itself (the runner reads it and never imports the library), what its adapter does."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Protocol


@dataclass(frozen=True)
class Cannot:
    """Something the subject has no way to do: runs that ask for it are *not applicable*, with this reason.

    A step matches by `verb`, `kind` and `options` (None: any); with `switch`, a fault matches that asks for context
    switches of that role inside such a step. `never`: driver functions (plain names) that it never reaches, which a
    test proves on clean runs. `rules` are the rules that cannot be exercised because of it.
    """

    reason: str
    verb: str | None = None
    kind: str | None = None
    options: Mapping[str, Any] | None = None
    switch: str | None = None
    rules: tuple[str, ...] = ()
    never: tuple[str, ...] = ()


@dataclass(frozen=True)
class Subject:
    """What the runner knows of a subject.

    `standing` is conforming or observed; `profiles` go by version prefix, the longest that fits wins, "" fits all;
    `distribution` is what importlib.metadata finds the version of; `adapter` is `module:class`.
    """

    name: str
    distribution: str
    language: str
    standing: str
    profiles: Mapping[str, str]
    adapter: str
    cannot: tuple[Cannot, ...] = ()
    needs_gpu: bool = False

    def profile(self, version: str) -> str:
        """The profile that judges this version by default."""
        fitting = [prefix for prefix in self.profiles if version.startswith(prefix)]
        return self.profiles[max(fitting, key=len)]


class Adapter(Protocol):
    """How one library does each step. An adapter keeps no reference to an object that it hands out.

    Every method may raise whatever the library raises. `objects` are the live objects by scenario name.
    """

    def versions(self) -> dict[str, str]:
        """Versions of what is under test, by name."""

    def open(self) -> None:
        """Makes the device's context current, the library's usual way; called once, before the first step."""

    def make(self, kind: str, options: Mapping[str, Any], objects: Mapping[str, Any]) -> Any:
        """A new object."""

    def handle(self, kind: str, thing: Any) -> int | None:
        """The driver's handle of an object, read without a driver call; None where the library does not tell."""

    def use(self, kind: str, thing: Any, how: str, objects: Mapping[str, Any]) -> None:
        """One ordinary operation; leaves nothing behind."""

    def update(self, graph: Any, options: Mapping[str, Any], objects: Mapping[str, Any]) -> None:
        """New parameters for a node of a graph."""

    def close(self, kind: str, thing: Any) -> None:
        """The explicit end of an object."""

    def deallocate(self, thing: Any) -> None:
        """A buffer's memory goes back through its memory resource."""

    def set_current(self, context: Any | None) -> None:
        """Device.set_current(); with a context, that one."""

    def query(self, kind: str, thing: Any | None, name: str) -> Any:
        """A property; `kind` "device" with no thing means the device."""


AdapterFactory = Callable[[], Adapter]
