"""`nvidia.dali.pipeline`: pipelines that are defined in Python and run batch by batch.

A pipeline is traced into text of the language like `galatea.Pipeline`, compiled, and run by one
session. Sources in Python are asked in the thread that schedules, as in DALI; what they give is fed
to the session. Batches of readers are cut anew at the end of an epoch, where the session's end
short and DALI's go on into the next epoch.
"""

from __future__ import annotations

import collections
import functools
import inspect
import sys
import threading
import types as _python_types
import warnings
from enum import Enum
from typing import Any, Callable, overload

from galatea import pipeline as _galatea
from galatea.errors import where_is
from galatea.trace.expression import Display
from galatea.trace.merging import Unmergeable
from galatea.trace.place import Place
from galatea.workers import picklers_of

from . import types
from .data_node import DataNode
from .external_source import Feed
from .graph import Graph
from .names import getter, missing
from .reader_metas import Readers
from .running import Running
from .saving import Saving
from .stages import calls_python, cut, programs_of, seeds_draws
from .types import PipelineAPIType

_current = threading.local()


class StreamPolicy(Enum):
    """Accepted: streams of a GPU never change results."""

    SINGLE = 1
    PER_BACKEND = 2
    PER_OPERATOR = 3
    UNSPECIFIED = -1


class OperatorConcurrency(Enum):
    """Accepted: which operators run at once never changes results."""

    NONE = 1
    BACKEND = 2
    FULL = 3
    UNSPECIFIED = -1


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
                raise TypeError(
                    f"`output_dtype` is None or an element type of `types`, not {one!r}"
                )
            if one == types.DALIDataType.NO_TYPE:
                raise ValueError("`output_dtype` cannot be types.NO_TYPE; None leaves it open")
        elif name == "output_ndim":
            if not isinstance(one, int):
                raise TypeError(f"`output_ndim` is a number, not {one!r}")
            if one < 0:
                raise ValueError(f"`output_ndim` must be non-negative; it is {one}")
        elif not isinstance(one, str):
            raise TypeError(f"`output_layout` is a text, not {one!r}")


