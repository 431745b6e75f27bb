"""`nvidia.dali.plugin.tf`: pipelines as a tf.data.Dataset, on the host."""

from __future__ import annotations

import itertools
import sys
import types as _python_types
import warnings
from collections.abc import Mapping
from typing import Any, Callable, Iterator

import numpy as np
import tensorflow as tf

from ..external_source import Feed
from ..names import getter, missing
from ..pipeline import Pipeline
from ..tensors import TensorListCPU

_DEPTH = 2  # batches that a pipeline makes ahead


def serialize_pipeline(pipeline: Pipeline) -> bytes:
    """The pipeline as bytes, `Pipeline.serialize()`."""
    return pipeline.serialize()


def dataset_compatible_tensorflow() -> bool:
    """Whether this tensorflow has what DALIDataset needs: it has."""
    return True


dataset_inputs_compatible_tensorflow = dataset_compatible_tensorflow
dataset_distributed_compatible_tensorflow = dataset_compatible_tensorflow


# Outputs as elements.


def _fitted(shape: tuple, wanted: tuple) -> tuple | None:
    """`shape` as `wanted` has it, None where it cannot be: axes of extent 1 may be left out."""
    if not shape:
        return None if wanted else ()
    if wanted and wanted[0] in (None, shape[0]):
        rest = _fitted(shape[1:], wanted[1:])
        if rest is not None:
            return (shape[0], *rest)
    return _fitted(shape[1:], wanted) if shape[0] == 1 else None


def _element(place: int, output: TensorListCPU, dtype: tf.DType, shape: tf.TensorShape):
    """An output as an array of what was declared; ValueError (InvalidArgumentError in tf.data)."""
    if not output.is_dense_tensor():
        raise ValueError(
            f"output {place} has samples of extents {output.shape()}, which are no tensor: crop, "
            "resize or pad them to one shape"
        )
    array = output.as_array()
    if tf.as_dtype(array.dtype) != dtype:
        raise ValueError(f"output {place} is {array.dtype}; output_dtypes says {dtype.name}")
    if shape.rank is None:
        return array
    fitted = _fitted(array.shape, tuple(shape.as_list()))
    if fitted is None:
        raise ValueError(f"output {place} has the shape {array.shape}; output_shapes says {shape}")
    return array.reshape(fitted)


def _elements(make: Callable[[], Pipeline], signature: tuple) -> Iterator[tuple]:
    """The batches of a pipeline that is made for one iteration over the dataset."""
    pipe = make()
    try:
        pipe.build()
        if pipe.num_outputs != len(signature):
            raise ValueError(
                f"the pipeline has {pipe.num_outputs} outputs; output_dtypes says {len(signature)}"
            )
        while True:
            try:
                outputs = pipe.run()
            except StopIteration:
                return
            yield tuple(
                _element(place, output, spec.dtype, spec.shape)
                for place, (output, spec) in enumerate(zip(outputs, signature))
            )
    finally:
        pipe._shutdown()


def _signature(dtypes: Any, shapes: Any) -> tuple[tf.TensorSpec, ...]:
    """What elements are; TypeError and ValueError where the two do not go together."""
    is_one = isinstance(dtypes, tf.DType)
    if not is_one and not (
        isinstance(dtypes, tuple) and all(isinstance(one, tf.DType) for one in dtypes)
    ):
        raise TypeError(f"`output_dtypes` is a tf.DType or a tuple of them, not {dtypes!r}")
    if is_one:
        dtypes, shapes = (dtypes,), (shapes,)
    if shapes is None:
        shapes = (None,) * len(dtypes)
    if not isinstance(shapes, tuple):
        raise TypeError(f"`output_shapes` is a tuple of shapes, not {shapes!r}")
    if len(shapes) != len(dtypes):
        raise ValueError(f"{len(shapes)} shapes for {len(dtypes)} output_dtypes: give one for each")
    return tuple(
        tf.TensorSpec(tf.TensorShape(shape), dtype) for dtype, shape in zip(dtypes, shapes)
    )


def _renamed(given: Any, old: Any, name: str) -> Any:
    if old is None:
        return given
    if given is not None:
        raise ValueError(f"`{name}` is the old name of `output_{name}`: give one of them")
    warnings.warn(f"`{name}` is old: use `output_{name}`", stacklevel=5)
    return tuple(old) if isinstance(old, list) else old


# Inputs.


class Input:
    """A dataset as an input of a pipeline, with what else is to be said of it.

    `layout`: a letter an axis of a sample; None: external_source's. `batch`: whether elements of
    the dataset are whole batches, or single samples; None: external_source's.
    """

    def __init__(self, dataset: tf.data.Dataset, *, layout: str | None = None, batch: Any = False):
        if not isinstance(dataset, tf.data.Dataset):
            raise TypeError(f"an input is a tf.data.Dataset, not a {type(dataset).__name__}")
        self.dataset = dataset
        self.layout = layout
        self.batch = batch


