"""What the language has of its own: modules, operators, functions of numbers, numpy.

Comes in: a Python object. Goes out: its name in a text.
"""

from __future__ import annotations

import builtins
import math
import types
from typing import Any

from galatea.trace.errors import TraceError
from galatea.trace.node import NewAxis
from galatea.trace.place import Place

_MODULES = {
    "galatea": "galatea",
    "galatea.fn": "fn",
    "galatea.types": "types",
    "galatea.math": "math",
    "math": "math",
    "numpy": "np",
    "builtins": "",
}
_FUNCTIONS = ("cuda_kernel", "pixel", "select", "sum", "do_not_convert")
_ONLY_IN_THE_LANGUAGE = ("radians", "degrees")


def text_of(value: Any, place: Place | None) -> str | None:
    """The text of what the language has; None for everything else.

    Raises TraceError where Python's library has a function that the language lacks.
    """
    if isinstance(value, types.ModuleType):
        return _module(value.__name__)
    operator = getattr(value, "_galatea_operator_", None)
    if isinstance(operator, str):
        return f"fn.{operator}"
    if isinstance(value, NewAxis):
        return repr(value)
    if not callable(value):
        return None
    name = getattr(value, "__name__", None)
    if not isinstance(name, str):
        return None
    if getattr(builtins, name, None) is value:
        return name
    import galatea
    from galatea import math as our_math
    from galatea import types as our_types

    if getattr(our_math, name, None) is value:
        return f"math.{name}"
    if getattr(math, name, None) is value:
        if hasattr(our_math, name) or name in _ONLY_IN_THE_LANGUAGE:
            return f"math.{name}"
        raise TraceError(f"`math.{name}` is not part of the language", place)
    if value is our_types.Constant:
        return "types.Constant"
    if name in _FUNCTIONS and getattr(galatea, name, None) is value:
        return f"galatea.{name}"
    if (getattr(value, "__module__", None) or type(value).__module__).split(".")[0] == "numpy":
        import numpy

        if getattr(numpy, name, None) is value:
            return f"np.{name}"
    return None


def _module(name: str) -> str | None:
    for ours in ("galatea.dali", "nvidia.dali"):
        if name == ours or name.startswith(f"{ours}."):
            name = "galatea" + name[len(ours) :]
    if name.startswith("galatea.fn."):
        return name[len("galatea.") :]
    return _MODULES.get(name) or None
