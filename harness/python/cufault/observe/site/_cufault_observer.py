# SPDX-License-Identifier: Apache-2.0
"""Appends what this process shows to observation.<pid>.jsonl in the run folder; the format is in harness/FORMATS.md.

Imports only what any interpreter has loaded or built in, for it runs in every Python process of a command, and writes
its own JSON, for it writes during finalization too. It makes no driver call, and reads no repr of a stranger's object:
a repr may make one.
"""

from __future__ import annotations

import _thread
import atexit
import os
import sys
import time
import warnings

TYPE_CHECKING = False  # typing itself would cost every process 8 ms
if TYPE_CHECKING:
    from typing import Any

CLOCK_MONOTONIC = 1
MAX_DEPTH = 6
MAX_TEXT = 64 * 1024

# Attributes under which libraries keep the driver's result on an exception.
_CODE_ATTRIBUTES = ("code", "result", "status", "error", "err", "errcode", "cu_result")

_folder = os.path.dirname(os.environ.get("CUFAULT_PLAN", ""))
_attached = False
_fd = -1
_fd_pid = 0
_step: str | None = None
_about: dict[str, Any] = {"subject": None, "versions": {}, "warning_filter": "program"}


# --- JSON

_ESCAPES = {'"': '\\"', "\\": "\\\\", "\n": "\\n", "\r": "\\r", "\t": "\\t"}


def _text(text: str) -> str:
    if len(text) > MAX_TEXT:
        text = text[:MAX_TEXT] + "..."
    parts = []
    for sign in text:
        if sign in _ESCAPES:
            parts.append(_ESCAPES[sign])
        elif sign < " " or "\ud800" <= sign <= "\udfff":
            parts.append(f"\\u{ord(sign):04x}" if sign < " " else "\\ufffd")
        else:
            parts.append(sign)
    return '"' + "".join(parts) + '"'


def _json(value: Any) -> str:
    if value is None:
        return "null"
    if value is True:
        return "true"
    if value is False:
        return "false"
    if isinstance(value, int):
        return str(int(value))
    if isinstance(value, float):
        return repr(float(value)) if value - value == 0 else "null"
    if isinstance(value, str):
        return _text(value)
    if isinstance(value, dict):
        return "{" + ", ".join(f"{_text(str(key))}: {_json(item)}" for key, item in value.items()) + "}"
    return "[" + ", ".join(_json(item) for item in value) + "]"


# --- events


def event(name: str, /, **keys: Any) -> None:
    """Appends one event; a failing write is dropped, for the program under test must not notice."""
    try:  # noqa: SIM105 (contextlib is not imported here)
        _write(name, keys)
    except OSError:
        pass


def _write(name: str, keys: dict[str, Any]) -> None:
    global _fd, _fd_pid
    pid = os.getpid()
    lines = ""
    if _fd_pid != pid:  # the first event, or the first one after a fork
        path = f"{_folder}/observation.{pid}.jsonl"
        fresh = not os.path.exists(path)  # a process that executed another program goes on in the same file
        _fd = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, 0o600)
        _fd_pid = pid
        if fresh:
            lines = _line("process", pid, _process())
    lines += _line(name, pid, keys)
    os.write(_fd, lines.encode("utf-8", "replace"))


def _process() -> dict[str, Any]:
    argv = [str(argument) for argument in getattr(sys, "orig_argv", None) or getattr(sys, "argv", [])]
    return {
        "format": 1,
        "argv": argv,
        "language": "python",
        "versions": {"python": sys.version.split()[0], **_about["versions"]},
        "subject": _about["subject"],
        "warning_filter": _about["warning_filter"],
    }


def _line(name: str, pid: int, keys: dict[str, Any]) -> str:
    head = {"event": name, "pid": pid, "time_ns": time.clock_gettime_ns(CLOCK_MONOTONIC), "step": _step}
    return _json({**head, **keys}) + "\n"


def describe_process(subject: str | None, versions: dict[str, str], warning_filter: str) -> None:
    """What the `process` event is to say; before any other event."""
    _about.update(subject=subject, versions=versions, warning_filter=warning_filter)


def set_step(name: str | None) -> None:
    """The step that events belong to from here on."""
    global _step
    _step = name


# --- exceptions


