"""Pickles with functions by value, for workers that cannot import them by name.

Comes in: any picklable object; lambdas, local functions and those below `pickle_by_value` may be
in it. Goes out: bytes that `pickle.loads` takes, also in a process that never saw their source.
What a function reads of its module's globals travels with it; modules travel by name.
"""

from __future__ import annotations

import importlib
import io
import marshal
import pickle
import sys
import types
from typing import Any, Callable

__all__ = ["dumps", "pickle_by_value"]

_MARK = "_galatea_pickle_by_value"


def pickle_by_value(fun: Callable) -> Callable:
    """Decorator: the function is pickled by its code, also where it could be imported."""
    setattr(fun, _MARK, True)
    return fun


def dumps(value: Any, protocol: int | None = None) -> bytes:
    """`value` as bytes for `pickle.loads`."""
    stream = io.BytesIO()
    _Pickler(stream, protocol).dump(value)
    return stream.getvalue()


class _Pickler(pickle.Pickler):
    def reducer_override(self, value: Any) -> Any:
        if isinstance(value, types.ModuleType):
            return importlib.import_module, (value.__name__,)
        if isinstance(value, types.CellType):
            return _reduced_cell(value)
        if isinstance(value, types.FunctionType) and _needs_value(value):
            return _reduced(value)
        return NotImplemented


def _needs_value(function: types.FunctionType) -> bool:
    """Whether the function's name leads elsewhere, so that its code has to travel.

    A name that leads nowhere is left to pickle, whose error says so.
    """
    if getattr(function, _MARK, False) or "<" in function.__qualname__:
        return True
    found: Any = sys.modules.get(function.__module__)
    if function.__module__ == "__main__" and not hasattr(found, "__file__"):
        return True  # a notebook or a prompt: no other process can import that
    for part in function.__qualname__.split("."):
        found = getattr(found, part, None)
    return found is not None and found is not function


def _global_names(code: types.CodeType) -> set[str]:
    """Names that a function and those inside it may look up in the globals."""
    names = set(code.co_names)
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            names |= _global_names(constant)
    return names


def _reduced(function: types.FunctionType) -> tuple:
    used = _global_names(function.__code__) & set(function.__globals__)
    state = {
        "globals": {name: function.__globals__[name] for name in sorted(used)},
        "defaults": function.__defaults__,
        "kwdefaults": function.__kwdefaults__,
        "attributes": function.__dict__,
    }
    how = marshal.dumps(function.__code__), function.__name__, function.__qualname__
    arguments = (*how, function.__module__, function.__closure__)
    return _function, arguments, state, None, None, _fill


def _function(code: bytes, name: str, qualname: str, module: str, closure: Any) -> Any:
    scope = {"__builtins__": __builtins__, "__name__": module}
    made = types.FunctionType(marshal.loads(code), scope, name, None, closure)
    made.__qualname__, made.__module__ = qualname, module
    return made


def _fill(function: Any, state: dict) -> None:
    # After the function exists: it may be one of its own globals.
    function.__globals__.update(state["globals"])
    function.__defaults__ = state["defaults"]
    function.__kwdefaults__ = state["kwdefaults"]
    function.__dict__.update(state["attributes"])


def _reduced_cell(cell: types.CellType) -> tuple:
    try:
        state = (cell.cell_contents,)
    except ValueError:  # a variable that has no value yet
        state = ()
    return _cell, (), state, None, None, _fill_cell


def _cell() -> types.CellType:
    return types.CellType()


def _fill_cell(cell: types.CellType, state: tuple) -> None:
    if state:
        cell.cell_contents = state[0]
