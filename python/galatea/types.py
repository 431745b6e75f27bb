"""Names of values that operators take: element types, colours, filters, layouts.

They mean what DALI's mean. `Constant` makes a data node of numbers.
"""

from __future__ import annotations

import enum
from typing import Any

from galatea.trace import place as _places
from galatea.trace import recorder as _recorders
from galatea.trace.expression import Call as _Call


class _Named(enum.IntEnum):
    @property
    def galatea_text(self) -> str:
        return f"types.{self.name}"

    def __repr__(self) -> str:
        return f"types.{self.name}"


class DALIDataType(_Named):
    """Element types."""

    UINT8 = 0
    UINT16 = 1
    UINT32 = 2
    UINT64 = 3
    INT8 = 4
    INT16 = 5
    INT32 = 6
    INT64 = 7
    FLOAT16 = 8
    FLOAT = 9
    FLOAT64 = 10
    BOOL = 11


class DALIInterpType(_Named):
    """Filters of resampling."""

    INTERP_NN = 0
    INTERP_LINEAR = 1
    INTERP_CUBIC = 2
    INTERP_LANCZOS3 = 3
    INTERP_TRIANGULAR = 4
    INTERP_GAUSSIAN = 5
    INTERP_BOX = 6  # with compat="pil" or "opencv"
    INTERP_HAMMING = 7  # with compat="pil"


class DALIImageType(_Named):
    """Colours of images; the last axis has 3 channels, of GRAY 1."""

    RGB = 0
    BGR = 1
    GRAY = 2
    YCbCr = 3
    ANY_DATA = 4


UINT8 = DALIDataType.UINT8
UINT16 = DALIDataType.UINT16
UINT32 = DALIDataType.UINT32
UINT64 = DALIDataType.UINT64
INT8 = DALIDataType.INT8
INT16 = DALIDataType.INT16
INT32 = DALIDataType.INT32
INT64 = DALIDataType.INT64
FLOAT16 = DALIDataType.FLOAT16
FLOAT = DALIDataType.FLOAT
FLOAT64 = DALIDataType.FLOAT64
BOOL = DALIDataType.BOOL
INTERP_NN = DALIInterpType.INTERP_NN
INTERP_LINEAR = DALIInterpType.INTERP_LINEAR
INTERP_CUBIC = DALIInterpType.INTERP_CUBIC
INTERP_LANCZOS3 = DALIInterpType.INTERP_LANCZOS3
INTERP_TRIANGULAR = DALIInterpType.INTERP_TRIANGULAR
INTERP_GAUSSIAN = DALIInterpType.INTERP_GAUSSIAN
INTERP_BOX = DALIInterpType.INTERP_BOX
INTERP_HAMMING = DALIInterpType.INTERP_HAMMING
RGB = DALIImageType.RGB
BGR = DALIImageType.BGR
GRAY = DALIImageType.GRAY
YCbCr = DALIImageType.YCbCr
ANY_DATA = DALIImageType.ANY_DATA
NO_TYPE = None
NCHW, NHWC, NFHWC, NFCHW = "CHW", "HWC", "FHWC", "FCHW"


def Constant(value: Any, dtype=None, shape=None, layout=None, device=None):
    """A data node that is the same for every sample.

    `value`: a number, a list of numbers or a numpy array; `dtype`: an element type, else INT32,
    FLOAT, BOOL or the array's; `shape`: extents that `value` is spread over or arranged in;
    `layout`: one letter an axis; `device`: "cpu" or "gpu".
    """
    recorder = _recorders.require("`types.Constant`")
    place = _places.caller()
    arguments = [("", recorder.value(value, place))]
    given = {"dtype": dtype, "shape": shape, "layout": layout, "device": device}
    for name, each in given.items():
        if each is not None:
            arguments.append((name, recorder.value(each, place)))
    return recorder.add(_Call("types.Constant", arguments), place=place)


def __getattr__(name: str):
    import difflib

    near = difflib.get_close_matches(name, globals(), 1)
    hint = f"; did you mean `types.{near[0]}`?" if near else ""
    raise AttributeError(f"`galatea.types` has no `{name}`{hint}")
