"""`nvidia.dali.ops`: operators as objects, made with arguments and called with inputs."""

from __future__ import annotations

import sys as _sys
from typing import Any

from galatea.trace import operators as _engine_operators
from galatea.trace.node import Node as _Node

from . import fn as _fn
from .data_node import DataNode as _DataNode  # noqa: F401  (programs compare with it)
from .external_source import ExternalSource as ExternalSource
from .names import document as _document
from .names import WithoutEngine as _WithoutEngine
from .names import getter as _getter
from .names import place as _place
from .signatures import sign_class as _sign_class
from .python_function import DLPACK as _DLPACK
from .python_function import DLTensorPythonFunction as DLTensorPythonFunction
from .python_function import PythonFunction as PythonFunction

_dlpack_from_array, _dlpack_to_array = _DLPACK.give, _DLPACK.take  # for functions on capsules


class Operator(_WithoutEngine):
    """Base of the operators: keyword arguments here are those of every call."""

    _path = ""
    _shown = ""

    def __init__(self, *, device: str = "cpu", **arguments: Any):
        self._device = device
        self._arguments = arguments
        known = _document()["functions"].get(self._path)
        operator = _engine_operators.find(self._path)
        if operator is not None:
            for name, value in arguments.items():
                if name not in operator["args"] and name not in (known or ()):
                    if name not in _fn._COMMON:
                        raise KeyError(f"{self._shown} has no argument `{name}`")
                _fn._check_argument(operator, name, value)

    @property
    def device(self) -> str:
        """ "cpu", "gpu" or "mixed"."""
        return self._device

    @property
    def preserve(self) -> bool:
        """Whether the operator stays where nobody reads what it gives."""
        return bool(self._arguments.get("preserve", False))

    def __call__(self, *inputs: Any, **arguments: Any) -> Any:
        arguments = {name: value for name, value in arguments.items() if value is not None}
        for name in arguments:
            if self._arguments.get(name) is not None:
                raise ValueError(f"the argument `{name}` was given to the constructor already")
        given = {**self._arguments, **arguments}
        if self._device != "cpu":
            given["device"] = self._device
        return _fn.call(self._path, inputs, given, self._shown)


class _Composed:
    def __init__(self, operators: Any):
        self._operators = []
        for operator in operators:
            if isinstance(operator, _Composed):
                self._operators += operator._operators
            else:
                self._operators.append(operator)
        is_cpu = False
        for operator in reversed(self._operators):
            if operator.device == "gpu" and is_cpu:
                raise RuntimeError("an operator on the CPU cannot follow one on a GPU")
            is_cpu = is_cpu or operator.device == "cpu"

    @property
    def device(self) -> str:
        """That of the last operator."""
        return self._operators[-1].device if self._operators else "cpu"

    def __call__(self, *inputs: Any, **arguments: Any) -> Any:
        values = list(inputs)
        for operator in self._operators:
            made = operator(*values, **arguments)
            arguments = {}
            values = [made] if isinstance(made, _Node) else list(made)
        return values[0] if len(values) == 1 else values


def Compose(op_list: Any) -> Any:
    """One operator of several, each called with what the one before gave."""
    return op_list[0] if len(op_list) == 1 else _Composed(op_list)


def _class(path: str, function: str) -> type:
    shown = f"ops.{path}"
    operator = _engine_operators.find(function)
    documentation = (
        _engine_operators.documentation_of(operator)
        if operator is not None
        else f"`nvidia.dali.{shown}`, which galatea has not: calling it raises."
    )

    # Of its own, for they have signatures of their own.
    def __init__(self, **arguments: Any):
        Operator.__init__(self, **arguments)

    def __call__(self, *inputs: Any, **arguments: Any) -> Any:
        """Adds a call to the pipeline: its inputs, and arguments that differ between samples."""
        return Operator.__call__(self, *inputs, **arguments)

    body = {
        "__init__": __init__,
        "__call__": __call__,
        "_path": function,
        "_shown": shown,
        "schema_name": path.replace(".", "__"),
        "__doc__": documentation,
        "__module__": ".".join([__name__, *path.split(".")[:-1]]),
    }
    made = type(path.rsplit(".", 1)[-1], (Operator,), body)
    _sign_class(path, made)
    return made


def _setup() -> None:
    for path, function in sorted(_document()["classes"].items()):
        if path in ("ExternalSource", "PythonFunction", "DLTensorPythonFunction"):
            _sign_class(path, globals()[path])
        else:
            _place(__name__, path, _class(path, function))


def _on(device: str) -> set[str]:
    found = set()
    for path, function in _document()["classes"].items():
        operator = _engine_operators.find(function)
        if operator is not None and device in (operator.get("devices") or ("cpu",)):
            found.add(path.replace(".", "__"))
    return found


def cpu_ops() -> set[str]:
    """Names of the operators for the CPU that galatea has: "Resize", "readers__File"."""
    return _on("cpu")


def gpu_ops() -> set[str]:
    """Names of the operators that run on a GPU, where `galatea.Loader` has one."""
    return _on("gpu")


def mixed_ops() -> set[str]:
    """Names of the operators that take from the host and give to a GPU: decoders of pictures."""
    return _on("mixed")


def _op_name(schema_name: str) -> str:
    """The name of the function of a schema: "readers.file" of "readers__File"."""
    path = schema_name.replace("__", ".")
    return _document()["classes"].get(path, path)


__getattr__ = _getter("ops")
__path__: list[str] = []
_setup()
for _question in (cpu_ops, gpu_ops, mixed_ops):
    _place(__name__, f"_registry.{_question.__name__}", _question)
_sys.modules[f"{__name__}._registry"].__getattr__ = _getter("ops._registry")  # type: ignore
