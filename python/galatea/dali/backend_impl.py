"""`nvidia.dali.backend_impl`: the tensors and types under the name of DALI's extension module."""

import sys

from . import tfrecord as tfrecord
from . import types as types
from .names import getter
from .tensors import TensorCPU as TensorCPU
from .tensors import TensorGPU as TensorGPU
from .tensors import TensorListCPU as TensorListCPU
from .tensors import TensorListGPU as TensorListGPU

__path__: list[str] = []
__getattr__ = getter("backend_impl")
for _module in ("types", "tfrecord"):  # `from nvidia.dali.backend_impl.types import …`
    sys.modules[f"{__name__}.{_module}"] = globals()[_module]
