"""`nvidia.dali.plugin.numba`: functions that numba compiles, inside a pipeline, on the CPU.

numba is loaded, and the functions are compiled, where a call is recorded. They run as other
functions of Python do (`python_function`), and write into outputs that were made for them.
"""

from __future__ import annotations

import inspect
import sys
import types as _python_types
from typing import Any, Callable

import numpy as np

from galatea.errors import where_is

from .. import types
from ..names import WithoutEngine, getter, missing
from ..pipeline import Pipeline as Pipeline
from ..python_function import NUMPY, Function, record_call
from ..values import Samples, Values

_SHOWN = "plugin.numba.fn.numba_function"


def _numba() -> Any:
    try:
        import numba
    except ImportError as error:
        raise ImportError(f"{_SHOWN} needs the package numba: {error}", name="numba") from error
    return numba


def _listed(value: Any) -> list:
    return list(value) if isinstance(value, (list, tuple)) else [value]


def _dtypes(given: list, name: str) -> list[np.dtype]:
    for one in given:
        if type(one) is not types.DALIDataType:
            raise TypeError(
                f"`{name}` of {_SHOWN} holds {one!r}; it holds element types of `types`"
            )
        if one == types.FLOAT16:
            raise RuntimeError(
                f"`{name}` of {_SHOWN} holds FLOAT16, which numba has not on the CPU"
            )
    return [np.dtype(types.to_numpy_type(one)) for one in given]


def _checked_ndims(given: list, name: str) -> list[int]:
    for one in given:
        if not isinstance(one, int) or isinstance(one, bool) or one < 0:
            raise ValueError(f"`{name}` of {_SHOWN} holds {one!r}; it holds numbers of dimensions")
    return given


class _Signature:
    """The element types and numbers of dimensions of what a function takes and gives."""

    def __init__(self, in_types: Any, ins_ndim: Any, out_types: Any, outs_ndim: Any):
        self.inputs = self._side(in_types, ins_ndim, "in_types", "ins_ndim")
        self.outputs = self._side(out_types, outs_ndim, "out_types", "outs_ndim")

    @staticmethod
    def _side(dtypes: Any, ndims: Any, *names: str) -> list[tuple[np.dtype, int]]:
        dtypes, ndims = _listed(dtypes), _listed(ndims)
        if len(dtypes) != len(ndims):
            raise ValueError(
                f"`{names[0]}` and `{names[1]}` of {_SHOWN} have {len(dtypes)} and {len(ndims)} "
                "entries; they have one for each tensor"
            )
        return list(zip(_dtypes(dtypes, names[0]), _checked_ndims(ndims, names[1])))


def _compiled(function: Any, arguments: list, name: str) -> Callable:
    """The function as numba compiles it for those types; its errors are numba's own."""
    if not callable(function):
        raise TypeError(
            f"`{name}` of {_SHOWN} is a {type(function).__name__}, which cannot be called"
        )
    numba = _numba()
    return numba.njit(numba.void(*arguments))(getattr(function, "py_func", function))


class _NumbaFunction(Function):
    """`run(*outputs, *inputs)` writes the outputs; `setup(shapes of outputs, of inputs)` says how
    large they are, else output i is as large as input i.

    Both take lists with an entry for each tensor: an array of int64, [sample, dimension], and with
    `batch_processing` a list of the samples' arrays.
    """

    def __init__(
        self,
        run: Any,
        setup: Any,
        signature: _Signature,
        is_batch: bool,
        place: Any,
    ):
        outputs, inputs = signature.outputs, signature.inputs
        super().__init__(run, len(outputs), is_batch, [""] * len(outputs), NUMPY, _SHOWN, place)
        numba = _numba()
        self._signature = signature
        arrays = [
            numba.types.Array(numba.from_dtype(dtype), ndim, "C")
            for dtype, ndim in outputs + inputs
        ]
        if is_batch:
            arrays = [numba.types.ListType(one) for one in arrays]
        self._run = _compiled(run, arrays, "run_fn")
        shapes = numba.types.ListType(numba.types.Array(numba.int64, 2, "C"))
        self._setup = setup and _compiled(setup, [shapes, shapes], "setup_fn")
        self._setup_function = setup

    def __call__(self, inputs: list[Values], samples: Samples) -> list[Values]:
        for number, (values, (dtype, ndim)) in enumerate(zip(inputs, self._signature.inputs)):
            found_dtype, found_ndim, _ = values.kind()
            if (found_dtype, found_ndim) != (dtype, ndim):
                self._fail(
                    f"input {number} of {self._who()} is {found_dtype} of {found_ndim} dimensions; "
                    f"`in_types` and `ins_ndim` say {dtype} of {ndim}"
                )
        given = [
            [one if one.flags.writeable and one.flags.c_contiguous else one.copy() for one in each]
            for each in (values.arrays for values in inputs)
        ]
        made = [
            [np.zeros(tuple(shape), dtype) for shape in shapes]
            for shapes, (dtype, _) in zip(
                self._shapes(given, len(samples)), self._signature.outputs
            )
        ]
        if self.is_batch:
            self._called_as(self._run, *(_numba().typed.List(one) for one in made + given))
        else:
            for tensors in zip(*made, *given):
                self._called_as(self._run, *tensors)
        return [Values(arrays, "") for arrays in made]

    def _called_as(self, compiled: Callable, *arguments: Any) -> None:
        try:
            compiled(*arguments)
        except Exception as error:  # the user's: whatever it raises
            self._fail(f"{self._who()} failed: {type(error).__name__}: {error}", error)

    def _shapes(self, given: list, count: int) -> list[np.ndarray]:
        """The extents of the outputs, [sample, dimension] of each."""
        ins = [np.array([one.shape for one in each], np.int64).reshape(count, -1) for each in given]
        if self._setup is None:
            return ins[: self.num_outputs]
        outs = [np.zeros((count, ndim), np.int64) for _, ndim in self._signature.outputs]
        shapes = _numba().typed.List(outs)
        self._called_as(self._setup, shapes, _numba().typed.List(ins))
        for number, (extents, (_, ndim)) in enumerate(zip(shapes, self._signature.outputs)):
            if extents.shape != (count, ndim) or (extents < 0).any():
                self._fail(
                    f"the setup function {where_is(self._setup_function)} gave the extents "
                    f"{extents.tolist()} for output {number} of {count} samples; `outs_ndim` says "
                    f"{ndim} for each, from 0 on"
                )
        return list(shapes)


