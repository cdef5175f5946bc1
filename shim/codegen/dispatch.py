# SPDX-License-Identifier: Apache-2.0
"""Makes what differs from entry point to entry point: the exported trampolines and the table of wrappers."""

from __future__ import annotations

import sys

from records import Symbol
from render import job, render
from spec import load_api


def signature(symbol: Symbol) -> str:
    """The C++ function type of an entry point, `CUresult(CUstream, CUevent *)`; `undeclared` if no header has it."""
    if symbol.params is None:
        return "cufault::interpose::undeclared"
    return f"{symbol.returns}({', '.join(param.type for param in symbol.params)})"


def main(argv: list[str]) -> int:
    """The command line: see render.job. A symbol's position in `symbols` is its index everywhere in the shim."""
    asked = job(argv, (__doc__ or "").strip())
    symbols = [{"symbol": symbol, "signature": signature(symbol)} for symbol in load_api(asked.spec).symbols]
    render(asked, "dispatch.py", {"symbols": symbols})
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
