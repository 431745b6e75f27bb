"""`nvidia.dali.fn`: operators as functions.

Operators that galatea has are its own (`galatea.fn`), with DALI's checks of a call before them;
those that it has not can be named, and raise NotImplementedError where they are called.
"""

from __future__ import annotations

import functools as _functools
import re as _re
import sys
import warnings
from typing import Any, Callable

import numpy as _np

from galatea.trace import operators as _operators
from galatea.trace.node import Node as _Node

from . import enumerations as _enumerations
from . import types as _types
from .errors import DeviceError, NumberOfInputsError
from .external_source import Feed as _Feed
from .external_source import name_of_input as _name_of_input
from .graph import Again as _Again
from .graph import recording as _recording
from .names import document as _document
from .names import getter as _getter
from .names import missing as _missing
from .names import place as _place
from .signatures import sign as _sign

# What DALI has on every operator, and what has no meaning in a compiled pipeline.
_COMMON = {"device", "name", "preserve", "bytes_per_sample_hint", "seed"}
_DROPPED = {"preserve", "bytes_per_sample_hint", "minibatch_size"}
# Operators whose lists without elements say nothing.
_EMPTY_IS_NONE = ("slice", "pad", "erase")
_DEVICES = (None, "cpu", "gpu", "mixed")
_ENUMERATIONS: dict[str, Any] = {
    "dtype": _types.DALIDataType,
    "image type": _types.DALIImageType,
    "interpolation type": _types.DALIInterpType,
}
_LISTS = {"int list": "int", "float list": "float"}
_READ: dict[str, Callable] = {"bool": bool, "int": int, "float": float, **_ENUMERATIONS}
_CONSTANTS = (bool, int, float, list, tuple, _types.ScalarConstant)


def _check_argument(operator: dict, name: str, value: Any) -> None:
    schema = operator["args"].get(name)
    if schema is None or value is None:
        return
    kind = schema["type"]
    shown = f"the argument `{name}` of `nvidia.dali.fn.{operator['name']}`"
    takes = f"it takes {_operators._KINDS.get(kind, kind)}"
    if isinstance(value, _Node):
        if not schema["per_sample"]:
            raise TypeError(
                f"{shown} is the same for all samples: it must not be a 'DataNode' but a '{kind}'; "
                f"{takes}"
            )
        return
    is_list = isinstance(value, (list, tuple)) and not _holds_node(value)
    if kind in _READ and kind != "bool":
        if is_list:
            given = TypeError if value else RuntimeError
            raise given(f"{shown} is a {type(value).__name__}; {takes}{_python_says(kind, value)}")
        if isinstance(value, (dict, set)):
            says = _python_says(kind, value)
            raise TypeError(f"{shown} is a {type(value).__name__}; {takes}{says}")
    if kind in _LISTS:
        if isinstance(value, (dict, set)):
            says = _python_says(_LISTS[kind], value)
            raise TypeError(f"{shown} is a {type(value).__name__}; {takes}{says}")
        if is_list and any(one is None or isinstance(one, (list, tuple)) for one in value):
            raise TypeError(f"{shown} is {value!r}; {takes}")
    if kind in _ENUMERATIONS and isinstance(value, type):
        raise TypeError(f"{shown} is the class {value.__name__}; {takes}")


def _python_says(kind: str, value: Any) -> str:
    """What Python's own `int` and `float` say of a value, for programs that match it."""
    try:
        _READ[kind](value)
    except (TypeError, ValueError) as error:
        return f" ({error})"
    return ""


