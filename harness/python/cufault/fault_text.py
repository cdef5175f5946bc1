# SPDX-License-Identifier: Apache-2.0
"""A fault in one word, for command lines and marks: 'cuStreamDestroy#1=CUDA_ERROR_INVALID_CONTEXT'."""

from __future__ import annotations

import re
from typing import Any

from cufault.errors import UsageError, refusal
from cufault.scenario.grammar import EFFECTS, SWITCHES
from cufault.vocabulary import vocabulary

GRAMMAR = """A FAULT is TARGET[@SWITCH][#N[+]][:EFFECT][=CODE]

\b
  TARGET   a function's plain name (every ABI variant), a glob, 'each CLASS', or one exported symbol
  @SWITCH  @enter or @restore: only a context switch of this role
  #N       only the N-th matching call of the process; #N+ the N-th and all later ones
  :EFFECT  fail (default), call_then_fail, sticky, deinitialize, missing
  =CODE    a CUresult by name (not for deinitialize and missing)

\b
  cuStreamDestroy#1=CUDA_ERROR_INVALID_CONTEXT
  cuMemAlloc#2:sticky=CUDA_ERROR_ILLEGAL_ADDRESS
  cuCtxSetCurrent@restore=CUDA_ERROR_DEINITIALIZED
  'each destroy#3+=CUDA_ERROR_INVALID_CONTEXT'
  cuGraphCreate:deinitialize
"""

_FAULT = re.compile(
    r"(?P<target>[^@#:=]+)(@(?P<switch>[^#:=]*))?(#(?P<nth>[^:=]*))?(:(?P<effect>[^=]*))?(=(?P<code>.*))?"
)


def parse_fault(text: str, label: str) -> dict[str, Any]:
    """A fault as the plan request has it. Raises UsageError that says what was read and the nearest right name."""
    match = _FAULT.fullmatch(text)
    if match is None:
        raise UsageError(f"fault {text!r}: TARGET[@SWITCH][#N[+]][:EFFECT][=CODE] is wanted")
    entry: dict[str, Any] = {"label": label, **_target(text, match["target"])}
    effect = match["effect"] or "fail"
    if effect not in EFFECTS:
        raise UsageError(refusal(f"fault {text!r}: no such effect", effect, EFFECTS))
    entry["effect"] = effect
    if (EFFECTS[effect].type == "code") != (match["code"] is not None):
        wanted = "needs =CODE" if EFFECTS[effect].type == "code" else "takes no =CODE"
        raise UsageError(f"fault {text!r}: the effect {effect} {wanted}")
    if match["code"] is not None:
        codes = [name for name in vocabulary().codes if name != "CUDA_SUCCESS"]
        if match["code"] not in codes:
            raise UsageError(refusal(f"fault {text!r}: no such result", match["code"], codes))
        entry["code"] = match["code"]
    if match["switch"] is not None:
        if match["switch"] not in SWITCHES:
            raise UsageError(refusal(f"fault {text!r}: no such role of a switch", match["switch"], SWITCHES))
        entry["switch"] = match["switch"]
    if match["nth"] is not None:
        number = match["nth"].removesuffix("+")
        if not (number.isascii() and number.isdigit() and int(number[:18]) > 0) or len(number) > 18:
            raise UsageError(f"fault {text!r}: read #{match['nth']}, allowed is #N or #N+ with N from 1")
        entry["from"] = int(number)
        if not match["nth"].endswith("+"):
            entry["limit"] = 1
    return entry


def _target(text: str, target: str) -> dict[str, str]:
    words = vocabulary()
    if target.startswith("each "):
        if target[5:] not in words.classes:
            raise UsageError(refusal(f"fault {text!r}: no such class of functions", target[5:], words.classes))
    elif any(sign in target for sign in "*?["):
        if not words.matching(target):
            raise UsageError(f"fault {text!r}: no function's name matches {target!r}")
    elif target not in words.functions:
        if target in words.function_of:
            return {"symbol": target}
        raise UsageError(refusal(f"fault {text!r}: no such driver function", target, words.functions))
    return {"at": target}
