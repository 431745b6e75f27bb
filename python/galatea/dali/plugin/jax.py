"""`nvidia.dali.plugin.jax`: iterators that give jax arrays, on the CPU."""

from __future__ import annotations

import functools
from typing import Any, Callable

import jax

from ..names import getter, missing
from ..pipeline import pipeline_def
from .base_iterator import LastBatchPolicy as LastBatchPolicy
from .base_iterator import _DaliBaseIterator


class DALIGenericIterator(_DaliBaseIterator):
    """Gives dictionaries: jax arrays by the names of `output_map`.

    `pipelines`: one pipeline, or a list of one. `sharding` and several pipelines are not taken.
    Other arguments: `plugin.base_iterator`; PARTIAL is not taken, as in DALI.
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
    ):
        assert len(set(output_map)) == len(output_map), "the names of outputs must differ"
        assert (
            last_batch_policy is not LastBatchPolicy.PARTIAL
        ), "jax arrays have one shape: no PARTIAL"
        count = len(pipelines) if isinstance(pipelines, list) else 1
        if sharding is not None or count > 1:
            missing(
                "plugin.jax.DALIGenericIterator with several pipelines",
                "galatea.jax makes sharded arrays",
            )
        self.output_map = output_map
        super().__init__(
            pipelines,
            size,
            reader_name,
            auto_reset,
            None,
            last_batch_padded,
            last_batch_policy,
            prepare_first_batch,
        )
        self._first_batch: Any = None
        if self._prepare_first_batch:
            try:
                self._first_batch = self._next_impl()
            except StopIteration:
                self._report_no_data_in_pipeline()

    def _next_impl(self) -> dict[str, jax.Array]:
        (lists,) = self._get_outputs()
        # Copied: jax keeps arrays beyond the batch, and takes them for constants.
        batch = {name: jax.numpy.array(one.as_array()) for name, one in zip(self.output_map, lists)}
        self._schedule_runs()
        self._advance_and_check_drop_last()
        return batch

    def __next__(self) -> dict[str, jax.Array]:
        self._ever_consumed = True
        if self._first_batch is not None:
            batch, self._first_batch = self._first_batch, None
            return batch
        return self._next_impl()


def data_iterator(
    pipeline_fn: Callable | None = None,
    *,
    output_map: list[str] | None = None,
    size: int = -1,
    reader_name: str | None = None,
    auto_reset: Any = False,
    last_batch_padded: bool = False,
    last_batch_policy: LastBatchPolicy = LastBatchPolicy.FILL,
    prepare_first_batch: bool = True,
    sharding: Any = None,
    devices: Any = None,
) -> Callable:
    """Makes a function that calls operators give iterators; options of Pipeline at its call."""
    if sharding is not None or devices is not None:
        missing("plugin.jax.data_iterator over devices", "galatea.jax makes sharded arrays")
    if output_map is None:
        raise ValueError("data_iterator needs `output_map`: a name for each output")
    names = output_map

    def decorate(function: Callable) -> Callable:
        define = pipeline_def(function)

        @functools.wraps(function)
        def create_iterator(*args: Any, checkpoints: Any = None, **kwargs: Any):
            if checkpoints is not None:
                (state,) = checkpoints
                kwargs = {**kwargs, "checkpoint": state, "enable_checkpointing": True}
            return DALIGenericIterator(
                [define(*args, **kwargs)],
                names,
                size,
                reader_name,
                auto_reset,
                last_batch_padded,
                last_batch_policy,
                prepare_first_batch,
            )

        return create_iterator

    return decorate if pipeline_fn is None else decorate(pipeline_fn)


__getattr__ = getter("plugin.jax")
