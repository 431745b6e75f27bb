"""Names that a text may give to variables, functions and constants."""

from __future__ import annotations

import builtins
import keyword
import re
from typing import Callable

from galatea.trace import expression as e

RESERVED = {"fn", "types", "math", "np", "galatea", "pipeline_def", "select"} | set(dir(builtins))


def is_usable(name: str) -> bool:
    """Whether a name may be given at all."""
    return name.isidentifier() and not keyword.iskeyword(name) and name not in RESERVED


def numbered(base: str):
    """`base`, `base_2`, `base_3`, …"""
    yield base
    number = 2
    while True:
        yield f"{base}_{number}"
        number += 1


def free_name(wanted: str, is_taken: Callable[[str], bool]) -> str:
    """A name like `wanted` that may be given and is not taken."""
    base = wanted if is_usable(wanted) else f"{wanted}_value"
    if not base.isidentifier():
        base = "value"
    return next(name for name in numbered(base) if not is_taken(name))


def named_after(x: e.Expression) -> str:
    """A name for what the user did not name: that of the operator."""
    if isinstance(x, e.Call) and x.callee == "select":
        return "chosen"
    if isinstance(x, e.Call):
        return re.sub(r".*\.", "", x.callee)
    if isinstance(x, e.Method):
        return x.name if x.name not in ("gpu", "cpu") else f"on_{x.name}"
    if isinstance(x, e.Attribute):
        return x.name
    if isinstance(x, e.Apply):
        return "result"
    if isinstance(x, e.Index):
        return "part"
    if isinstance(x, (e.Binary, e.Unary)):
        return {"not": "negated", "and": "both", "or": "either"}.get(x.operator, "value")
    return "value"
