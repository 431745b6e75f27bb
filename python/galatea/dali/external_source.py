"""`nvidia.dali.external_source`: data that Python gives."""

from __future__ import annotations

from typing import Any

import numpy as np

from galatea.sources import CALLABLE, kind_of, takes_argument
from galatea.trace import place as places
from galatea.trace.expression import Call

from . import types
from .errors import DeviceError
from .graph import Again, recording
from .names import WithoutEngine, getter, missing
from .tensors import TensorCPU, TensorGPU, TensorListCPU, array_of, is_capsule, samples_in

_ARGUMENTS = (
    "source num_outputs cycle layout dtype ndim name device cuda_stream use_copy_kernel batch "
    "parallel no_copy prefetch_queue_depth bytes_per_sample_hint batch_info repeat_last blocking "
    "preserve"
).split()


def _array(value: Any) -> np.ndarray:
    if isinstance(value, TensorListCPU):
        return value.as_array()
    try:
        return array_of(value)
    except TypeError as error:
        raise RuntimeError(str(error)) from None


def _is_array(value: Any) -> bool:
    return any(hasattr(value, one) for one in ("shape", "__array_interface__")) or is_capsule(value)


def batch_of(data: Any, batch_size: int, layout: str | None) -> tuple[Any, str | None]:
    """The samples of what was fed, and their layout: a list of numpy arrays, or one of them all.

    `data`: an array whose first axis counts samples, a list of arrays or tensors, or a tensor list.
    """
    given = layout
    if isinstance(data, TensorListCPU):
        layout = data.layout() if not layout else layout
        samples = list(data._samples)
    elif isinstance(data, (list, tuple)):
        for one in data:
            if not _is_array(one):
                raise RuntimeError(
                    f"a {type(one).__name__} is no sample: give numpy arrays, torch tensors or "
                    "anything with __dlpack__"
                )
        if data and isinstance(data[0], TensorCPU) and not layout:
            layout = data[0].layout()
        samples = [_array(one) for one in data]
    else:
        if not _is_array(data):
            raise RuntimeError(
                f"a {type(data).__name__} is no batch: give an array whose first axis counts "
                "samples, or a list of arrays"
            )
        array = _array(data)
        if array.ndim == 0:
            raise IndexError("a batch needs an axis that counts samples; this array has none")
        samples = array
    if len(samples) > batch_size:
        raise RuntimeError(
            f"{len(samples)} samples were given; the pipeline's batch size is {batch_size}"
        )
    if len(samples) == 0:
        raise RuntimeError("an empty batch was given; a batch has at least one sample")
    ndim = samples[0].ndim
    for place, one in enumerate(samples if isinstance(samples, list) else ()):
        if one.ndim != ndim:
            raise RuntimeError(
                f"sample {place} has {one.ndim} dimensions and the first {ndim}; "
                "samples of a batch have equally many"
            )
        if one.dtype != samples[0].dtype:
            raise RuntimeError(
                f"sample {place} is {one.dtype} and the first {samples[0].dtype}; samples of a "
                "batch have one element type"
            )
    if given and len(given) != ndim:
        raise RuntimeError(
            f"the layout {given!r} has {len(given)} letters; the samples have {ndim} dimensions"
        )
    return samples, layout


def samples_of(data: Any, batch_size: int, layout: str | None) -> tuple[list, str | None]:
    """The same with a list in either case."""
    batch, layout = batch_of(data, batch_size, layout)
    return batch if isinstance(batch, list) else samples_in(batch), layout


