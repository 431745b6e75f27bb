"""Debug mode: `@pipeline_def(debug=True)` runs the function anew for each batch.

The function gets nodes that have values (`debug_recorder`), so that Python may look at them.
"""

from __future__ import annotations

import collections
from typing import Any, Callable

import numpy as np

from galatea import pipeline as _galatea
from galatea.trace import place as places
from galatea.trace.place import Place

from .debug_recorder import Again, DebugNode, DebugRecorder
from .errors import NothingFedError
from .external_source import Feed, each, samples_of
from .pipeline import Pipeline
from .tensors import TensorCPU, TensorListCPU, samples_in
from .values import Values


class DebugPipeline(Pipeline):
    """A pipeline whose function runs for each batch, with values in place of promises."""

    _is_debug = True

    def __init__(
        self,
        function: Callable,
        args: tuple,
        kwargs: dict[str, Any],
        conditionals: bool,
        options: dict[str, Any],
    ):
        super().__init__(**options)
        name = getattr(function, "__name__", "")
        self._recorder = DebugRecorder(name if name.isidentifier() else "pipeline", self)
        self._recorder.conditionals = conditionals
        ready = _galatea._ready(function, True) if conditionals else function
        self._function = lambda: ready(*args, **kwargs)
        self._depth = 1
        self._sources = 0  # of the batch, so far
        self._waiting: collections.deque = collections.deque()
        self._named: dict[str, Feed] = {}
        self._text_options: dict[str, Any] = {
            "batch_size": self._max_batch_size,
            "num_threads": self._num_threads,
            "same_seed_same_draw": True,
        }
        seed = self._seed
        if seed is None or seed < 0:
            seed = int(np.random.SeedSequence().generate_state(1, np.uint32)[0])
        self._common = {"seed": seed, "device": "cpu", "prefetch_depth": 1}

    def __enter__(self) -> Pipeline:
        raise RuntimeError("debug mode works below @pipeline_def, and not in `with pipe:`")

    def _refuse(self, what: str) -> Any:
        raise RuntimeError(f"{what} has no meaning in debug mode: there is no graph")

    def serialize(self, *_: Any, **__: Any) -> bytes:  # noqa: D102
        return self._refuse("serialize()")

    def checkpoint(self, *_: Any, **__: Any) -> bytes:  # noqa: D102
        return self._refuse("checkpoint()")

    def set_outputs(self, *_: Any) -> None:  # noqa: D102
        self._refuse("set_outputs()")

    @property
    def text(self) -> str:
        """Refused: each operator is a program of its own."""
        return self._refuse("`text`")

    def build(self) -> None:
        """Checks the options; operators are compiled when the first batch reaches them."""
        if self._max_batch_size is None:
            raise ValueError("a pipeline needs a batch_size")

    def _define(self) -> None:
        self.build()

    def _add_reader(self, operator: dict, arguments: dict[str, Any], kind: str) -> None:
        if not self._recorder.is_built:
            super()._add_reader(operator, arguments, kind)

    # Feeding.

    def feed_input(
        self, data_node: Any, data: Any, layout=None, cuda_stream=None, use_copy_kernel=False
    ) -> None:
        """Feeds a batch to an input, by its name, or a node that it gave."""
        name = data_node.name if isinstance(data_node, DebugNode) else data_node
        if not isinstance(name, str) or not name:
            raise TypeError(
                f"an input is the node of an external source or its name, not {data_node!r}"
            )
        feed = self._named.get(name)
        if feed is not None and feed.driver is not None:
            raise RuntimeError(f"the input {name!r} has a source, which feeds it")
        samples, layout = samples_of(data, self._max_batch_size or 1, layout)
        copied = [np.array(one, order="C") for one in samples]
        self._fed.setdefault(name, collections.deque()).append((copied, layout))

    def _fetch(self, options: dict[str, Any], at: Place | None) -> Any:
        """A batch of one call of external_source: a node, or a list of them."""
        number, self._sources = self._sources, self._sources + 1
        if self._recorder.is_built or number < len(self._feeds):
            if number >= len(self._feeds):
                raise RuntimeError(
                    f"external_source at {at} was not reached in the first batch; in debug mode "
                    "the operators and their order are the same in every batch"
                )
            feed = self._feeds[number]
        else:
            feed = self._new_feed(options)
        if feed.driver is not None:
            given: list[tuple] = [(data, None) for data in feed.driver.next(self._epoch_idx)]
        else:
            given = [self._given(name) for name in feed.names]
        nodes = []
        for name, (data, layout) in zip(feed.names, given):
            queue = self._fed.setdefault(name, collections.deque())
            self._queue(name, data, layout)
            batch, layout = queue.pop()
            arrays = batch if isinstance(batch, list) else samples_in(batch)
            self._recorder.have(
                self._recorder.counted(len(arrays)), f"external_source {name!r} at {at}"
            )
            values = Values(arrays, layout or "")
            nodes.append(DebugNode(self._recorder, self._recorder.body, at, values))
            nodes[-1].name = name
        return nodes if feed.options.get("num_outputs") is not None else nodes[0]

    def _given(self, name: str) -> tuple[list, str | None]:
        queue = self._fed.setdefault(name, collections.deque())
        if not queue:
            repeats = self._named[name].repeat_last and name in self._last_fed
            if not repeats:
                raise NothingFedError(
                    f"the input {name!r} has no batch: call feed_input() before each run, or give "
                    "external_source a source"
                )
            return self._last_fed[name]
        self._last_fed[name] = queue.popleft()
        return self._last_fed[name]

    def _new_feed(self, options: dict[str, Any]) -> Feed:
        count = options.get("num_outputs")
        first = len(self._named)
        names = [options.get("name") or f"input_{first + i}" for i in range(count or 1)]
        for name in names:
            if name in self._named:
                raise RuntimeError(f"two operators of the pipeline are named {name!r}")
        feed = Feed(names, {**options, "parallel": False}).declare()
        self._named.update(dict.fromkeys(names, feed))
        if options.get("source") is not None:
            feed.driver = self._driver(feed)
        self._feeds.append(feed)
        return feed

    def _nodes_of(self, inputs: tuple, keywords: dict[str, Any]) -> tuple[tuple, dict[str, Any]]:
        """Arguments of an operator, with nodes in place of tensor lists and batches of arrays."""

        def is_batch(value: Any, is_input: bool) -> bool:
            if isinstance(value, TensorListCPU) or (is_input and isinstance(value, np.ndarray)):
                return True
            return (
                isinstance(value, list)
                and bool(value)
                and all(isinstance(one, (np.ndarray, TensorCPU)) for one in value)
            )

        def node_of(value: Any, is_input: bool) -> Any:
            if not is_batch(value, is_input):
                return value
            if self._recorder.conditionals:
                raise ValueError(
                    "with conditionals, operators of debug mode take data nodes only: what "
                    "`get()` gave does not say which samples it belongs to"
                )
            arrays, layout = samples_of(value, self._max_batch_size or 1, None)
            self._recorder.have(self._recorder.counted(len(arrays)), "an array that was given")
            values = Values([np.array(one, order="C") for one in arrays], layout or "")
            return DebugNode(self._recorder, self._recorder.body, places.caller(), values)

        given = tuple(node_of(value, True) for value in inputs)
        return given, {name: node_of(value, False) for name, value in keywords.items()}

    # Running.

    def _schedule_one(self) -> None:
        recorder = self._recorder
        Pipeline.push_current(self)
        try:
            outputs = self._outputs_of_batch()
        except StopIteration:
            self._last_iter = True
            return
        finally:
            Pipeline.pop_current()
        recorder.is_built = True
        recorder.first_id += len(recorder.samples_in(recorder.body))
        self._num_outputs = len(outputs)
        self._waiting.append(outputs)
        self._to_consume += 1

    def _outputs_of_batch(self) -> tuple:
        while True:
            self._recorder.begin()
            self._sources = 0
            if not self._recorder.is_built:  # of a first batch that begins anew
                self._readers, self._unnamed = {}, 0
            try:
                return self._made_outputs(self._function())
            except Again:
                continue

    def _made_outputs(self, result: Any) -> tuple:
        if result is None:
            return ()
        outputs = []
        for place, one in enumerate(result if isinstance(result, tuple) else (result,)):
            if isinstance(one, DebugNode):
                outputs.append(one.get())
            elif isinstance(one, TensorListCPU):
                outputs.append(one)
            elif isinstance(one, (list, tuple)):
                raise TypeError(f"output {place} is a {type(one).__name__}; an output is a node")
            else:
                size = len(self._recorder.samples_in(self._recorder.body))
                outputs.append(TensorListCPU(np.stack([np.asarray(one)] * size)))
        return tuple(outputs)

    def _take_outputs(self) -> tuple:
        if not self._waiting:
            raise StopIteration
        self._to_consume -= 1
        self._consumed += 1
        outputs = self._waiting.popleft()
        self._check_outputs(outputs)
        return outputs

    def _shutdown(self) -> None:
        super()._shutdown()
        self._recorder.end()
