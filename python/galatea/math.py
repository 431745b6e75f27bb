"""Functions of numbers, element by element: of data nodes as parts of a pipeline, of numbers now.

Angles are radians. Element types follow DALI: integers become FLOAT but in `abs`, `min`, `max`,
`clamp`.
"""

from __future__ import annotations

import math as _math
from typing import Any

from galatea.trace import place as _places
from galatea.trace.expression import Call as _Call
from galatea.trace.node import Node as _Node

pi, e, inf, nan, tau = _math.pi, _math.e, _math.inf, _math.nan, _math.tau


def _call(name: str, now, *operands: Any) -> Any:
    node = next((operand for operand in operands if isinstance(operand, _Node)), None)
    if node is None:
        return now(*operands)
    place = _places.caller()
    recorder = node.recorder.active()
    arguments = [("", recorder.value(operand, place)) for operand in operands]
    return recorder.add(_Call(f"math.{name}", arguments), place=place)


def _define(name: str, now, names: str, text: str) -> None:
    count = len(names.split())

    def function(*operands):
        if len(operands) != count:
            raise TypeError(f"math.{name}({names}) takes {count}, not {len(operands)}")
        return _call(name, now, *operands)

    function.__name__ = function.__qualname__ = name
    function.__doc__ = text
    globals()[name] = function


for (
    _name
) in "sqrt exp log2 log10 sin cos tan asin acos atan sinh cosh tanh asinh acosh atanh".split():
    _define(_name, getattr(_math, _name), "x", f"{_name} of each element.")
_define("rsqrt", lambda x: 1 / _math.sqrt(x), "x", "1 / sqrt(x) of each element.")
_define("cbrt", lambda x: _math.copysign(abs(x) ** (1 / 3), x), "x", "The cube root.")
_define("abs", abs, "x", "The absolute value, in the element type of x.")
_define("fabs", _math.fabs, "x", "The absolute value, as a float.")
_define("floor", _math.floor, "x", "The largest integer that is not above x.")
_define("ceil", _math.ceil, "x", "The smallest integer that is not below x.")
_define("pow", _math.pow, "x y", "x to the power of y.")
_define("fpow", _math.pow, "x y", "x to the power of y, as floats.")
_define("min", min, "x y", "The smaller one.")
_define("max", max, "x y", "The larger one.")
_define("atan2", _math.atan2, "y x", "The angle of the point (x, y), from -pi to pi.")
_define("clamp", lambda x, low, high: max(low, min(x, high)), "x low high", "x within low … high.")


def log(x, base=None):
    """The logarithm of each element; the natural one if `base` is not given."""
    if base is None:
        return _call("log", _math.log, x)
    return _call("log", _math.log, x, base)
