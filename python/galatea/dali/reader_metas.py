"""What a pipeline's readers hold: sizes of their epochs, shards, padding."""

from __future__ import annotations

from typing import Any

from galatea import GalateaError, _c
from galatea import pipeline as _galatea
from galatea.engine import default_engine
from galatea.trace import operators
from galatea.trace.node import Node
from galatea.trace.recorder import Recorder

from .errors import raised
from .state import State


class Readers(State):
    """What is known of the readers of a `Pipeline`: a part of that class."""

    def _add_reader(self, operator: dict, arguments: dict[str, Any], kind: str) -> None:
        """`kind`: the name of its class, which a reader without a name is called after."""
        name = arguments.get("name") or f"__{kind}_{self._unnamed - 1}"
        if name in self._readers:
            raise RuntimeError(f"two operators of the pipeline are named {name!r}")
        self._readers[name] = (operator, dict(arguments))

    def _reader(self, name: str) -> dict[str, Any]:
        if not isinstance(name, str):
            raise TypeError(f"the name of a reader is a text, not {name!r}")
        if name not in self._readers:
            raise RuntimeError(f"the pipeline has no reader named {name!r}")
        if name not in self._metas:
            operator, arguments = self._readers[name]
            shards = int(arguments.get("num_shards") or 1)
            pads = int(bool(arguments.get("pad_last_batch")))
            sticks = arguments.get("stick_to_shard") or arguments.get("shuffle_after_epoch")
            size = self._size_of(operator, arguments)
            self._metas[name] = {
                "epoch_size": size,
                "epoch_size_padded": -(-size // shards) * shards if pads else size,
                "number_of_shards": shards,
                "shard_id": int(arguments.get("shard_id") or 0),
                "pad_last_batch": pads,
                "stick_to_shard": int(bool(sticks)),
            }
        return self._metas[name]

    def _size_of(self, operator: dict, arguments: dict[str, Any]) -> int:
        """Samples of a reader's data, over all shards."""
        left_out = "name shard_id num_shards pad_last_batch stick_to_shard random_shuffle"
        left_out += " shuffle_after_epoch initial_fill seed device"
        kept = {k: v for k, v in arguments.items() if k not in left_out.split()}
        recorder = Recorder("size")
        with recorder:
            made = operators.call(operator, (), kept)
            outputs = made.values() if isinstance(made, dict) else made  # of TFRecord, by feature
            first = made if isinstance(made, Node) else next(iter(outputs))
            recorder.result = recorder.value(first, None)
        only = _galatea.Pipeline.of(recorder, None, {"batch_size": 1, "num_threads": 1})
        try:
            program = _c.Program(default_engine(), **only.compile_arguments(), device="cpu")
            session = _c.Session(program)
        except GalateaError as error:
            raise raised(error) from error
        size = session.epoch_size
        session.close()
        return size

    def reader_meta(self, name: str | None = None) -> dict:
        """Of one reader, or of all by name: sizes of the epoch, shards, padding."""
        self.build()
        if name is not None:
            return dict(self._reader(name))
        return {each: dict(self._reader(each)) for each in sorted(self._readers)}

    def epoch_size(self, name: str | None = None) -> Any:
        """Samples of a reader's epoch, over all shards, padding included; of all readers by name."""
        self.build()
        if name is not None:
            return self._reader(name)["epoch_size_padded"]
        return {each: self._reader(each)["epoch_size_padded"] for each in sorted(self._readers)}

    def executor_statistics(self) -> dict:
        """DALI's sizes of buffers per operator; there are none here, see galatea.Loader."""
        return {}
