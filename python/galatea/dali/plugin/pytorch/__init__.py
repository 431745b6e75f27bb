"""`nvidia.dali.plugin.pytorch`: iterators that give torch tensors."""

from __future__ import annotations

from typing import Any

import torch

from ...names import getter
from ...pipeline import Pipeline as Pipeline
from ...tensors import TensorCPU as TensorCPU
from ...tensors import TensorGPU as TensorGPU
from ...tensors import TensorListCPU
from ...tensors import TensorListGPU as TensorListGPU
from ..base_iterator import LastBatchPolicy as LastBatchPolicy
from ..base_iterator import _DaliBaseIterator
from . import fn as fn
from .fn import TorchPythonFunction as TorchPythonFunction
from .torch_utils import feed_ndarray as feed_ndarray
from .torch_utils import to_torch
from .torch_utils import to_torch_type as to_torch_type


class _TorchIterator(_DaliBaseIterator):
    """What the iterators of torch share."""

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
        self._prepare()

    def _convert(self, place: int, output: TensorListCPU) -> Any:
        return to_torch(output.as_tensor()._array)

    def _make_batch(self) -> list[dict[str, Any]]:
        batches = []
        for outputs in self._get_outputs():
            by_name = {self.output_map[i]: self._convert(i, one) for i, one in enumerate(outputs)}
            batches.append({name: by_name[name] for name in self.output_map})
        self._schedule_runs()
        self._advance_and_check_drop_last()
        return self._cut(batches)


class DALIGenericIterator(_TorchIterator):
    """Gives lists of dictionaries: for each pipeline the outputs by the names of `output_map`.

    A tensor has samples as its first axis; where their extents differ RuntimeError is raised (see
    `DALIRaggedIterator`). Other arguments: `plugin.base_iterator`.
    """


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


class DALIRaggedIterator(_TorchIterator):
    """Each output in the form that `output_types` gives it; DENSE_TAG where it is None.

    DENSE_TAG: one tensor; SPARSE_LIST_TAG: a list of tensors, one a sample; SPARSE_COO_TAG: a
    sparse tensor of samples of one axis, (sample, position) -> value.
    """

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
        assert set(output_types or ()) <= set(tags), f"an output type is one of {', '.join(tags)}"
        self._outputs_types = output_types
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
        tag = self.DENSE_TAG if self._outputs_types is None else self._outputs_types[place]
        if tag == self.DENSE_TAG:
            return super()._convert(place, output)
        samples = [to_torch(one) for one in output._samples]
        return _coo(samples) if tag == self.SPARSE_COO_TAG else samples


def _coo(samples: list[torch.Tensor]) -> torch.Tensor:
    """A sparse tensor whose element (i, j) is element j of sample i."""
    ndim = samples[0].ndim
    if ndim != 1:
        raise (RuntimeError if ndim else IndexError)(
            f"SPARSE_COO_TAG is for samples of one axis; these have {ndim}: take SPARSE_LIST_TAG"
        )
    places = [
        torch.stack([torch.full((len(sample),), i), torch.arange(len(sample))])
        for i, sample in enumerate(samples)
    ]
    return torch.sparse_coo_tensor(torch.hstack(places), torch.hstack(samples))


__getattr__ = getter("plugin.pytorch")