def _inputs(given: Any, feeds: list[Feed]) -> dict[str, Input]:
    """The inputs of a pipeline by name, each as an Input; raises where some are left over."""
    if not isinstance(given, Mapping):
        raise TypeError(
            f"`input_datasets` maps names of inputs to datasets; it is a {type(given).__name__}"
        )
    waiting = {}
    for feed in feeds:
        if feed.options.get("source") is not None:
            if feed.options.get("cycle") == "raise":
                raise NotImplementedError(
                    f"the source of {feed.names[0]!r} has cycle='raise': a dataset begins anew by "
                    "being iterated anew"
                )
            continue
        if feed.options.get("num_outputs") is not None or feed.options.get("name") is None:
            raise ValueError(
                "an external_source without `source` is an input: give it a `name`, and no "
                "`num_outputs`"
            )
        waiting[feed.names[0]] = feed
    found = {}
    for name, value in given.items():
        if not isinstance(name, str):
            raise TypeError(f"`input_datasets` has names of inputs for keys, not {name!r}")
        if not isinstance(value, (tf.data.Dataset, Input)):
            raise TypeError(
                f"`input_datasets[{name!r}]` is a tf.data.Dataset or an Input, not a "
                f"{type(value).__name__}"
            )
        if name not in waiting:
            raise ValueError(f"the pipeline has no input {name!r}; it has {sorted(waiting)}")
        value = value if isinstance(value, Input) else Input(value)
        if not isinstance(value.dataset.element_spec, tf.TensorSpec):
            raise ValueError(
                f"elements of the input {name!r} are {value.dataset.element_spec}; an input takes "
                "single tensors: map() the dataset to one"
            )
        layout = waiting[name].layouts.get(name)
        if value.layout and layout and value.layout != layout:
            raise ValueError(
                f"the input {name!r} has the layout {layout!r} in the pipeline, and "
                f"{value.layout!r} in `input_datasets`"
            )
        found[name] = value
    if set(waiting) - set(found):
        raise ValueError(
            f"inputs without data: {sorted(set(waiting) - set(found))}; give `input_datasets`"
        )
    return found


def _batches(dataset: tf.data.Dataset, batch: bool, batch_size: int) -> Iterator[Any]:
    """Batches of arrays; samples that do not fill the last one are left out, as in DALI."""
    elements = (np.asarray(element) for element in dataset)
    if batch:
        yield from elements
        return
    while len(samples := list(itertools.islice(elements, batch_size))) == batch_size:
        yield samples


def _copy_of(pipe: Pipeline, inputs: dict[str, Input], batch_size: int, num_threads: int):
    """The same pipeline, at its beginning, of another size, with datasets for sources."""
    fresh = Pipeline(
        batch_size=batch_size,
        num_threads=num_threads,
        device_id=None,  # tensors of a tf.data.Dataset are made on the host
        seed=pipe.seed,
        prefetch_queue_depth=_DEPTH,
    )
    fresh._made, fresh._num_outputs = pipe._made, pipe._num_outputs
    fresh._readers = pipe._readers
    fresh._made_of_text = getattr(pipe, "_made_of_text", False)
    for old in pipe._feeds:
        feed = Feed(old.names, {**old.options, "parallel": False, "prefetch_queue_depth": None})
        feed.layouts, feed.dtypes, feed.ndims = dict(old.layouts), old.dtypes, old.ndims
        name = old.names[0]
        if name in inputs:
            given = inputs[name]
            batch = old.options.get("batch") if given.batch is None else given.batch
            source = _batches(given.dataset, batch is None or bool(batch), batch_size)
            feed.options = {"source": source, "batch": True}
            feed.layouts[name] = given.layout or old.layouts.get(name)
        fresh._feeds.append(feed)
    return fresh


# Datasets.


class _PipelineDataset(tf.data.Dataset):
    """A dataset of a pipeline's batches; each iteration begins at the pipeline's beginning."""

    def __init__(
        self,
        pipeline: Pipeline,
        output_dtypes: Any = None,
        output_shapes: Any = None,
        fail_on_device_mismatch: bool = True,
        *,
        input_datasets: Any = None,
        batch_size: int = 1,
        num_threads: int = 4,
        device_id: int | None = 0,
        exec_separated: bool = False,
        exec_dynamic: bool = False,
        prefetch_queue_depth: int = 2,
        cpu_prefetch_queue_depth: int = 2,
        gpu_prefetch_queue_depth: int = 2,
        dtypes: Any = None,
        shapes: Any = None,
    ):
        if not isinstance(pipeline, Pipeline):
            raise TypeError(f"a dataset is made of a Pipeline, not of a {type(pipeline).__name__}")
        output_shapes = _renamed(output_shapes, shapes, "shapes")
        signature = _signature(_renamed(output_dtypes, dtypes, "dtypes"), output_shapes)
        pipeline._define()
        inputs = _inputs({} if input_datasets is None else input_datasets, pipeline._feeds)

        def make() -> Pipeline:
            return _copy_of(pipeline, inputs, batch_size, num_threads)

        made = tf.data.Dataset.from_generator(
            lambda: _elements(make, signature), output_signature=signature
        )
        if not pipeline._feeds:  # readers go on for ever
            endless = tf.data.experimental.assert_cardinality(tf.data.INFINITE_CARDINALITY)
            made = made.apply(endless)
        self._made_of = made
        super().__init__(tf.data.experimental.to_variant(made))

    def _inputs(self) -> list:
        return [self._made_of]

    @property
    def element_spec(self) -> tuple:
        """A tf.TensorSpec for each output."""
        return self._made_of.element_spec