class Feed:
    """What one call of external_source fed, or of inputs.video: inputs, declared types, source."""

    def __init__(self, names: list[str], options: dict[str, Any]):
        self.names = names
        self.options = options
        self.driver: Any = None
        self.layouts: dict[str, str | None] = {}
        self.dtypes: dict[str, Any] = {}
        self.ndims: dict[str, int | None] = {}
        self.repeat_last = bool(options.get("repeat_last"))
        self.is_film = bool(options.get("is_film"))  # what is fed is any number of batches
        self.blocking = bool(options.get("blocking"))  # a run waits until another thread feeds

    @staticmethod
    def of_film(name: str, blocking: bool) -> "Feed":
        """The input of one call of inputs.video: bytes of films."""
        options = {"dtype": types.UINT8, "ndim": 1, "is_film": True, "blocking": blocking}
        return Feed([name], options).declare()

    def declare(self) -> "Feed":
        """What the call said of each of its inputs."""
        for i, name in enumerate(self.names):
            self.dtypes[name] = each(self.options.get("dtype"), i)
            self.ndims[name] = each(self.options.get("ndim"), i)
            self.layouts[name] = each(self.options.get("layout"), i) or None
        return self


def each(value: Any, i: int) -> Any:
    if isinstance(value, (list, tuple)):
        return value[i] if i < len(value) else None
    return value


def _check(o: dict[str, Any]) -> None:
    """Raises where arguments do not go together."""
    for name in o:
        if name not in _ARGUMENTS:
            raise ValueError(f"external_source has no argument `{name}`")
    if o.get("device") not in (None, "cpu", "gpu"):
        raise DeviceError(o["device"])
    source = o.get("source")
    if source is not None and (isinstance(source, (TensorGPU,))):
        missing("external_source with GPU data", "gpu")
    if o.get("name") is not None and o.get("num_outputs") is not None:
        raise RuntimeError("`name` is for one output: leave it out where there is `num_outputs`")
    if o.get("num_outputs") is not None and o["num_outputs"] < 1:
        raise ValueError(
            "``num_outputs`` is how many nodes a ``source`` is for, and positive, or None for "
            f"one; it is {o['num_outputs']}"
        )
    if source is None:
        if o.get("cycle") is not None:
            raise ValueError(
                "`cycle` is for a `source` that is an iterable or a generator function"
            )
        if o.get("parallel"):
            raise AttributeError("`parallel` needs a `source`: workers have nothing to run")
    else:
        kind = kind_of(source, o.get("cycle"))
        if o.get("repeat_last"):
            raise RuntimeError(
                "`repeat_last` is for inputs that are fed, not for those of a `source`"
            )
        if o.get("parallel"):
            batch = o.get("batch") or False
            if o.get("no_copy") is False:
                raise ValueError("`no_copy=False` does not go with `parallel=True`")
            if (o.get("prefetch_queue_depth") or 1) < 1:
                raise ValueError("`prefetch_queue_depth` is a positive number")
            if kind == CALLABLE and not takes_argument(source):
                raise TypeError(
                    "a callable with `parallel=True` runs in workers and takes exactly one "
                    "argument: which sample or batch it is to make"
                )
            if kind != CALLABLE and not batch:
                raise TypeError(f"an external source in workers needs `batch=True` for: {kind}")
    if not o.get("parallel"):
        for name in ("prefetch_queue_depth", "bytes_per_sample_hint"):
            if o.get(name) is not None:
                raise ValueError(f"`{name}` is for sources with `parallel=True`")
    dtypes = o.get("dtype")
    for dtype in dtypes if isinstance(dtypes, (list, tuple)) else [dtypes]:
        if dtype is not None and type(dtype) is not types.DALIDataType:
            refused = ValueError if isinstance(dtype, str) else TypeError
            raise refused(f"an element type is one of `types`, such as types.FLOAT, not {dtype!r}")
    ndims = o.get("ndim")
    for ndim in ndims if isinstance(ndims, (list, tuple)) else [ndims]:
        if ndim is not None and not isinstance(ndim, (int, np.integer)):
            raise ValueError(f"`ndim` is a number of dimensions, not {ndim!r}")
        if ndim is not None and ndim < 0:
            raise RuntimeError(f"`ndim` is a number of dimensions; it is {ndim}")
    layout, count = o.get("layout"), o.get("num_outputs")
    if isinstance(layout, (list, tuple)) and count is None:
        raise TypeError("`layout` is a text where there is one output")