class Pipeline(Running, Readers, Saving):
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
        enable_memory_stats: bool = False,
        enable_checkpointing: bool = False,
        checkpoint: bytes | None = None,
        py_num_workers: int = 1,
        py_start_method: str = "fork",
        py_callback_pickler: Any = None,
        output_dtype: Any = None,
        output_ndim: Any = None,
        output_layout: Any = None,
        exec_dynamic: bool | None = None,
        experimental_exec_dynamic: bool | None = None,
        stream_policy: Any = None,
        concurrency: Any = None,
    ):
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
        if seed is not None and not hasattr(seed, "__index__"):
            raise TypeError(f"`seed` is an integer or None, not {seed!r}")
        if py_start_method not in ("fork", "spawn"):
            raise ValueError(f"`py_start_method` is 'fork' or 'spawn', not {py_start_method!r}")
        if py_callback_pickler is not None and py_start_method == "fork":
            raise ValueError("`py_callback_pickler` is for py_start_method='spawn'")
        picklers_of(py_callback_pickler)
        _checked_outputs(output_dtype, "output_dtype")
        _checked_outputs(output_ndim, "output_ndim")
        _checked_outputs(output_layout, "output_layout")
        self._max_batch_size = batch_size
        self._num_threads = num_threads
        self._device_id = device_id
        self._seed = seed
        self._exec_pipelined = exec_pipelined
        self._exec_async = exec_async
        given = exec_dynamic if exec_dynamic is not None else experimental_exec_dynamic
        self._exec_dynamic = given
        self._depth, self._depths = depth, depths
        self._given_depth = prefetch_queue_depth
        self._bytes_per_sample = bytes_per_sample
        self._set_affinity = set_affinity
        self._default_cuda_stream_priority = default_cuda_stream_priority or 0
        self._stream_policy, self._concurrency = stream_policy, concurrency
        self._enable_memory_stats = enable_memory_stats
        self._enable_checkpointing = enable_checkpointing
        if not isinstance(checkpoint, (bytes, str, type(None))):
            raise TypeError(f"`checkpoint` is what checkpoint() gave, not {checkpoint!r}")
        self._checkpoint = checkpoint
        self._iterator_data = ""
        self._py_num_workers = py_num_workers
        self._py_start_method = py_start_method
        self._py_callback_pickler = py_callback_pickler
        self._outputs_given = (output_dtype, output_ndim, output_layout)

        self._recorder = Graph(self._name(), self)
        self._entered = 0
        self._input_nodes = {}
        self._feeds = []
        self._readers = {}
        self._unnamed = 0  # operators that were given no name
        self._graph_out = None
        self._results = []  # the nodes that are outputs
        self._made = None
        self._plan = None
        self._common = {}
        self._place: Place | None = None
        self._num_outputs = None
        self._enumerations, self._layouts_told = [], []

        self._program = None
        self._session = None
        self._staged = None
        self._pool = None
        self._api = None
        self._checks_api = True
        self._first_iter = True
        self._last_iter = False
        self._failure: Exception | None = None
        self._drawn_seed: int | None = None
        self._to_consume = 0
        self._epoch_idx = 0
        self._consumed = 0
        self._inputs = set()
        self._fed = {}
        self._feeding = threading.Condition()
        self._has_fed = False
        self._last_fed = {}
        self._full = None
        self._state_before = ("", 0)
        self._delivered = ("", 0)
        self._metas = {}

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
    max_streams = property(lambda self: -1, doc="-1: whatever was given has no effect.")
    stream_policy = property(lambda self: self._stream_policy)
    concurrency = property(lambda self: self._concurrency)
    enable_memory_stats = property(lambda self: self._enable_memory_stats)
    py_num_workers = property(lambda self: self._py_num_workers)
    _conditionals_enabled = property(lambda self: bool(self._recorder.conditionals))
    py_start_method = property(lambda self: self._py_start_method)
    exec_separated = property(lambda self: self._exec_separated)
    cpu_queue_size = property(lambda self: self._depths[0])
    gpu_queue_size = property(lambda self: self._depths[1])
    prefetch_queue_depth = property(lambda self: self._given_depth)
    default_cuda_stream_priority = property(lambda self: self._default_cuda_stream_priority)

    @property
    def exec_dynamic(self) -> bool | None:
        """Whether DALI would run it by its dynamic executor; changes nothing here.

        None where nothing was given, and other options rule that executor out.
        """
        if self._exec_dynamic is not None:
            return self._exec_dynamic
        has_queue = self._exec_pipelined and self._exec_async and not self._exec_separated
        return True if has_queue else None

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

    def output_stream(self) -> Any:
        """The stream on which a GPU makes the outputs: there is none on the host."""
        missing("pipeline.Pipeline.output_stream", "gpu")

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

    def _outputs_of(self, result: Any) -> list:
        outputs = list(result) if isinstance(result, (tuple, list)) else [result]
        for place, one in enumerate(outputs):
            if type(one) is Unmergeable:
                one.use()
            elif isinstance(one, types.ScalarConstant):
                outputs[place] = types.node_of(one)
            elif _holds_node(one):
                raise TypeError(
                    f"output {place} contains a nested `DataNode`, in a list or tuple: spread it, "
                    "as in `return *crops, label`"
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
            raise NotImplementedError(
                "the pipeline has no outputs: return nodes from its definition, or give them to "
                "`set_outputs`"
            )
        with self._recorder:
            at = self._place
            elements = [self._recorder.value(one, at) for one in outputs]
            self._results = outputs
            self._recorder.result = Display("(", elements)
            self._recorder.result_place = at
        self._recorder.drop_unused_inputs()
        self._warn_of_unused_outputs()
        self._num_outputs = len(outputs)
        self._enumerations = [getattr(one, "enumeration", None) for one in outputs]
        self._layouts_told = [one.told_layout() for one in outputs]
        for given, name in zip(self._outputs_given, ("output_dtype", "output_ndim")):
            if isinstance(given, (list, tuple)) and len(given) != len(outputs):
                raise RuntimeError(
                    f"the lengths of `{name}` and of the pipeline's outputs do not match: "
                    f"{len(given)} and {len(outputs)}"
                )
        options = {"batch_size": self._max_batch_size, "num_threads": self._num_threads}
        if seeds_draws(self._recorder.body):
            options["same_seed_same_draw"] = True
        if self._seed is not None and self._seed >= 0:
            options["seed"] = self._seed
        if not calls_python(self._recorder.body):
            self._made = _galatea.Pipeline.of(self._recorder, self._place, options)
            return
        self._plan = cut(self._recorder, outputs, self._place, options, self._common)
        self._made = self._plan.steps[0].made

    def _warn_of_unused_outputs(self) -> None:
        """Sources compute all their outputs: says which of them nobody needs."""
        used = {self._input_nodes.get(node) for node in self._recorder.used}
        for feed in self._feeds:
            unused = [str(i) for i, name in enumerate(feed.names) if name not in used]
            if feed.options.get("source") is None or not 0 < len(unused) < len(feed.names):
                continue
            warnings.warn(
                f"the source {where_is(feed.options['source'])} has {len(feed.names)} outputs, of "
                f"which these are not used: {', '.join(unused)}",
                Warning,
                stacklevel=4,
            )

    @property
    def text(self) -> str:
        """The pipeline as text of the language; of each program, where functions part them."""
        self._define()
        if self._plan is None:
            return self._made.text
        return "\n\n".join(program.made.text for program in programs_of(self._plan))

    @property
    def galatea_pipeline(self) -> _galatea.Pipeline:
        """The pipeline as `galatea.Loader` and `galatea.view` take it.

        External sources are inputs of that name there, which the loader's user feeds. RuntimeError
        where functions of Python part the pipeline into several programs.
        """
        self._define()
        if self._plan is not None:
            raise RuntimeError(
                "a pipeline that calls functions of Python is several programs: run it by `run()`"
            )
        return self._made

    def _shutdown(self) -> None:
        if self._session is not None:
            self._session.close()
        if self._staged is not None:
            self._staged.close()
        if self._pool is not None:
            self._pool.close()

    def __del__(self) -> None:
        pool = self.__dict__.get("_pool")
        if pool is not None:
            pool.close()


def _holds_node(value: Any) -> bool:
    if isinstance(value, (list, tuple)):
        return any(isinstance(one, DataNode) or _holds_node(one) for one in value)
    return False


_OPTIONS = tuple(inspect.signature(Pipeline.__init__).parameters)[1:]


def _split(function: Callable, kwargs: dict[str, Any]) -> tuple[dict, dict]:
    """Keyword arguments of a call: the function's, and the pipeline's."""
    parameters = inspect.signature(function).parameters
    for parameter in parameters.values():
        if parameter.kind is parameter.VAR_KEYWORD:
            raise TypeError(
                f"a variadic keyword argument, `**{parameter.name}`, in a function below "
                "@pipeline_def is not allowed: name its arguments"
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


@overload
def pipeline_def(
    fn: Callable, *, enable_conditionals: bool = False, **pipeline_kwargs: Any
) -> Callable[..., Pipeline]: ...
@overload
def pipeline_def(
    *, enable_conditionals: bool = False, **pipeline_kwargs: Any
) -> Callable[[Callable], Callable[..., Pipeline]]: ...
def pipeline_def(
    fn: Callable | None = None, *, enable_conditionals: bool = False, **pipeline_kwargs: Any
) -> Any:
    """Makes a function that calls operators give pipelines.

    Called with its arguments, and with options of `Pipeline` by keyword (here or at the call), it
    gives a `Pipeline`. `debug`: the function runs anew for each batch, with values at hand: nodes
    have `get()`. `enable_conditionals`: `if`, `and`, `or` and `not` work on data.
    """

    def decorate(function: Callable) -> Callable:
        @functools.wraps(function)
        def create_pipeline(*args: Any, **kwargs: Any) -> Pipeline:
            own, given = _split(function, kwargs)
            settings = {**pipeline_kwargs, **given}
            conditionals = settings.pop("enable_conditionals", enable_conditionals)
            if settings.pop("debug", False):
                from .debug import DebugPipeline  # a subclass of Pipeline

                return DebugPipeline(function, args, own, conditionals, settings)
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


def do_not_convert(func: Callable | None = None) -> Callable:
    """Leaves a function as it is: `if` in it is Python's, and data has no truth there."""
    return do_not_convert if func is None else _galatea.do_not_convert(func)


def _experimental() -> Any:
    module = _python_types.ModuleType(f"{__name__}.experimental", "Pipelines, as in `pipeline`.")
    module.pipeline_def = pipeline_def  # type: ignore[attr-defined]
    module.Pipeline = Pipeline  # type: ignore[attr-defined]
    sys.modules[module.__name__] = module
    return module


__path__: list[str] = []
experimental = _experimental()
__getattr__ = getter("pipeline")
