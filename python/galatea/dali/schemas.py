"""`GetSchema("Resize")` of `nvidia.dali.backend`: what galatea knows of an operator, asked by the
methods of DALI's schemas. Names and arguments are DALI's, numbers of inputs galatea's."""

from __future__ import annotations

from typing import Any

from galatea.trace import operators as _operators

from .errors import OperatorError
from .names import document, internal, missing


class OpSchema:
    """An operator under the name of its class, "Resize" or "readers__File"."""

    def __init__(self, name: str, path: str):
        self._name, self._path = name, path
        known = set(document()["functions"].get(path, ())) - {"device", "name"}  # of every operator
        self._arguments: list[str] = sorted(known)
        self._operator: dict[str, Any] | None = _operators.find(path)

    def _of_galatea(self) -> dict[str, Any]:
        if self._operator is None:
            missing(self._path)
        return self._operator

    def _argument(self, name: str) -> dict[str, Any]:
        if name not in self._arguments:
            raise OperatorError(f"{self._name} has no argument {name!r}")
        return self._of_galatea()["args"].get(name, {})

    def Name(self) -> str:
        """The name that `GetSchema` takes."""
        return self._name

    def OperatorName(self) -> str:
        """The name without its modules."""
        return self._name.rpartition("__")[2]

    def ModulePath(self) -> list[str]:
        """The modules that the operator is in."""
        return self._name.split("__")[:-1]

    def MinNumInput(self) -> int:
        """The fewest inputs of a call."""
        return self._of_galatea()["inputs"][0]

    def MaxNumInput(self) -> int:
        """The most inputs of a call."""
        return self._of_galatea()["inputs"][1]

    def GetArgumentNames(self) -> list[str]:
        """The names of all arguments."""
        return list(self._arguments)

    def HasArgument(self, name: str) -> bool:
        """Whether there is an argument of this name."""
        return name in self._arguments

    def IsArgumentOptional(self, name: str) -> bool:
        """Whether a call may leave the argument out."""
        return self.HasArgument(name) and not self._argument(name).get("required", False)

    def IsTensorArgument(self, name: str) -> bool:
        """Whether the argument may be a data node, with a value for each sample."""
        return bool(self._argument(name).get("per_sample", False))

    def IsDeprecated(self) -> bool:
        """Whether the operator has another name today."""
        return self._path in document()["deprecated"]["functions"]


for _member in document()["members"]["backend.OpSchema"]:
    if not hasattr(OpSchema, _member):
        setattr(OpSchema, _member, internal(f"backend.OpSchema.{_member}"))


def TryGetSchema(name: str) -> OpSchema | None:
    """The schema of this name; None where DALI has none."""
    path = document()["classes"].get(str(name).replace("__", "."))
    return None if path is None else OpSchema(str(name), path)


def GetSchema(name: str) -> OpSchema:
    """The schema of this name; KeyError where DALI has none."""
    found = TryGetSchema(name)
    if found is None:
        raise KeyError(f"there is no operator {name!r}; `readers__File` is one of a module")
    return found
