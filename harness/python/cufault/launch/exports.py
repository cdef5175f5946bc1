# SPDX-License-Identifier: Apache-2.0
"""The functions that a shared library exports, read from its dynamic symbol table: no loading, no binutils needed."""

from __future__ import annotations

import struct
from pathlib import Path

_SHT_DYNSYM = 11
_STT_FUNC = 2
_BOUND = (1, 2)  # STB_GLOBAL, STB_WEAK


def exported_functions(path: Path) -> frozenset[str]:
    """Names of the defined functions, without versions. Raises OSError; ValueError for no 64-bit ELF library."""
    data = path.read_bytes()
    if data[:6] != b"\x7fELF\x02\x01":
        raise ValueError(f"{path} is not a 64-bit little-endian ELF file")
    try:
        return frozenset(_names(data))
    except (struct.error, IndexError) as error:
        raise ValueError(f"{path} is cut off") from error


def _names(data: bytes) -> list[str]:
    (table,) = struct.unpack_from("<Q", data, 40)
    size, count = struct.unpack_from("<HH", data, 58)
    sections = [struct.unpack_from("<IIQQQQIIQQ", data, table + size * index) for index in range(count)]
    names = []
    for section in sections:
        if section[1] != _SHT_DYNSYM:
            continue
        offset, length, strings = section[4], section[5], sections[section[6]][4]
        for at in range(offset, offset + length, 24):
            name, info, _, index = struct.unpack_from("<IBBH", data, at)
            if index != 0 and info & 15 == _STT_FUNC and info >> 4 in _BOUND:
                end = data.index(b"\0", strings + name)
                names.append(data[strings + name : end].decode("ascii", "replace"))
    return names