def _read(operator: dict, name: str, kind: str, value: Any) -> Any:
    """One number as Python's own `int`, `float` and `bool` read it, as DALI does: 2.5 is 2 where
    an integer is wanted, and "2.5" is 2.5 where a number is."""
    if isinstance(value, (_Node, _types.ScalarConstant)) or value is None:
        return value
    if isinstance(value, (_np.ndarray, _np.generic)) and value.size == 1:
        value = value.item()
    has_to_be_read = {
        "bool": not isinstance(value, bool),
        "int": isinstance(value, (float, str, bytes)),
        "float": isinstance(value, (str, bytes)),
    }
    if not has_to_be_read.get(kind, isinstance(value, (int, float, str, bytes))):
        return value
    try:
        if kind in _ENUMERATIONS:
            return _ENUMERATIONS[kind](int(value))
        return _READ[kind](value)
    except (TypeError, ValueError, OverflowError) as error:
        raise type(error)(
            f"the argument `{name}` of nvidia.dali.fn.{operator['name']} is {value!r}; it takes "
            f"{_operators._KINDS.get(kind, kind)} ({error})"
        ) from None


def _given(operator: dict, name: str, value: Any) -> Any:
    """A value for tracing; numbers stand for members of enumerations, arrays of one for numbers."""
    kind = operator["args"].get(name, {}).get("type")
    if kind == "bool" and isinstance(value, (list, tuple)) and not value:
        raise RuntimeError(f"the argument `{name}` of nvidia.dali.fn.{operator['name']} is empty")
    if kind in _READ and not _holds_node(value):
        value = _read(operator, name, kind, value)
    if kind in _LISTS:
        if isinstance(value, bool):
            value = int(value)
        if isinstance(value, _np.ndarray) and value.ndim and value.dtype.kind == "f":
            value = list(value.flatten()) if kind == "int list" else value
        if isinstance(value, (list, tuple)):
            value = [_read(operator, name, _LISTS[kind], one) for one in value]
        elif isinstance(value, (str, bytes, int, float, _np.generic, _np.ndarray)):
            value = _read(operator, name, _LISTS[kind], value)
        if operator["name"] in _EMPTY_IS_NONE and name != "axes":
            value = None if isinstance(value, (list, tuple)) and not value else value
    return _types.text_of(value)


def _holds_node(value: Any) -> bool:
    if isinstance(value, (list, tuple)):
        return any(_holds_node(one) for one in value)
    return isinstance(value, _Node)


def _holds_numbers(value: Any) -> bool:
    if isinstance(value, (list, tuple)):
        return all(_holds_numbers(one) for one in value)
    kinds = (bool, int, float, _np.ndarray, _np.generic, _types.ScalarConstant)
    return isinstance(value, kinds) or _enumerations.kind_of(value) is not None


def _input_of(value: Any, path: str, place: int) -> Any:
    if isinstance(value, _Node):
        return value
    if isinstance(value, (list, tuple)) and _is_set(value):
        return list(value)
    if _holds_node(value):
        raise _no_input(value, path, place, ", and holds other things than data nodes")
    if isinstance(value, (list, tuple)) and not _holds_numbers(value):
        holds = f", and holds {value[0]!r} and the like, no numbers"
        raise _no_input(value, path, place, holds)
    if _types.is_torch(value):
        value = _types.Constant(value, device="cpu")
    if isinstance(value, _Node):
        return value
    if isinstance(value, _types.ScalarConstant):
        return _types.node_of(value)
    if _enumerations.kind_of(value) is not None:
        return _enumerations.constant(value)
    if isinstance(value, (*_CONSTANTS, _np.ndarray, _np.generic)):
        return _types.narrowed(value)
    raise _no_input(value, path, place)


def _no_input(value: Any, path: str, place: int, more: str = "") -> TypeError:
    return TypeError(
        f"`nvidia.dali.fn.{path}` expected a 'DataNode', a list of them, or a number, list or "
        f"array that becomes a constant; it received input `{place}` of type "
        f"{type(value).__name__!r}{more}"
    )


def _no_argument(path: str, shown: str, name: str) -> KeyError:
    schema = _schemas().get(path, path)
    return KeyError(f'{shown}: Argument "{name}" is not defined for operator "{schema}"')


