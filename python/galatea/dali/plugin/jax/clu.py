"""`nvidia.dali.plugin.jax.clu`: iterators that show their next batch, as CLU's do."""

from __future__ import annotations

import concurrent.futures
import threading
from typing import Any, Callable

import jax
import numpy as np

from ...names import getter
from ..base_iterator import LastBatchPolicy
from .iterator import DALIGenericIterator, make_data_iterator

try:
    from clu.data.dataset_iterator import ArraySpec
except ImportError:  # without CLU: an object that has `shape` and `dtype` as well
    ArraySpec = jax.ShapeDtypeStruct


def get_spec_for_array(jax_array: jax.Array) -> Any:
    """Shape and element type of an array: CLU's ArraySpec, without CLU a jax.ShapeDtypeStruct."""
    return ArraySpec(shape=jax_array.shape, dtype=jax_array.dtype)


class DALIGenericPeekableIterator(DALIGenericIterator):
    """A DALIGenericIterator whose `peek()` gives the next batch and leaves it the next.

    All batches have the shapes and element types of the first; ValueError where one has not.
    Arguments: DALIGenericIterator.
    """

    def __init__(
        self,
        pipelines: Any,
        output_map: list[str],
        size: int = -1,
        reader_name: str | None = None,
        auto_reset: Any = False,
        last_batch_padded: bool = False,
        last_batch_policy: LastBatchPolicy = LastBatchPolicy.FILL,
        prepare_first_batch: bool = True,
        sharding: Any = None,
        pmap_compatible: bool | None = None,
    ):
        super().__init__(
            pipelines,
            output_map,
            size,
            reader_name,
            auto_reset,
            last_batch_padded,
            last_batch_policy,
            prepare_first_batch,
            sharding,
            pmap_compatible,
        )
        self._mutex = threading.Lock()
        self._pool: Any = None
        self._peek: Any = None
        self._element_spec: Any = None

    def _next_or_peeked(self) -> dict[str, jax.Array]:
        batch, self._peek = self._peek, None
        if batch is None:
            batch = self._take_batch()
        found = {name: get_spec_for_array(array) for name, array in batch.items()}
        if self._element_spec is None:
            self._element_spec = found
        if found != self._element_spec:
            raise ValueError(
                f"the first batch had {self._element_spec}, and this one has {found}: a peekable "
                "iterator is for batches of one shape and type"
            )
        return batch

    def __next__(self) -> dict[str, jax.Array]:
        with self._mutex:
            return self._next_or_peeked()

    def __iter__(self):
        # What was peeked at is the first batch of the epoch, not the end of one.
        return self if self._peek is not None else super().__iter__()

    def peek(self) -> dict[str, jax.Array]:
        """The next batch, which the next `next` gives again."""
        with self._mutex:
            if self._peek is None:
                self._peek = self._next_or_peeked()
            return self._peek

    def peek_async(self) -> concurrent.futures.Future:
        """A future of what `peek()` gives."""
        if self._pool is None:
            self._pool = concurrent.futures.ThreadPoolExecutor(max_workers=1)
        return self._pool.submit(self.peek)

    def checkpoints(self) -> list[bytes]:
        """As of other iterators; RuntimeError while a batch was peeked at and not taken."""
        if self._peek is not None:
            raise RuntimeError("a batch was peeked at: take it by next() before checkpoints()")
        return super().checkpoints()

    @property
    def element_spec(self) -> dict[str, Any]:
        """Shape and element type of each output by its name; peeks where no batch was made yet."""
        if self._element_spec is None:
            self.peek()
        return self._element_spec

    @property
    def is_nonpadding(self) -> Any:
        """For each sample of the batch that was given last whether it is none that only fills up.

        Booleans (samples of all pipelines), spread over devices as outputs are.
        """
        if not self._reader_name:
            raise RuntimeError("is_nonpadding needs `reader_name`: it counts the reader's samples")
        read = self._counter - self._shard_sizes_per_gpu_initial[self._shards_id]
        left = np.minimum(self.batch_size - read, self.batch_size)
        masks = np.concatenate([np.arange(self.batch_size) < count for count in left])
        return masks if self._sharding is None else jax.device_put(masks, self._sharding)


def peekable_data_iterator(
    pipeline_fn: Callable | None = None,
    output_map: list[str] = [],
    size: int = -1,
    reader_name: str | None = None,
    auto_reset: Any = False,
    last_batch_padded: bool = False,
    last_batch_policy: LastBatchPolicy = LastBatchPolicy.FILL,
    prepare_first_batch: bool = True,
    sharding: Any = None,
    devices: Any = None,
    pmap_compatible: bool | None = None,
) -> Callable:
    """`data_iterator` whose iterators are peekable."""
    return make_data_iterator(
        DALIGenericPeekableIterator,
        pipeline_fn,
        output_map,
        sharding,
        devices,
        size=size,
        reader_name=reader_name,
        auto_reset=auto_reset,
        last_batch_padded=last_batch_padded,
        last_batch_policy=last_batch_policy,
        prepare_first_batch=prepare_first_batch,
        pmap_compatible=pmap_compatible,
    )


__getattr__ = getter("plugin.jax.clu")
