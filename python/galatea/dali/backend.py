"""`nvidia.dali.backend`: the tensors, under their old names."""

from .names import getter
from .tensors import TensorCPU as TensorCPU
from .tensors import TensorGPU as TensorGPU
from .tensors import TensorListCPU as TensorListCPU
from .tensors import TensorListGPU as TensorListGPU

__getattr__ = getter("backend")
