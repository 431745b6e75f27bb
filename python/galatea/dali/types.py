"""`nvidia.dali.types`: enumerations, constants, what sources are told."""

from __future__ import annotations

import math
import warnings
from enum import Enum
from typing import Any

import numpy as np

from galatea import types as _types
from galatea.sources import BatchInfo as BatchInfo
from galatea.sources import SampleInfo as SampleInfo
from galatea.trace import recorder as _recorders

from .names import getter as _getter


class _Enumeration(type):
    """Enumerations whose members compare with numbers, and that take numbers they do not know."""

    def __new__(mcs, name, bases, body, members=None):
        cls = super().__new__(mcs, name, bases, body)
        cls.__members__ = {}
        for key, value in (members or {}).items():
            cls.__members__[key] = one = object.__new__(cls)
            one._name, one._value = key, value
            setattr(cls, key, one)
        return cls

    def __init__(cls, name, bases, body, members=None):
        super().__init__(name, bases, body)

    def __call__(cls, value):
        number = int(value)
        for one in cls.__members__.values():
            if one.value == number:
                return one
        one = object.__new__(cls)
        one._name, one._value = "???", number
        return one

    def __iter__(cls):
        return iter(cls.__members__.values())

    def __len__(cls):
        return len(cls.__members__)


def _named(name: str, doc: str, members: dict[str, int]) -> Any:
    def text(self):
        return f"{name}.{self.name}"

    body = {
        "__doc__": doc,
        "__module__": __name__,
        "name": property(lambda self: self._name, doc="The name of the member."),
        "value": property(lambda self: self._value, doc="The number of the member."),
        "__str__": text,
        "__repr__": lambda self: f"<{name}.{self.name}: {self.value}>",
        "__int__": lambda self: self.value,
        "__index__": lambda self: self.value,
        "__hash__": lambda self: hash(self.value),
        "__eq__": lambda self, other: _number(other) == self.value,
        "__ne__": lambda self, other: _number(other) != self.value,
        "__reduce__": lambda self: (type(self), (self.value,)),
        "galatea_text": property(lambda self: f"types.{self.name}"),
    }
    return _Enumeration(name, (), body, members)


def _number(value: Any) -> Any:
    try:
        return int(value)
    except (TypeError, ValueError):
        return None


_NUMBERS = {member.name: int(member) for member in _types.DALIDataType}
DALIDataType = _named(
    "DALIDataType",
    "Element types, and kinds of arguments.",
    {
        "NO_TYPE": -1,
        **_NUMBERS,
        "STRING": 12,
        "FEATURE": 17,
        "IMAGE_TYPE": 20,
        "DATA_TYPE": 21,
        "INTERP_TYPE": 22,
        "TENSOR_LAYOUT": 23,
        "PYTHON_OBJECT": 24,
        "_BOOL_VEC": 13,
        "_INT32_VEC": 14,
        "_STRING_VEC": 15,
        "_FLOAT_VEC": 16,
        "_FEATURE_VEC": 18,
        "_FEATURE_DICT": 19,
        "_TENSOR_LAYOUT_VEC": 25,
        "_DATA_TYPE_VEC": 26,
        "_INT64_VEC": 27,
    },
)
DALIImageType = _named(
    "DALIImageType", "Colours of images.", {m.name: int(m) for m in _types.DALIImageType}
)
DALIInterpType = _named(
    "DALIInterpType", "Filters.", {m.name: int(m) for m in _types.DALIInterpType}
)
for _kind in (DALIDataType, DALIImageType, DALIInterpType):
    globals().update(_kind.__members__)
NCHW, NHWC, NFHWC, NFCHW, SAME = "CHW", "HWC", "FHWC", "FCHW", ""
CPU_ONLY_DEVICE_ID = -99999

_NUMPY = {
    "BOOL": np.bool_,
    "INT8": np.int8,
    "INT16": np.int16,
    "INT32": np.int32,
    "INT64": np.int64,
    "UINT8": np.uint8,
    "UINT16": np.uint16,
    "UINT32": np.uint32,
    "UINT64": np.uint64,
    "FLOAT16": np.float16,
    "FLOAT": np.float32,
    "FLOAT64": np.float64,
}


def _format(self) -> str:
    """What `tensor.dtype()` gives, as programs for DALI before 1.0 write it: "=f" of floats."""
    warnings.warn("`.dtype()` is an old form: `.dtype` is the element type", Warning, stacklevel=2)
    return "=" + np.dtype(to_numpy_type(self)).char.replace("l", "q").replace("L", "Q")


DALIDataType.__call__ = _format
_all_types = [getattr(DALIDataType, name) for name in _NUMPY]
_bool_types, _int_types, _float_types = _all_types[:1], _all_types[1:9], _all_types[9:]
_int_like_types = _bool_types + _int_types
_enum_types = [DALIDataType.IMAGE_TYPE, DALIDataType.DATA_TYPE, DALIDataType.INTERP_TYPE]
_DALIDataType = DALIDataType
_TO_NUMPY = {getattr(DALIDataType, name): kind for name, kind in _NUMPY.items()}
_OF_NUMPY = {np.dtype(kind): dali for dali, kind in _TO_NUMPY.items()}