def qualified(cls: type) -> str:
    """A class's full name."""
    return f"{cls.__module__}.{cls.__qualname__}"


def _mro(cls: type) -> list[str]:
    return [qualified(base) for base in cls.__mro__]


def _message(error: BaseException) -> str:
    try:
        return str(error)
    except Exception as broken:
        return f"<str() of this exception raised {type(broken).__name__}>"


def code_of(error: BaseException) -> int | None:
    """The CUresult that the library attached to the exception, by attribute or as an argument of that type."""
    if isinstance(error, (SystemExit, OSError)):
        return None
    for name in _CODE_ATTRIBUTES:
        value = getattr(error, name, None)
        if isinstance(value, int) and not isinstance(value, bool) and 0 < value < 1000:
            return int(value)
    for argument in error.args:
        if isinstance(argument, int) and type(argument).__name__.endswith("CUresult"):
            return int(argument)
    return None


def _traceback(error: BaseException) -> str:
    lines: list[str] = []
    frame = error.__traceback__
    while frame is not None and len(lines) < 64:
        code = frame.tb_frame.f_code
        lines.append(f'  File "{code.co_filename}", line {frame.tb_lineno}, in {code.co_name}')
        frame = frame.tb_next
    return "\n".join(lines)


def describe(error: BaseException, depth: int = 0) -> dict[str, Any]:
    """An exception with its notes, cause and context, as the format has it."""
    cls = type(error)
    cause, context = error.__cause__, error.__context__
    notes = getattr(error, "__notes__", None)
    deeper = depth < MAX_DEPTH
    return {
        "type": cls.__qualname__,
        "module": cls.__module__,
        "mro": _mro(cls),
        "message": _message(error),
        "code": code_of(error),
        "notes": [str(note) for note in notes] if isinstance(notes, list) else [],
        "cause": describe(cause, depth + 1) if cause is not None and deeper else None,
        "context": describe(context, depth + 1) if context is not None and context is not cause and deeper else None,
        "traceback": _traceback(error),
    }


def exception(error: BaseException, handled: bool) -> None:
    """Records an exception that left a step, a test, a thread or the program."""
    event("exception", **describe(error), handled=handled)


# --- hooks


def _what(value: Any) -> str | None:
    """An object by its type, or a function by its name."""
    if value is None:
        return None
    name = getattr(value, "__qualname__", None)
    if isinstance(name, str):
        return f"{getattr(value, '__module__', '?')}.{name}"
    return f"a {qualified(type(value))}"


def _unraisable(arguments: Any) -> None:
    error = arguments.exc_value
    cls = arguments.exc_type
    event(
        "unraisable",
        type=cls.__qualname__,
        module=cls.__module__,
        mro=_mro(cls),
        message=_message(error) if error is not None else "",
        object=_what(arguments.object),
        err_msg=arguments.err_msg,
        warning_mro=_mro(cls) if issubclass(cls, Warning) else None,
    )


def _audit(name: str, arguments: tuple[Any, ...]) -> None:
    # Raised whatever hook the program has put in place; every other audit event leaves at the first comparison.
    if name == "sys.unraisablehook":
        _unraisable(arguments[1])
    elif name == "sys.excepthook":
        error = arguments[2]
        if isinstance(error, BaseException):
            exception(error, handled=False)


def _hook_threads() -> None:
    # threading takes its excepthook from _thread when it is imported, which is usually later than this.
    inner = _thread._excepthook

    def excepthook(arguments: Any, /) -> Any:
        error = arguments.exc_value
        if error is not None and not isinstance(error, SystemExit):
            exception(error, handled=False)
        return inner(arguments)

    _thread._excepthook = excepthook
    threading = sys.modules.get("threading")
    if threading is not None and getattr(threading, "excepthook", None) is inner:
        threading.excepthook = threading.__excepthook__ = excepthook  # type: ignore[attr-defined]


# The first of the program's warning filters: it matches nothing, and so sees every warning on its way to the rest.
# Without it a report that the program's filters hide could not be told from one that was never made.


class _SeesText:
    """Stands where a filter has its pattern; C and Python both call match()."""

    text = ""

    def match(self, text: str) -> bool:
        self.text = text
        return True


