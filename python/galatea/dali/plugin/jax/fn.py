"""`nvidia.dali.plugin.jax.fn`: functions of jax inside a pipeline, on the CPU."""

from __future__ import annotations

import functools
from typing import Any, Callable

import jax
import numpy as np

from ...names import getter, missing
from ...python_function import NUMPY, Function, layouts_of, record_call
from ...values import Samples, Values

_SHOWN = "plugin.jax.fn.jax_function"


class _JaxFunction(Function):
    """Called once for a batch, with one array for each input: the samples along its first axis."""

    def __init__(
        self, function: Callable, num_outputs: int, layouts: Any, sharding: Any, place: Any
    ):
        given = layouts_of(layouts, num_outputs, _SHOWN)
        super().__init__(function, num_outputs, True, given, NUMPY, _SHOWN, place)
        self._inherits = layouts is None
        self._sharding = sharding

    def __call__(self, inputs: list[Values], samples: Samples) -> list[Values]:
        given = self._called(*(self._array_of(one, i) for i, one in enumerate(inputs)))
        outputs = [[]] * self.num_outputs
        for number, one in self._split(tuple(given) if isinstance(given, list) else given):
            outputs[number] = self._samples_of(one, number, len(samples))
        return [self._layouted(arrays, i, inputs) for i, arrays in enumerate(outputs)]

    def _array_of(self, values: Values, number: int) -> jax.Array:
        whole = values.dense
        if whole is None:
            extents = {one.shape for one in values.arrays}
            if len(extents) > 1:
                self._fail(
                    f"input {number} of {self._who()} has samples of extents {sorted(extents)}; a "
                    "function of jax takes a batch as one array: crop, resize or pad them"
                )
            whole = np.stack(values.arrays)
        if self._sharding is None:
            return jax.numpy.asarray(whole)
        return jax.make_array_from_process_local_data(self._sharding, whole)

    def _samples_of(self, given: Any, number: int, count: int) -> list[np.ndarray]:
        if not isinstance(given, jax.Array):
            self._fail(
                f"{self._who()} gave a {type(given).__name__} as output {number}, and not a jax "
                "array"
            )
        shards = [shard.data for shard in given.addressable_shards]
        if len(shards) != 1 or shards[0].ndim == 0 or len(shards[0]) != count:
            self._fail(
                f"{self._who()} gave an array of extents {list(given.shape)} on {len(shards)} "
                f"devices of this process as output {number}; it gives one array of the batch's "
                f"{count} samples"
            )
        whole = self._array(np.asarray(shards[0]), number)
        return [whole[place, ...] for place in range(count)]

    def _layouted(self, arrays: list[np.ndarray], number: int, inputs: list[Values]) -> Values:
        made = self._values(arrays, number)
        if self._inherits and number < len(inputs):
            _, ndim, layout = inputs[number].kind()
            if ndim == arrays[0].ndim:
                made.layout = layout
        return made


def jax_function(
    function: Callable | None = None,
    num_outputs: int = 1,
    output_layouts: Any = None,
    sharding: Any = None,
    device: str | None = None,
    preserve: bool = True,
) -> Callable:
    """Makes of a function on jax arrays one on data nodes; also a decorator.

    `function` is called once for a batch, with an array [sample, …] for each input, and gives an
    array, or a tuple of `num_outputs`. `output_layouts`: letters of a sample's axes, one text for
    all outputs or one for each; without them output i has the layout of input i where it has as
    many dimensions. `sharding`: the arrays are this process's part of global ones, which needs one
    device a process. `preserve` is accepted: the function is always called.
    """
    if device == "gpu":
        missing(_SHOWN, "gpu")
    if device not in (None, "cpu"):
        raise ValueError(f"{_SHOWN} has no device {device!r}; it has 'cpu'")
    if not isinstance(num_outputs, int) or isinstance(num_outputs, bool) or num_outputs < 0:
        raise ValueError(f"`num_outputs` of {_SHOWN} is {num_outputs!r}; it is a number from 0 on")
    if sharding is not None:
        if not isinstance(sharding, jax.sharding.Sharding):
            raise ValueError(
                f"`sharding` is a jax.sharding.Sharding, not a {type(sharding).__name__}"
            )
        if jax.local_device_count() != 1:
            raise NotImplementedError(
                f"`sharding` of {_SHOWN} needs one device a process; this one has "
                f"{jax.local_device_count()}"
            )

    def decorate(function: Callable) -> Callable:
        if not callable(function):
            raise TypeError(
                f"{_SHOWN} takes a function, not a {type(function).__name__}, which cannot be called"
            )

        @functools.wraps(function)
        def on_nodes(*inputs: Any) -> Any:
            def make(at: Any) -> Function:
                return _JaxFunction(function, num_outputs, output_layouts, sharding, at)

            return record_call(inputs, make, _SHOWN)

        return on_nodes

    return decorate if function is None else decorate(function)


__getattr__ = getter("plugin.jax.fn")
