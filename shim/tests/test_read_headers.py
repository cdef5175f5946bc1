# SPDX-License-Identifier: Apache-2.0
"""Reading headers gives the spec that is committed, and a change in the headers is reported, never lost."""

from __future__ import annotations

import importlib.util
import re
import shutil
import subprocess
from pathlib import Path

import pytest
import spec

pytest.importorskip("clang.cindex", reason="libclang is not installed")
import exports
import headers
import read_headers

TOOLKIT = Path("/usr/local/cuda")


def _wheel() -> Path | None:
    found = importlib.util.find_spec("nvidia")
    folders = [Path(folder) / "cu13" / "include" for folder in found.submodule_search_locations or ()] if found else []
    return next((folder for folder in folders if (folder / "cuda.h").exists()), None)


def _version(include: Path) -> str:
    match = re.search(r"#define CUDA_VERSION (\d+)", (include / "cuda.h").read_text(encoding="utf-8"))
    assert match is not None
    return f"{int(match[1]) // 1000}.{int(match[1]) % 1000 // 10}"


def test_the_newest_headers_say_what_the_spec_says() -> None:
    include, newest = _wheel(), spec.load_api().sources.headers[-1]
    if include is None or not (include / "cudaGL.h").exists() or _version(include) != newest:
        pytest.skip(f"the headers of CUDA {newest} are not here (wheels nvidia-cuda-runtime, nvidia-cuda-profiler-api)")
    api, found = spec.load_api(), headers.read(include)
    assert found.keys() == {symbol.name for symbol in api.symbols if symbol.known_signature}
    for name, prototype in found.items():
        symbol = api.symbol[name]
        assert prototype.params == tuple((param.type, param.name) for param in symbol.params or ()), name
        assert (prototype.since, prototype.returns) == (symbol.since, symbol.returns), name


def test_all_pinned_sources_together_differ_in_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    wheel, stub = _wheel(), TOOLKIT / "lib64" / "stubs" / "libcuda.so"
    folders = [folder for folder in (TOOLKIT / "include", wheel) if folder and (folder / "cuda.h").exists()]
    sources, here = spec.load_api().sources, {_version(folder): folder for folder in folders}
    if tuple(here) != sources.headers or not stub.exists():
        needed = f"needs the headers of CUDA {' and '.join(sources.headers)} and a stub"
        pytest.skip(f"no such CUDA toolkit here: {needed}; here: {', '.join(here)}")
    arguments = [f"--headers={version}={folder}" for version, folder in here.items()]
    status = read_headers.main(["diff", *arguments, f"--stub={sources.stub}={stub}"])
    assert capsys.readouterr().out == ""
    assert status == 0


CUDA_H = """
typedef int CUresult;
typedef struct CUstream_st *CUstream;
typedef unsigned long CUdeviceptr;
#define CUDAAPI
#define cuStreamDestroy cuStreamDestroy_v2
/**
 * \\brief Destroys.
 * \\return
 * ::CUDA_SUCCESS,
 * ::CUDA_ERROR_INVALID_HANDLE
 * \\notefnerr
 */
CUresult CUDAAPI cuStreamDestroy(CUstream hStream);
CUresult CUDAAPI cuStreamQuery(CUstream hStream);
#if defined(__CUDA_API_VERSION_INTERNAL)
#undef cuStreamDestroy
CUresult CUDAAPI cuStreamDestroy(CUstream hStream);
CUresult CUDAAPI cuStreamQuery_ptsz(CUstream hStream);
#endif
"""
CUDA_TYPEDEFS_H = """
typedef CUresult (CUDAAPI *PFN_cuStreamDestroy_v4000)(CUstream hStream);
typedef CUresult (CUDAAPI *PFN_cuStreamDestroy_v2000)(CUstream hStream);
typedef CUresult (CUDAAPI *PFN_cuStreamQuery_v2000)(CUstream hStream);
typedef CUresult (CUDAAPI *PFN_cuStreamQuery_v7000_ptsz)(CUstream hStream);
"""
STUB = ("cuStreamDestroy", "cuStreamDestroy_v2", "cuStreamQuery")
RECORDING = "# SPDX-License-Identifier: Apache-2.0\nT cuStreamDestroy\nT cuStreamDestroy_v2\nT cuSecret\nB cudbgFlag\n"


