"""Members of enumerations as data.

A pipeline computes with their numbers, as INT32. Nodes and tensor lists remember whose numbers they
are: `enumeration` is DATA_TYPE, IMAGE_TYPE or INTERP_TYPE, which is DALI's element type of them.
"""

from __future__ import annotations

from typing import Any

from . import types

_KINDS = {
    types.DALIDataType: types.DALIDataType.DATA_TYPE,
    types.DALIImageType: types.DALIDataType.IMAGE_TYPE,
    types.DALIInterpType: types.DALIDataType.INTERP_TYPE,
}
_ALL = frozenset(_KINDS.values())
# Operators whose elements are those of their first input.
_KEEP = ("copy", "permute_batch", "random.choice")


def kind_of(value: Any) -> Any:
    """The kind of a member, or of a list of members of one enumeration; else None."""
    if isinstance(value, (list, tuple)):
        kinds = {kind_of(one) for one in value}
        return kinds.pop() if len(kinds) == 1 else None
    return _KINDS.get(type(value))


def is_kind(dtype: Any) -> bool:
    """Whether an element type is that of an enumeration."""
    return isinstance(dtype, types.DALIDataType) and dtype in _ALL


def constant(value: Any, dtype: Any = None) -> Any:
    """A data node of a member, of members, or of their numbers; `dtype` is their kind."""
    numbers = [int(one) for one in value] if isinstance(value, (list, tuple)) else int(value)
    node = types.node_of(numbers, device="cpu", dtype=types.DALIDataType.INT32)
    node.enumeration = kind_of(value) or dtype
    return node


def check(operator: str, inputs: tuple, given: list, keywords: dict[str, Any]) -> None:
    """Members are cast from and to integers only, and are no numbers to choose below."""
    if operator == "random.choice" and inputs and type(inputs[0]) in _KINDS:
        raise RuntimeError(f"there is nothing to choose from: fn.random.choice got {inputs[0]}")
    if operator != "cast" or not given:
        return
    dtype = keywords.get("dtype")
    kind = getattr(given[0], "enumeration", None)
    is_fraction = isinstance(given[0], float)
    if (kind is not None and dtype in types._float_types) or (is_kind(dtype) and is_fraction):
        raise RuntimeError(
            f"{kind or 'a float'} is not cast to {dtype}: members of enumerations are cast from and "
            "to integers"
        )


def follow(operator: str, given: list, keywords: dict[str, Any], made: Any) -> None:
    """Marks what an operator makes of members, or makes members of numbers."""
    kind = getattr(given[0], "enumeration", None) if given and operator in _KEEP else None
    if operator == "cast" and is_kind(keywords.get("dtype")):
        kind = keywords["dtype"]
    if kind is not None:
        made.enumeration = kind