def call(path: str, inputs: tuple, keywords: dict[str, Any], shown: str = "") -> Any:
    """Records one call of an operator in the current pipeline."""
    from .pipeline import Pipeline

    shown = shown or f"fn.{path}"
    operator = _operators.find(path)
    known = _document()["functions"].get(path)
    today = _document()["deprecated"]["functions"].get(path)
    if operator is None and today:
        operator = _operators.find(today)
    if operator is None:
        _missing(shown)
    assert operator is not None
    if not isinstance(keywords.get("device", ""), (str, type(None))):
        raise RuntimeError(f"the device of {shown} is a text, not {keywords['device']!r}")
    if keywords.get("device") not in _DEVICES:
        raise DeviceError(keywords["device"])
    keywords = _of_today(path, shown, keywords)
    if not isinstance(keywords.get("name", ""), (str, type(None))):
        raise TypeError(f"the name of {shown} is a text, not {keywords['name']!r}")
    sets = [value for value in inputs if isinstance(value, (list, tuple)) and _is_set(value)]
    if len({len(value) for value in sets}) > 1:
        raise ValueError(
            f"Multiple Input Sets of nvidia.dali.{shown}: its lists of inputs must have the same "
            "length"
        )
    unknown = [
        name
        for name in keywords
        if name not in operator["args"] and name not in (known or ()) and name not in _COMMON
    ]
    # DALI looks at plain values first, then at the inputs, then at values that become nodes.
    plain = [n for n in unknown if not isinstance(keywords[n], (_Node, _np.ndarray))]
    if plain:
        raise _no_argument(path, shown, plain[0])
    least, most = operator["inputs"]
    if operator.get("parameters") is None and not least <= len(inputs) <= most:
        raise NumberOfInputsError(
            f"nvidia.dali.{shown} expects {least} to {most} inputs, and received {len(inputs)}"
        )
    if unknown:
        raise _no_argument(path, shown, unknown[0])
    pipe = Pipeline.current()
    if pipe is not None and pipe._is_debug:
        inputs, keywords = pipe._nodes_of(inputs, keywords)
    given = [_input_of(value, path, place) for place, value in enumerate(inputs)]
    arguments = {}
    for name, value in keywords.items():
        _check_argument(operator, name, value)
        if name in _DROPPED and name not in operator["args"]:
            continue
        if name == "dtype" and _enumerations.is_kind(value):
            value = _types.DALIDataType.INT32
        arguments[name] = _given(operator, name, value)
    absent = [
        name
        for name, schema in operator["args"].items()
        if schema.get("required") and arguments.get(name) is None
    ]
    if absent:
        names = ", ".join(f'"{name}"' for name in absent)
        schema = _schemas().get(path, path)
        raise RuntimeError(f'{shown} misses required arguments of operator "{schema}": {names}')
    _enumerations.check(operator["name"], inputs, given, keywords)
    is_fed = operator["name"] == "inputs.video"
    if is_fed and pipe is not None and pipe._is_debug:
        raise RuntimeError(
            f"{shown} gives several batches for one that is fed, and debug mode knows one: feed "
            "the bytes to an external_source, and decode them with fn.decoders.video"
        )
    with _recording() as recorder:
        if is_fed:
            taken = pipe._input_nodes if pipe is not None else {}
            arguments["name"] = _name_of_input(arguments.get("name"), recorder, taken)
        made = _operators.call(operator, tuple(given), arguments)
    if is_fed and pipe is not None:
        pipe._input_nodes[made] = arguments["name"]
        pipe._feeds.append(_Feed.of_film(arguments["name"], arguments.get("blocking") is True))
    _enumerations.follow(operator["name"], given, keywords, made)
    if pipe is not None and not arguments.get("name"):
        pipe._unnamed += max(len(sets[0]) if sets else 1, 1)
    is_reader = "readers" in operator["name"].split(".")[:-1]  # experimental ones, too
    if is_reader and pipe is not None:
        pipe._add_reader(operator, arguments, _kind(shown, path))
    if is_reader or is_fed:
        _Again(_nodes_of(made), lambda: _nodes_of(call(path, inputs, keywords, shown)))
    if sets and len(sets[0]) == 1 and isinstance(made, list):
        return made[0]
    return list(made) if isinstance(made, tuple) else made


