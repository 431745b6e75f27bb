"""Nodes of `torchdata.nodes`: a reader, a function on what it reads, tensors of torch."""

from __future__ import annotations

from typing import Any, Callable, Iterable, Iterator

import torchdata.nodes as tn

from ....names import getter, missing
from ..readers import Reader as _Reader


class Reader(tn.BaseNode):
    """Goes through a reader of the class `reader_type`, in dictionaries of tensors or batches.

    `batch_size`: None gives tensors; `output_names`: their keys, ("data", "label") of two;
    `kwargs`: arguments of the reader.
    """

    def __init__(
        self,
        reader_type: type[_Reader],
        *,
        batch_size: int | None,
        output_names: Iterable[str] | None = None,
        **kwargs: Any,
    ):
        super().__init__()
        self._reader = reader_type(**kwargs)
        self._batch_size = batch_size
        self._epoch: Iterator | None = None
        count = self._reader.num_outputs
        if output_names is None and count != 2:
            raise ValueError(f"{reader_type.__name__} gives {count} outputs: say `output_names`")
        self._names = ("data", "label") if output_names is None else tuple(output_names)
        if len(self._names) != count:
            raise ValueError(f"{len(self._names)} names are given for {count} outputs")

    def next(self) -> dict:
        """The next step of the epoch."""
        if self._epoch is None:
            raise RuntimeError("reset() begins an epoch: call it before next()")
        step = next(self._epoch)
        values = step.values() if isinstance(step, dict) else step
        return dict(zip(self._names, values))

    def reset(self, initial_state: dict | None = None) -> None:
        """Begins the next epoch."""
        if initial_state is not None:
            missing("experimental.dynamic.pytorch.nodes states", "begin an epoch without one")
        super().reset(initial_state)
        self._epoch = self._reader.next_epoch(batch_size=self._batch_size)

    def get_state(self) -> dict:
        """An empty one."""
        return {}

    def get_metadata(self) -> dict:
        """The reader's."""
        return self._reader.get_metadata(self._batch_size)


class _Follower(tn.BaseNode):
    """A node behind another one."""

    def __init__(self, source: tn.BaseNode):
        super().__init__()
        self._source = source

    def reset(self, initial_state: dict | None = None) -> None:
        """Begins the source's next epoch."""
        super().reset(initial_state)
        self._source.reset(initial_state)

    def get_state(self) -> dict:
        """An empty one."""
        return {}


class DictMapper(_Follower):
    """Puts `map_fn(value)` in the place of the value of one `key`."""

    def __init__(self, source: tn.BaseNode, map_fn: Callable, key: str = "data"):
        super().__init__(source)
        self._map_fn, self._key = map_fn, key

    def next(self) -> dict:
        """The next dictionary."""
        found = dict(self._source.next())
        found[self._key] = self._map_fn(found[self._key])
        return found


class ToTorch(_Follower):
    """Gives the values of dictionaries as a tuple of tensors of torch, on the CPU."""

    def __init__(self, source: tn.BaseNode, output_stream: Any = None):
        super().__init__(source)

    def next(self) -> tuple:
        """The next tuple."""
        return tuple(one.torch() for one in self._source.next().values())


__getattr__ = getter("experimental.dynamic.pytorch.nodes")
