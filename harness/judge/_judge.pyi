# SPDX-License-Identifier: Apache-2.0
"""The judge for Python. Requests and answers are the JSON texts that harness/FORMATS.md describes."""

class RequestError(ValueError):
    """A request says what cannot be meant.

    `path` is the place in it ("faults[0].at"), `value` what stood there, `nearest` the nearest right name ("" if none).
    """

    path: str
    value: str
    nearest: str

class FileError(OSError):
    """A file of a run cannot be read or written."""

def write_plan(path: str, request: str) -> None:
    """Write the plan that the request describes. Raises RequestError, FileError."""

def read_plan(path: str) -> str:
    """A plan file as JSON, with every rule's entry points. Raises FileError."""
