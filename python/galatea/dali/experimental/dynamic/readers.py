"""Readers: objects that go through their data, epoch by epoch."""

from __future__ import annotations

import base64
from typing import Any, Iterator

from ... import fn
from ...errors import OperatorError
from ...names import document
from ...pipeline import Pipeline
from ...signatures import sign
from . import calls, places
from .data import Batch, as_batch


class ReaderState:
    """Where a reader stands; `str()` is its text, which `set_state` takes, too."""

    def __init__(self, text: str):
        self._text = text

    def __str__(self) -> str:
        return self._text

    def __repr__(self) -> str:
        return f"ReaderState({self._text!r})"


class Reader:
    """Base of the readers. Keyword arguments are those of the operator in `fn.readers`."""

    _path = ""

    def __init__(
        self,
        max_batch_size: int | None = None,
        name: str | None = None,
        device: Any = "cpu",
        enable_checkpointing: bool = False,
        **options: Any,
    ):
        places.device(device)
        self._has_states = enable_checkpointing
        self._begin: bytes | None = None
        shards, shard = options.get("num_shards") or 1, options.get("shard_id") or 0
        if shards < 1 or not 0 <= shard < shards:
            raise ValueError(f"shard {shard} of {shards} is none: shards count from 0")
        known = document()["functions"].get(self._path, ())
        for key in options:
            if key not in known:
                raise TypeError(f"{type(self).__name__} has no argument `{key}`")
        self._shard, self._shards = shard, shards
        self._most, self._name = max_batch_size, name or "reader"
        self._options = {k: calls._constant(v) for k, v in options.items() if v is not None}
        self._pipe: Pipeline | None = None
        self._keys: list | None = None

    def _open(self, batch_size: int) -> Pipeline:
        if self._most is not None and batch_size > self._most:
            raise ValueError(f"batches of {batch_size} are larger than `max_batch_size` says")
        if self._pipe is not None:
            if self._pipe.max_batch_size != batch_size:
                raise ValueError(
                    f"this reader gives batches of {self._pipe.max_batch_size}, not {batch_size}; "
                    "another batch size is another reader"
                )
            return self._pipe
        pipe = Pipeline(
            batch_size=batch_size,
            num_threads=places.get_num_threads(),
            device_id=None,
            enable_checkpointing=self._has_states,
            checkpoint=self._begin,
        )
        with pipe:
            made = fn.call(self._path, (), {**self._options, "name": self._name})
            self._keys = list(made) if isinstance(made, dict) else None
            nodes = list(made.values()) if isinstance(made, dict) else made
            pipe.set_outputs(*(nodes if isinstance(nodes, (list, tuple)) else [nodes]))
        pipe.build()
        self._pipe = pipe
        return pipe

    def get_state(self) -> ReaderState:
        """Where the reader stands, also within an epoch; needs `enable_checkpointing=True`."""
        if self._pipe is None:
            raise RuntimeError(
                "this reader has no state before its first iteration: call `next_epoch` first"
            )
        if not self._has_states:
            raise RuntimeError(
                f"this {type(self).__name__} has checkpointing disabled: make it with "
                "`enable_checkpointing=True`"
            )
        return ReaderState(base64.b64encode(self._pipe.checkpoint()).decode())

    def set_state(self, state: Any) -> None:
        """Begins where another reader of the same arguments stood; before the first iteration."""
        if self._pipe is not None:
            raise RuntimeError(
                "the state of a reader is set before any iteration, of one that was just made"
            )
        self._begin, self._has_states = base64.b64decode(str(state)), True

    def _results(self, outputs: list) -> Any:
        return dict(zip(self._keys, outputs)) if self._keys is not None else tuple(outputs)

    def get_metadata(self, batch_size: int | None = None) -> dict:
        """Sizes of the epoch, shards, padding."""
        pipe = self._pipe or self._open(batch_size or self._most or 1)
        return pipe.reader_meta(self._name)

    @property
    def num_outputs(self) -> int:
        """How many tensors or batches a step of an epoch gives."""
        with Pipeline(batch_size=1, num_threads=1, device_id=None):
            made = fn.call(self._path, (), self._options)
        return len(made) if isinstance(made, (dict, list, tuple)) else 1

    def next_epoch(
        self, batch_size: int | None = None, ctx: Any = None, capture: bool = False
    ) -> Iterator:
        """Goes through the shard once: batches, or samples where no batch size was said.

        `capture` is accepted: operators run where they are called.
        """
        if capture and batch_size is None:
            raise ValueError("`capture` needs a batch size")
        if batch_size is not None and batch_size < 1:
            raise OperatorError(f"a batch has at least one sample, not {batch_size}")
        return self._epoch(batch_size)

    def _epoch(self, size: int | None) -> Iterator:
        pipe = self._open(size or 1)
        meta = pipe.reader_meta(self._name)
        total = meta["epoch_size_padded"]
        begin, end = (total * (self._shard + i) // self._shards for i in (0, 1))
        for _ in range(-(-(end - begin) // (size or 1))):
            outputs: list[Batch] = [as_batch(one) for one in pipe.run()]
            yield self._results(outputs if size else [one.tensors[0] for one in outputs])
        if not meta["stick_to_shard"]:
            self._shard = (self._shard + 1) % self._shards


def _made(path: str, name: str, body: dict[str, Any]) -> type:
    # Of its own, for it has a signature of its own.
    def __init__(self, *arguments: Any, **options: Any):
        Reader.__init__(self, *arguments, **options)

    sign("dynamic", path, __init__)
    return type(name, (Reader,), {**body, "__init__": __init__})


def made() -> dict[str, type]:
    """The readers by name: "File", "Numpy", …."""
    found = {}
    for path, function in document()["classes"].items():
        if path.startswith("readers.") and path.count(".") == 1:
            name = path.rpartition(".")[2]
            body = {"_path": function, "__doc__": fn_doc(function), "__module__": __name__}
            found[name] = _made(path, name, body)
    return found


def fn_doc(path: str) -> str:
    """The documentation of an operator."""
    value: Any = fn
    for part in path.split("."):
        value = getattr(value, part)
    return value.__doc__ or ""


globals().update(made())
