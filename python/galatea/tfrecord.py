"""What `fn.readers.tfrecord` is told of the features of a record, by DALI's names.

`FixedLenFeature((), string, "")` is a text, `FixedLenFeature([2], float32, 0.0)` two numbers,
`VarLenFeature(int64, 0)` as many numbers as a record has, `VarLenFeature([4], float32, 0.0)` rows
of four. Defaults are not used, as in DALI: a record that lacks a FixedLenFeature is an error.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from galatea.types import DALIDataType

__all__ = ["Feature", "FixedLenFeature", "VarLenFeature", "float32", "int64", "string"]

int64 = DALIDataType.INT64
float32 = DALIDataType.FLOAT
string = DALIDataType.UINT8


class Feature(dict):
    """A feature: `dtype`, `fixed`, `shape`."""

    def __init__(self, dtype: Any, fixed: bool, shape: Sequence[int]):
        if dtype not in (int64, float32, string):
            raise TypeError(f"a feature is of int64, float32 or string, not {dtype!r}")
        super().__init__(
            dtype=DALIDataType(dtype), fixed=fixed, shape=[int(extent) for extent in shape]
        )


def FixedLenFeature(shape: Sequence[int], dtype: Any, default_value: Any = None) -> Feature:
    """Numbers of a shape, or a text (`shape` is then ``()``)."""
    return Feature(dtype, True, shape)


def VarLenFeature(*arguments: Any) -> Feature:
    """`VarLenFeature(dtype, default)`: numbers, 1-D; `VarLenFeature(shape, dtype, default)`: rows."""
    has_shape = bool(arguments) and not isinstance(arguments[0], int)
    if not 1 <= len(arguments) - has_shape <= 2:
        raise TypeError("VarLenFeature takes ([shape,] dtype, default_value)")
    return Feature(arguments[has_shape], False, arguments[0] if has_shape else ())
