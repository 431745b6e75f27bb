"""Changes the syntax tree of a function so that `if` and its like reach the recorder.

Comes in: a Python function. Goes out: one with the same globals, closure and defaults whose code
asks `control` wherever Python would take the truth of a value, and wherever it calls a function
(which is changed in turn). Lines stay as they are, so that tracebacks show the user's file.

`exits` and `asking` change the tree; here it becomes a function again.
"""

from __future__ import annotations

import ast
import builtins
import functools
import itertools
import sys
import sysconfig
import types
from typing import Any, Callable

from galatea.trace import control
from galatea.trace import recorder as recorders
from galatea.trace.asking import Asking
from galatea.trace.errors import NoTruth, TraceError
from galatea.trace.exits import ASK, Unchangeable, copied
from galatea.trace.place import is_ours
from galatea.trace.source import Missing, find

# Libraries whose functions no user means when he writes `if` on data.
_LEFT_ALONE = {
    "numpy scipy torch torchvision jax jaxlib flax tensorflow keras paddle PIL cv2 pandas pytest "
    "_pytest pluggy nvidia IPython"
}
_LEFT_ALONE = set(" ".join(_LEFT_ALONE).split())
_STANDARD = sysconfig.get_paths()["stdlib"]

# Why a function was left as it is, by its code.
reasons: dict[types.CodeType, str] = {}
_changed: dict[types.CodeType, types.CodeType | None] = {}


def reason_of(frame) -> str:
    """Why the function of a frame was left as it is; "" where it was changed, or none was to be."""
    if frame is None:
        return ""
    code = frame.f_code
    recorder = recorders.current()
    if code in reasons or recorder is None or not recorder.conditionals:
        return reasons.get(code, "")
    is_foreign = code.co_filename.startswith(_STANDARD) or is_ours(code.co_filename)
    if is_foreign or ASK in code.co_freevars or code.co_name.startswith("<"):
        return ""
    return (
        f"`{code.co_name}` was left as it is, as it is not called by a call in a function of the "
        "pipeline but by Python (a property, an operator, `for`) or by a library: decide in a "
        "function that you call"
    )


def _new_code(function: types.FunctionType, conditionals: bool) -> types.CodeType:
    code = function.__code__
    source = find(function)
    definition, owner = source.definition, source.owner
    if code.co_flags & 0x80 or code.co_flags & 0x200:  # async
        raise Unchangeable("it is `async`")
    definition = copied(definition)
    asking = Asking(conditionals)
    if isinstance(definition, ast.Lambda):
        definition.args.defaults = []
        definition.args.kw_defaults = [None] * len(definition.args.kwonlyargs)
        definition.body = asking.visit(definition.body)
        statement: ast.stmt = ast.copy_location(ast.Expr(definition), definition)
    else:
        definition.decorator_list = []
        definition.returns = None
        arguments = definition.args
        # Positions of defaults are compiled into callers only; values come from the function.
        arguments.defaults = []
        arguments.kw_defaults = [None] * len(arguments.kwonlyargs)
        for each in ast.walk(arguments):
            if isinstance(each, ast.arg):
                each.annotation = None
        statement = asking.in_function(definition)
    free = [name for name in code.co_freevars if name != ASK]
    inner: list[ast.stmt] = [statement]
    if owner:
        wrapped = ast.parse(f"class {owner}:\n    pass").body[0]
        wrapped.body = inner
        inner = [wrapped]
    factory = ast.parse(f"def _galatea_factory({', '.join([*free, ASK])}): pass").body[0]
    # What the function calls by its own name, or its class's, is still the global one.
    defined = {getattr(definition, "name", None), owner}
    names = sorted(name for name in defined if name and name not in free)
    factory.body = ([ast.Global(names)] if names else []) + inner
    module = ast.fix_missing_locations(ast.Module([factory], []))
    compiled = compile(module, code.co_filename, "exec", dont_inherit=True)
    return _find_code(compiled, code)


def _find_code(compiled: types.CodeType, like: types.CodeType) -> types.CodeType:
    stack = [compiled]
    while stack:
        each = stack.pop()
        if each.co_name == like.co_name and each is not compiled:
            return each
        stack.extend(
            c
            for c in each.co_consts
            if isinstance(c, types.CodeType) and (each.co_name != like.co_name or each is compiled)
        )
    raise Unchangeable("its code was not found")