class _Asked(type):
    def __subclasscheck__(cls, category: type) -> bool:
        return _Probe is category or _see(category)


class _AnyCategory(Warning, metaclass=_Asked):
    """Every warning's class is compared with this one."""


class _Probe(Warning):
    """Only ever issued to try whether the spy sees."""


class _Filters(list):  # type: ignore[type-arg]
    """The program's filters with the spy in front, also of every copy (catch_warnings takes one) and after a reset."""

    def __init__(self, items: Any = ()) -> None:
        super().__init__(item for item in items if item is not _SPY)
        super().insert(0, _SPY)

    def insert(self, index: Any, item: Any) -> None:
        super().insert(index if index < 0 else index + 1, item)

    def __getitem__(self, key: Any) -> Any:
        found = super().__getitem__(key)
        return _Filters(found) if isinstance(key, slice) else found

    def __setitem__(self, key: Any, value: Any) -> None:
        super().__setitem__(key, value)
        self._restore()

    def __delitem__(self, key: Any) -> None:
        super().__delitem__(key)
        self._restore()

    def copy(self) -> Any:
        return _Filters(self)

    def clear(self) -> None:
        super().clear()
        self._restore()

    def _restore(self) -> None:
        if _SPY not in self:
            super().insert(0, _SPY)


_text_seen, _module_seen = _SeesText(), _SeesText()
_SPY = ("ignore", _text_seen, _AnyCategory, _module_seen, 0)


def _see(category: type) -> bool:
    """Records a warning that the program's filters are about to ignore; what they show or raise is seen elsewhere."""
    for action, pattern, base, module, _ in list(warnings.filters):
        if base is _AnyCategory or not issubclass(category, base):
            continue
        # A pattern is a compiled expression, or the plain text that C allows.
        fits = (
            kind is None or (kind == seen if isinstance(kind, str) else kind.match(seen))
            for kind, seen in ((pattern, _text_seen.text), (module, _module_seen.text))
        )
        if all(fits):
            if action == "ignore":
                event(
                    "warning",
                    category=category.__qualname__,
                    module=category.__module__,
                    mro=_mro(category),
                    message=_text_seen.text,
                    filename="",
                    lineno=0,
                )
            break
    return False


def _spy_on_filters() -> bool:
    """Puts the spy in place; answers whether it sees, which a silent warning of our own tries."""
    warnings.filters = _Filters(warnings.filters)
    warnings.warn_explicit("probe", _Probe, "", 1)
    return _text_seen.text == "probe"


def check_filters() -> None:
    """Says so, once, if the program has put filters in place that the spy is not among."""
    if _about["warning_filter"] == "seen" and not isinstance(warnings.filters, _Filters):
        _about["warning_filter"] = "program"
        if _fd_pid == os.getpid():
            event("process", **_process())


def _hook_warnings() -> None:
    # The one function that every shown warning passes, from C and from Python; catch_warnings(record=True), with which
    # pytest collects, replaces only what that function calls.
    inner = warnings._showwarnmsg  # type: ignore[attr-defined]

    def showwarnmsg(message: Any) -> Any:
        category = message.category
        event(
            "warning",
            category=category.__qualname__,
            module=category.__module__,
            mro=_mro(category),
            message=str(message.message),
            filename=message.filename,
            lineno=message.lineno,
        )
        return inner(message)

    warnings._showwarnmsg = showwarnmsg  # type: ignore[attr-defined]


def preloaded() -> bool:
    """Whether the preload library is mapped into this process."""
    wanted = os.path.realpath(os.path.join(_folder, "preload", "libcuda.so.1"))
    try:
        with open("/proc/self/maps", encoding="utf-8", errors="replace") as maps:
            return any(line.rstrip().endswith(wanted) for line in maps)
    except OSError:
        return False


def _finalizing() -> None:
    set_step(None)
    check_filters()
    event("finalizing", preloaded=preloaded())


def attach() -> None:
    """Installs the hooks, once a process."""
    global _attached
    if _attached or not _folder:
        return
    _attached = True
    sys.addaudithook(_audit)
    _hook_warnings()
    if _spy_on_filters():
        _about["warning_filter"] = "seen"
    _hook_threads()
    atexit.register(_finalizing)  # the first one registered is the last one run
