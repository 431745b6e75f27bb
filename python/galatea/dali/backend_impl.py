"""`nvidia.dali.backend_impl`: the tensors and types under the name of DALI's extension module."""

import sys

from . import tfrecord as tfrecord
from . import types as types
from .backend import GetCUDADeviceCount as GetCUDADeviceCount
from .backend import GetDeviceBufferGrowthFactor as GetDeviceBufferGrowthFactor
from .backend import GetHostBufferGrowthFactor as GetHostBufferGrowthFactor
from .backend import GetHostBufferShrinkThreshold as GetHostBufferShrinkThreshold
from .backend import GetSchema as GetSchema
from .backend import IsDriverInitialized as IsDriverInitialized
from .backend import OpSchema as OpSchema
from .backend import ReleaseUnusedMemory as ReleaseUnusedMemory
from .backend import SetBufferGrowthFactor as SetBufferGrowthFactor
from .backend import SetDeviceBufferGrowthFactor as SetDeviceBufferGrowthFactor
from .backend import SetHostBufferGrowthFactor as SetHostBufferGrowthFactor
from .backend import SetHostBufferShrinkThreshold as SetHostBufferShrinkThreshold
from .backend import TryGetSchema as TryGetSchema
from .names import getter
from .tensors import TensorCPU as TensorCPU
from .tensors import TensorGPU as TensorGPU
from .tensors import TensorListCPU as TensorListCPU
from .tensors import TensorListGPU as TensorListGPU

__path__: list[str] = []
__getattr__ = getter("backend_impl")
for _module in ("types", "tfrecord"):  # `from nvidia.dali.backend_impl.types import …`
    sys.modules[f"{__name__}.{_module}"] = globals()[_module]
