"""`nvidia.dali.plugin.pytorch`: iterators that give torch tensors."""

from __future__ import annotations

from typing import Any

import torch

from ..names import getter, missing, stand_in
from ..python_function import TorchPythonFunction as TorchPythonFunction
from ..python_function import torch_python_function
from ..tensors import TensorCPU, TensorListCPU
from .base_iterator import LastBatchPolicy as LastBatchPolicy
from .base_iterator import _DaliBaseIterator


def to_torch(array: Any) -> torch.Tensor:
    """A torch tensor over the memory of a numpy array."""
    if not array.flags.writeable or any(stride < 0 for stride in array.strides):
        array = array.copy()
    return torch.from_numpy(array)


def feed_ndarray(dali_tensor: Any, arr: torch.Tensor, cuda_stream: Any = None) -> torch.Tensor:
    """Copies a tensor, or a list of equal ones, into a torch tensor; gives that."""
    if isinstance(dali_tensor, TensorListCPU):
        dali_tensor = dali_tensor.as_tensor()
    if not isinstance(dali_tensor, TensorCPU):
        missing("plugin.pytorch.feed_ndarray of a GPU's tensor", "gpu")
    source = to_torch(dali_tensor._array)
    assert source.dtype == arr.dtype, f"the tensor is {arr.dtype}, and the data {source.dtype}"
    assert (
        source.shape == arr.shape
    ), f"the tensor has extents {list(arr.shape)}, and the data {list(source.shape)}"
    arr.copy_(source)
    return arr


class DALIGenericIterator(_DaliBaseIterator):
    """Gives lists of dictionaries: for each pipeline the outputs by the names of `output_map`.

    A tensor has samples as its first axis; where their extents differ RuntimeError is raised (see
    `DALIRaggedIterator`). Other arguments: `plugin.base_iterator`.
    """

    def __init__(
        self,
        pipelines: Any,
        output_map: list[str],
        size: int = -1,
        reader_name: str | None = None,
        auto_reset: Any = False,
        fill_last_batch: bool | None = None,
        dynamic_shape: bool | None = False,
        last_batch_padded: bool = False,
        last_batch_policy: LastBatchPolicy = LastBatchPolicy.FILL,
        prepare_first_batch: bool = True,
    ):
        assert len(set(output_map)) == len(output_map), "the names of outputs must differ"
        self.output_map = output_map
        self._output_categories = set(output_map)
        super().__init__(
            pipelines,
            size,
            reader_name,
            auto_reset,
            fill_last_batch,
            last_batch_padded,
            last_batch_policy,
            prepare_first_batch,
        )
        self._first_batch: Any = None
        if self._prepare_first_batch:
            try:
                self._first_batch = DALIGenericIterator.__next__(self)
                self._ever_consumed = False
            except StopIteration:
                self._report_no_data_in_pipeline()

    def _convert(self, place: int, output: TensorListCPU) -> Any:
        return to_torch(output.as_tensor()._array)

    def __next__(self) -> list[dict[str, torch.Tensor]]:
        self._ever_consumed = True
        if self._first_batch is not None:
            batch, self._first_batch = self._first_batch, None
            return batch
        outputs = self._get_outputs()
        batches = []
        for lists in outputs:
            by_name = {}
            for place, one in enumerate(lists):
                by_name[self.output_map[place]] = self._convert(place, one)
            batches.append({name: by_name[name] for name in self.output_map})
        self._schedule_runs()
        self._advance_and_check_drop_last()
        return self._cut(batches)


class DALIClassificationIterator(DALIGenericIterator):
    """Outputs "data" and "label"."""

    def __init__(
        self,
        pipelines: Any,
        size: int = -1,
        reader_name: str | None = None,
        auto_reset: Any = False,
        fill_last_batch: bool | None = None,
        dynamic_shape: bool | None = False,
        last_batch_padded: bool = False,
        last_batch_policy: LastBatchPolicy = LastBatchPolicy.FILL,
        prepare_first_batch: bool = True,
    ):
        super().__init__(
            pipelines,
            ["data", "label"],
            size,
            reader_name,
            auto_reset,
            fill_last_batch,
            dynamic_shape,
            last_batch_padded,
            last_batch_policy,
            prepare_first_batch,
        )


class DALIRaggedIterator(DALIGenericIterator):
    """Each output as `output_types` says: DENSE_TAG a tensor, SPARSE_LIST_TAG a list of tensors."""

    DENSE_TAG = "dense"
    SPARSE_LIST_TAG = "sparse_list"
    SPARSE_COO_TAG = "sparse_coo"

    def __init__(
        self,
        pipelines: Any,
        output_map: list[str],
        size: int = -1,
        reader_name: str | None = None,
        output_types: list[str] | None = None,
        auto_reset: Any = False,
        fill_last_batch: bool | None = None,
        dynamic_shape: bool | None = False,
        last_batch_padded: bool = False,
        last_batch_policy: LastBatchPolicy = LastBatchPolicy.FILL,
        prepare_first_batch: bool = True,
    ):
        tags = (self.DENSE_TAG, self.SPARSE_LIST_TAG, self.SPARSE_COO_TAG)
        self.output_types = output_types or [self.DENSE_TAG] * len(output_map)
        assert set(self.output_types) <= set(tags), f"an output type is one of {', '.join(tags)}"
        if self.SPARSE_COO_TAG in self.output_types:
            missing(
                "plugin.pytorch.DALIRaggedIterator.SPARSE_COO_TAG",
                "take lists of tensors (SPARSE_LIST_TAG)",
            )
        super().__init__(
            pipelines,
            output_map,
            size,
            reader_name,
            auto_reset,
            fill_last_batch,
            dynamic_shape,
            last_batch_padded,
            last_batch_policy,
            prepare_first_batch,
        )

    def _convert(self, place: int, output: TensorListCPU) -> Any:
        if self.output_types[place] == self.DENSE_TAG:
            return super()._convert(place, output)
        return [to_torch(one) for one in output._samples]


def _fn() -> Any:
    import sys
    import types

    module = types.ModuleType(f"{__name__}.fn", "Operators on torch tensors, as functions.")
    module.torch_python_function = torch_python_function  # type: ignore[attr-defined]
    sys.modules[module.__name__] = module
    return module


__path__: list[str] = []
fn = _fn()
__getattr__ = getter("plugin.pytorch")
