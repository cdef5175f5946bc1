# SPDX-License-Identifier: Apache-2.0
"""Every subject by its name, and where its version comes from."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from cufault.errors import HarnessError, UsageError, refusal
from cufault.subjects import cuda_core, reference
from cufault.subjects.protocol import Adapter, Subject

SUBJECTS: dict[str, Subject] = {subject.name: subject for subject in (reference.SUBJECT, cuda_core.SUBJECT)}


def find(name: str) -> Subject:
    """The subject of that name. Raises UsageError."""
    if name not in SUBJECTS:
        raise UsageError(refusal("no such subject", name, SUBJECTS))
    return SUBJECTS[name]


def version(subject: Subject) -> str:
    """The installed version. Raises HarnessError if it is not installed: a missing subject is never skipped."""
    if subject.distribution == "cufault":
        from cufault import __version__

        return __version__
    from importlib import metadata  # slow to import, and the child never asks

    try:
        return metadata.version(subject.distribution)
    except metadata.PackageNotFoundError as error:
        raise HarnessError(
            f"the subject {subject.name} is not installed (pip install {subject.distribution})"
        ) from error


def open_adapter(name: str) -> Adapter:
    """A subject's adapter, which imports the library: for the child only."""
    module, _, attribute = find(name).adapter.partition(":")
    adapter: Any = getattr(import_module(module), attribute)()
    return adapter  # type: ignore[no-any-return]