def spelt(dtype: DALIDataType) -> str:
    """An element type as DALI's messages have it: "float" of FLOAT, "int32" of INT32."""
    names = {DALIDataType.FLOAT: "float", DALIDataType.FLOAT64: "double"}
    return names.get(dtype, dtype.name.lower())


def to_numpy_type(dali_type: Any) -> type:
    """The numpy type of an element type; KeyError where it is none of numbers."""
    return _TO_NUMPY[dali_type]


def to_dali_type(framework_type: Any) -> Any:
    """The element type of a numpy or torch type; TypeError where there is none."""
    text = str(framework_type)
    if text.startswith("torch."):
        text = text[len("torch.") :]
    try:
        return _OF_NUMPY[np.dtype(framework_type if text == str(framework_type) else text)]
    except (KeyError, TypeError):
        raise TypeError(f"{text!r} is no element type of DALI's") from None


def text_of(value: Any) -> Any:
    """A value for galatea's tracing: these enumerations become those of `galatea.types`."""
    if isinstance(value, ScalarConstant):
        return value.value
    if type(value) in (DALIDataType, DALIImageType, DALIInterpType):
        kind = getattr(_types, type(value).__name__)
        if value.name not in kind.__members__:
            raise ValueError(f"{value} cannot be used here")
        return kind[value.name]
    if isinstance(value, (list, tuple)):
        return type(value)(text_of(one) for one in value)
    return value


class TensorLayout(str):
    """The names of axes, a letter each: a text."""

    def __repr__(self) -> str:
        return f"nvidia.dali.types.TensorLayout({str.__repr__(self)})"

    __str__ = str.__str__


class PipelineAPIType(Enum):
    """Which of the ways to run a pipeline is used; they do not mix."""

    BASIC = 0
    ITERATOR = 1
    SCHEDULED = 2


class CUDAStream:
    """A CUDA stream by its address."""

    ptr = 0

    def __init__(self, ptr: int = 0):
        self.ptr = ptr


class ScalarConstant:
    """A number with an element type, for expressions on data nodes: `Constant(3).uint8()`."""

    __array_ufunc__ = None

    def __init__(self, value: Any, dtype: Any = None):
        self.shape: list = []
        if isinstance(value, ScalarConstant):
            value, dtype = value.value, dtype if dtype is not None else value.dtype
            raise TypeError(f"{str(dtype)!r}: a constant of a constant has no element type")
        if not isinstance(value, (bool, int, float)):
            raise TypeError(
                "a constant is a bool, an int or a float, not a "
                f"{type(value).__module__}.{type(value).__qualname__}"
            )
        if dtype is None:
            dtype = {bool: DALIDataType.BOOL, int: DALIDataType.INT32, float: DALIDataType.FLOAT}[
                type(value)
            ]
        if dtype not in (DALIDataType.BOOL, *_int_types, *_float_types):
            raise TypeError(f"a constant holds numbers, not {dtype}")
        if dtype == DALIDataType.BOOL:
            value = bool(value)
        elif dtype in _int_types:
            value = int(value)
        else:
            value = float(value)
        self.dtype = dtype
        self.value = value

    @property
    def galatea_text(self) -> str:
        """How it is written in a pipeline's text."""
        return f"types.Constant({self.value!r}, dtype=types.{self.dtype.name})"

    def _as(self, name: str) -> "ScalarConstant":
        return ScalarConstant(self.value, getattr(DALIDataType, name))

    def bool(self):
        return self._as("BOOL")

    def int8(self):
        return self._as("INT8")

    def int16(self):
        return self._as("INT16")

    def int32(self):
        return self._as("INT32")

    def int64(self):
        return self._as("INT64")

    def uint8(self):
        return self._as("UINT8")

    def uint16(self):
        return self._as("UINT16")

    def uint32(self):
        return self._as("UINT32")

    def uint64(self):
        return self._as("UINT64")

    def float16(self):
        return self._as("FLOAT16")

    def float32(self):
        return self._as("FLOAT")

    def float64(self):
        return self._as("FLOAT64")

    def _need(self, kinds: tuple, what: str) -> None:
        if self.dtype not in kinds:
            raise TypeError(f"a constant of {self.dtype} is no {what}; convert it first")

    def __bool__(self):
        self._need(_int_like_types, "bool")
        return bool(self.value)

    def __int__(self):
        self._need(_int_types, "integer")
        return self.value

    def __float__(self):
        self._need(_float_types, "float")
        return self.value

    def __eq__(self, other):
        if isinstance(other, ScalarConstant):
            return self.value == other.value and self.dtype == other.dtype
        if _is_node(other):
            return node_of(self) == other
        return self.value == other

    def __ne__(self, other):
        if _is_node(other):
            return node_of(self) != other
        return not self == other

    __hash__ = None  # type: ignore[assignment]

    def __str__(self):
        return f"{self.value}:{self.dtype}"

    def __repr__(self):
        return str(self.value)


