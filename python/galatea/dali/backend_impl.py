"""`nvidia.dali.backend_impl`: the tensors and types under the name of DALI's extension module."""

import sys

from . import types as types
from .names import getter
from .tensors import TensorCPU as TensorCPU
from .tensors import TensorGPU as TensorGPU
from .tensors import TensorListCPU as TensorListCPU
from .tensors import TensorListGPU as TensorListGPU

__path__: list[str] = []
__getattr__ = getter("backend_impl")
sys.modules[f"{__name__}.types"] = types  # `from nvidia.dali.backend_impl.types import …`