def make(options: dict[str, Any]) -> Any:
    """Nodes of the current pipeline for one call of external_source."""
    from .pipeline import Pipeline

    _check(options)
    pipe = Pipeline.current()
    at = places.caller()
    if pipe is not None and pipe._is_debug:
        return pipe._fetch(options, at)
    with recording() as recorder, recorder.for_all_samples():
        feed, nodes = _declared(options, recorder, pipe._input_nodes if pipe else {}, at)
    if pipe is not None:
        pipe._feeds.append(feed)
    Again(nodes, lambda: make(options))
    return nodes if options.get("num_outputs") is not None else nodes[0]


def name_of_input(given: str | None, recorder, inputs: dict) -> str:
    """The name by which an input is fed: the one that was given, or one with a number."""
    name = given
    if name is None:
        number = len(inputs)
        while f"input_{number}" in recorder.input_names:
            number += 1
        name = f"input_{number}"
    if name in recorder.input_names:
        raise RuntimeError(f"two operators of the pipeline are named {name!r}")
    recorder.input_names.add(name)
    return name


def _declared(options: dict[str, Any], recorder, inputs: dict, at) -> tuple[Feed, list]:
    """Records the inputs of one call, with their types; gives their nodes."""
    count = options.get("num_outputs")
    names, nodes = [], []
    for i in range(1 if count is None else count):
        name = name_of_input(options.get("name"), recorder, inputs)
        arguments = [("name", recorder.value(name, at))]
        dtype = each(options.get("dtype"), i)
        ndim = each(options.get("ndim"), i)
        layout = each(options.get("layout"), i)
        if layout and ndim is not None and len(layout) != ndim:
            raise RuntimeError(f"the layout {layout!r} does not have {ndim} letters")
        node = recorder.add(Call("fn.external_source", arguments), place=at)
        inputs[node] = name
        names.append(name)
        nodes.append(node)
    return Feed(names, options).declare(), nodes


def external_source(source=None, num_outputs=None, **options: Any) -> Any:
    """Data that Python gives: a node, or a list of them with `num_outputs`.

    `source`: a callable, an iterable or a generator function; without it `Pipeline.feed_input()`
    feeds the input `name`. `batch` (True): the source gives whole batches, else samples. `cycle`:
    "quiet" begins an iterable anew, "raise" ends the epoch there.
    `batch_info`: a callable gets a `BatchInfo`. `parallel`: the source runs in worker processes,
    `prefetch_queue_depth` batches ahead. `dtype`, `ndim`, `layout`: what is given is checked;
    lists of them, one for each output. `repeat_last`: where nothing new was fed, the last batch
    comes again. `blocking`: a run without a batch waits until another thread feeds one. `no_copy`,
    `cuda_stream`, `use_copy_kernel` and `bytes_per_sample_hint` are accepted and have no effect.
    """
    if options.get("batch") is None:
        options["batch"] = True  # of the function; `ops.ExternalSource` asks `parallel`
    return make({"source": source, "num_outputs": num_outputs, **options})


class ExternalSource(WithoutEngine):
    """`ops.ExternalSource`: the arguments of `external_source`, here or at the call."""

    _shown, schema_name = "ops.ExternalSource", "ExternalSource"
    device, preserve = "cpu", False

    def __init__(self, source=None, num_outputs=None, **options: Any):
        self._options = {"source": source, "num_outputs": num_outputs, **options}
        for name in self._options:
            if name not in _ARGUMENTS:
                raise KeyError(f"ExternalSource has no argument `{name}`")
        self.device = options.get("device", "cpu")
        self.preserve = options.get("preserve", False)
        if source is not None:
            kind_of(source, options.get("cycle"))

    def __call__(self, *, source=None, **options: Any) -> Any:
        given = {name: value for name, value in self._options.items() if value is not None}
        if source is not None:
            if given.get("source") is not None:
                raise RuntimeError("the source was given to the constructor already")
            given["source"] = source
        for name, value in options.items():
            if value is None:
                continue
            if given.get(name) is not None and name != "name":
                raise ValueError(f"`{name}` was given to the constructor already")
            given[name] = value
        return make(given)


__getattr__ = getter("external_source")
