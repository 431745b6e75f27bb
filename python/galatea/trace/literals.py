"""Python values as literals of the language.

Comes in: what the user passed to an operator. Goes out: an expression that means the same value:
floats to the last bit, numpy arrays with their element type. Large arrays become constants beside
the text.
"""

from __future__ import annotations

import enum
import math
from typing import Any

from galatea.trace.errors import NoLiteral, TraceError
from galatea.trace.expression import Call, Display, Expression, Literal, Load, Unary, Use
from galatea.trace.library import LibraryValue
from galatea.trace.node import NewAxis, Node

# Elements of an array that is written as digits; larger ones are constants beside the text.
MOST_DIGITS = 64

_NUMPY_TYPES = (
    "bool int8 int16 int32 int64 uint8 uint16 uint32 uint64 float16 float32 float64".split()
)


def string(text: str) -> str:
    """A string literal, as `galatea fmt` has it."""
    quote = "'" if '"' in text and "'" not in text else '"'
    out = []
    for c in text:
        if c == quote or c == "\\":
            out.append("\\" + c)
        elif c == "\n":
            out.append("\\n")
        elif c == "\t":
            out.append("\\t")
        elif c == "\r":
            out.append("\\r")
        elif c.isprintable():
            out.append(c)
        elif ord(c) < 0x100:
            out.append(f"\\x{ord(c):02x}")
        elif ord(c) < 0x10000:
            out.append(f"\\u{ord(c):04x}")
        else:
            out.append(f"\\U{ord(c):08x}")
    return quote + "".join(out) + quote


def number(value: float | int) -> Expression:
    """A number, exactly."""
    if isinstance(value, int):
        return Unary("-", Literal(str(-value))) if value < 0 else Literal(str(value))
    if math.isnan(value):
        return Call("float", [("", Literal('"nan"'))])
    if math.isinf(value):
        infinite = Call("float", [("", Literal('"inf"'))])
        return infinite if value > 0 else Unary("-", infinite)
    text = repr(abs(value))
    return Unary("-", Literal(text)) if math.copysign(1.0, value) < 0 else Literal(text)


def _is_numpy(value: Any) -> bool:
    return type(value).__module__ == "numpy"


def _array(recorder, value, place) -> Expression:
    import numpy as np

    if value.dtype.name not in _NUMPY_TYPES:
        raise TraceError(
            f"a numpy array of {value.dtype.name} cannot be part of a pipeline",
            place,
            "convert it by `.astype`; bool, integers of 8 to 64 bits and floats of 16 to 64 are "
            "known",
        )
    recorder.imports.add("numpy")
    if value.size > MOST_DIGITS:
        name = _constant_name(recorder, np.ascontiguousarray(value))
        return Load("np.load", [("", Literal(string(name)))], value)
    arguments = [("", expression_of(recorder, value.tolist(), place))]
    if value.size == 0 and value.ndim > 1:
        arguments[0] = ("", expression_of(recorder, tuple(value.shape), place))
        return Call("np.zeros", [*arguments, ("dtype", Literal(f"np.{_dtype(value.dtype)}"))])
    if np.asarray(value.tolist()).dtype != value.dtype:
        arguments.append(("dtype", Literal(f"np.{_dtype(value.dtype)}")))
    return Call("np.array", arguments)


def _dtype(dtype) -> str:
    return "bool_" if dtype.name == "bool" else dtype.name


def _constant_name(recorder, array) -> str:
    key = (array.dtype.str, array.shape, array.tobytes())
    name = recorder.constant_names.get(key)
    if name is None:
        name = f"{recorder.name}.{len(recorder.constants)}.npy"
        recorder.constant_names[key] = name
        recorder.constants[name] = array.copy()
    return name


def expression_of(recorder, value: Any, place=None, functions: bool = False) -> Expression:
    """`value` as an expression; raises TraceError where the language has no such value.

    With `functions`, Python functions become definitions of the text.
    """

    def each(values) -> list[Expression]:
        return [expression_of(recorder, element, place, functions) for element in values]

    if isinstance(value, Node):
        return Use(recorder.own(value, place))
    if value is None or value is True or value is False:
        return Literal(repr(value))
    if isinstance(value, LibraryValue):
        return value.galatea_expression(recorder, place)
    if functions:
        text = recorder.definitions.text_of_callable(value, place)
        if text is not None:
            return Literal(text)
    spelling = getattr(value, "galatea_text", None)
    if isinstance(spelling, str):
        return Literal(spelling)
    if isinstance(value, NewAxis):
        recorder.imports.add("galatea")
        return Literal(repr(value))
    if _is_numpy(value):
        import numpy as np

        if isinstance(value, np.ndarray):
            return _array(recorder, value, place)
        if isinstance(value, np.bool_):
            return Literal(repr(bool(value)))
        if isinstance(value, np.generic) and value.dtype.name in _NUMPY_TYPES:
            recorder.imports.add("numpy")
            return Call(f"np.{_dtype(value.dtype)}", [("", number(value.item()))])
    if isinstance(value, enum.Enum) and not isinstance(value, (int, float, str)):
        return expression_of(recorder, value.value, place, functions)
    if isinstance(value, bool):
        return Literal(repr(bool(value)))
    if isinstance(value, int):
        return number(int(value))
    if isinstance(value, float):
        return number(float(value))
    if isinstance(value, str):
        return Literal(string(str(value)))
    if isinstance(value, (list, range)):
        return Display("[", each(value))
    if isinstance(value, tuple):
        return Display("(", each(value))
    if isinstance(value, dict):
        keys = [_key(key, place) for key in value]
        return Display("{", each(value.values()), keys)
    if not isinstance(value, type):
        path = getattr(value, "__fspath__", None)
        if path is not None:
            return expression_of(recorder, path(), place)
        if hasattr(value, "__array__") and hasattr(value, "dtype"):
            import numpy as np

            return _array(recorder, np.asarray(value), place)
    error = NoLiteral(
        f"a value of type `{type(value).__module__}.{type(value).__qualname__}` cannot be part of "
        "a pipeline",
        place,
        "pass numbers, strings, lists, tuples, dicts, numpy arrays, `galatea.types` or data nodes",
    )
    error.value = value
    raise error


def _key(key: Any, place) -> str:
    if isinstance(key, str):
        return string(key)
    if isinstance(key, bool) or not isinstance(key, (int, float)):
        raise TraceError(
            f"{key!r} is no key of a dictionary in a pipeline", place, "use strings or numbers"
        )
    return repr(key)
