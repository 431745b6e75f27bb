"""Functions of numbers, element by element: those of pipelines, on tensors and batches."""

from __future__ import annotations

from typing import Any, Callable

from ... import math as _math
from . import calls as _calls

_NAMES = (
    "sqrt rsqrt cbrt exp log log2 log10 abs fabs floor ceil sin cos tan asin acos atan sinh cosh "
    "tanh asinh acosh atanh min max pow fpow atan2 clamp"
).split()


def _function(name: str) -> Callable:
    def call(*values: Any) -> Any:
        return _calls.expression(name, *values)

    call.__name__ = call.__qualname__ = name
    call.__doc__ = getattr(_math, name).__doc__
    return call


globals().update({name: _function(name) for name in _NAMES})
