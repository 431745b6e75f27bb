"""What can go wrong, as exceptions.

Every exception of the library is a :class:`GalateaError`; ``str(error)`` is what the command line
shows, and ``error.diagnostics`` has the same as objects.
"""

import json
import traceback
from dataclasses import dataclass, field, replace

__all__ = [
    "BatchesHeldError",
    "CancelledError",
    "ClosedError",
    "Diagnostic",
    "ForkError",
    "GalateaError",
    "InternalError",
    "Label",
    "CallSite",
    "NothingFedError",
    "StateError",
    "SystemFailure",
    "TimeoutError",
    "UserError",
]

_TimeoutError = TimeoutError


@dataclass(frozen=True)
class Label:
    """A place with a few words; lines and columns count from 1, and are None without a file."""

    file: str | None
    line: int | None
    column: int | None
    end_line: int | None
    end_column: int | None
    text: str = ""


@dataclass(frozen=True)
class CallSite:
    """One of the calls that led to a place."""

    file: str | None
    line: int | None
    function: str


@dataclass(frozen=True)
class Diagnostic:
    """One message: its code (None without a page), where, and what to do."""

    code: str | None
    severity: str
    message: str
    file: str | None = None
    line: int | None = None
    column: int | None = None
    end_line: int | None = None
    end_column: int | None = None
    labels: tuple[Label, ...] = ()
    calls: tuple[CallSite, ...] = ()
    notes: tuple[str, ...] = ()
    help: str | None = None
    more: dict = field(default_factory=dict)

    @classmethod
    def of(cls, entry: dict) -> "Diagnostic":
        """The object of one entry of the library's JSON. What is not known yet is in ``more``."""
        entry = dict(entry)
        entry["labels"] = tuple(Label(**label) for label in entry.get("labels", ()))
        entry["calls"] = tuple(CallSite(**call) for call in entry.get("calls", ()))
        entry["notes"] = tuple(entry.get("notes", ()))
        names = cls.__dataclass_fields__.keys() - {"more"}
        more = {name: entry.pop(name) for name in entry.keys() - names}
        return cls(**entry, more=more)


class GalateaError(Exception):
    """An error of the library.

    ``code`` is that of the first diagnostic ("G0203", or ""), ``message`` its line, ``diagnostics``
    all of them; ``str()`` shows them with the lines of source that they are about.
    """

    code = ""
    message = ""
    diagnostics: tuple[Diagnostic, ...] = ()

    @classmethod
    def _make(cls, code, message, text, diagnostics):
        error = cls(text.rstrip("\n") or message)
        error.code, error.message, error.diagnostics = code, message, diagnostics
        return error

    def _repr_html_(self):
        from .display.objects import error

        return error(self)

    def _render_traceback_(self):
        """What IPython shows in place of a traceback: the user's lines, and the message."""
        from .display.traceback_lines import lines

        return lines(self)

    def __reduce__(self):
        return _make_again, (type(self), self.code, self.message, str(self), self.diagnostics)


def _make_again(cls, *fields):
    return cls._make(*fields)


class UserError(GalateaError, ValueError):
    """The pipeline, its data, or a call is wrong: for its author."""


class SystemFailure(GalateaError, RuntimeError):
    """The machine lacks something: memory, threads, a disk, a device."""


class InternalError(GalateaError, RuntimeError):
    """A bug of galatea."""

    def _render_traceback_(self):
        return "".join(traceback.format_exception(self)).splitlines()  # a report needs all of it


class TimeoutError(UserError, _TimeoutError):
    """No batch, or no room for one, within the time that was given; call again."""


class CancelledError(UserError):
    """The loader was cancelled."""


class BatchesHeldError(UserError):
    """Too many batches are alive."""


class NothingFedError(UserError):
    """An external input has no batch; feed one."""


class StateError(UserError):
    """A state cannot be read, or is one of another pipeline, data, seed or batch size."""


class ClosedError(GalateaError, ValueError):
    """What is used was closed before."""


class ForkError(GalateaError, RuntimeError):
    """What is used was made before the process was forked, and does not work in the child."""


_KINDS = {1: UserError, 2: SystemFailure, 3: InternalError}
_CODES = {
    "G0901": TimeoutError,
    "G0902": CancelledError,
    "G0903": BatchesHeldError,
    "G0904": NothingFedError,
    "G0974": TimeoutError,
    "G0980": StateError,
    "G0981": StateError,
    "G0982": StateError,
    "G0983": StateError,
    "G0984": StateError,
}


# Help that names functions of the C API, in terms of Python.
_HELP = {
    "G0940": None,
    "G0975": "say who makes the samples of every input, by pull(), before the first batch is taken",
    "G0980": "give load_state_dict() what state_dict() gave, unchanged",
    "G0983": "give the loader the state's seed, or none",
}


def exception_of(kind: int, code: str, message: str, text: str, document: str) -> GalateaError:
    """The exception of an error of the C API."""
    diagnostics = tuple(Diagnostic.of(entry) for entry in json.loads(document)["diagnostics"])
    if code in _HELP and len(diagnostics) == 1:
        help = _HELP[code]
        said = "" if help is None else f"\n  = help: {help}"
        text = text.rstrip("\n").replace(f"\n  = help: {diagnostics[0].help}", said)
        diagnostics = (replace(diagnostics[0], help=help),)
    return _CODES.get(code, _KINDS[kind])._make(code, message, text, diagnostics)


def where_is(function) -> str:
    """A callable with the file and line of its code: ``'load' (train.py:12)``."""
    name = getattr(function, "__qualname__", None) or type(function).__qualname__
    code = None
    for part in (
        function,
        getattr(function, "__func__", None),
        getattr(function, "__call__", None),
    ):
        code = code or getattr(part, "__code__", None)
        code = code or getattr(getattr(part, "__func__", None), "__code__", None)
        code = code or getattr(getattr(part, "__wrapped__", None), "__code__", None)
    return f"'{name}' ({code.co_filename}:{code.co_firstlineno})" if code else f"'{name}'"


def failure_text(function, exception: BaseException) -> str:
    """What a callable of the user's raised, and where, for the text of an error."""
    described = getattr(function, "galatea_source", None)
    source = where_is(described if described is not None else function)
    what = "".join(traceback.format_exception_only(exception)).strip()
    frames = traceback.extract_tb(exception.__traceback__)
    place = f", at {frames[-1].filename}:{frames[-1].lineno}" if frames else ""
    return f"the Python callable {source} failed: {what}{place}"