def changed(function: types.FunctionType, conditionals: bool = True) -> types.FunctionType:
    """The changed function; the function itself where it cannot be, or need not be, changed."""
    code = function.__code__
    if ASK in code.co_freevars or getattr(function, "_galatea_do_not_convert", False):
        return function
    key = (code, conditionals)
    if key not in _changed:
        try:
            _changed[key] = _new_code(function, conditionals)
        except (Unchangeable, Missing, SyntaxError, RecursionError, ValueError) as error:
            reasons[code] = f"`{code.co_name}` was left as it is: {error}"
            _changed[key] = None
    new = _changed[key]
    if new is None:
        return function
    cells = dict(zip(code.co_freevars, function.__closure__ or ()))
    cells[ASK] = types.CellType(control)
    if any(name not in cells for name in new.co_freevars):
        missing = next(name for name in new.co_freevars if name not in cells)
        reasons[code] = f"`{code.co_name}` was left as it is: no variable `{missing}`"
        return function
    made = types.FunctionType(
        new,
        function.__globals__,
        function.__name__,
        function.__defaults__,
        tuple(cells[name] for name in new.co_freevars),
    )
    made.__kwdefaults__ = function.__kwdefaults__
    made.__qualname__ = function.__qualname__
    made.__dict__.update(function.__dict__)
    return made


def _is_left_alone(function: types.FunctionType) -> bool:
    file = function.__code__.co_filename
    root = (function.__module__ or "").split(".")[0]
    if is_ours(file) or root in _LEFT_ALONE:
        return True
    return file.startswith(_STANDARD) and "site-packages" not in file


_WITH_FUNCTIONS = (
    *(map, filter, sorted, max, min),
    *(functools.reduce, itertools.accumulate, itertools.starmap),
)

# What to write in place of Python's functions that ask for the truth of data.
_INSTEAD = {
    "max": "write `math.max(x, y)`, or `fn.reductions.max(x)`",
    "min": "write `math.min(x, y)`, or `fn.reductions.min(x)`",
    "any": "write `a or b`",
    "all": "write `a and b`",
    "bool": "compare it: `x != 0`",
    "sorted": "the order of data is not known now",
}


def _with_functions(function: Callable) -> Callable:
    """A function of Python's library that calls functions which it is given."""

    def given(value: Any) -> Any:
        kinds = (types.FunctionType, types.MethodType, functools.partial)
        return call(value) if isinstance(value, kinds) else value

    return lambda *args, **kwargs: function(
        *map(given, args), **{name: given(value) for name, value in kwargs.items()}
    )


def _explained(function: Callable, name: str) -> Callable:
    """Python's function, whose errors on data say what to write."""

    if name not in _INSTEAD:
        return function

    def explained(*args, **kwargs):
        try:
            return function(*args, **kwargs)
        except NoTruth as error:
            raise TraceError(
                f"`{name}` needs values that are known now, and gets data",
                error.place,
                _INSTEAD[name],
            ) from None

    return explained


def _changed_now(function: types.FunctionType) -> types.FunctionType:
    """The function as the pipeline that is traced wants it."""
    recorder = recorders.current()
    return changed(function, recorder is None or recorder.conditionals)


def call(function: Any) -> Any:
    """What is called in place of `function` while a pipeline is traced."""
    if isinstance(function, types.FunctionType):
        return function if _is_left_alone(function) else _changed_now(function)
    if isinstance(function, types.MethodType) and isinstance(function.__func__, types.FunctionType):
        inner = call(function.__func__)
        if inner is function.__func__:
            return function
        return types.MethodType(inner, function.__self__)
    if isinstance(function, functools.partial):
        return functools.partial(call(function.func), *function.args, **function.keywords)
    if any(function is each for each in _WITH_FUNCTIONS):
        return _explained(_with_functions(function), function.__name__)
    if isinstance(function, (type, types.BuiltinFunctionType)):
        name = function.__name__
        if name in _INSTEAD and getattr(builtins, name) is function:
            return _explained(function, name)
    if isinstance(function, type) or type(function).__module__ == "builtins":
        return function
    method = getattr(type(function), "__call__", None)
    if isinstance(method, types.FunctionType) and not _is_left_alone(method):
        return types.MethodType(_changed_now(method), function)
    return function


def do_not_convert(function: Callable) -> Callable:
    """Leaves a function as it is: `if` in it is Python's, and data has no truth there."""
    if isinstance(function, types.FunctionType):
        copied = types.FunctionType(
            function.__code__,
            function.__globals__,
            function.__name__,
            function.__defaults__,
            function.__closure__,
        )
        copied.__kwdefaults__ = function.__kwdefaults__
        functools.update_wrapper(copied, function)
        del copied.__wrapped__
        copied._galatea_do_not_convert = True  # type: ignore[attr-defined]
        return copied

    @functools.wraps(function)
    def kept(*args, **kwargs):
        return function(*args, **kwargs)

    return kept


control.call = call  # type: ignore[attr-defined]
assert sys.version_info >= (3, 10)
