"""Functions of Python inside a pipeline: `fn.python_function` and its like.

A call is recorded as a border (`stages.PythonCall`): the pipeline becomes programs, between which
the function is called by the thread that schedules batches.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Callable

import numpy as np

from galatea.errors import failure_text, where_is
from galatea.trace import place as places
from galatea.trace.node import Node

from . import types
from .errors import PipelineError
from .names import WithoutEngine, internal, missing
from .tensors import array_of_capsule, is_capsule
from .values import Samples, Values

_ARGUMENTS = (
    "function num_outputs batch_processing output_layouts device synchronize_stream name preserve "
    "seed bytes_per_sample_hint"
).split()


class FunctionError(PipelineError):
    """A function of Python raised, or gave what no tensor can be made of."""


class FunctionValueError(FunctionError, ValueError):
    """A function of Python gave a tensor that its `output_layouts` do not fit."""


def _to_torch(array: np.ndarray) -> Any:
    import torch

    return torch.from_dlpack(array)


@dataclass(frozen=True)
class Exchange:
    """What a function takes and gives: `give` an array to it, `take` what it gave."""

    shown: str
    give: Callable[[np.ndarray], Any]
    takes: Callable[[Any], bool]
    take: Callable[[Any], np.ndarray]


NUMPY = Exchange(
    "a numpy array",
    lambda array: array,
    lambda value: isinstance(value, (np.ndarray, np.generic)),
    np.asarray,
)
DLPACK = Exchange(
    "a DLPack capsule",
    lambda array: array.__dlpack__(),
    is_capsule,
    array_of_capsule,
)
TORCH = Exchange(
    "a torch tensor",
    _to_torch,
    lambda value: type(value).__module__.split(".")[0] == "torch" and hasattr(value, "detach"),
    np.from_dlpack,
)


class Function:
    """A function with the options of its call."""

    def __init__(
        self,
        function: Callable,
        num_outputs: int,
        is_batch: bool,
        layouts: list[str],
        exchange: Exchange,
        shown: str,
        place: Any,
    ):
        self.function = function
        self.num_outputs = num_outputs
        self.is_batch = is_batch
        self.layouts = layouts
        self.exchange = exchange
        self.shown, self.place = shown, place

    def _fail(self, text: str, cause: BaseException | None = None, kind: type = FunctionError):
        raise kind(f"{text}\n  called by {self.shown} at {self.place}") from cause

    def _called(self, *arguments: Any) -> Any:
        try:
            return self.function(*arguments)
        except Exception as error:  # the user's: whatever it raises
            self._fail(failure_text(self.function, error), error)

    def __call__(self, inputs: list[Values], samples: Samples) -> list[Values]:
        """The outputs of a batch."""

        def give(array: np.ndarray) -> Any:
            return self.exchange.give(array if array.flags.writeable else array.copy())

        if self.is_batch:
            given = self._called(*([give(one) for one in each.arrays] for each in inputs))
            outputs = [self._list(one, len(samples), i) for i, one in self._split(given)]
        else:
            outputs = [[] for _ in range(self.num_outputs)]
            for place in range(len(samples)):
                given = self._called(*(give(each.arrays[place]) for each in inputs))
                for i, one in self._split(given):
                    outputs[i].append(self._array(one, i))
        return [self._values(arrays, i) for i, arrays in enumerate(outputs)]

    def _who(self) -> str:
        return f"the Python function {where_is(self.function)}"

    def _split(self, given: Any) -> Any:
        """What one call gave, as (number, output)."""
        count = self.num_outputs
        if count == 0:
            return ()
        if given is None:
            self._fail(f"{self._who()} gave None; it has {count} outputs")
        if count == 1 and not isinstance(given, tuple):
            return ((0, given),)
        if not isinstance(given, tuple):
            self._fail(
                f"{self._who()} gave a {type(given).__name__}; with num_outputs={count} it must be a "
                "tuple"
            )
        if len(given) != count:
            self._fail(f"{self._who()} gave {len(given)} outputs; num_outputs is {count}")
        return enumerate(given)

    def _list(self, given: Any, count: int, number: int) -> list[np.ndarray]:
        if not isinstance(given, list):
            self._fail(
                f"{self._who()} gave a {type(given).__name__} as output {number}; with "
                "batch_processing=True an output is a list with an array for each sample"
            )
        if len(given) != count:
            self._fail(
                f"{self._who()} gave {len(given)} samples as output {number}; the batch has {count}"
            )
        return [self._array(one, number) for one in given]

    def _array(self, given: Any, number: int) -> np.ndarray:
        if not self.exchange.takes(given):
            self._fail(
                f"{self._who()} gave a {type(given).__name__} as output {number}, and not "
                f"{self.exchange.shown}"
            )
        try:
            array = self.exchange.take(given)
        except (BufferError, RuntimeError, TypeError, ValueError) as error:
            self._fail(f"what {self._who()} gave as output {number} is no tensor: {error}", error)
        if array.dtype not in types._OF_NUMPY:
            self._fail(
                f"{self._who()} gave elements of type {array.dtype} as output {number}; convert "
                "them to bool, an integer or a float of at most 64 bits"
            )
        # The function may use its memory again.
        return np.array(array, array.dtype.newbyteorder("="), order="C")

    def _values(self, arrays: list[np.ndarray], number: int) -> Values:
        layout = self.layouts[number]
        for place, one in enumerate(arrays):
            for what, a, b in (
                ("is of type", one.dtype, arrays[0].dtype),
                ("has dimensions:", one.ndim, arrays[0].ndim),
            ):
                if a != b:
                    self._fail(
                        f"output {number} of {self._who()} {what} {a} for sample {place} and {b} "
                        "for the first; samples of a batch have one type and rank"
                    )
        if layout and arrays and len(layout) != arrays[0].ndim:
            self._fail(
                f"the layout {layout!r} has {len(layout)} letters; output {number} of "
                f"{self._who()} has {arrays[0].ndim} dimensions",
                kind=FunctionValueError,
            )
        return Values(arrays, layout)


def _checked(options: dict[str, Any], exchange: Exchange, shown: str) -> None:
    for name in options:
        if name == "synchronize_stream" and exchange is NUMPY:
            raise TypeError(f"{shown} has no argument `{name}`: it belongs to those on DLPack")
        if name not in _ARGUMENTS:
            raise KeyError(f"{shown} has no argument `{name}`")
    if "function" not in options:
        raise TypeError(f"{shown} needs the argument `function`")
    if not callable(options["function"]):
        raise RuntimeError(
            f"`function` of {shown} is a {type(options['function']).__name__}, which cannot be "
            "called"
        )
    count = options.get("num_outputs", 1)
    if not isinstance(count, int) or isinstance(count, bool) or count < 0:
        raise ValueError(f"`num_outputs` of {shown} is {count!r}; it is a number from 0 on")
    if options.get("device", "cpu") == "gpu":
        missing(shown, "gpu")
    if options.get("device", "cpu") != "cpu":
        raise RuntimeError(f"{shown} has no device {options['device']!r}; it has 'cpu'")


def layouts_of(given: Any, count: int, shown: str) -> list[str]:
    """One for each output: a text is that of all, a list may be shorter than there are outputs."""
    if given is None:
        return [""] * count
    if isinstance(given, str):
        return [given] * count
    if not isinstance(given, (list, tuple)) or not all(isinstance(one, str) for one in given):
        raise RuntimeError(
            f"`output_layouts` of {shown} is a text or a list of texts, not {given!r}"
        )
    if len(given) > count:
        raise RuntimeError(
            f"`output_layouts` of {shown} has {len(given)} entries; it has {count} outputs"
        )
    return [*given, *[""] * (count - len(given))]


def record(inputs: tuple, options: dict[str, Any], exchange: Exchange, shown: str) -> Any:
    """Records one call in the current pipeline: a node, or a list of them; [] without outputs."""
    _checked(options, exchange, shown)
    count = options.get("num_outputs", 1)
    layouts = layouts_of(options.get("output_layouts"), count, shown)
    is_batch = bool(options.get("batch_processing", exchange is DLPACK))

    def make(at: Any) -> Function:
        return Function(options["function"], count, is_batch, layouts, exchange, shown, at)

    return record_call(inputs, make, shown)


def record_call(inputs: tuple, make: Callable[[Any], Function], shown: str) -> Any:
    """Records a call of what `make` gives for its place in the script."""
    from .pipeline import Pipeline

    pipe = Pipeline._required(shown)
    at = places.caller()
    if pipe._is_debug:
        inputs, _ = pipe._nodes_of(inputs, {})
    nodes = []
    for place, value in enumerate(inputs):
        if isinstance(value, (list, tuple)) and any(isinstance(one, Node) for one in value):
            raise TypeError(
                f"input {place} of {shown} is a list of data nodes; a function of Python takes "
                "them one by one"
            )
        if not isinstance(value, Node):
            try:
                value = types.Constant(value, device="cpu")
            except TypeError:
                raise TypeError(
                    f"input {place} of {shown} is a {type(value).__name__}; an input is a data "
                    "node, or a number, list or array that becomes a constant"
                ) from None
        nodes.append(value)
    function = make(at)
    made = pipe._recorder.call_python(function, nodes, at)
    return made[0] if function.num_outputs == 1 else made


def _function(name: str, exchange: Exchange, documentation: str) -> Callable:
    shown = f"fn.{name}"

    def function(*inputs: Any, **options: Any) -> Any:
        return record(inputs, options, exchange, shown)

    function.__name__ = function.__qualname__ = name
    function.__doc__ = documentation
    return function


_WORDS = """

    `function` is called {unit}, while batches are made: it gives {result}, or a tuple of
    `num_outputs` of them; with `num_outputs=0` what it gives is not looked at.
    `batch_processing=True` calls it once for a batch, with a list for each input, and it gives
    lists; False for each sample. `output_layouts`: a letter an axis, one text for all outputs or a
    list. `synchronize_stream`, `bytes_per_sample_hint` and `preserve` are accepted and have no
    effect. What it raises is a RuntimeError that names the line, with the exception as its cause.
