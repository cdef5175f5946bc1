# SPDX-License-Identifier: Apache-2.0
"""The spec is complete and consistent, and its loader refuses what is not."""

from __future__ import annotations

import re
import shutil
from collections.abc import Callable
from pathlib import Path

import exports
import pytest
import spec
from records import Role, Spec

STUB = Path("/usr/local/cuda/lib64/stubs/libcuda.so")
RECORDINGS = sorted((spec.SPEC_FOLDER / "exports").glob("*.txt"))


@pytest.fixture(scope="module")
def api() -> Spec:
    return spec.load()


@pytest.fixture
def edited(tmp_path: Path) -> Callable[[str, str, str], Path]:
    """Copies the spec and replaces one text in one of its files."""

    def edit(file: str, old: str, new: str) -> Path:
        folder = tmp_path / "spec"
        shutil.copytree(spec.SPEC_FOLDER, folder, dirs_exist_ok=True)
        text = (folder / file).read_text(encoding="utf-8")
        assert text.count(old) == 1, f"'{old}' stands {text.count(old)} times in {file}"
        (folder / file).write_text(text.replace(old, new), encoding="utf-8")
        return folder

    return edit


@pytest.mark.parametrize("recording", RECORDINGS, ids=lambda path: path.stem)
def test_every_export_of_a_recorded_driver_is_in_the_spec(api: Spec, recording: Path) -> None:
    exported = exports.of_recording(recording)
    assert len(exported.functions) > 600
    assert exported.functions <= api.symbol.keys()
    assert exported.data_objects <= set(api.data_objects)


def test_every_name_of_the_stub_library_is_in_the_spec(api: Spec) -> None:
    if not STUB.exists():
        pytest.skip(f"no CUDA toolkit here ({STUB})")
    assert exports.of_library(STUB).functions <= api.symbol.keys()


def test_plain_names_are_those_of_their_symbols(api: Spec) -> None:
    for symbol in api.symbols:
        assert re.fullmatch(re.escape(symbol.function) + r"(_v\d+)?(_ptds|_ptsz)?", symbol.name)
        assert symbol.per_thread == symbol.name.endswith(("_ptds", "_ptsz"))


def test_only_names_from_no_header_lack_a_signature(api: Spec) -> None:
    for symbol in api.symbols:
        assert (symbol.since is not None) == (api.functions[symbol.function].header is not None), symbol.name
        assert symbol.known_signature or symbol.since is None, symbol.name


def test_a_later_abi_is_never_older(api: Spec) -> None:
    for function in api.functions.values():
        for per_thread in (False, True):
            since = [s.since for s in function.symbols if s.per_thread == per_thread and s.since is not None]
            assert since == sorted(since), function.name


# Parameters of a handle's type that carry no handle: a wish for an address, a list in the driver's own memory.
NO_HANDLE = {("cuMemAddressReserve", "addr"), ("cuStreamGetCaptureInfo", "dependencies_out")}


def test_every_parameter_of_a_handles_type_has_a_role(api: Spec) -> None:
    types = {name for kind in api.kinds.values() for name in kind.types if name != "void"}
    for symbol in api.symbols:
        covered = {bound.arg for bound in api.roles_of(symbol)}
        for position, param in enumerate(symbol.params or ()):
            base = re.sub(r"_v\d+$", "", re.sub(r"^const |[* ]+$", "", param.type))
            if base in types and (symbol.function, param.name) not in NO_HANDLE:
                assert position in covered, f"{param.text} of {symbol.name}"


def test_classes_create_and_destroy_are_what_the_roles_say(api: Spec) -> None:
    for function in api.functions.values():
        verbs = {role.verb for role in function.roles}
        assert ("create" in function.classes) == bool(verbs & {"makes", "retains"}), function.name
        assert ("destroy" in function.classes) == bool(verbs & {"destroys", "releases"}), function.name
        assert "alloc" not in function.classes or "create" in function.classes, function.name
        assert "free" not in function.classes or "destroy" in function.classes, function.name


def test_what_somebody_must_end_can_be_ended(api: Spec) -> None:
    roles = [role for function in api.functions.values() for role in function.roles]
    for kind in api.kinds.values():
        made = any(role.kind == kind.name and role.verb in {"makes", "retains"} for role in roles)
        ended = any(role.kind == kind.name and role.verb in {"destroys", "releases"} for role in roles)
        assert not (kind.owned and made) or ended, kind.name


