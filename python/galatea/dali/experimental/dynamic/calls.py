"""Calls of operators on data: each is a pipeline of one operator, kept for the next such call."""

from __future__ import annotations

import threading
from collections import OrderedDict
from operator import itemgetter
from typing import Any, Callable

import numpy as np

from galatea.trace import operators

from ... import fn, math, types
from ...errors import OperatorError
from ...names import document
from ...pipeline import Pipeline
from ...signatures import sign
from ...tensors import TensorCPU, TensorListCPU
from . import data, kinds, places
from .data import Batch, Tensor, as_batch

# Pipelines that are kept: the last ones that were used.
_MOST = 256
_kept: "OrderedDict[Any, _Step]" = OrderedDict()
_lock = threading.Lock()


class _Step:
    """A pipeline of one operator, with inputs of known types and ranks."""

    def __init__(self, body: Callable, count: int, batch_size: int, seed: int | None):
        self.lock = threading.Lock()
        self._pipe = Pipeline(
            batch_size=batch_size,
            num_threads=places.get_num_threads(),
            device_id=None,
            seed=seed,
            prefetch_queue_depth=1,
        )
        with self._pipe:
            made = body([fn.external_source(name=f"input_{i}") for i in range(count)])
            self.keys = list(made) if isinstance(made, dict) else None
            outputs = list(made.values()) if isinstance(made, dict) else made
            self.is_one = not isinstance(outputs, (list, tuple))
            self._pipe.set_outputs(*([outputs] if self.is_one else outputs))
        self._pipe.build()

    def run(self, inputs: list[Batch]) -> list[Batch]:
        """What it gives for a batch."""
        for place, one in enumerate(inputs):
            self._pipe.feed_input(f"input_{place}", one._arrays, layout=one._layout)
        return [as_batch(one) for one in self._pipe.run()]

    def close(self) -> None:
        """Ends its session."""
        self._pipe._shutdown()


def is_batch(value: Any) -> bool:
    """Whether a value has a sample for each of a batch."""
    return isinstance(value, (Batch, TensorListCPU, data._Tensors))


def size_of(values: list, batch_size: int | None) -> int | None:
    """The batch size that the inputs and arguments of a call have; None: no batch is among them."""
    if batch_size is not None and batch_size < 1:
        raise OperatorError(f"a batch has at least one sample, not {batch_size}")
    for one in values:
        if is_batch(one):
            size = len(as_batch(one)._arrays)
            if batch_size is not None and size != batch_size:
                raise ValueError(f"Inconsistent batch size: {size} samples beside {batch_size}")
            batch_size = size
    return batch_size


def run(what: Any, body: Callable, values: list, batch_size: int | None, rng: Any = None) -> Any:
    """Runs `body` on nodes that hold `values`; `what` tells it apart from others."""
    size = size_of(values, batch_size)
    count = 1 if size is None else size
    fed = [as_batch(v) if is_batch(v) else Batch.broadcast(v, count) for v in values]
    # Without inputs nothing says how many samples there are but the pipeline itself.
    most = 1 << (count - 1).bit_length() if fed else count
    of_types = tuple((one._arrays[0].dtype.str, one.ndim, one._layout) for one in fed)
    key = (what, of_types, most, places.get_num_threads())
    step = None
    if rng is None:
        with _lock:
            step = _kept.pop(key, None)
    if step is None:
        step = _Step(body, len(fed), most, None if rng is None else rng._seed_of_a_call())
    try:
        with step.lock:
            made = step.run(fed)
    except BaseException:
        step.close()  # a pipeline that failed has ended
        raise
    ended = [step]
    if rng is None:  # draws are those of the generator's state, so that pipeline was for one call
        with _lock:
            before = _kept.pop(key, None)
            _kept[key] = step
            ended = [before] if before is not None and before is not step else []
            while len(_kept) > _MOST:
                ended.append(_kept.popitem(last=False)[1])
    for one in ended:
        one.close()
    results: list = made if size is not None else [one.tensors[0] for one in made]
    if step.keys is not None:
        return dict(zip(step.keys, results))
    return results[0] if step.is_one else tuple(results)


def _constant(value: Any) -> Any:
    """An argument as pipelines take it."""
    if isinstance(value, kinds.DType):
        if value.type_id is None:
            raise TypeError(f"{value.name} is only a name: operators have no such element type")
        return value.type_id
    if isinstance(value, places.Device):
        return value.device_type
    if isinstance(value, type) and value in (str, bool):
        return {str: types.STRING, bool: types.BOOL}[value]
    if isinstance(value, Tensor):
        return value._array.tolist()
    if isinstance(value, (list, tuple)):
        return [_constant(one) for one in value]
    return value