"""

python_function = _function(
    "python_function",
    NUMPY,
    "A function of Python on numpy arrays: a node, or a list of them."
    + _WORDS.format(unit="with an array for each input", result="an array"),
)
dl_tensor_python_function = _function(
    "dl_tensor_python_function",
    DLPACK,
    "A function of Python on DLPack capsules: a node, or a list of them."
    + _WORDS.format(unit="with lists of capsules", result="a list of capsules"),
)
torch_python_function = _function(
    "torch_python_function",
    TORCH,
    "A function of Python on torch tensors: a node, or a list of them."
    + _WORDS.format(unit="with a tensor for each input", result="a tensor"),
)


class PythonFunction(WithoutEngine):
    """`ops.PythonFunction`: the arguments of `fn.python_function`, then its inputs."""

    _exchange, _shown = NUMPY, "ops.PythonFunction"
    schema_name = "PythonFunction"
    check_outputs = internal(f"{_shown}.check_outputs")
    current_stream = internal(f"{_shown}.current_stream")
    function_wrapper_batch = internal(f"{_shown}.function_wrapper_batch")
    function_wrapper_per_sample = internal(f"{_shown}.function_wrapper_per_sample")

    _positions = ("device", "batch_processing")  # arguments behind `num_outputs`

    def __init__(self, function: Callable, num_outputs: int = 1, *others: Any, **options: Any):
        if len(others) > len(self._positions):
            raise TypeError(f"{self._shown} takes at most {2 + len(self._positions)} arguments")
        for name, value in zip(self._positions, others):
            if name in options:
                raise TypeError(f"{self._shown} got multiple values for the argument `{name}`")
            options[name] = value
        self._options = {"function": function, "num_outputs": num_outputs, **options}
        _checked(self._options, self._exchange, self._shown)
        self.function = function
        self.num_outputs = num_outputs

    @property
    def device(self) -> str:
        """ "cpu"."""
        return self._options.get("device", "cpu")

    @property
    def preserve(self) -> bool:
        """Whether it is called where nobody reads what it gives: always."""
        return True

    def __call__(self, *inputs: Any, **options: Any) -> Any:
        for name in options:
            if self._options.get(name) is not None and name != "name":
                raise ValueError(f"the argument `{name}` was given to the constructor already")
        return record(inputs, {**self._options, **options}, self._exchange, self._shown)


class DLTensorPythonFunction(PythonFunction):
    """`ops.DLTensorPythonFunction`: the same on DLPack capsules."""

    _exchange, _shown = DLPACK, "ops.DLTensorPythonFunction"
    schema_name = "DLTensorPythonFunction"
    _positions = ("device", "synchronize_stream", "batch_processing")

    # Of its own, for it has a signature of its own.
    def __init__(self, *arguments: Any, **options: Any):
        super().__init__(*arguments, **options)


class TorchPythonFunction(PythonFunction):
    """`plugin.pytorch.TorchPythonFunction`: the same on torch tensors."""

    _exchange, _shown = TORCH, "plugin.pytorch.TorchPythonFunction"
    schema_name = "TorchPythonFunction"
    torch_wrapper = internal(f"{_shown}.torch_wrapper")