class Sources:
    """Headers, a stub and a recording small enough to change at will."""

    def __init__(self, folder: Path) -> None:
        self.include, self.spec, self.stub = folder / "include", folder / "spec", folder / "libcuda.so"
        self.include.mkdir()
        (self.spec / "exports").mkdir(parents=True)
        (self.spec / "exports" / "1.0.txt").write_text(RECORDING, encoding="utf-8")
        for name in (*headers.API_HEADERS, *headers.TYPEDEF_HEADERS):
            (self.include / name).write_text("", encoding="utf-8")
        self.write("cuda.h", CUDA_H)
        self.write("cudaTypedefs.h", CUDA_TYPEDEFS_H)
        stub = "".join(f"int {name}(void) {{ return 34; }}\n" for name in STUB)
        subprocess.run(["cc", "-shared", "-x", "c", "-o", str(self.stub), "-"], input=stub, text=True, check=True)

    def write(self, name: str, text: str) -> None:
        (self.include / name).write_text(text, encoding="utf-8")

    def edit(self, name: str, old: str, new: str) -> None:
        text = (self.include / name).read_text(encoding="utf-8")
        assert old in text
        self.write(name, text.replace(old, new))

    def run(self, verb: str) -> int:
        return read_headers.main(
            [verb, f"--headers=13.0={self.include}", f"--stub=13.0={self.stub}", f"--spec={self.spec}"]
        )


@pytest.fixture
def sources(tmp_path: Path) -> Sources:
    if shutil.which("cc") is None or shutil.which("nm") is None:
        pytest.skip("needs cc and nm")
    made = Sources(tmp_path)
    assert made.run("write") == 0
    return made


def test_what_is_written_is_what_was_read(sources: Sources, capsys: pytest.CaptureFixture[str]) -> None:
    api = spec.load_api(sources.spec)
    assert list(api.functions) == ["cuSecret", "cuStreamDestroy", "cuStreamQuery"]
    destroy = api.functions["cuStreamDestroy"]
    assert destroy.results == ("CUDA_SUCCESS", "CUDA_ERROR_INVALID_HANDLE")
    assert [(symbol.name, symbol.since) for symbol in destroy.symbols] == [
        ("cuStreamDestroy", 2000),
        ("cuStreamDestroy_v2", 4000),
    ]
    assert api.symbol["cuStreamQuery_ptsz"].per_thread
    assert api.symbol["cuStreamQuery"].exported == ("stub",)
    assert api.symbol["cuStreamQuery_ptsz"].exported == ()
    assert not api.symbol["cuSecret"].known_signature
    assert api.data_objects == ("cudbgFlag",)
    assert sources.run("diff") == 0
    assert capsys.readouterr().out == ""


def test_an_added_function_is_reported(sources: Sources, capsys: pytest.CaptureFixture[str]) -> None:
    sources.edit(
        "cuda.h", "CUresult CUDAAPI cuStreamQuery(", "CUresult CUDAAPI cuNew(int a);\nCUresult CUDAAPI cuStreamQuery("
    )
    sources.edit("cudaTypedefs.h", CUDA_TYPEDEFS_H, CUDA_TYPEDEFS_H + "typedef CUresult (*PFN_cuNew_v13050)(int a);\n")
    assert sources.run("diff") == 1
    assert capsys.readouterr().out == "added: cuNew\n"


def test_a_removed_function_is_reported(sources: Sources, capsys: pytest.CaptureFixture[str]) -> None:
    sources.edit("cuda.h", "CUresult CUDAAPI cuStreamQuery_ptsz(CUstream hStream);\n", "")
    sources.edit("cudaTypedefs.h", "typedef CUresult (CUDAAPI *PFN_cuStreamQuery_v7000_ptsz)(CUstream hStream);\n", "")
    assert sources.run("diff") == 1
    assert capsys.readouterr().out == "removed: cuStreamQuery_ptsz\n"


