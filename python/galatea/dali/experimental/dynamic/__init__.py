"""`nvidia.dali.experimental.dynamic`: operators that are called on data, without a pipeline.

`resize(images, size=[224, 224])` takes and gives a `Batch`, or a `Tensor`; readers are objects
with `next_epoch()`. Each call is a compiled pipeline of one operator, which the next call of the
same operator, arguments, types and ranks uses again; a pipeline of all of them is faster.
"""

from galatea.trace import operators as _operators

from ...names import document as _document
from ...names import getter as _getter
from ...names import place as _place
from . import calls as _calls
from . import checkpoint as checkpoint
from . import math as math
from . import pytorch as pytorch
from . import random as random
from . import readers as readers
from .data import Batch as Batch
from .data import Tensor as Tensor
from .data import as_batch as as_batch
from .data import as_tensor as as_tensor
from .data import batch as batch
from .data import tensor as tensor
from .files import imread as imread
from .kinds import DataType as DataType
from .kinds import DType as DType
from .kinds import ImageType as ImageType
from .kinds import InterpType as InterpType
from .kinds import bfloat16 as bfloat16
from .kinds import boolean as bool  # noqa: A001, F401  (DALI's name)
from .kinds import dtype as dtype
from .kinds import float16 as float16
from .kinds import float32 as float32
from .kinds import float64 as float64
from .kinds import int8 as int8
from .kinds import int16 as int16
from .kinds import int32 as int32
from .kinds import int64 as int64
from .kinds import type_id as type_id
from .kinds import uint8 as uint8
from .kinds import uint16 as uint16
from .kinds import uint32 as uint32
from .kinds import uint64 as uint64
from .places import Device as Device
from .places import EvalContext as EvalContext
from .places import EvalMode as EvalMode
from .places import ThreadPool as ThreadPool
from .places import device as device
from .places import get_current_stream as get_current_stream
from .places import get_default_stream as get_default_stream
from .places import get_num_threads as get_num_threads
from .places import set_current_stream as set_current_stream
from .places import set_default_stream as set_default_stream
from .places import set_num_threads as set_num_threads
from .source import ExternalSource as ExternalSource

# Operators that make no sense on data of one call.
_LEFT_OUT = ("external_source", "python_function", "dl_tensor_python_function")
# Old names that this mode has, too.
_KEPT = ("experimental.decoders.image", "experimental.peek_image_shape")


def _setup() -> None:
    old = _document()["deprecated"]["functions"]
    for path in _document()["functions"]:
        is_kept = path not in old or path.startswith(_KEPT)
        known = is_kept and path not in _LEFT_OUT and not path.startswith("readers.")
        if known and _operators.find(path) is not None:
            _place(__name__, path, _calls.function(path))


_setup()
__path__: list[str] = list(__path__)
__getattr__ = _getter("experimental.dynamic")
