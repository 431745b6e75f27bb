"""`nvidia.dali.plugin.pytorch.torch_utils`: element types and copies between DALI and torch."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch

from ...names import getter, missing
from ...tensors import TensorCPU, TensorListCPU
from ...types import DALIDataType

to_torch_type = {
    DALIDataType.FLOAT: torch.float32,
    DALIDataType.FLOAT64: torch.float64,
    DALIDataType.FLOAT16: torch.float16,
    DALIDataType.UINT8: torch.uint8,
    DALIDataType.INT8: torch.int8,
    DALIDataType.BOOL: torch.bool,
    DALIDataType.INT16: torch.int16,
    DALIDataType.INT32: torch.int32,
    DALIDataType.INT64: torch.int64,
}


def to_torch(array: Any) -> torch.Tensor:
    """A torch tensor over the memory of a numpy array, or over a copy where torch takes it not."""
    if not array.flags.writeable or any(stride < 0 for stride in array.strides):
        array = array.copy()
    if array.dtype.char == "Q":  # numpy has two types of this size and kind, torch takes one
        array = array.view(np.uint64)
    return torch.from_numpy(array)


def feed_ndarray(dali_tensor: Any, arr: torch.Tensor, cuda_stream: Any = None) -> torch.Tensor:
    """Copies a tensor, or a list of equal ones, into the torch tensor `arr`; gives that.

    AssertionError where element types or extents differ.
    """
    if not isinstance(dali_tensor, (TensorCPU, TensorListCPU)):
        missing("plugin.pytorch.feed_ndarray of a GPU's tensor", "gpu")
    dtype = to_torch_type[dali_tensor.dtype]
    assert dtype == arr.dtype, f"the tensor is {arr.dtype}, and the data {dtype}"
    if isinstance(dali_tensor, TensorListCPU) and dali_tensor.is_dense_tensor():
        dali_tensor = dali_tensor.as_tensor()
    shape = dali_tensor.shape()
    assert shape == list(
        arr.shape
    ), f"the tensor has extents {list(arr.shape)}, and the data {shape}"
    arr.copy_(to_torch(dali_tensor._array))
    return arr


def to_torch_tensor(dali_tensor: Any, copy: bool) -> torch.Tensor:
    """A torch tensor over a DALI tensor's memory, or over a copy."""
    tensor = to_torch(dali_tensor._array)
    return tensor.clone() if copy else tensor


__getattr__ = getter("plugin.pytorch.torch_utils")
