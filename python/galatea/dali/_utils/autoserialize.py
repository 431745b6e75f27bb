"""`nvidia.dali._utils.autoserialize`: how a server finds the pipeline of a model."""

from __future__ import annotations

import inspect
from types import ModuleType
from typing import Any

from ..names import getter


def _marked(module: ModuleType, seen: set[int]) -> dict[int, Any]:
    """Functions marked by `plugin.triton.autoserialize`, in a module and those that it imports."""
    seen.add(id(module))
    found = {}
    for name in dir(module):
        try:
            value = getattr(module, name)
        except ImportError:  # a module that is loaded when it is used, and is not there
            continue
        if inspect.ismodule(value) and id(value) not in seen:
            found.update(_marked(value, seen))
        elif inspect.isfunction(value) and getattr(value, "_is_autoserialize", False):
            found[id(value)] = value
    return found


def invoke_autoserialize(head_module: ModuleType, filename: str) -> None:
    """Writes the pipeline of a model to a file: that of the one marked function of the module."""
    found = list(_marked(head_module, set()).values())
    if len(found) != 1:
        names = ", ".join(f"`{one.__name__}`" for one in found) or "none"
        raise RuntimeError(
            f"a model has one function marked by `autoserialize`; {head_module.__name__!r} and what "
            f"it imports have {names}"
        )
    found[0]().serialize(filename=filename)


__getattr__ = getter("_utils.autoserialize")