def _kind(shown: str, path: str) -> str:
    """The name of the class of an operator that was called as `shown`."""
    if not shown.startswith("ops."):
        shown = _classes().get(path, path)
    return shown.rpartition(".")[2]


def _nodes_of(made: Any) -> list[Any]:
    """What a call gave, in order."""
    if isinstance(made, dict):
        return list(made.values())
    return list(made) if isinstance(made, (list, tuple)) else [made]


def _of_today(path: str, shown: str, keywords: dict[str, Any]) -> dict[str, Any]:
    """Arguments under the names that DALI has today, with DALI's warnings for old ones."""
    deprecated = _document()["deprecated"]
    if path in deprecated["functions"]:
        name = deprecated["functions"][path]
        use = f"; today it is `nvidia.dali.fn.{name}`" if name else ""
        _warn(f"`nvidia.dali.{shown}` is an old name and deprecated{use}")
    old = deprecated["arguments"].get(path, {})
    if not old or not any(name in old for name in keywords):
        return keywords
    found = {name: value for name, value in keywords.items() if name not in old}
    for name, value in keywords.items():
        if name not in old:
            continue
        today = old[name]
        if not today:
            _warn(f"the argument `{name}` of {shown} has no effect any more")
        elif today in keywords:
            raise TypeError(
                f"nvidia.dali.{shown} got an unexpected '{name}' deprecated argument when "
                f"'{today}', its name of today, is given, too"
            )
        else:
            _warn(f"the argument `{name}` of {shown} is called `{today}` today")
            found[today] = value
    return found


def _warn(text: str) -> None:
    warnings.warn(text, DeprecationWarning, stacklevel=5)


def _is_set(value: Any) -> bool:
    return bool(value) and all(isinstance(one, _Node) for one in value)


def _function(path: str) -> Callable:
    operator = _operators.find(path)

    def function(*inputs: Any, **arguments: Any) -> Any:
        return call(path, inputs, arguments)

    function.__name__ = function.__qualname__ = path.rsplit(".", 1)[-1]
    function.__module__ = ".".join([__name__, *path.split(".")[:-1]])
    if operator is None:
        function.__doc__ = f"`nvidia.dali.fn.{path}`, which galatea has not: calling it raises."
    else:
        function.__doc__ = _operators.documentation_of(operator)
    return function


def _to_snake_case(name: str) -> str:
    """The name of a function of that of its class: "crop_mirror_normalize", "tfrecord", "mfcc"."""
    return (
        _functions_of_classes().get(name)
        or _re.sub(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", "_", name).lower()
    )


@_functools.cache
def _functions_of_classes() -> dict[str, str]:
    return {
        path.rpartition(".")[2]: name.rpartition(".")[2]
        for path, name in _document()["classes"].items()
    }


@_functools.cache
def _classes() -> dict[str, str]:
    """DALI's names of classes, by its names of functions: "readers.File" of "readers.file"."""
    return {name: path for path, name in _document()["classes"].items()}


@_functools.cache
def _schemas() -> dict[str, str]:
    """DALI's names of schemas, by its names of functions: "readers__File" of "readers.file"."""
    return {name: path.replace(".", "__") for path, name in _document()["classes"].items()}


def _setup() -> None:
    from . import parts
    from . import python_function as functions
    from .external_source import external_source

    written = {
        "external_source": external_source,
        "python_function": functions.python_function,
        "dl_tensor_python_function": functions.dl_tensor_python_function,
    }
    for path in sorted({*_document()["functions"], *_operators.names()}):
        function = written.get(path) or _function(path)
        if path in _schemas():
            function._schema_name = _schemas()[path]
        _sign("fn", path, function)
        _place(__name__, path, function)
    _place(__name__, "_conditional.split", parts.split)
    _place(__name__, "_conditional.merge", parts.merge)
    sys.modules[f"{__name__}._conditional"].__getattr__ = _getter("fn._conditional")  # type: ignore


__getattr__ = _getter("fn")
__path__: list[str] = []
_setup()