def _is_data(value: Any) -> bool:
    if isinstance(value, (Tensor, TensorCPU, np.ndarray)) or is_batch(value):
        return True
    return hasattr(value, "__dlpack__")


def _check_names(path: str, schema: dict, arguments: dict[str, Any]) -> None:
    known = set(document()["functions"].get(path, ())) | set(schema["args"])
    for name in arguments:
        if name not in known - {"name", "seed", "preserve", "bytes_per_sample_hint"}:
            raise TypeError(f"{path}() got an unexpected keyword argument '{name}'")
    absent = [
        repr(name)
        for name, one in schema["args"].items()
        if one.get("required") and arguments.get(name) is None
    ]
    if absent:
        kind = f"keyword-only argument{'s' if len(absent) > 1 else ''}"
        raise TypeError(f"{path}() missing {len(absent)} required {kind}: {', '.join(absent)}")


def operator(
    path: str, *inputs: Any, batch_size: int | None = None, rng: Any = None, **arguments: Any
) -> Any:
    """Calls the operator `path`: on batches where one is among what it is given."""
    schema = operators.find(path)
    if schema is None:
        fn.call(path, inputs, {}, f"experimental.dynamic.{path}")  # which raises
        raise AssertionError(path)
    places.device(arguments.pop("device", None))
    _check_names(path, schema, arguments)
    is_random = bool(schema.get("random"))
    if rng is not None and not is_random:
        raise TypeError(f"{path} draws nothing, and takes no `rng`")
    if is_random:
        from .random import RNG, get_default_rng

        rng = get_default_rng() if rng is None else rng
        if not isinstance(rng, RNG):
            raise TypeError(f"`rng` is a random.RNG, not a {type(rng).__name__}")
    given = [one for one in inputs if one is not None]
    fixed, fed = {}, {}
    for name, value in arguments.items():
        if value is None:
            continue
        per_sample = schema["args"].get(name, {}).get("per_sample", False)
        is_fed = _is_data(value) and (per_sample or is_batch(value))
        if is_fed:
            fed[name] = value
        else:
            fixed[name] = _constant(value)

    def body(nodes: list) -> Any:
        named = dict(zip(fed, nodes[len(given) :]))
        return fn.call(path, tuple(nodes[: len(given)]), {**fixed, **named})

    what = (path, len(given), tuple(fed), tuple(sorted((k, repr(v)) for k, v in fixed.items())))
    return run(what, body, [*given, *fed.values()], batch_size, rng)


_BINARY: dict[str, Callable] = {
    "+": lambda a, b: a + b,
    "-": lambda a, b: a - b,
    "*": lambda a, b: a * b,
    "/": lambda a, b: a / b,
    "//": lambda a, b: a // b,
    "**": lambda a, b: a**b,
    "&": lambda a, b: a & b,
    "|": lambda a, b: a | b,
    "^": lambda a, b: a ^ b,
    "==": lambda a, b: a == b,
    "!=": lambda a, b: a != b,
    "<": lambda a, b: a < b,
    "<=": lambda a, b: a <= b,
    ">": lambda a, b: a > b,
    ">=": lambda a, b: a >= b,
}


def expression(sign: str, *values: Any) -> Any:
    """An operator of Python, or a function of `math`."""

    def body(nodes: list) -> Any:
        if len(nodes) == 1 and sign == "-":
            return -nodes[0]
        made = _BINARY.get(sign) or getattr(math, sign)
        return made(*nodes)

    return run(("expression", sign), body, list(values), None)


def function(path: str) -> Callable:
    """The function of an operator of `fn`."""
    first = itemgetter(0)

    def call(*inputs: Any, **arguments: Any) -> Any:
        if path == "batch_permutation" and arguments.get("batch_size") is None:
            raise ValueError("batch_permutation has no inputs: say its `batch_size`")
        if inputs and isinstance(inputs[0], list) and inputs[0] and is_batch(first(inputs[0])):
            raise ValueError("a list of batches is no input: give them one by one")
        return operator(path, *inputs, **arguments)

    call.__name__ = call.__qualname__ = path.rsplit(".", 1)[-1]
    sign("dynamic", path, call)
    schema = operators.find(path)
    call.__doc__ = operators.documentation_of(schema) if schema is not None else None
    return call


data.operator, data.expression = operator, expression
