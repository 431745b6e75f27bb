"""`GetSchema("Resize")` of `nvidia.dali.backend`: what galatea knows of an operator, asked by the
methods of DALI's schemas. Names and arguments are DALI's, numbers of inputs galatea's."""

from __future__ import annotations

from typing import Any

from galatea.trace import operators as _operators

from . import types as _types
from .names import document, internal, missing
from .signatures import arguments_of


def _text(value: Any) -> str:
    """A default as DALI writes it: numbers of floating point with six digits, lists of numbers with
    a comma behind each, members of enumerations by their numbers."""
    if isinstance(value, bool) or isinstance(value, (int, str)):
        return repr(value)
    if isinstance(value, float):
        return f"{value:.6f}"
    if isinstance(value, (list, tuple)):
        if any(isinstance(one, str) for one in value):
            return repr(list(value))
        return f"[{''.join(_text(one) + ', ' for one in value)}]"
    kind, _, member = repr(value).partition(".")
    return str(int(getattr(getattr(_types, kind), member)))


# Of the kinds of arguments: the name of the element type that DALI gives for them.
_TYPES = {
    "bool": "BOOL",
    "int": "INT32",
    "float": "FLOAT",
    "str": "STRING",
    "layout": "TENSOR_LAYOUT",
    "dtype": "DATA_TYPE",
    "image type": "IMAGE_TYPE",
    "interpolation type": "INTERP_TYPE",
    "int list": "_INT32_VEC",
    "float list": "_FLOAT_VEC",
    "str list": "_STRING_VEC",
    "dtype list": "_DATA_TYPE_VEC",
    "dict": "_FEATURE_DICT",
    "any": "_FLOAT_VEC",
}
_COMMON = {"preserve": "bool", "bytes_per_sample_hint": "int list"}  # of every operator


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
            return {}
        return self._of_galatea()["args"].get(name, {})

    def _default(self, name: str) -> Any:
        """What stands for an argument that is left out; None: nothing does."""
        if name == "device":
            return "cpu"
        if name not in self._arguments and not self.IsDeprecatedArg(name):
            raise KeyError(f'operator "{self._name}" has no argument "{name}"')
        found = arguments_of(self._path).get(name)
        return None if found is None or found.default is found.empty else found.default

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
        return name in self._arguments or self.IsDeprecatedArg(name)

    def IsArgumentOptional(self, name: str) -> bool:
        """Whether a call may leave the argument out."""
        found = arguments_of(self._path).get(name)
        return self.IsDeprecatedArg(name) or (
            found is not None and found.default is not found.empty
        )

    def IsTensorArgument(self, name: str) -> bool:
        """Whether the argument may be a data node, with a value for each sample."""
        return bool(self._argument(name).get("per_sample", False))

    def GetArgumentType(self, name: str) -> Any:
        """The type of the argument's values. Integers are INT32, those of 64 bits, too."""
        self._default(name)
        if self.IsDeprecatedArg(name):
            return _types.DALIDataType.UINT8
        kind = self._argument(name).get("type") or _COMMON.get(name, "any")
        return getattr(_types.DALIDataType, _TYPES[kind])

    def IsDeprecatedArg(self, name: str) -> bool:
        """Whether the argument has another name today, or no effect any more."""
        return name in document()["deprecated"]["arguments"].get(self._path, {})

    def HasArgumentDefaultValue(self, name: str) -> bool:
        """Whether something stands for the argument where a call leaves it out."""
        return self._default(name) is not None

    def GetArgumentDefaultValueString(self, name: str) -> str:
        """What stands for the argument where a call leaves it out, as a text."""
        value = self._default(name)
        if value is None:
            raise ValueError(f'the argument "{name}" of operator "{self._name}" has no default')
        return _text(value)

    def GetArgumentDox(self, name: str) -> str:
        """What the argument means."""
        self._default(name)
        return self._argument(name).get("documentation", "")

    def Dox(self) -> str:
        """What the operator does."""
        return self._of_galatea()["summary"]

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