class DALIDataset(_PipelineDataset):
    """A tf.data.Dataset over the batches of a pipeline with readers, epoch after epoch, no end.

    Each iteration begins at the pipeline's beginning. `output_dtypes`: a tf.DType, or a tuple of
    them; `output_shapes`: shapes with the batch as the first axis, None where extents are open;
    axes of extent 1 may be left out. `batch_size`, `num_threads`: those of the dataset, not of the
    pipeline. Tensors are made on the host: `fail_on_device_mismatch`, `device_id` and options that
    steer DALI's executors are accepted and change nothing. Pipelines with external_source:
    `experimental.DALIDatasetWithInputs`.

    TypeError and ValueError where arguments do not go together; tf.errors.InvalidArgumentError
    from the iteration where outputs are not what was declared.
    """

    def __init__(self, pipeline: Pipeline, *args: Any, **options: Any):
        if "input_datasets" in options:
            raise TypeError("`input_datasets` is for experimental.DALIDatasetWithInputs")
        if isinstance(pipeline, Pipeline):
            pipeline._define()
            if pipeline._feeds:
                raise ValueError(
                    "the pipeline has an external_source: use experimental.DALIDatasetWithInputs"
                )
        super().__init__(pipeline, *args, **options)


class DALIDatasetWithInputs(_PipelineDataset):
    """A DALIDataset whose inputs are datasets, `input_datasets`, or the pipeline's own sources.

    `input_datasets`: {name of an external_source: tf.data.Dataset of samples, or Input}. It ends
    where one of them, or a source in Python, ends; samples that do not fill a batch are left out.
    """


# Batches by calls, as in graphs of tensorflow 1.

_running: dict[tuple, Callable[[], list]] = {}


def DALIIteratorWrapper(
    pipeline: Pipeline | None = None,
    serialized_pipeline: bytes | None = None,
    sparse: list = [],
    shapes: list = [],
    dtypes: list = [],
    batch_size: int = -1,
    prefetch_queue_depth: Any = 2,
    exec_dynamic: bool | None = None,
    num_threads: int = -1,
    device_id: int | None = -1,
    **options: Any,
) -> list:
    """The next batch of a pipeline, a list of tensors; the pipeline runs on from call to call.

    `pipeline`, or what its `serialize()` gave; `dtypes` and `shapes` of the outputs. In a
    tf.function the call is an operation that gives a batch each time it runs. Calls with the same
    arguments take their batches from the same running pipeline. `sparse` is not taken.
    """
    if sparse and any(sparse):
        missing("plugin.tf.DALIIterator with `sparse`", "take one output a sample of one shape")
    if (pipeline is None) == (serialized_pipeline is None):
        raise ValueError("give either `pipeline` or `serialized_pipeline`")
    if not shapes and batch_size == -1:
        raise ValueError("give `shapes`, or `batch_size`")
    data = serialize_pipeline(pipeline) if pipeline is not None else serialized_pipeline
    size = batch_size if batch_size > 0 else tf.TensorShape(shapes[0]).as_list()[0]
    threads = num_threads if num_threads > 0 else None
    given = [tf.TensorShape(shape) for shape in shapes] or [tf.TensorShape(None)] * len(dtypes)
    signature = _signature(tuple(dtypes), tuple(given))
    key = (data, size, threads, tuple(map(str, signature)))
    if key not in _running:
        settings = {"batch_size": size, "device_id": None}
        if threads is not None:
            settings["num_threads"] = threads
        batches = _elements(lambda: Pipeline.deserialize(data, **settings), signature)
        _running[key] = lambda: list(next(batches))
    if tf.executing_eagerly():
        return [tf.constant(array) for array in _running[key]()]
    tensors = tf.numpy_function(_running[key], [], [spec.dtype for spec in signature])
    for tensor, spec in zip(tensors, signature):
        tensor.set_shape(spec.shape)
    return tensors


def DALIIterator() -> Callable[..., list]:
    """DALIIteratorWrapper."""
    return DALIIteratorWrapper


DALIRawIterator = DALIIterator


experimental = _python_types.ModuleType(f"{__name__}.experimental", "Datasets that take datasets.")
experimental.DALIDatasetWithInputs = DALIDatasetWithInputs  # type: ignore[attr-defined]
experimental.Input = Input  # type: ignore[attr-defined]
sys.modules[experimental.__name__] = experimental
__path__: list[str] = []
__getattr__ = getter("plugin.tf")
