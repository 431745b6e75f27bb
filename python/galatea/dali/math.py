"""`nvidia.dali.math`: functions of data nodes, element by element."""

from __future__ import annotations

from typing import Any

import numpy as _np

from galatea import math as _math
from galatea.trace.node import Node as _Node

from . import types as _types
from .data_node import check_operand as _check_operand


def _operand(value: Any) -> Any:
    """An operand for tracing: arrays and constants with a type are nodes."""
    if isinstance(value, _np.ndarray) or _types.is_torch(value):
        value = _types.Constant(value)
    return _types.node_of(value) if isinstance(value, _types.ScalarConstant) else value


def _define(name: str, names: str) -> None:
    inner = getattr(_math, name)

    def function(*operands: Any) -> Any:
        if len(operands) != len(names.split()):
            raise TypeError(f"math.{name}({names}) takes {len(names.split())} operands")
        for place, one in enumerate(operands):
            _check_operand(one, place, f"math.{name}")
        if not any(isinstance(one, _Node) for one in operands):
            raise ValueError(f"math.{name} takes data nodes; at least one operand must be one")
        return inner(*map(_operand, operands))

    function.__name__ = function.__qualname__ = name
    function.__doc__ = inner.__doc__
    globals()[name] = function


for _name in (
    "sqrt rsqrt cbrt exp log log2 log10 abs fabs floor ceil sin cos tan asin acos atan sinh cosh "
    "tanh asinh acosh atanh"
).split():
    _define(_name, "x")
for _name in "min max pow fpow".split():
    _define(_name, "x y")
_define("atan2", "y x")
_define("clamp", "value lo hi")