def test_roles_follow_the_parameters_of_each_abi(api: Spec) -> None:
    def position(symbol: str, wanted: Callable[[Role], bool]) -> int:
        return next(bound.arg for bound in api.roles_of(api.symbol[symbol]) if wanted(bound.role))

    def made(role: Role) -> bool:
        return role.verb == "makes"

    def dependency(role: Role) -> bool:
        return role.args == ("dependencies",)

    assert [position(name, made) for name in ("cuCtxCreate", "cuCtxCreate_v3", "cuLinkCreate_v2")] == [0, 0, 3]
    assert position("cuGraphLaunch", lambda role: role.kind == "graph_exec") == 0
    assert position("cuGraphLaunch_ptsz", lambda role: role.kind == "graph_exec") == 0
    assert position("cuMemPrefetchAsync_v2_ptsz", lambda role: role.kind == "stream") == 4
    assert position("cuMulticastBindMem_v2", lambda role: role.args == ("memHandle",)) == 3
    counts = [
        next(b.count for b in api.roles_of(api.symbol[name]) if dependency(b.role))
        for name in ("cuGraphAddNode", "cuGraphAddNode_v2")
    ]
    assert counts == [3, 4]
    assert not any(bound.role.kind == "context" for bound in api.roles_of(api.symbol["cuCtxSynchronize"]))


def test_sticky_results_are_the_recorded_and_the_documented_ones(api: Spec) -> None:
    sticky = {result.value: result.sticky for result in api.results.values() if result.sticky != "no"}
    assert {value for value, how in sticky.items() if how == "observed"} == {700, 716, 719}
    assert {value for value, how in sticky.items() if how == "documented"} == {
        226,
        702,
        714,
        715,
        717,
        718,
        721,
        810,
        911,
    }


# Each entry: file, text, replacement, and what the loader must say about it.
REFUSED = {
    "a function without a class": (
        "roles.yaml",
        "  cuCtxSetCurrent: {class: [context],",
        "  cuCtxSetCurrent: {class: [],",
        "a function needs a class",
    ),
    "a function without a line": (
        "roles.yaml",
        "  cuInit: {class: [other], context: ignores}\n",
        "",
        "cuInit is not classified",
    ),
    "a line without a function": (
        "roles.yaml",
        "  cuInit: {",
        "  cuNoSuch: {class: [other], context: ignores}\n  cuInit: {",
        "no function is called 'cuNoSuch'",
    ),
    "a parameter that a variant lacks": (
        "roles.yaml",
        "arg: ctx, only: [cuCtxSynchronize_v2]",
        "arg: ctx",
        "cuCtxSynchronize has no parameter ctx",
    ),
    "a parameter of another type": (
        "roles.yaml",
        "destroys: [{kind: stream, arg: hStream}]",
        "destroys: [{kind: event, arg: hStream}]",
        "'CUstream hStream' of cuStreamDestroy is no event (CUevent)",
    ),
    "a new handle in a value": (
        "roles.yaml",
        "destroys: [{kind: stream, arg: hStream}]",
        "makes: [{kind: stream, arg: hStream}]",
        "cannot carry a stream out",
    ),
    "an unknown kind": (
        "roles.yaml",
        "destroys: [{kind: stream, arg: hStream}]",
        "destroys: [{kind: steam, arg: hStream}]",
        "'kind' is one of context, ",
    ),
    "a misspelt key": (
        "roles.yaml",
        "destroys: [{kind: stream, arg: hStream}]",
        "destroy: [{kind: stream, arg: hStream}]",
        "unknown key 'destroy'",
    ),
    "a key that stands twice": (
        "roles.yaml",
        "  cuInit: {",
        "  cuInit: {class: [other], context: ignores}\n  cuInit: {",
        "'cuInit' stands here again",
    ),
    "a documented result that is not listed": (
        "results.yaml",
        "  CUDA_ERROR_ARRAY_IS_MAPPED:",
        "  CUDA_ERROR_ARRAY_WAS_MAPPED:",
        "CUDA_ERROR_ARRAY_IS_MAPPED is missing, which cuArrayDestroy is documented to return",
    ),
    "two results of one value": (
        "results.yaml",
        "CUDA_ERROR_DEINITIALIZED: {value: 4,",
        "CUDA_ERROR_DEINITIALIZED: {value: 3,",
        "has the value of CUDA_ERROR_NOT_INITIALIZED",
    ),
    "a fault state of no function": (
        "fault_states.yaml",
        "  cuArrayDestroy: {",
        "  cuArrayDestroyed: {",
        "no function is called 'cuArrayDestroyed'",
    ),
    "a format of the future": ("roles.yaml", "format: 1", "format: 2", "format 2 is not one this version reads"),
    "no YAML": ("roles.yaml", "format: 1", "format: [1", "expected"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_the_loader_refuses(case: str, edited: Callable[[str, str, str], Path]) -> None:
    file, old, new, message = REFUSED[case]
    with pytest.raises(spec.SpecError) as error:
        spec.load(edited(file, old, new))
    assert message in str(error.value)
    assert re.match(rf"\S+/{file}:[1-9]\d*: ", str(error.value))


def test_an_error_names_the_line(edited: Callable[[str, str, str], Path]) -> None:
    folder = edited("roles.yaml", "destroys: [{kind: stream, arg: hStream}]", "destroys: [{kind: steam, arg: hStream}]")
    with pytest.raises(spec.SpecError) as error:
        spec.load(folder)
    line = int(str(error.value).split(":")[1])
    assert "steam" in (folder / "roles.yaml").read_text(encoding="utf-8").splitlines()[line - 1]
