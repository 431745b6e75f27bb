"""Element types of dynamic mode: `uint8`, `float32`, … and what stands for them elsewhere."""

from __future__ import annotations

from enum import Enum
from typing import Any

import numpy as np

from ... import types

_EXPONENT_BITS = {16: 5, 32: 8, 64: 11}


class DType:
    """An element type: `kind`, `bits`, and `type_id`, its member of `types.DALIDataType`."""

    class Kind(Enum):
        """What the bits stand for."""

        signed = 1
        unsigned = 2
        float = 3
        bool = 4
        enum = 5

    def __init__(
        self,
        kind: "DType.Kind",
        bits: int,
        exponent_bits: int | None = None,
        significand_bits: int | None = None,
        type_id: Any = None,
        name: str | None = None,
    ):
        self.kind, self.bits, self.bytes, self.type_id = kind, bits, bits // 8, type_id
        self.exponent_bits = self.significand_bits = None
        if kind is DType.Kind.float:
            self.exponent_bits = exponent_bits or _EXPONENT_BITS[bits]
            self.significand_bits = significand_bits or bits - self.exponent_bits - 1
        letter = "i" if kind is DType.Kind.signed else kind.name[0]
        self.name = name or ("bool" if kind is DType.Kind.bool else f"{letter}{bits}")

    @property
    def numpy(self) -> np.dtype:
        """The same type of numpy's."""
        if self.type_id is None or self.kind is DType.Kind.enum:
            raise TypeError(f"{self.name} is only a name: numpy has no such element type")
        return np.dtype(types.to_numpy_type(self.type_id))

    def _key(self) -> tuple:
        enumeration = self.name if self.kind is DType.Kind.enum else ""
        return self.kind, self.bits, self.exponent_bits, enumeration

    def __eq__(self, other: Any) -> bool:
        if not isinstance(other, DType):
            return NotImplemented
        return self._key() == other._key()

    def __hash__(self) -> int:
        return hash(self._key())

    def __str__(self) -> str:
        return self.name

    def __repr__(self) -> str:
        parts = ""
        if self.kind is DType.Kind.float:
            parts = f", exponent_bits={self.exponent_bits}"
            parts += f", significand_bits={self.significand_bits}"
        return f"DType(kind=Kind.{self.kind.name}, bits={self.bits}{parts})"

    @staticmethod
    def from_type_id(type_id: types.DALIDataType) -> "DType":
        """The type of a member of `types.DALIDataType`."""
        if type_id not in _OF_ID:
            raise KeyError(f"{type_id} is no element type of dynamic mode")
        return _OF_ID[type_id]

    @staticmethod
    def from_fw_type(numpy_type: Any) -> "DType":
        """The type of one of numpy's."""
        return DType.from_type_id(types.to_dali_type(np.dtype(numpy_type)))

    @staticmethod
    def parse(name: str) -> "DType":
        """The type of a short name: "u8", "f32", "bool"."""
        for one in (*_OF_ID.values(), bfloat16):
            if one.name == name:
                return one
        raise ValueError(f"Unsupported type name: {name}; there are {', '.join(_names())}")

    def __call__(self, data: Any, **options: Any) -> Any:
        """A tensor of this type."""
        from .data import tensor

        return tensor(data, dtype=self, **options)


_KINDS = {"int": "signed", "uint": "unsigned", "float": "float"}
_OF_ID: dict[Any, DType] = {}


def _names() -> list[str]:
    return [one.name for one in _OF_ID.values()]


def _made(name: str, type_id: types.DALIDataType) -> DType:
    kind = name.rstrip("0123456789")
    bits = int(name[len(kind) :] or 8)
    _OF_ID[type_id] = DType(DType.Kind[_KINDS.get(kind, kind)], bits, type_id=type_id)
    return _OF_ID[type_id]


def _enumeration(name: str, type_id: types.DALIDataType) -> DType:
    _OF_ID[type_id] = DType(DType.Kind.enum, 32, type_id=type_id, name=name)
    return _OF_ID[type_id]


int8 = _made("int8", types.INT8)
int16 = _made("int16", types.INT16)
int32 = _made("int32", types.INT32)
int64 = _made("int64", types.INT64)
uint8 = _made("uint8", types.UINT8)
uint16 = _made("uint16", types.UINT16)
uint32 = _made("uint32", types.UINT32)
uint64 = _made("uint64", types.UINT64)
float16 = _made("float16", types.FLOAT16)
float32 = _made("float32", types.FLOAT)
float64 = _made("float64", types.FLOAT64)
boolean = _made("bool", types.BOOL)
# Names without tensors, as DALI's.
bfloat16 = DType(DType.Kind.float, 16, exponent_bits=8, significand_bits=7, name="bfloat16")
DataType = _enumeration("DataType", types.DATA_TYPE)
ImageType = _enumeration("ImageType", types.IMAGE_TYPE)
InterpType = _enumeration("InterpType", types.INTERP_TYPE)


def dtype(what: Any) -> DType:
    """The type that a member of `types`, a short name or a type of numpy stands for."""
    if isinstance(what, DType):
        return what
    if isinstance(what, types.DALIDataType):
        return DType.from_type_id(what)
    return DType.parse(what) if isinstance(what, str) else DType.from_fw_type(what)


def type_id(what: Any) -> types.DALIDataType:
    """The member of `types.DALIDataType` of a type."""
    if isinstance(what, types.DALIDataType):
        return what
    if not isinstance(what, DType):
        raise ValueError(f"{what!r} is no element type")
    return what.type_id
