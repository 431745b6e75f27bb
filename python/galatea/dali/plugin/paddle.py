"""`nvidia.dali.plugin.paddle`: iterators that give paddle's tensors, on the CPU."""

from __future__ import annotations

from typing import Any

import numpy as np
import paddle

from ..names import getter, missing
from ..tensors import TensorCPU, TensorListCPU
from ..types import DALIDataType
from .base_iterator import LastBatchPolicy as LastBatchPolicy
from .base_iterator import _DaliBaseIterator

_core = paddle.framework.core
_TYPES = _core.VarDesc.VarType
dtype_map = {
    DALIDataType.BOOL: _TYPES.BOOL,
    DALIDataType.FLOAT: _TYPES.FP32,
    DALIDataType.FLOAT64: _TYPES.FP64,
    DALIDataType.FLOAT16: _TYPES.FP16,
    DALIDataType.UINT8: _TYPES.UINT8,
    DALIDataType.INT8: _TYPES.INT8,
    DALIDataType.INT16: _TYPES.INT16,
    DALIDataType.INT32: _TYPES.INT32,
    DALIDataType.INT64: _TYPES.INT64,
}


def to_paddle_type(tensor: Any) -> Any:
    """Paddle's element type of a tensor or tensor list; KeyError where paddle has none."""
    return dtype_map[tensor.dtype]


def feed_ndarray(dali_tensor: Any, ptr: int, cuda_stream: Any = None) -> int:
    """Copies a tensor, or a list of equal ones, to the address `ptr`; gives that."""
    if not isinstance(dali_tensor, (TensorCPU, TensorListCPU)):
        missing("plugin.paddle.feed_ndarray of a GPU's tensor", "gpu")
    dali_tensor.copy_to_external(ptr)
    return ptr


def recursive_length(tensor: Any, lod_level: int) -> list[list[int]]:
    """Extents of the first `lod_level` axes, counted from the list of samples inward.

    Level 0 has one number, that of samples; level k+1 has one for each element of level k.
    """
    levels: list[list[int]] = [[] for _ in range(lod_level)]

    def add(shape: tuple, level: int) -> None:
        if level < lod_level:
            levels[level].append(shape[0])
            for _ in range(shape[0]):
                add(shape[1:], level + 1)

    if isinstance(tensor, TensorListCPU):
        levels[0].append(len(tensor))
        for shape in tensor.shape():
            add(shape, 1)
    else:
        add(tuple(tensor.shape() if callable(tensor.shape) else tensor.shape), 0)
    return levels


def _dense_tensor(array: np.ndarray, lengths: list[list[int]]) -> Any:
    """A paddle tensor over an array's memory, or over a copy's where paddle takes it not."""
    if not array.flags.writeable:
        array = array.copy()
    made = _core.from_dlpack(array.__dlpack__())
    if lengths:
        made.set_recursive_sequence_lengths(lengths)
    return made


def lod_tensor_clip(lod_tensor: Any, size: int) -> Any:
    """The first `size` samples of a tensor, and their sequences."""
    count, lengths = size, []
    for offsets in lod_tensor.lod():
        lengths.append(np.diff(offsets[: count + 1]).tolist())
        count = offsets[count]
    return _dense_tensor(np.array(lod_tensor)[:count], lengths)


class DALIGenericIterator(_DaliBaseIterator):
    """Gives lists of dictionaries: for each pipeline paddle's DenseTensors by name.

    `output_map`: names, or pairs of a name and a level of detail (LoD). With level 0 samples have
    the same extents, and are the first axis; with level k samples may differ in their first k
    axes, which are flattened to one, and `lod()` says where they begin. Other arguments:
    `plugin.base_iterator`.
    """

    def __init__(
        self,
        pipelines: Any,
        output_map: list[Any],
        size: int = -1,
        reader_name: str | None = None,
        auto_reset: Any = False,
        fill_last_batch: bool | None = None,
        dynamic_shape: bool | None = False,
        last_batch_padded: bool = False,
        last_batch_policy: LastBatchPolicy = LastBatchPolicy.FILL,
        prepare_first_batch: bool = True,
    ):
        pairs = [(one, 0) if isinstance(one, str) else tuple(one) for one in output_map]
        self.normalized_map = dict(pairs)
        self.output_map = [name for name, _ in pairs]
        assert len(self.normalized_map) == len(pairs), "the names of outputs must differ"
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

    def _convert(self, name: str, output: TensorListCPU) -> Any:
        level = self.normalized_map[name]
        to_paddle_type(output)
        if level == 0:
            assert output.is_dense_tensor(), (
                f"samples of {name!r} have other extents, {output.shape()}: give them a level of "
                "detail, (name, level), or crop, resize or pad them"
            )
            return _dense_tensor(output.as_array(), [])
        rows = [one.reshape(-1, *one.shape[level:]) for one in output._samples]
        return _dense_tensor(np.concatenate(rows), recursive_length(output, level + 1)[1:])

    def _make_batch(self) -> list[dict[str, Any]]:
        batches = [
            {self.output_map[i]: self._convert(self.output_map[i], one) for i, one in enumerate(o)}
            for o in self._get_outputs()
        ]
        self._schedule_runs()
        self._advance_and_check_drop_last()
        return self._cut(batches, lod_tensor_clip)


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


__getattr__ = getter("plugin.paddle")
