"""`nvidia.dali.plugin.jax.iterator`: iterators that give dictionaries of jax arrays."""

from __future__ import annotations

import functools
from typing import Any, Callable

import jax
import numpy as np

from ...names import getter
from ...pipeline import pipeline_def
from ..base_iterator import LastBatchPolicy, _DaliBaseIterator

_NUM_THREADS = 4  # of pipelines that data_iterator makes, unless the call says


class DALIGenericIterator(_DaliBaseIterator):
    """Gives dictionaries: jax arrays by the names of `output_map`, samples as the first axis.

    `pipelines`: one, or a list. Arrays of one pipeline are its memory, not copies, where jax takes
    it, which wants it aligned. Several pipelines give arrays with one more axis in front, [pipeline,
    sample, …], as `jax.pmap` takes them; `pmap_compatible=True` asks for that axis with one
    pipeline, too. With `sharding` (a `jax.sharding.Sharding`) they give global arrays: pipeline i
    makes the samples of the i-th of this process's devices there. Other arguments:
    `plugin.base_iterator`; PARTIAL is not taken, since jax compiles for one shape.
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
        assert len(set(output_map)) == len(output_map), "the names of outputs must differ"
        assert sharding is None or isinstance(
            sharding, jax.sharding.Sharding
        ), f"`sharding` is a jax.sharding.Sharding, not a {type(sharding).__name__}"
        assert (
            last_batch_policy is not LastBatchPolicy.PARTIAL
        ), "jax arrays have one shape: no PARTIAL"
        self.output_map = output_map
        self._output_categories = set(output_map)
        self._sharding = sharding
        self._pmap_compatible = bool(pmap_compatible)
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
        self._prepare()

    def _make_batch(self) -> dict[str, jax.Array]:
        outputs = self._get_outputs()
        batch = {
            name: self._gathered([lists[place].as_array() for lists in outputs])
            for place, name in enumerate(self.output_map)
        }
        self._schedule_runs()
        self._advance_and_check_drop_last()
        return batch

    def _gathered(self, shards: list[np.ndarray]) -> jax.Array:
        """One array of what the pipelines gave."""
        if self._sharding is None and len(shards) == 1 and not self._pmap_compatible:
            return _array(shards[0])
        shapes = {shard.shape for shard in shards}
        assert len(shapes) == 1, f"the pipelines gave arrays of other extents: {shapes}"
        if self._sharding is None:
            return jax.numpy.stack(shards)
        devices = sorted(self._sharding.addressable_devices, key=lambda device: device.id)
        assert len(devices) == len(
            shards
        ), f"{len(shards)} pipelines for {len(devices)} devices of `sharding`: make one for each"
        shape = shards[0].shape
        return jax.make_array_from_single_device_arrays(
            (self._sharding.num_devices * shape[0], *shape[1:]),
            self._sharding,
            [jax.device_put(shard, device) for shard, device in zip(shards, devices)],
        )


def _array(array: np.ndarray) -> jax.Array:
    return jax.dlpack.from_dlpack(array if array.flags.writeable else array.copy())


def make_data_iterator(
    iterator: type[DALIGenericIterator],
    pipeline_fn: Callable | None,
    output_map: list[str],
    sharding: Any,
    devices: Any,
    **options: Any,
) -> Callable:
    """What `data_iterator` and `peekable_data_iterator` share."""
    if sharding is not None and devices is not None:
        raise ValueError("give either `sharding` or `devices`")
    if not output_map:
        raise ValueError("an iterator needs `output_map`: a name for each output")

    def decorate(function: Callable) -> Callable:
        define = pipeline_def(function)

        @functools.wraps(function)
        def create_iterator(*args: Any, checkpoints: Any = None, **kwargs: Any):
            kwargs.setdefault("num_threads", _NUM_THREADS)
            given = [kwargs]
            more = dict(options)
            if sharding is not None or devices is not None:
                given = _over_devices(kwargs, devices)
                more["sharding"] = sharding
                if devices is not None and more["pmap_compatible"] is None:
                    more["pmap_compatible"] = True
            if checkpoints is not None:
                if len(checkpoints) != len(given):
                    raise RuntimeError(
                        f"{len(checkpoints)} checkpoints for {len(given)} pipelines: give all that "
                        "checkpoints() gave"
                    )
                given = [
                    {"enable_checkpointing": True, **one, "checkpoint": state}
                    for one, state in zip(given, checkpoints)
                ]
            return iterator([define(*args, **one) for one in given], output_map, **more)

        return create_iterator

    return decorate if pipeline_fn is None else decorate(pipeline_fn)


def _over_devices(kwargs: dict[str, Any], devices: Any) -> list[dict[str, Any]]:
    """Arguments of one pipeline for each device; the batch size is that of all."""
    if "batch_size" not in kwargs:
        raise ValueError("an iterator over devices needs `batch_size` in its call: that of all")
    if devices is not None and jax.local_device_count() != jax.device_count():
        raise RuntimeError("`devices` is for one process; give `sharding` where there are several")
    used = jax.local_devices() if devices is None else devices
    count = jax.device_count() if devices is None else len(devices)
    return [
        {
            **kwargs,
            "batch_size": kwargs["batch_size"] // jax.device_count(),
            "device_id": None if device.platform == "cpu" else number,
            "shard_id": device.id,
            "num_shards": count,
        }
        for number, device in enumerate(used)
    ]


def data_iterator(
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
    """Makes a function that calls operators give iterators.

    Arguments are those of DALIGenericIterator; the call takes the function's, options of Pipeline
    (`num_threads` is 4 unless it is given) and `checkpoints`, which an iterator's `checkpoints()`
    gave. With `sharding` or `devices` there is a pipeline for each device, `batch_size` is that of
    all together, and the function takes `shard_id` and `num_shards`.
    """
    return make_data_iterator(
        DALIGenericIterator,
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


__getattr__ = getter("plugin.jax.iterator")