def test_a_changed_prototype_is_reported(sources: Sources, capsys: pytest.CaptureFixture[str]) -> None:
    sources.edit("cuda.h", "cuStreamQuery(CUstream hStream)", "cuStreamQuery(CUstream hStream, int flags)")
    sources.edit(
        "cudaTypedefs.h", "cuStreamQuery_v2000)(CUstream hStream)", "cuStreamQuery_v2000)(CUstream hStream, int flags)"
    )
    assert sources.run("diff") == 1
    assert capsys.readouterr().out == (
        "changed: cuStreamQuery: params: (CUstream hStream) -> (CUstream hStream, int flags)\n"
    )


def test_a_changed_documented_result_is_reported(sources: Sources, capsys: pytest.CaptureFixture[str]) -> None:
    sources.edit("cuda.h", "::CUDA_ERROR_INVALID_HANDLE", "::CUDA_ERROR_INVALID_VALUE")
    assert sources.run("diff") == 1
    assert capsys.readouterr().out.startswith("changed: cuStreamDestroy: results: ")


def test_a_prototype_that_is_not_its_typedefs_is_refused(sources: Sources, capsys: pytest.CaptureFixture[str]) -> None:
    sources.edit("cuda.h", "cuStreamQuery(CUstream hStream)", "cuStreamQuery(CUdeviceptr hStream)")
    assert sources.run("diff") == 2
    assert "the prototype of cuStreamQuery is not that of version 2000" in capsys.readouterr().err


def test_headers_that_do_not_parse_are_refused(sources: Sources, capsys: pytest.CaptureFixture[str]) -> None:
    sources.edit("cuda.h", "typedef unsigned long CUdeviceptr;", "typedef unsinged long CUdeviceptr;")
    assert sources.run("diff") == 2
    assert "does not parse" in capsys.readouterr().err


def test_the_headers_that_the_spec_was_read_from_must_all_be_given(
    sources: Sources, capsys: pytest.CaptureFixture[str]
) -> None:
    arguments = [f"--headers=13.5={sources.include}", f"--stub=13.0={sources.stub}", f"--spec={sources.spec}"]
    assert read_headers.main(["diff", *arguments]) == 2
    assert "the headers of 13.0 too" in capsys.readouterr().err


def test_writing_again_keeps_what_a_person_added(sources: Sources) -> None:
    path = sources.spec / "driver_api.yaml"
    text = path.read_text(encoding="utf-8")
    text = text.replace(
        'cuSecret: {exported: ["1.0"], signature: unknown}',
        'cuSecret: {exported: ["1.0"], note: "from a trace", params: [int *value]}',
    )
    text = text.replace(
        "  cuSecret:\n",
        '  cuOld:\n    header: none\n    note: "gone since 1.0"\n    symbols:\n'
        "      cuOld: {exported: [], signature: unknown}\n  cuSecret:\n",
    )
    text = text.replace(
        "  cuStreamQuery:\n    header: cuda.h\n", '  cuStreamQuery:\n    header: cuda.h\n    note: "cheap"\n'
    )
    path.write_text(text, encoding="utf-8")
    assert sources.run("diff") == 0
    assert sources.run("write") == 0
    assert path.read_text(encoding="utf-8") == text
    assert spec.load_api(sources.spec).symbol["cuSecret"].params == (spec.Param("int *", "value"),)


def test_a_recording_is_read_as_nm_prints_it(tmp_path: Path) -> None:
    path = tmp_path / "1.0.txt"
    path.write_text("# driver: 1.0\nT cuInit\nB cudbgFlag\nD cudbgOther\n", encoding="utf-8")
    assert exports.of_recording(path) == exports.Exports(frozenset({"cuInit"}), frozenset({"cudbgFlag", "cudbgOther"}))