class NumbaFunction(WithoutEngine):
    """`plugin.numba.NumbaFunction`: a function that numba compiles, as an operator.

    `run_fn(out0, …, in0, …)` writes into the outputs, sample by sample, or with
    `batch_processing=True` once for a batch, with lists. `out_types`, `outs_ndim`, `in_types`,
    `ins_ndim` are the element types and numbers of dimensions. `setup_fn(outs, ins)` writes the
    outputs' extents: outs[tensor][sample][dimension]; without it output i is as large as input i.
    Both are compiled at the call, by `numba.njit`. `blocks`, `threads_per_block` are for GPUs.
    """

    _shown, schema_name = "plugin.numba.NumbaFunction", "NumbaFuncImpl"

    def __init__(
        self,
        run_fn: Any,
        out_types: Any,
        in_types: Any,
        outs_ndim: Any,
        ins_ndim: Any,
        setup_fn: Any = None,
        device: str = "cpu",
        batch_processing: bool | None = False,
        blocks: Any = None,
        threads_per_block: Any = None,
        **kwargs: Any,
    ):
        for name in kwargs:
            if name not in ("name", "preserve", "seed", "bytes_per_sample_hint"):
                raise KeyError(f"{_SHOWN} has no argument `{name}`")
        if device == "gpu":
            missing(_SHOWN, "gpu")
        if device != "cpu":
            raise RuntimeError(f"{_SHOWN} has no device {device!r}; it has 'cpu'")
        self._signature = _Signature(in_types, ins_ndim, out_types, outs_ndim)
        outputs = [ndim for _, ndim in self._signature.outputs]
        if setup_fn is None and outputs != [ndim for _, ndim in self._signature.inputs]:
            raise RuntimeError(
                f"{_SHOWN} without `setup_fn` gives outputs as large as its inputs: `outs_ndim` is "
                f"`ins_ndim` then, not {outputs}"
            )
        self.run_fn, self.setup_fn = run_fn, setup_fn
        self.out_types, self.outs_ndim = _listed(out_types), _listed(outs_ndim)
        self.in_types, self.ins_ndim = _listed(in_types), _listed(ins_ndim)
        self.num_outputs = len(self.out_types)
        self.batch_processing = bool(batch_processing)

    @property
    def device(self) -> str:
        """ "cpu"."""
        return "cpu"

    @property
    def preserve(self) -> bool:
        """Whether it is called where nobody reads what it gives: always."""
        return True

    def __call__(self, *inputs: Any, **options: Any) -> Any:
        for name in options:
            if name not in ("name", "preserve"):
                raise KeyError(f"{_SHOWN} has no argument `{name}`")
        if len(inputs) != len(self.in_types):
            raise ValueError(
                f"{_SHOWN} takes {len(self.in_types)} inputs, as `in_types` says, not {len(inputs)}"
            )

        def make(at: Any) -> Function:
            return _NumbaFunction(
                self.run_fn, self.setup_fn, self._signature, self.batch_processing, at
            )

        return record_call(inputs, make, _SHOWN)


def numba_function(*inputs: Any, **options: Any) -> Any:
    """A function that numba compiles: a node, or a list of them. See `NumbaFunction`."""
    return NumbaFunction(**options)(*inputs)


def _shown(
    input_0,
    *inputs,
    device=None,
    name=None,
    batch_processing=False,
    blocks=None,
    bytes_per_sample_hint=[0],  # noqa: B006  (as DALI shows it)
    in_types,
    ins_ndim,
    out_types,
    outs_ndim,
    preserve=False,
    run_fn,
    setup_fn=None,
    threads_per_block=None,
):
    """The arguments of `numba_function`; calls are checked as those of other operators."""


numba_function.__signature__ = inspect.signature(_shown)  # type: ignore[attr-defined]


def _module(name: str, **members) -> _python_types.ModuleType:
    module = _python_types.ModuleType(f"{__name__}.{name}", "Functions of numba, as in `numba`.")
    module.__path__ = []  # type: ignore[attr-defined]
    module.__dict__.update(members)
    sys.modules[module.__name__] = module
    return module


__getattr__ = getter("plugin.numba")
__path__: list[str] = []
fn = _module("fn", numba_function=numba_function)
fn.experimental = _module("fn.experimental", numba_function=numba_function)
experimental = _module("experimental", NumbaFunction=NumbaFunction)
