"""`nvidia.dali.pipeline`: pipelines that are defined in Python and run batch by batch.

A pipeline is traced into text of the language like `galatea.Pipeline`, compiled, and run by one
session. Sources in Python are asked in the thread that schedules, as in DALI; what they give is fed
to the session. Batches of readers are cut anew at the end of an epoch, where the session's end
short and DALI's go on into the next epoch.
"""

from __future__ import annotations

import base64
import collections
import functools
import inspect
import io
import json
import sys
import threading
import types as _python_types
import weakref
from enum import Enum
from typing import Any, Callable

import numpy as np

from galatea import Batch, GalateaError, _c
from galatea import pipeline as _galatea
from galatea.engine import default_engine, flush_log
from galatea.sources import Driver
from galatea.trace import place as _places
from galatea.trace.errors import TraceError
from galatea.trace.expression import Display
from galatea.trace.node import Node as DataNode
from galatea.trace.place import Place
from galatea.trace.recorder import Recorder

from . import types
from .external_source import Feed, samples_of
from .names import document, getter, missing
from .tensors import TensorListCPU
from .types import PipelineAPIType

do_not_convert = _galatea.do_not_convert
_current = threading.local()
_FORM = "galatea.dali pipeline 1"
_CHECKPOINT = "galatea.dali checkpoint 1"


class StreamPolicy(Enum):
    """Accepted: streams of a GPU never change results."""

    SINGLE = 1
    PER_BACKEND = 2
    PER_OPERATOR = 3


class OperatorConcurrency(Enum):
    """Accepted: which operators run at once never changes results."""

    NONE = 1
    BACKEND = 2
    FULL = 3


class PipelineError(GalateaError, RuntimeError):
    """A pipeline cannot be compiled, or its data cannot be processed."""


class NothingFedError(PipelineError, IndexError):
    """An input has no batch."""


def _raised(error: GalateaError) -> PipelineError:
    """The class that DALI has for what the engine reports, with its diagnostics."""
    made = PipelineError(str(error))
    made.code, made.message = error.code, error.message
    made.diagnostics = error.diagnostics
    return made


def _stack() -> list:
    stack = getattr(_current, "stack", None)
    if stack is None:
        stack = _current.stack = []
    return stack


def _checked_outputs(value: Any, name: str, count: int | None = None) -> None:
    """Raises where `output_dtype` or `output_ndim` are of a wrong type."""
    for one in value if isinstance(value, (list, tuple)) else [value]:
        if one is None:
            continue
        if name == "output_dtype":
            if type(one) is not types.DALIDataType:
                raise TypeError(f"`output_dtype` is an element type of `types`, not {one!r}")
            if one == types.DALIDataType.NO_TYPE:
                raise ValueError("`output_dtype` cannot be NO_TYPE; None leaves it open")
        elif name == "output_ndim":
            if not isinstance(one, int):
                raise TypeError(f"`output_ndim` is a number, not {one!r}")
            if one < 0:
                raise ValueError(f"`output_ndim` is not negative; it is {one}")
        elif not isinstance(one, str):
            raise TypeError(f"`output_layout` is a text, not {one!r}")


