"""Pipelines and their states as bytes."""

from __future__ import annotations

import base64
import io
import json
import warnings
from typing import Any

import numpy as np

from galatea import pipeline as _galatea
from galatea.trace import operators

from . import dot, types
from .external_source import Feed
from .state import State

_FORM = "galatea.dali pipeline 2"
_CHECKPOINT = "galatea.dali checkpoint 1"
# What a call of external_source says of its inputs; its source is code, and stays behind.
_OF_FEEDS = ("dtype", "ndim", "layout", "repeat_last", "num_outputs", "is_film", "blocking")


class Saving(State):
    """What saves and restores a `Pipeline`: a part of that class."""

    def serialize(self, define_graph=None, filename: str | None = None) -> bytes:
        """The pipeline as bytes, for deserialize(); sources in Python become named inputs."""
        if define_graph is not None:
            if not callable(define_graph):
                raise TypeError(
                    f"`define_graph` is a callable that returns outputs, not {define_graph!r}"
                )
            if self._graph_out is not None:
                raise RuntimeError("the graph was set by set_outputs() already")
            self.define_graph = define_graph  # type: ignore[method-assign]
        self._define()
        if self._plan is not None:
            raise RuntimeError(
                "a pipeline that calls functions of Python cannot be serialized: code is no data"
            )
        constants = {}
        for name, array in self._made.constants.items():
            stream = io.BytesIO()
            np.save(stream, array)
            constants[name] = base64.b64encode(stream.getvalue()).decode()
        feeds = [
            [feed.names, {name: _plain(feed.options.get(name)) for name in _OF_FEEDS}]
            for feed in self._feeds
        ]
        document = {
            "form": _FORM,
            "name": self._made.name,
            "text": self._made.text,
            "constants": constants,
            "feeds": feeds,
            "num_outputs": self._num_outputs,
            "outputs": [_plain(each) for each in self._outputs_given],
            "readers": {
                name: [operator["name"], {key: _plain(one) for key, one in arguments.items()}]
                for name, (operator, arguments) in self._readers.items()
            },
            "options": {
                "batch_size": self._max_batch_size,
                "num_threads": self._num_threads,
                "device_id": self._device_id,
                "seed": self._seed,
                "prefetch_queue_depth": self._given_depth,
                "exec_pipelined": self._exec_pipelined,
                "exec_async": self._exec_async,
                "enable_checkpointing": self._enable_checkpointing,
            },
        }
        data = json.dumps(document).encode()
        if filename is not None:
            with open(filename, "wb") as file:
                file.write(data)
        return data

    @classmethod
    def deserialize(
        cls, serialized_pipeline: bytes | None = None, filename: str | None = None, **kwargs: Any
    ) -> Any:
        """A pipeline of what serialize() gave, with other options where they are given."""
        from .pipeline import Pipeline

        if (serialized_pipeline is None) == (filename is None):
            raise ValueError("give either what serialize() returned, or the file's name")
        if filename is not None:
            with open(filename, "rb") as file:
                serialized_pipeline = file.read()
        assert serialized_pipeline is not None
        pipe: Any = Pipeline.__new__(cls)
        found = _read_pipeline(serialized_pipeline)
        Pipeline.__init__(pipe, **{**found["options"], **kwargs})
        pipe._take(found)
        pipe.build()
        return pipe

    def deserialize_and_build(self, serialized_pipeline: bytes) -> None:
        """Makes this pipeline what serialize() gave."""
        self._take(_read_pipeline(serialized_pipeline))
        self.build()

    def _take(self, found: dict) -> None:
        constants = {
            name: np.load(io.BytesIO(base64.b64decode(data)), allow_pickle=False)
            for name, data in found["constants"].items()
        }
        self._made = _galatea.Pipeline(found["name"], found["text"], {}, [], constants, [])
        self._num_outputs = found["num_outputs"]
        for names, options in found["feeds"]:
            options["dtype"] = _dtypes_of(options["dtype"])
            self._feeds.append(Feed(names, options).declare())
        if self._outputs_given == (None, None, None):
            dtypes, ndims, layouts = found["outputs"]
            self._outputs_given = (_dtypes_of(dtypes), ndims, layouts)
        self._readers = {
            name: (operators.find(operator), arguments)
            for name, (operator, arguments) in found["readers"].items()
        }
        saved = found["options"]
        if self._max_batch_size is None:
            self._max_batch_size = saved["batch_size"]
        if self._num_threads is None:
            self._num_threads = saved["num_threads"]
        if self._seed is None:
            self._seed = saved["seed"]

    def save_graph_to_dot_file(
        self,
        filename: str,
        *,
        show_tensors: bool = False,
        show_ids: bool | None = None,
        use_colors: bool = False,
    ) -> None:
        """Writes the graph as it was defined as a file for Graphviz.

        `show_tensors`: what operators hand on, too; `use_colors`: by device. `show_ids` is an
        argument of old. `galatea explain` shows what the pipeline became.
        """
        if show_ids is not None:
            warnings.warn("`show_ids` has no effect any more", DeprecationWarning, stacklevel=2)
        self.build()
        if not self._results:
            raise RuntimeError(
                "a deserialized pipeline and one in debug mode have no graph to draw; "
                "`galatea explain` shows what a text becomes"
            )
        nodes = [self._recorder.taken(one) or one for one in self._results]
        text = dot.text_of(self._recorder, nodes, show_tensors, use_colors)
        with open(filename, "w", encoding="utf-8") as file:
            file.write(text)

    # Checkpoints.

    def _get_checkpoint(self, iterator_data: str = "") -> bytes:
        state, skip = self._delivered
        document = {
            "form": _CHECKPOINT,
            "session": state,
            "seed": self._drawn_seed,
            "skip": skip,
            "epoch": self._epoch_idx,
            "iteration": self._consumed,
            "iterator": iterator_data,
        }
        return json.dumps(document).encode()

    def checkpoint(self, filename: str | None = None) -> bytes:
        """Where the pipeline stands: `Pipeline(checkpoint=…)` goes on with the next batch.

        Needs `enable_checkpointing=True`. Sources that are callables with an argument go on, too.
        """
        self.build()
        if not self._enable_checkpointing:
            raise RuntimeError(
                "Checkpointing is not enabled: make the pipeline with enable_checkpointing=True"
            )
        data = self._get_checkpoint()
        if filename is not None:
            with open(filename, "wb") as file:
                file.write(data)
        return data

    def _restore(self, saved: dict) -> None:
        self._epoch_idx = saved["epoch"]
        self._consumed = saved["iteration"]
        for feed in self._feeds:
            if feed.driver is not None:
                feed.driver.go_to(saved["iteration"])
        if saved["skip"]:
            batch = self._next_batch()
            self._full.rest = (batch, saved["skip"])
            self._state_before = (self._state_before[0], saved["skip"])


def _plain(value: Any) -> Any:
    """A value of a pipeline's options as JSON has it: element types as their numbers."""
    if isinstance(value, (list, tuple)):
        return [_plain(one) for one in value]
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    return int(value) if hasattr(value, "__int__") else str(value)


def _dtypes_of(value: Any) -> Any:
    if isinstance(value, list):
        return [_dtypes_of(one) for one in value]
    return None if value is None else types.DALIDataType(value)


def _read(data: bytes, form: str, what: str) -> dict:
    try:
        found = json.loads(data)
    except (ValueError, TypeError):
        found = None
    if not isinstance(found, dict) or found.get("form") != form:
        raise RuntimeError(f"this is no {what} that galatea.dali wrote")
    return found


def _read_pipeline(data: bytes) -> dict:
    return _read(data, _FORM, "serialized pipeline")


def read_checkpoint(data: bytes) -> dict:
    return _read(data, _CHECKPOINT, "checkpoint")
