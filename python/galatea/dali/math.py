"""`nvidia.dali.math`: functions of data nodes, element by element."""

from __future__ import annotations

import inspect as _inspect
from typing import Any

import numpy as _np

from galatea import math as _math
from galatea.trace.node import Node as _Node

from . import types as _types
from .data_node import check_operand as _check_operand
from .names import getter as _getter


def _operand(value: Any) -> Any:
    """An operand for tracing: arrays and constants with a type are nodes."""
    if isinstance(value, _np.ndarray) or _types.is_torch(value):
        value = _types.Constant(value)
    return _types.node_of(value) if isinstance(value, _types.ScalarConstant) else value


def _define(name: str, names: str) -> None:
    inner = getattr(_math, name)
    parameters = [
        _inspect.Parameter(one, _inspect.Parameter.POSITIONAL_OR_KEYWORD) for one in names.split()
    ]
    signature = _inspect.Signature(parameters)

    def function(*given: Any, **named: Any) -> Any:
        try:
            operands = signature.bind(*given, **named).args
        except TypeError as error:
            raise TypeError(f"math.{name}{signature}: {error}") from None
        for place, one in enumerate(operands):
            _check_operand(one, place, f"math.{name}")
        if not any(isinstance(one, _Node) for one in operands):
            raise ValueError(f"math.{name} takes data nodes; at least one operand must be one")
        return inner(*map(_operand, operands))

    function.__name__ = function.__qualname__ = name
    function.__signature__ = signature  # type: ignore[attr-defined]
    function.__doc__ = inner.__doc__
    globals()[name] = function


for _name in (
    "sqrt rsqrt cbrt exp log log2 log10 abs fabs floor ceil sin cos tan asin acos atan sinh cosh "
    "tanh asinh acosh atanh"
).split():
    _define(_name, "input")
for _name in ("min", "max"):
    _define(_name, "left right")
for _name in ("pow", "fpow"):
    _define(_name, "base exponent")
_define("atan2", "x y")
_define("clamp", "value lo hi")


__getattr__ = _getter("math")