def _is_node(value: Any) -> bool:
    from galatea.trace.node import Node

    return isinstance(value, Node)


def _add_operators() -> None:
    import operator

    for name in "add sub mul truediv floordiv mod pow lt le gt ge and or xor".split():
        plain = getattr(operator, name if name not in ("and", "or") else f"{name}_")

        def forward(self, other, plain=plain):
            return plain(node_of(self), other) if _is_node(other) else NotImplemented

        def backward(self, other, plain=plain):
            return plain(other, node_of(self)) if _is_node(other) else NotImplemented

        setattr(ScalarConstant, f"__{name}__", forward)
        if name not in ("lt", "le", "gt", "ge"):
            setattr(ScalarConstant, f"__r{name}__", backward)


_add_operators()


def is_torch(value: Any) -> bool:
    """Whether a value is a tensor of torch, which is not imported for it."""
    return hasattr(value, "detach") and hasattr(value, "numpy")


def narrowed(value: Any) -> Any:
    """A number of numpy as the constant that DALI makes of it, of at most 32 bits.

    OverflowError where an integer needs more; numbers and arrays with axes stay as they are.
    """
    if not isinstance(value, (np.ndarray, np.generic)) or value.ndim or value.dtype.itemsize < 8:
        return value
    narrow = {"i": np.int32, "u": np.uint32, "f": np.float32}.get(value.dtype.kind)
    return value if narrow is None else narrow(value.item())


def node_of(value: Any, layout=None, device=None, dtype=None, shape=None) -> Any:
    """A data node of a constant, in the current pipeline."""
    if isinstance(value, ScalarConstant):
        dtype, value = value.dtype, value.value
        if dtype in _int_types:  # as an output it has the nearest value that its type holds
            limits = np.iinfo(to_numpy_type(dtype))
            value = min(max(value, int(limits.min)), int(limits.max))
    if dtype is None:
        value = narrowed(value)
    dtype = None if dtype is None else text_of(dtype)
    from .graph import recording

    with recording():
        return _types.Constant(value, dtype=dtype, shape=shape, layout=layout, device=device)


def Constant(value: Any, dtype=None, shape=None, layout=None, device=None, **kwargs: Any) -> Any:
    """The same value for every sample.

    A number without `shape`, `layout` and `device` gives a `ScalarConstant` for expressions; a
    list or an array, or any of those arguments, a data node of the current pipeline.
    """
    if isinstance(value, ScalarConstant):
        value, dtype = value.value, value.dtype if dtype is None else dtype
    from . import enumerations

    if enumerations.kind_of(value) is not None or enumerations.is_kind(dtype):
        return enumerations.constant(value, dtype)
    is_numpy = isinstance(value, (np.ndarray, np.generic)) and not value.ndim
    is_number = isinstance(value, (bool, int, float)) or is_numpy
    if is_number and shape is None and layout is None and device is None:
        if is_numpy:
            dtype = to_dali_type(value.dtype) if dtype is None else dtype
            value = value.item()
        return ScalarConstant(value, dtype)
    array_types = (bool, int, float, list, tuple, np.ndarray, np.generic)
    if is_torch(value):
        value = value.detach().cpu().numpy()
        if value.ndim and dtype is None:
            dtype = to_dali_type(value.dtype)  # those of 64 bits stay
    if not isinstance(value, array_types):
        raise TypeError(
            f"Expected scalar value, a list of numbers or an array as a constant, not {type(value)}"
        )
    if isinstance(value, (list, tuple)):
        if not all(isinstance(one, (bool, int, float, np.generic)) for one in value):
            raise TypeError("a constant is a number, a flat list of numbers or an array")
        value = list(value)
    if isinstance(value, np.ndarray) and dtype is not None:
        value = value.astype(to_numpy_type(dtype))
    elif dtype in _int_like_types:
        value = _whole(value, dtype == DALIDataType.BOOL)
    return node_of(value, layout, device, dtype, shape)


def _whole(value: Any, is_bool: bool) -> Any:
    """Numbers, of a list too, as bools or rounded to integers."""
    if isinstance(value, list):
        return [_whole(one, is_bool) for one in value]
    if not math.isfinite(value):
        return value  # which the engine refuses
    return round(value) != 0 if is_bool else round(value)


def ConstantNode(device, value, dtype, shape, layout, **kwargs: Any) -> Any:
    """A data node of a constant."""
    return node_of(value, layout, device, dtype, shape)


def is_recording() -> bool:
    """Whether a pipeline is being defined."""
    return _recorders.current() is not None


__getattr__ = _getter("types")
