# SPDX-License-Identifier: Apache-2.0
"""Makes the probe's own definitions of the driver's functions, which forward to whatever driver is opened."""

from __future__ import annotations

import sys

from render import job, render
from spec import load_api

HEADERS = {"cuda.h", "cudaProfiler.h"}


def main() -> None:
    """Render entry_points.cpp.jinja with every symbol that these headers declare."""
    asked = job(sys.argv[1:], __doc__ or "")
    api = load_api(asked.spec)
    symbols = [
        symbol
        for function in api.functions.values()
        if function.header in HEADERS
        for symbol in function.symbols
        if symbol.known_signature and not symbol.per_thread
    ]
    render(asked, "entry_points.py", {"symbols": symbols})


if __name__ == "__main__":
    main()