class Pipeline:
    """A pipeline: options here, its graph by `define_graph`, `with pipe:` or `@pipeline_def`.

    `batch_size`: samples of a batch, at most; `num_threads`; `device_id`: a GPU, None without;
    `seed`: of all draws, None for another one each time; `prefetch_queue_depth`: batches that are
    scheduled ahead; `enable_checkpointing`, `checkpoint`: see `checkpoint()`; `py_num_workers`,
    `py_start_method` ("fork", "spawn"), `py_callback_pickler`: of sources with `parallel=True`;
    `output_dtype`, `output_ndim`, `output_layout`: outputs are checked. Options that steer DALI's
    executors are accepted and change nothing.
    """

    def __init__(
        self,
        batch_size: int | None = None,
        num_threads: int | None = None,
        device_id: int | None = None,
        seed: int | None = None,
        exec_pipelined: bool = True,
        prefetch_queue_depth: Any = 2,
        exec_async: bool = True,
        bytes_per_sample: int = 0,
        set_affinity: bool = False,
        max_streams: int | None = None,
        default_cuda_stream_priority: int | None = None,
        *,
        exec_dynamic: bool | None = None,
        experimental_exec_dynamic: bool | None = None,
        stream_policy: Any = None,
        concurrency: Any = None,
        enable_memory_stats: bool = False,
        enable_checkpointing: bool = False,
        checkpoint: bytes | None = None,
        py_num_workers: int = 1,
        py_start_method: str = "fork",
        py_callback_pickler: Any = None,
        output_dtype: Any = None,
        output_ndim: Any = None,
        output_layout: Any = None,
    ):
        if batch_size is not None and batch_size < 1:
            raise ValueError(f"the batch size is {batch_size}; it must be positive")
        if isinstance(prefetch_queue_depth, dict):
            depths = prefetch_queue_depth["cpu_size"], prefetch_queue_depth["gpu_size"]
            self._exec_separated = True
            depth = max(depths)
        elif isinstance(prefetch_queue_depth, int):
            depth, depths = prefetch_queue_depth, (prefetch_queue_depth,) * 2
            self._exec_separated = False
        else:
            raise TypeError(
                "`prefetch_queue_depth` is a number, or a dict of cpu_size and gpu_size"
            )
        if py_start_method not in ("fork", "spawn"):
            raise ValueError(f"`py_start_method` is 'fork' or 'spawn', not {py_start_method!r}")
        if py_callback_pickler is not None and py_start_method == "fork":
            raise ValueError("`py_callback_pickler` is for py_start_method='spawn'")
        _checked_outputs(output_dtype, "output_dtype")
        _checked_outputs(output_ndim, "output_ndim")
        _checked_outputs(output_layout, "output_layout")
        self._max_batch_size = batch_size
        self._num_threads = num_threads
        self._device_id = device_id
        self._seed = seed
        self._exec_pipelined = exec_pipelined
        self._exec_async = exec_async
        self._exec_dynamic = exec_dynamic
        self._depth, self._depths = depth, depths
        self._given_depth = prefetch_queue_depth
        self._bytes_per_sample = bytes_per_sample
        self._set_affinity = set_affinity
        self._max_streams = max_streams
        self._stream_policy, self._concurrency = stream_policy, concurrency
        self._enable_memory_stats = enable_memory_stats
        self._enable_checkpointing = enable_checkpointing
        self._checkpoint = checkpoint
        self._iterator_data = ""
        self._py_num_workers = py_num_workers
        self._py_start_method = py_start_method
        self._py_callback_pickler = py_callback_pickler
        self._outputs_given = (output_dtype, output_ndim, output_layout)

        self._recorder = Recorder(self._name())
        self._entered = 0
        self._input_nodes: dict[Any, str] = {}
        self._feeds: list[Feed] = []
        self._readers: dict[str, tuple[dict, dict]] = {}
        self._graph_out: Any = None
        self._made: Any = None  # a galatea.Pipeline
        self._place: Place | None = None
        self._num_outputs: int | None = None

        self._program: Any = None
        self._session: Any = None
        self._pool: Any = None
        self._api: PipelineAPIType | None = None
        self._first_iter = True
        self._last_iter = False
        self._to_consume = 0
        self._epoch_idx = 0
        self._consumed = 0
        self._fed: dict[str, collections.deque] = {}
        self._has_fed = False
        self._last_fed: dict[str, Any] = {}
        self._rest: Any = None
        self._state_before = ("", 0)
        self._metas: dict[str, dict] = {}

    # Options.

    @property
    def batch_size(self) -> int | None:
        """Samples of a batch, at most."""
        return self._max_batch_size

    max_batch_size = batch_size
    num_threads = property(lambda self: self._num_threads, doc="Worker threads.")
    device_id = property(lambda self: self._device_id, doc="The GPU; None without.")
    seed = property(lambda self: self._seed, doc="The seed; None: drawn.")
    exec_pipelined = property(lambda self: self._exec_pipelined)
    exec_async = property(lambda self: self._exec_async)
    set_affinity = property(lambda self: self._set_affinity)
    max_streams = property(lambda self: self._max_streams)
    stream_policy = property(lambda self: self._stream_policy)
    concurrency = property(lambda self: self._concurrency)
    enable_memory_stats = property(lambda self: self._enable_memory_stats)
    py_num_workers = property(lambda self: self._py_num_workers)
    py_start_method = property(lambda self: self._py_start_method)
    exec_separated = property(lambda self: self._exec_separated)
    cpu_queue_size = property(lambda self: self._depths[0])
    gpu_queue_size = property(lambda self: self._depths[1])
    prefetch_queue_depth = property(lambda self: self._given_depth)
    default_cuda_stream_priority = property(lambda self: None)

    @property
    def exec_dynamic(self) -> bool:
        """Whether DALI would run it by its dynamic executor; changes nothing here."""
        if self._exec_dynamic is not None:
            return self._exec_dynamic
        return self._exec_pipelined and self._exec_async and not self._exec_separated

    @property
    def is_restored_from_checkpoint(self) -> bool:
        """Whether it began from a checkpoint."""
        return self._checkpoint is not None

    @property
    def num_outputs(self) -> int:
        """The number of outputs."""
        self.build()
        assert self._num_outputs is not None
        return self._num_outputs

    def _for_each_output(self, value: Any) -> list:
        self.build()
        if isinstance(value, (list, tuple)):
            return list(value)
        return [value] * self.num_outputs

    def output_dtype(self) -> list:
        """The element type of each output, as the constructor was given it; None: not given."""
        return self._for_each_output(self._outputs_given[0])

    def output_ndim(self) -> list:
        """The number of dimensions of each output, as the constructor was given it."""
        return self._for_each_output(self._outputs_given[1])

    def output_layout(self) -> list:
        """The layout of each output, as the constructor was given it."""
        return self._for_each_output(self._outputs_given[2])

    # Definition.

    def _name(self) -> str:
        name = getattr(type(self), "__name__", "pipeline")
        return "pipeline" if name == "Pipeline" else name

    @staticmethod
    def current() -> "Pipeline | None":
        """The pipeline that is being defined on this thread."""
        stack = _stack()
        return stack[-1] if stack else None

    @staticmethod
    def _required(what: str) -> "Pipeline":
        pipe = Pipeline.current()
        if pipe is None:
            raise RuntimeError(
                f"{what} is called outside of a pipeline: call it in a function below "
                "@pipeline_def, in define_graph, or in `with pipe:`"
            )
        return pipe

    @staticmethod
    def push_current(pipeline: "Pipeline") -> "Pipeline | None":
        """Has operators belong to `pipeline` from now on; gives the one of before."""
        before = Pipeline.current()
        _stack().append(pipeline)
        pipeline._recorder.__enter__()
        return before

    @staticmethod
    def pop_current() -> None:
        """Ends what push_current() began."""
        _stack().pop()._recorder.__exit__()

    def __enter__(self) -> "Pipeline":
        Pipeline.push_current(self)
        return self

    def __exit__(self, *_: Any) -> None:
        Pipeline.pop_current()

    def set_outputs(self, *output_data_nodes: Any) -> None:
        """The outputs, where the graph is defined in `with pipe:`."""
        self._graph_out = output_data_nodes

    def define_graph(self) -> Any:
        """Defines the graph and returns its outputs; for subclasses."""
        raise NotImplementedError(
            "the pipeline has no graph: define it in a function below @pipeline_def, in `with "
            "pipe:` with pipe.set_outputs(...), or override define_graph()"
        )

    def add_sink(self, edge: DataNode) -> None:
        """Accepted: an operator whose result nobody reads computes nothing here."""

    def iter_setup(self) -> None:
        """Called before each batch; subclasses may feed inputs here."""

    def _add_reader(self, operator: dict, arguments: dict[str, Any]) -> None:
        name = arguments.get("name") or f"__{operator['name']}_{len(self._readers)}"
        if name in self._readers:
            raise RuntimeError(f"two operators of the pipeline are named {name!r}")
        self._readers[name] = (operator, dict(arguments))

    def _outputs_of(self, result: Any) -> list:
        outputs = list(result) if isinstance(result, (tuple, list)) else [result]
        for place, one in enumerate(outputs):
            if isinstance(one, types.ScalarConstant):
                outputs[place] = types.node_of(one)
            elif _holds_node(one):
                raise TypeError(
                    f"output {place} is a list or tuple that holds data nodes: spread it, as in "
                    "`return *crops, label`"
                )
            elif not isinstance(one, DataNode):
                try:
                    made = types.Constant(one, device="cpu")
                except TypeError:
                    raise TypeError(
                        f"output {place} is a {type(one).__name__}; an output is a data node, a "
                        "number, a flat list of numbers or an array"
                    ) from None
                outputs[place] = made
        return outputs

    def _define(self) -> None:
        """Traces the graph, once."""
        if self._made is not None:
            return
        if self._graph_out is None:
            with self:
                result = self.define_graph()
                outputs = self._outputs_of(result)
        else:
            with self:
                outputs = self._outputs_of(self._graph_out)
        if not outputs:
            raise RuntimeError("the pipeline has no outputs")
        with self._recorder:
            at = self._place
            elements = [self._recorder.value(one, at) for one in outputs]
            self._recorder.result = Display("(", elements)
            self._recorder.result_place = at
        self._num_outputs = len(outputs)
        for given, name in zip(self._outputs_given, ("output_dtype", "output_ndim")):
            if isinstance(given, (list, tuple)) and len(given) != len(outputs):
                raise RuntimeError(
                    f"`{name}` has {len(given)} entries, and the pipeline {len(outputs)} outputs"
                )
        options = {"batch_size": self._max_batch_size, "num_threads": self._num_threads}
        if self._seed is not None and self._seed >= 0:
            options["seed"] = self._seed
        self._made = _galatea.Pipeline.of(self._recorder, self._place, options)

    @property
    def text(self) -> str:
        """The pipeline as text of the language."""
        self._define()
        return self._made.text

    def _arguments(self) -> dict[str, Any]:
        arguments = self._made.compile_arguments()
        arguments["prefetch_depth"] = max(1, self._depth)
        if self._device_id is None:
            arguments["device"] = "cpu"
        types_of_inputs = {}
        for feed in self._feeds:
            for name in feed.names:
                dtype, ndim = feed.dtypes.get(name), feed.ndims.get(name)
                layout = feed.layouts.get(name)
                ndim = len(layout) if ndim is None and layout else ndim
                if dtype is not None and ndim is not None:
                    types_of_inputs[name] = (int(dtype), ndim, layout)
        if types_of_inputs:
            arguments["input_types"] = types_of_inputs
        return arguments

    def build(self) -> None:
        """Traces and compiles the pipeline, opens its data and starts workers; once."""
        if self._session is not None:
            return
        self._define()
        if self._max_batch_size is None:
            raise ValueError("a pipeline needs a batch_size")
        state, saved = None, None
        arguments = self._arguments()
        if self._checkpoint is not None:
            saved = _read_checkpoint(self._checkpoint)
            state = saved["session"] or None
            self._iterator_data = saved.get("iterator", "")
            if state is not None and self._seed is None:
                seed = int(json.loads(state)["seed"], 16)
                arguments["seed"] = seed - 2**64 if seed >= 2**63 else seed
        try:
            self._program = _c.Program(default_engine(), **arguments)
            inputs = {port["name"] for port in json.loads(self._program.ports_json())["inputs"]}
            session = _c.Session(self._program, max_held_batches=1 << 30, state=state)
        except TraceError:
            raise
        except GalateaError as error:
            raise _raised(error) from error
        finally:
            flush_log(default_engine())
        self._inputs = inputs
        self._session = session
        for name in inputs:
            self._fed.setdefault(name, collections.deque())
        for feed in self._feeds:
            if feed.options.get("source") is not None and feed.driver is None:
                feed.driver = self._driver(feed)
        if saved is not None:
            self._restore(saved)
        self._session_state()

    def _driver(self, feed: Feed) -> Driver:
        o = feed.options
        if o.get("parallel") and self._py_num_workers < 1:
            raise RuntimeError(
                "a source with parallel=True needs worker processes: py_num_workers is 0"
            )
        if o.get("parallel") and self._py_num_workers > 0 and self._pool is None:
            from galatea.workers import Pool

            self._pool = Pool(
                self._py_num_workers, self._py_start_method, self._py_callback_pickler
            )
        return Driver(
            o["source"],
            names=feed.names,
            num_outputs=o.get("num_outputs"),
            batch=o.get("batch"),
            cycle=o.get("cycle"),
            batch_info=bool(o.get("batch_info")),
            parallel=bool(o.get("parallel")),
            prefetch_queue_depth=o.get("prefetch_queue_depth"),
            batch_size=self._max_batch_size or 1,
            pool=self._pool if o.get("parallel") else None,
        )

    def start_py_workers(self) -> None:
        """Starts the workers of parallel sources now."""
        self._define()
        for feed in self._feeds:
            if feed.options.get("source") is not None and feed.driver is None:
                feed.driver = self._driver(feed)
        if self._pool is not None:
            self._pool.start()

    # Feeding.

    def input_feed_count(self, input_name: str) -> int:
        """How many batches an input wants before the first output."""
        self.build()
        return self._depth if self._exec_pipelined else 1

    def feed_input(
        self, data_node: Any, data: Any, layout=None, cuda_stream=None, use_copy_kernel=False
    ) -> None:
        """Feeds a batch to an input, by its node or name.

        `data`: an array whose first axis counts samples, a list of arrays, or a tensor list.
        """
        self.build()
        if isinstance(data_node, str):
            name = data_node
        elif isinstance(data_node, DataNode):
            name = self._input_nodes.get(data_node, "")
        else:
            raise TypeError(
                f"an input is a data node or its name, not a {type(data_node).__name__}"
            )
        feed = next((feed for feed in self._feeds if name in feed.names), None)
        if name not in self._inputs:
            raise KeyError(f"the pipeline has no input {name!r}")
        if feed is not None and feed.options.get("source") is not None:
            raise RuntimeError(f"the input {name!r} has a source, which feeds it")
        self._queue(name, data, layout)

    def _queue(self, name: str, data: Any, layout: str | None = None, copies: bool = True) -> None:
        feed = next((feed for feed in self._feeds if name in feed.names), None)
        if feed is not None and not layout:
            layout = feed.layouts.get(name)
        samples, layout = samples_of(data, self._max_batch_size or 1, layout)
        if feed is not None:
            dtype, ndim = feed.dtypes.get(name), feed.ndims.get(name)
            found = types._OF_NUMPY[samples[0].dtype]
            if dtype is not None and dtype != found:
                raise RuntimeError(f"the input {name!r} is of {dtype}; {found} was given")
            if ndim is not None and ndim != samples[0].ndim:
                raise RuntimeError(
                    f"the input {name!r} has {ndim} dimensions; the samples have {samples[0].ndim}"
                )
        if copies:  # the caller may change its arrays as soon as this returns
            samples = [np.array(one, order="C") for one in samples]
        self._fed[name].append((samples, layout))

    def _hand_over(self) -> None:
        """Gives the session one batch of each input."""
        for name in sorted(self._inputs):
            queue = self._fed[name]
            feed = next((feed for feed in self._feeds if name in feed.names), None)
            repeats = feed.repeat_last if feed is not None else self._repeats(name)
            if not queue and repeats and name in self._last_fed:
                queue.append(self._last_fed[name])
            if not queue:
                raise NothingFedError(
                    f"the input {name!r} has no batch: call feed_input() before each run, or give "
                    "external_source a source"
                )
        for name in sorted(self._inputs):
            samples, layout = self._last_fed[name] = self._fed[name].popleft()
            try:
                self._session.feed(name, samples, None, 0, layout)
            except GalateaError as error:
                raise _raised(error) from error
            finally:
                flush_log(default_engine())
        self._has_fed = True

    def _repeats(self, name: str) -> bool:
        return name in getattr(self, "_repeating", ())

    # Running.

    def _check_api(self, kind: PipelineAPIType) -> None:
        if self._api is None:
            self._api = kind
        elif self._api is not kind:
            raise RuntimeError(
                f"the pipeline is run by its {self._api.name.lower()} calls; run(), "
                "schedule_run()/share_outputs()/release_outputs() and iterators do not mix"
            )

    def _check_api_type_scope(self, kind: PipelineAPIType) -> Any:
        return _Scope(self, kind)

    def _setup_iteration(self) -> None:
        """Asks sources for a batch, all of them, before anything is fed."""
        given, ended = [], False
        order = [f for f in self._feeds if f.driver and f.driver.parallel]
        order += [f for f in self._feeds if f.driver and not f.driver.parallel]
        for feed in order:
            try:
                given.append((feed, feed.driver.next(self._epoch_idx)))
            except StopIteration:
                ended = True
        if ended:
            raise StopIteration
        self.iter_setup()
        for feed, outputs in given:
            for name, data in zip(feed.names, outputs):
                if name in self._inputs:
                    self._queue(name, data, copies=False)  # the session copies, below
        if self._inputs:
            self._hand_over()

    def _schedule_one(self) -> None:
        try:
            self._setup_iteration()
            self._to_consume += 1
        except StopIteration:
            self._last_iter = True

    def _schedule(self) -> None:
        self.build()
        if self._first_iter and self._exec_pipelined:
            for _ in range(self._depth):
                self._first_iter = False
                try:
                    self._schedule_one()
                except NothingFedError:
                    # What was fed for fewer batches than are made ahead is enough to begin with.
                    if self._to_consume and not any(self._fed.values()):
                        break
                    raise
                if self._last_iter:
                    break
        elif not self._last_iter:
            self._schedule_one()

    def schedule_run(self) -> None:
        """Schedules a batch; the first call schedules `prefetch_queue_depth` of them."""
        if self._api is not PipelineAPIType.ITERATOR or not _Scope.depth(self):
            self._check_api(PipelineAPIType.SCHEDULED)
        self._schedule()

    def share_outputs(self, cuda_stream=None) -> tuple:
        """Waits for the oldest scheduled batch; StopIteration where there is none."""
        if self._api is not PipelineAPIType.ITERATOR or not _Scope.depth(self):
            self._check_api(PipelineAPIType.SCHEDULED)
        return self._take_outputs()

    def outputs(self, cuda_stream=None) -> tuple:
        """release_outputs() and share_outputs()."""
        return self.share_outputs()

    def release_outputs(self) -> None:
        """Accepted: outputs are given back when nobody refers to them."""
        self.build()

    def run(self, cuda_stream=None, /, **pipeline_inputs: Any) -> tuple:
        """Runs a batch: a tuple of tensor lists, one for each output.

        Keyword arguments feed inputs, where `prefetch_queue_depth` is 1. StopIteration at the end
        of an epoch of a source; reset() begins the next one.
        """
        if pipeline_inputs and self._exec_pipelined and self._depth > 1:
            raise RuntimeError(
                "run(name=data) needs prefetch_queue_depth=1 or exec_pipelined=False: batches that "
                "are scheduled ahead have to be fed before"
            )
        self.build()
        for name, data in pipeline_inputs.items():
            self.feed_input(name, data)
        self._check_api(PipelineAPIType.BASIC)
        self._schedule()
        return self._take_outputs()

    def empty(self) -> bool:
        """Whether nothing that was scheduled waits to be taken."""
        return self._to_consume == 0

    def reset(self) -> None:
        """Begins the next epoch, behind the end of one; does nothing before it."""
        if not self._last_iter:
            return
        self._first_iter, self._last_iter = True, False
        self._epoch_idx += 1
        self._consumed = 0
        for feed in self._feeds:
            if feed.driver is not None and feed.driver.caller is not None:
                feed.driver.reset()
            elif feed.driver is not None:
                feed.driver.iteration = feed.driver.first = 0

    def _session_state(self) -> None:
        if not self._enable_checkpointing:
            return
        if self._program.num_outputs >= 0 or self._has_fed:
            self._state_before = (self._session.state(), 0)

    def _next_batch(self) -> Batch:
        ends = 0
        while True:
            self._session_state()
            try:
                handle = self._session.next(-1)
            except GalateaError as error:
                raise _raised(error) from error
            finally:
                flush_log(default_engine())
            if handle is not None:
                return Batch(handle, ())
            ends += 1
            if ends > 2:
                raise RuntimeError("the pipeline has no data: its readers deliver no samples")

    def _take_outputs(self) -> tuple:
        self.build()
        if self._to_consume == 0:
            raise StopIteration
        self._to_consume -= 1
        self._consumed += 1
        parts: list[tuple[Batch, int, int]] = []
        if self._inputs or not self._readers:
            batch = self._next_batch()
            parts.append((batch, 0, batch.num_samples))
        else:
            wanted = self._max_batch_size or 1
            while wanted:
                batch, begin = self._rest or (self._next_batch(), 0)
                count = min(wanted, batch.num_samples - begin)
                parts.append((batch, begin, begin + count))
                wanted -= count
                end = begin + count
                self._rest = (batch, end) if end < batch.num_samples else None
            if self._enable_checkpointing:
                if self._rest is not None:
                    self._state_before = (self._state_before[0], self._rest[1])
        if self._rest is None:
            self._session_state()
        outputs = tuple(_list_of(parts, number) for number in range(len(parts[0][0])))
        self._check_outputs(outputs)
        return outputs

    def _check_outputs(self, outputs: tuple) -> None:
        dtypes, ndims, layouts = self._outputs_given
        if dtypes is None and ndims is None and layouts is None:
            return
        found = zip(
            outputs,
            self._for_each_output(dtypes),
            self._for_each_output(ndims),
            self._for_each_output(layouts),
        )
        for place, (output, dtype, ndim, layout) in enumerate(found):
            for what, wanted, has in (
                ("element type", dtype, output.dtype),
                ("number of dimensions", ndim, output.ndim),
                ("layout", layout, output.layout()),
            ):
                if wanted is not None and wanted != has:
                    raise RuntimeError(f"output {place} has the {what} {has}, and not {wanted}")

    # Readers.

    def _reader(self, name: str) -> dict[str, Any]:
        if name not in self._readers:
            raise RuntimeError(f"the pipeline has no reader named {name!r}")
        if name not in self._metas:
            operator, arguments = self._readers[name]
            shards = int(arguments.get("num_shards") or 1)
            pads = int(bool(arguments.get("pad_last_batch")))
            size = self._size_of(operator, arguments)
            self._metas[name] = {
                "epoch_size": size,
                "epoch_size_padded": -(-size // shards) * shards if pads else size,
                "number_of_shards": shards,
                "shard_id": int(arguments.get("shard_id") or 0),
                "pad_last_batch": pads,
                "stick_to_shard": int(bool(arguments.get("stick_to_shard"))),
            }
        return self._metas[name]

    def _size_of(self, operator: dict, arguments: dict[str, Any]) -> int:
        """Samples of a reader's data, over all shards."""
        from galatea.trace import operators

        left_out = "name shard_id num_shards pad_last_batch stick_to_shard random_shuffle"
        left_out += " shuffle_after_epoch initial_fill seed device"
        kept = {k: v for k, v in arguments.items() if k not in left_out.split()}
        recorder = Recorder("size")
        with recorder:
            made = operators.call(operator, (), kept)
            first = made[0] if isinstance(made, (tuple, list)) else made
            recorder.result = recorder.value(first, None)
        only = _galatea.Pipeline.of(recorder, None, {"batch_size": 1, "num_threads": 1})
        try:
            program = _c.Program(default_engine(), **only.compile_arguments(), device="cpu")
            session = _c.Session(program)
        except GalateaError as error:
            raise _raised(error) from error
        size = session.epoch_size
        session.close()
        return size

    def reader_meta(self, name: str | None = None) -> dict:
        """Of one reader, or of all by name: sizes of the epoch, shards, padding."""
        self.build()
        if name is not None:
            return dict(self._reader(name))
        return {each: dict(self._reader(each)) for each in self._readers}

    def epoch_size(self, name: str | None = None) -> Any:
        """Samples of a reader's epoch, over all shards; of all readers by name."""
        self.build()
        if name is not None:
            return self._reader(name)["epoch_size"]
        return {each: self._reader(each)["epoch_size"] for each in self._readers}

    def executor_statistics(self) -> dict:
        """DALI's sizes of buffers per operator; there are none here, see galatea.Loader."""
        return {}

    # Saving.

    def serialize(self, define_graph=None, filename: str | None = None) -> bytes:
        """The pipeline as bytes, for deserialize(); sources in Python become named inputs."""
        if define_graph is not None:
            if self._graph_out is not None:
                raise RuntimeError("the graph was set by set_outputs() already")
            self.define_graph = define_graph  # type: ignore[method-assign]
        self._define()
        constants = {}
        for name, array in self._made.constants.items():
            stream = io.BytesIO()
            np.save(stream, array)
            constants[name] = base64.b64encode(stream.getvalue()).decode()
        repeating = [n for feed in self._feeds if feed.repeat_last for n in feed.names]
        document = {
            "form": _FORM,
            "name": self._made.name,
            "text": self._made.text,
            "constants": constants,
            "repeating": repeating,
            "num_outputs": self._num_outputs,
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
    ) -> "Pipeline":
        """A pipeline of what serialize() gave, with other options where they are given."""
        if (serialized_pipeline is None) == (filename is None):
            raise ValueError("give either what serialize() returned, or the file's name")
        if filename is not None:
            with open(filename, "rb") as file:
                serialized_pipeline = file.read()
        assert serialized_pipeline is not None
        pipe = Pipeline.__new__(cls)
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
        self._repeating = set(found["repeating"])
        self._made_of_text = True

    def save_graph_to_dot_file(self, filename: str, *_: Any, **__: Any) -> None:
        """DALI's drawing of the graph; `galatea explain` shows what a pipeline became."""
        missing("Pipeline.save_graph_to_dot_file", "use `galatea explain` on pipe.text")

    # Checkpoints.

    def _get_checkpoint(self, iterator_data: str = "") -> bytes:
        state, skip = self._state_before
        document = {
            "form": _CHECKPOINT,
            "session": state,
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
            raise RuntimeError("checkpoints need a pipeline with enable_checkpointing=True")
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
            self._rest = (batch, saved["skip"])

    def _shutdown(self) -> None:
        if self._session is not None:
            self._session.close()
        if self._pool is not None:
            self._pool.close()

    def __del__(self) -> None:
        pool = self.__dict__.get("_pool")
        if pool is not None:
            pool.close()


class _Scope:
    """Within it an iterator runs the pipeline by the calls that programs schedule with."""

    _open: "weakref.WeakKeyDictionary[Pipeline, int]" = weakref.WeakKeyDictionary()

    def __init__(self, pipe: Pipeline, kind: PipelineAPIType):
        self.pipe, self.kind = pipe, kind

    def __enter__(self) -> "_Scope":
        self.pipe._check_api(self.kind)
        self._open[self.pipe] = self._open.get(self.pipe, 0) + 1
        return self

    def __exit__(self, *_: Any) -> None:
        self._open[self.pipe] -= 1

    @classmethod
    def depth(cls, pipe: Pipeline) -> int:
        return cls._open.get(pipe, 0)


def _holds_node(value: Any) -> bool:
    if isinstance(value, (list, tuple)):
        return any(isinstance(one, DataNode) or _holds_node(one) for one in value)
    return False


def _list_of(parts: list, number: int) -> TensorListCPU:
    """Output `number` of what was put together of several batches."""
    samples, names, dense = [], [], None
    layout = ""
    for batch, begin, end in parts:
        output = batch[number]
        whole = None
        if output.device != "cpu":
            missing("tensors.TensorListGPU", "gpu")
        if output.is_dense:
            whole = output.numpy()
            samples += (
                [np.asarray(one, whole.dtype) for one in whole[begin:end]]
                if (whole.ndim == 1)
                else list(whole[begin:end])
            )
            layout = output.layout[1:] if output.layout else ""
            if len(parts) == 1:
                dense = whole[begin:end]
        else:
            samples += [output[place].numpy() for place in range(begin, end)]
            layout = output.layout[1:] if output.layout else ""
        known = batch.sample_names
        names += [known[place] for place in range(begin, end)]
    return TensorListCPU._of(samples, layout, dense, samples[0].dtype, names)


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


def _read_checkpoint(data: bytes) -> dict:
    return _read(data, _CHECKPOINT, "checkpoint")


_OPTIONS = tuple(inspect.signature(Pipeline.__init__).parameters)[1:]


def _split(function: Callable, kwargs: dict[str, Any]) -> tuple[dict, dict]:
    """Keyword arguments of a call: the function's, and the pipeline's."""
    parameters = inspect.signature(function).parameters
    for parameter in parameters.values():
        if parameter.kind is parameter.VAR_KEYWORD:
            raise TypeError(
                f"`**{parameter.name}` in a function below @pipeline_def is not allowed: name its "
                "arguments"
            )
    own, options = {}, {}
    for name, value in kwargs.items():
        if name in parameters:
            own[name] = value
        elif name in _OPTIONS or name in ("debug", "enable_conditionals"):
            options[name] = value
        else:
            raise AssertionError(
                f"`{name}` is neither an argument of {function.__name__} nor an option of Pipeline"
            )
    return own, options


def pipeline_def(fn: Callable | None = None, *, enable_conditionals: bool = False, **options: Any):
    """Makes a function that calls operators give pipelines.

    Called with its arguments, and with options of `Pipeline` by keyword (here or at the call), it
    gives a `Pipeline`. `enable_conditionals`: `if`, `and`, `or` and `not` work on data.
    """

    def decorate(function: Callable) -> Callable:
        @functools.wraps(function)
        def create_pipeline(*args: Any, **kwargs: Any) -> Pipeline:
            own, given = _split(function, kwargs)
            settings = {**options, **given}
            conditionals = settings.pop("enable_conditionals", enable_conditionals)
            if settings.pop("debug", False):
                missing(
                    "pipeline_def(debug=True)",
                    "a pipeline is compiled as a whole; look at values by returning them",
                )
            pipe = Pipeline(**settings)
            code = getattr(inspect.unwrap(function), "__code__", None)
            if code is not None:
                pipe._place = Place(code.co_filename, code.co_firstlineno)
            name = getattr(function, "__name__", "")
            if name.isidentifier():
                pipe._recorder.name = name
            pipe._recorder.conditionals = conditionals
            with pipe:
                ready = _galatea._ready(function, True) if conditionals else function
                result = ready(*args, **own)
                if result is not None:
                    outputs = result if isinstance(result, tuple) else (result,)
                    pipe._graph_out = tuple(pipe._outputs_of(outputs))
            return pipe

        create_pipeline._is_pipeline_def = True  # type: ignore[attr-defined]
        return create_pipeline

    return decorate if fn is None else decorate(fn)


def _experimental() -> Any:
    module = _python_types.ModuleType(f"{__name__}.experimental", "Pipelines, as in `pipeline`.")
    module.pipeline_def = pipeline_def  # type: ignore[attr-defined]
    module.Pipeline = Pipeline  # type: ignore[attr-defined]
    sys.modules[module.__name__] = module
    return module


__path__: list[str] = []
experimental = _experimental()
__getattr__ = getter("pipeline")
