"""Sources of the host's own: callables and iterables whose data become tensors and batches."""

from __future__ import annotations

import inspect
from typing import Any, Callable, Iterable, Iterator

from galatea.sources import cycle_of

from .calls import is_batch
from .data import Batch, Tensor, as_batch, as_tensor
from .places import device as _device


class ExternalSource:
    """Each call gives what the source has next: a tensor, a batch, or a tuple of `num_outputs`.

    `source`: a callable without parameters, a generator function or an iterable. `cycle`, for the
    latter two: "no" ends them with StopIteration; "quiet" begins anew at the end; "raise" ends
    them, and the next call begins anew. `layout`, `dtype`: one, or one for each output.
    """

    def __init__(
        self,
        source: Any,
        num_outputs: int = 1,
        *,
        cycle: str | bool | None = None,
        device: Any = "cpu",
        layout: Any = None,
        dtype: Any = None,
    ):
        _device(device)
        if num_outputs <= 0:
            raise ValueError(f"`num_outputs` is at least 1, not {num_outputs}")
        self._count = num_outputs
        self._cycle = cycle_of(cycle)
        self._layouts, self._types = self._of_each(layout), self._of_each(dtype)
        self._call: Callable[[], Any] | None = None
        self._begin: Callable[[], Iterator] | None = None
        self._at: Iterator | None = None
        if inspect.isgeneratorfunction(source):
            self._begin = source
        elif callable(source):
            self._call = source
            if self._cycle is not None:
                raise ValueError("`cycle` is for iterables; a callable raises StopIteration")
        elif isinstance(source, Iterable):
            if inspect.isgenerator(source) and self._cycle is not None:
                raise TypeError("a generator cannot begin anew: give the generator function")
            self._begin = lambda: iter(source)
        else:
            raise TypeError(f"a source is a callable or an iterable, not {source!r}")
        if callable(source) and _takes_arguments(source):
            raise ValueError("a source of dynamic mode is called without arguments")

    def _of_each(self, value: Any) -> list:
        if not isinstance(value, (list, tuple)):
            return [value] * self._count
        if len(value) != self._count:
            raise ValueError(f"{len(value)} values are given for {self._count} outputs")
        return list(value)

    def _next(self) -> Any:
        if self._call is not None:
            return self._call()
        assert self._begin is not None
        begins = self._at is None
        if self._at is None:
            self._at = self._begin()
        try:
            return next(self._at)
        except StopIteration:
            if self._cycle is not None:
                self._at = None
            if self._cycle != "quiet" or begins:  # one without data would begin for ever
                raise
        return self._next()

    def __call__(self, *, batch_size: int | None = None) -> Any:
        """What the source has next. `batch_size`: of batches; tensors are repeated as often."""
        given = self._next()
        if self._count == 1:
            given = (given,)
        elif not isinstance(given, (list, tuple)) or len(given) != self._count:
            raise ValueError(f"the source gave no {self._count} outputs")
        made = [
            self._output(value, batch_size, layout, dtype)
            for value, layout, dtype in zip(given, self._layouts, self._types)
        ]
        if len({type(one) for one in made}) > 1:
            raise TypeError("the source gave tensors beside batches: outputs are one or the other")
        return made[0] if self._count == 1 else tuple(made)

    @staticmethod
    def _output(value: Any, batch_size: int | None, layout: Any, dtype: Any) -> Tensor | Batch:
        if is_batch(value):
            made = as_batch(value, dtype=dtype, layout=layout)
            if batch_size is not None and made.batch_size != batch_size:
                raise ValueError(f"the source gave {made.batch_size} samples, not {batch_size}")
            return made
        tensor = as_tensor(value, dtype=dtype, layout=layout)
        return tensor if batch_size is None else Batch.broadcast(tensor, batch_size)

    def captured(self, batch_size: int, ctx: Any = None) -> Iterator:
        """Goes through the source to its end; each step is evaluated where it is reached."""
        while True:
            try:
                made = self(batch_size=batch_size)
            except StopIteration:
                return
            yield made


def _takes_arguments(function: Any) -> bool:
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        return False
    empty = inspect.Parameter.empty
    kinds = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    return any(one.kind in kinds and one.default is empty for one in parameters)
