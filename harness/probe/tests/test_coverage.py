# SPDX-License-Identifier: Apache-2.0
"""Which driver functions the probe calls: all that the recorded drivers have, and never those that could do harm."""

from __future__ import annotations

import re
from pathlib import Path

from spec import load_api

PROBE = Path(__file__).parents[1]
SOURCES = "\n".join(path.read_text() for path in [*PROBE.glob("cases/*.cpp"), *PROBE.glob("sequence/*.cpp")])

# Functions of a driver newer than this have not been recorded anywhere.
NEWEST_RECORDED = 13000

# cuMulticastCreate and what needs its object can take a shared machine's GPUs out of service.
HARMFUL = {
    "cuMulticastCreate",
    "cuMulticastAddDevice",
    "cuMulticastBindAddr",
    "cuMulticastBindMem",
    "cuMulticastUnbind",
}


def test_no_harmful_function_is_called() -> None:
    assert [name for name in HARMFUL if re.search(name + r"(_v\d)?\(", SOURCES)] == []


def test_every_other_function_is_called_by_some_case() -> None:
    mentioned = set(re.findall(r"\bcu[A-Z]\w+", SOURCES))
    missing = [
        function.name
        for function in load_api().functions.values()
        if function.header in {"cuda.h", "cudaProfiler.h"}
        and min(symbol.since or 0 for symbol in function.symbols) <= NEWEST_RECORDED
        # cuda.h makes cuGraphInstantiate a macro for it.
        and function.name not in HARMFUL | {"cuGraphInstantiateWithFlags"}
        and not {function.name, *(symbol.name for symbol in function.symbols)} & mentioned
    ]
    assert missing == []
