"""What `inspect.signature` shows of operators: DALI's own (`signatures.json`, which
`python/tools/dali_signatures.py` makes), so that editors and programs that ask find its names."""

from __future__ import annotations

import functools
import inspect
import json
import os
import typing
from typing import Any, Callable

_KINDS = {
    "/": inspect.Parameter.POSITIONAL_ONLY,
    "": inspect.Parameter.POSITIONAL_OR_KEYWORD,
    "*": inspect.Parameter.VAR_POSITIONAL,
    "=": inspect.Parameter.KEYWORD_ONLY,
    "**": inspect.Parameter.VAR_KEYWORD,
}
# What annotations name beside classes of Python: these only carry their names, as DALI's do.
_NAMES = "Batch DataNode TensorLikeArg TensorLikeIn DALIDataType DALIImageType DALIInterpType"


class _Named(type):
    """A class that stands for its name."""

    def __repr__(cls) -> str:
        return cls.__name__


class _Shown:
    """A default of an enumeration, as signatures show it."""

    def __init__(self, text: str):
        self._text = text

    def __repr__(self) -> str:
        return self._text


@functools.cache
def _annotations() -> dict[str, Any]:
    named = {name: _Named(name, (), {"__module__": "typing"}) for name in _NAMES.split()}
    plain = {"bool": bool, "int": int, "float": float, "str": str, "NoneType": type(None)}
    return {**vars(typing), **named, **plain, "__builtins__": {}}


@functools.cache
def _annotation(text: str) -> Any:
    return eval(text, _annotations())


@functools.cache
def _document() -> tuple[dict, list[inspect.Parameter]]:
    path = os.path.join(os.path.dirname(__file__), "signatures.json")
    with open(path, encoding="utf-8") as file:
        found = json.load(file)
    return found, [_parameter(*line) for line in found["parameters"]]


def _parameter(name: str, kind: str, annotation: str | None, *default: Any) -> inspect.Parameter:
    given: dict[str, Any] = {}
    if default:
        value = default[0]
        given["default"] = _Shown(value["shown"]) if isinstance(value, dict) else value
    if annotation is not None:
        given["annotation"] = _annotation(annotation)
    return inspect.Parameter(name, _KINDS[kind], **given)


def _made(entry: list) -> inspect.Signature:
    _, parameters = _document()
    places, *returns = entry
    result: Any = _annotation(returns[0]) if returns else inspect.Signature.empty
    chosen = [parameters[place] for place in places]
    return inspect.Signature(chosen, return_annotation=result, __validate_parameters__=False)


def sign(part: str, path: str, function: Callable) -> None:
    """Gives `function` the signature of DALI's operator at `path` of "fn" or "dynamic"."""
    entry = _document()[0][part].get(path)
    if entry is not None:
        function.__signature__ = _made(entry)  # type: ignore[attr-defined]


def sign_class(path: str, kind: type) -> None:
    """The same for `__init__` and `__call__` of a class of "ops"."""
    for name, entry in zip(("__init__", "__call__"), _document()[0]["ops"].get(path, ())):
        getattr(kind, name).__signature__ = _made(entry)


def names_of(path: str) -> tuple[list[str], list[str]]:
    """The names of an operator's inputs, and of its arguments by keyword."""
    found = _made(_document()[0]["fn"][path]).parameters.values()
    inputs = [str(one).split("=")[0] for one in found if one.kind is not one.KEYWORD_ONLY]
    return inputs, [one.name for one in found if one.kind is one.KEYWORD_ONLY]


def arguments_of(path: str) -> dict[str, inspect.Parameter]:
    """An operator's arguments by keyword; a default of None says that nothing stands for one."""
    found = _made(_document()[0]["fn"][path]).parameters.values()
    return {one.name: one for one in found if one.kind is one.KEYWORD_ONLY}
