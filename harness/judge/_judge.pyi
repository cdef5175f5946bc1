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

def judge(request: str) -> str:
    """The verdict on the run that the request names. Raises RequestError.

    A run that cannot be read gives the verdict `harness_error`.
    """

def read_trace(run_folder: str) -> str:
    """Every record of a run's trace. Raises FileError.

    {"format": 1, "processes": [...], "events": [{"type": "call", "text": ..., "symbol": ..., "step": ..., ...}, ...]}
    """

def clean_run_points(run_folder: str) -> str:
    """Every call of a run as a point where a fault may be put, in order. Raises FileError.

    {"format": 1, "points": [{"symbol", "function", "classes", "switch": "enter|restore|none", "step", "pid", "thread",
    "result", "text", "ordinal_in_run", "ordinal_in_step", "function_ordinal_in_run", "function_ordinal_in_step"}]}.
    Ordinals count from 1, for the symbol alone and for all variants of its function; those in the step are null outside
    of any step.
    """

def policy() -> str:
    """Rules, profiles and the vocabulary of faults.

    {"format": 1, "rules": [{"rule", "by", "title", "text", "shown", "judged"}], "profiles": [{"profile", "means"}],
    "functions": [...], "symbols": [...], "classes": [...], "kinds": [...], "results": {name: value}, "effects": [...]}
    """
