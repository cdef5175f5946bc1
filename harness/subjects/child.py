# SPDX-License-Identifier: Apache-2.0
"""The child that drives one subject through one scenario: `python -m cufault.subjects.child RUN_FOLDER/steps.json`.

It opens and closes each step for the shim, and records what left it. The objects live in this module's globals, so that
those that no step ended end as a user's would: when the interpreter finalizes.
"""

from __future__ import annotations

import faulthandler
import gc
import json
import os
import sys
import traceback
import warnings
from typing import Any

import _cufault_control as control
import _cufault_observer as observer
from cufault.scenario.grammar import KINDS, VERBS, driver_kind
from cufault.subjects.catalog import open_adapter
from cufault.subjects.protocol import Adapter
from cufault.subjects.raw import RawDriver

# The child could not do its part, for a reason that is not the library's: never mistaken for an answer of the library.
EXIT_CHILD_BROKEN = 98

objects: dict[str, Any] = {}
kinds: dict[str, str] = {}


class _Skip(Exception):
    """The step needs something that an earlier failure left unmade."""


class _Steps:
    def __init__(self, job: dict[str, Any], adapter: Adapter) -> None:
        self._steps: list[dict[str, Any]] = job["steps"]
        self._by_id = {step["id"]: step for step in self._steps}
        self._adapter = adapter
        self._raw: RawDriver | None = None

    def run(self) -> None:
        """Every step in order; ends early where a step that may not raise did."""
        for step in self._steps:
            if not self._run_one(step) and not step["may_raise"]:
                return

    def _run_one(self, step: dict[str, Any]) -> bool:
        spec = VERBS[self._original(step)["verb"]]
        control.step_begin(step["id"])
        observer.event(
            "step_begin",
            name=step["id"],
            verb=step["verb"],
            object=" ".join(step["objects"]) or None,
            kind=step["kind"],
            channel=spec.channel,
            changes_context=spec.changes_context,
        )
        outcome: dict[str, Any] = {"outcome": "ok"}
        try:
            self._do(self._original(step))
        except _Skip as skip:
            outcome = {"outcome": "skipped", "reason": str(skip)}
        except Exception as error:
            observer.exception(error, handled=True)
            outcome = {"outcome": "raised"}
            # The traceback's frames would keep what the failed call was given alive.
            error.__traceback__ = None
            del error
        observer.event("step_end", name=step["id"], **outcome)
        control.step_end()
        return bool(outcome["outcome"] != "raised")

    def _original(self, step: dict[str, Any]) -> dict[str, Any]:
        return self._by_id[step["options"]["of"]] if step["verb"] == "retry" else step

    def _need(self, *names: str | None) -> None:
        for name in names:
            if name is not None and name not in objects:
                raise _Skip(f"{name} was not made")

    def _do(self, step: dict[str, Any]) -> None:
        getattr(self, "_" + step["verb"])(step, step["options"])

    def _make(self, step: dict[str, Any], options: dict[str, Any]) -> None:
        name, kind = step["objects"][0], step["kind"]
        nodes = options.get("nodes", [])
        self._need(
            options.get("pool"),
            options.get("stream"),
            options.get("of"),
            *(node.get("buffer") for node in nodes),
            *(node.get("event") for node in nodes),
        )
        objects[name] = self._adapter.make(kind, options, objects)
        kinds[name] = kind
        self._tell_handle(name, driver_kind(kind, options))

    def _tell_handle(self, name: str, kind: str) -> None:
        handle = objects[name] if kinds[name] == "foreign context" else self._adapter.handle(kinds[name], objects[name])
        if handle is not None:
            control.name_handle(kind, handle, name)
            observer.event("handle", name=name, kind=kind, handle=hex(handle))

    def _use(self, step: dict[str, Any], options: dict[str, Any]) -> None:
        self._need(*step["objects"])
        for name in step["objects"]:
            kind = kinds[name]
            self._adapter.use(kind, objects[name], options.get("how") or KINDS[kind].uses[0], objects)

    def _update(self, step: dict[str, Any], options: dict[str, Any]) -> None:
        self._need(step["objects"][0], options.get("buffer"), options.get("event"))
        self._adapter.update(objects[step["objects"][0]], options, objects)

    def _close(self, step: dict[str, Any], options: dict[str, Any]) -> None:
        self._need(*step["objects"])
        name = step["objects"][0]
        self._adapter.close(kinds[name], objects[name])

    def _deallocate(self, step: dict[str, Any], options: dict[str, Any]) -> None:
        self._need(*step["objects"])
        self._adapter.deallocate(objects.pop(step["objects"][0]))

    def _drop(self, step: dict[str, Any], options: dict[str, Any]) -> None:
        self._need(*step["objects"])
        del objects[step["objects"][0]]

    def _collect(self, step: dict[str, Any], options: dict[str, Any]) -> None:
        gc.collect()

    def _set_current(self, step: dict[str, Any], options: dict[str, Any]) -> None:
        target = options["target"]
        if target == "none":
            self._driver().set_current(0)
        elif target == "device":
            self._adapter.set_current(None)
        else:
            self._need(target)
            if kinds[target] == "foreign context":
                self._driver().set_current(objects[target])
            else:
                self._adapter.set_current(objects[target])

    def _foreign_context(self, step: dict[str, Any], options: dict[str, Any]) -> None:
        name = step["objects"][0]
        objects[name] = self._driver().make_context()
        kinds[name] = "foreign context"
        self._tell_handle(name, "context")

    def _query(self, step: dict[str, Any], options: dict[str, Any]) -> None:
        name = options["of"]
        if name != "device":
            self._need(name)
        kind = "device" if name == "device" else kinds[name]
        value = self._adapter.query(kind, objects.get(name), options["property"])
        observer.event(
            "value", name=f"{name}.{options['property']}", value=value if isinstance(value, (int, str)) else str(value)
        )

    def _python(self, step: dict[str, Any], options: dict[str, Any]) -> None:
        exec(compile(options["code"], options["file"], "exec"), {"objects": objects, "raw": self._driver(), **objects})

    def _warnings(self, step: dict[str, Any], options: dict[str, Any]) -> None:
        warnings.simplefilter(options["filter"])

    def _driver(self) -> RawDriver:
        if self._raw is None:
            self._raw = RawDriver()
        return self._raw


def _open(adapter: Adapter, first: dict[str, Any]) -> bool:
    """The start, before the first step; a scenario that begins with `set_current: device` does it as a step."""
    if first["verb"] == "set_current" and first["options"]["target"] == "device":
        return True
    try:
        adapter.open()
    except Exception as error:
        observer.exception(error, handled=True)
        return False
    return True


def main(path: str) -> int:
    """Runs the job; answers the exit status."""
    with open(path, encoding="utf-8") as file:
        job = json.load(file)
    faulthandler.enable()
    try:
        adapter = open_adapter(job["subject"])
        versions = adapter.versions()
    except Exception:
        traceback.print_exc()
        return EXIT_CHILD_BROKEN
    if not control.present():
        print("cufault: the shim is not in this process", file=sys.stderr)
        return EXIT_CHILD_BROKEN
    warnings.simplefilter("always")
    observer.describe_process(job["subject"], versions, "always")
    if _open(adapter, job["steps"][0]):
        _Steps(job, adapter).run()
    if job["finalize"] == "skip":
        os._exit(0)
    return 0


if __name__ == "__main__":
    try:
        STATUS = main(sys.argv[1])
    except Exception:
        # Not the library's doing: what a step raises is caught where the step is run.
        traceback.print_exc()
        STATUS = EXIT_CHILD_BROKEN
    sys.exit(STATUS)
