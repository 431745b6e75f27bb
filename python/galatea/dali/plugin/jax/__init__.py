"""`nvidia.dali.plugin.jax`: iterators that give jax arrays, on the CPU."""

from ...names import getter
from ..base_iterator import LastBatchPolicy as LastBatchPolicy
from . import fn as fn
from .iterator import DALIGenericIterator as DALIGenericIterator
from .iterator import data_iterator as data_iterator

__getattr__ = getter("plugin.jax")
