# SPDX-License-Identifier: Apache-2.0
"""Reads the CUDA driver headers with libclang: every prototype, its version, its documented results."""

from __future__ import annotations

import re
from collections import defaultdict
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from clang import cindex  # type: ignore[import-untyped]

API_HEADERS = ("cuda.h", "cudaProfiler.h", "cudaGL.h", "cudaEGL.h", "cudaVDPAU.h")
TYPEDEF_HEADERS = tuple(header.replace(".h", "Typedefs.h") for header in API_HEADERS)

# The system headers they include, with just the types they use: nothing of OpenGL, EGL or VDPAU need be installed,
# and no system's own definitions reach the spec.
SYSTEM_HEADERS = {
    "stdlib.h": "typedef unsigned long size_t;",
    "stddef.h": "typedef unsigned long size_t;",
    "stdint.h": "typedef unsigned int uint32_t; typedef unsigned long uint64_t;",
    "GL/gl.h": "typedef unsigned int GLenum; typedef unsigned int GLuint;",
    "EGL/egl.h": "typedef int EGLint; typedef void *EGLDisplay;",
    "EGL/eglext.h": "typedef void *EGLStreamKHR; typedef void *EGLImageKHR; typedef void *EGLSyncKHR;",
    "vdpau/vdpau.h": "typedef unsigned int VdpDevice, VdpVideoSurface, VdpOutputSurface, VdpFuncId;"
    " typedef int VdpStatus;"
    " typedef VdpStatus VdpGetProcAddress(VdpDevice device, VdpFuncId function_id, void **function_pointer);",
}


class HeaderError(Exception):
    """Headers that cannot be read, or that contradict themselves."""


@dataclass(frozen=True)
class Prototype:
    """One declared entry point."""

    name: str
    header: str
    returns: str
    params: tuple[tuple[str, str], ...]
    results: tuple[str, ...]
    since: int


def plain_name(symbol: str) -> str:
    """The name that means every ABI variant: without _v2, _v3 ... and without _ptsz or _ptds."""
    return re.sub(r"_v\d+$", "", re.sub(r"_pt(ds|sz)$", "", symbol))


def is_per_thread(symbol: str) -> bool:
    """Whether the entry point takes the null stream as the calling thread's own."""
    return symbol.endswith(("_ptds", "_ptsz"))


def abi_number(symbol: str) -> int:
    """1 for the first ABI of a function, which has no suffix; 2 for _v2, and so on."""
    match = re.search(r"_v(\d+)$", re.sub(r"_pt(ds|sz)$", "", symbol))
    return int(match.group(1)) if match else 1


def documented_results(comment: str | None) -> tuple[str, ...]:
    r"""The codes in the `\return` block of a documentation comment, in its order."""
    block = re.search(r"\\returns?\b(.*?)(?:\n[ *]*\\(?!p\b)\w|\*/|\Z)", comment or "", re.DOTALL)
    names = re.findall(r"\bCUDA_(?:SUCCESS|ERROR_[A-Z0-9_]+)", block.group(1)) if block else []
    return tuple(dict.fromkeys(names))


def _parse(include: Path) -> Any:
    # cudaVDPAU.h leaves it to its user to have included vdpau.h.
    source = "".join(f"#include <{header}>\n" for header in ("vdpau/vdpau.h", *API_HEADERS, *TYPEDEF_HEADERS))
    files = [("/cufault/all.c", source)]
    files += [(f"/cufault/system/{name}", text) for name, text in SYSTEM_HEADERS.items()]
    # The macro makes the headers declare the historic ABIs and the per-thread variants under their own names.
    arguments = ["-nostdinc", "-D__CUDA_API_VERSION_INTERNAL", f"-I{include}", "-isystem/cufault/system"]
    unit = cindex.Index.create().parse("/cufault/all.c", args=arguments, unsaved_files=files)
    errors = [str(note) for note in unit.diagnostics if note.severity >= cindex.Diagnostic.Error]
    if errors:
        raise HeaderError(f"{include} does not parse:\n" + "\n".join(errors))
    return unit


def _signature(kind: Any) -> tuple[str, ...]:
    # A parameter's own const is no part of the type, and some prototypes have it where their typedef does not.
    types = (kind.get_result(), *kind.argument_types())
    return tuple(
        type_.get_canonical().spelling.removeprefix("const ")
        if type_.kind != cindex.TypeKind.POINTER
        else type_.get_canonical().spelling
        for type_ in types
    )


def _versions(unit: Any) -> dict[tuple[str, bool], list[tuple[int, tuple[str, ...]]]]:
    """Per plain name and per-thread flag: the versions of PFN_<name>_v<version>[_ptsz|_ptds], oldest first."""
    found: dict[tuple[str, bool], list[tuple[int, tuple[str, ...]]]] = defaultdict(list)
    for cursor in unit.cursor.get_children():
        match = re.fullmatch(r"PFN_(cu\w+?)_v(\d{4,})(_ptds|_ptsz)?", cursor.spelling)
        if match and cursor.kind == cindex.CursorKind.TYPEDEF_DECL:
            pointee = cursor.underlying_typedef_type.get_pointee()
            found[match[1], bool(match[3])].append((int(match[2]), _signature(pointee)))
    for versions in found.values():
        versions.sort()
    return found


def read(include: Path) -> dict[str, Prototype]:
    """Every entry point that the headers under `include` declare, by name. Raises HeaderError."""
    unit = _parse(include)
    versions = _versions(unit)
    declared: dict[str, Any] = {}
    results: dict[str, tuple[str, ...]] = {}
    for cursor in unit.cursor.get_children():
        header = Path(str(cursor.location.file)).name
        if cursor.kind == cindex.CursorKind.FUNCTION_DECL and header in API_HEADERS:
            declared.setdefault(cursor.spelling, cursor)
            # A function may be declared twice, and only one place has the comment.
            results[cursor.spelling] = results.get(cursor.spelling) or documented_results(cursor.raw_comment)

    families: dict[tuple[str, bool], list[str]] = defaultdict(list)
    for name in declared:
        families[plain_name(name), is_per_thread(name)].append(name)
    prototypes: dict[str, Prototype] = {}
    for family, names in families.items():
        names.sort(key=abi_number)
        if len(names) != len(versions[family]):
            raise HeaderError(f"{include}: {len(names)} declarations of {family[0]}, {len(versions[family])} versions")
        for name, (since, signature) in zip(names, versions[family], strict=True):
            cursor = declared[name]
            if _signature(cursor.type) != signature:
                raise HeaderError(f"{include}: the prototype of {name} is not that of version {since}")
            prototypes[name] = Prototype(
                name=name,
                header=Path(str(cursor.location.file)).name,
                returns=cursor.result_type.spelling,
                params=tuple((a.type.spelling, a.spelling) for a in cursor.get_arguments()),
                results=results[name],
                since=since,
            )
    return prototypes
