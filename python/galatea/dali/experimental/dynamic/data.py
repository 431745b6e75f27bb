"""`Tensor` and `Batch`: what operators of dynamic mode take and give. Arrays of the host."""

from __future__ import annotations

from typing import Any, Callable, Iterable, Sequence

import numpy as np

from ... import tensor_text, types
from ...errors import NumberOfRangesError, OperatorError
from ...tensors import TensorCPU, TensorListCPU, array_of, check_layout
from . import kinds
from .places import Device
from .places import device as _device

# Runs an operator, and an expression; calls.py sets them.
operator: Callable[..., Any]
expression: Callable[..., Any]


def _is_array(value: Any) -> bool:
    names = ("__array__", "__dlpack__", "__array_interface__")
    return any(hasattr(value, name) for name in names)


def _integers(array: np.ndarray) -> type:
    """The type of integers of Python: of 32 bits."""
    if array.size and array.max() >= 2**31 and array.min() >= 0:
        if array.max() < 2**32:
            return np.uint32
    elif not array.size or (array.max() < 2**31 and array.min() >= -(2**31)):
        return np.int32
    raise OverflowError(
        f"integers from {array.min()} to {array.max()} do not fit into 32 bits: say a `dtype`, or "
        "give an array of numpy"
    )


def _array(data: Any, dtype: Any = None) -> np.ndarray:
    """An array of what a program has. Numbers of Python become 32 bits wide, where they fit."""
    wanted = None if dtype is None else kinds.dtype(dtype).numpy
    if isinstance(data, Tensor):
        made = data._array
    elif _is_array(data):
        made = np.asarray(data) if hasattr(data, "__array__") else array_of(data)
    else:
        made = np.array(data, dtype=wanted)
        if wanted is None and made.dtype == np.int64:
            made = made.astype(_integers(made))
        elif wanted is None and made.dtype == np.float64:
            made = made.astype(np.float32)
    if made.dtype not in types._OF_NUMPY:
        raise TypeError(f"a {type(data).__name__} of {made.dtype} is no data of a tensor")
    return made


def _check(layout: Any, ndim: int) -> str:
    if layout is None:
        return ""
    if not isinstance(layout, str):
        raise ValueError(f"a layout is a text, not a {type(layout).__name__}")
    if layout and len(layout) != ndim:
        raise ValueError(
            f"the layout {layout!r} has {len(layout)} letters, not the number of dimensions, {ndim}"
        )
    check_layout(layout, ndim)
    return layout


def _kept(layout: str, ranges: tuple, ndim: int) -> str:
    """The letters of the axes that an index leaves."""
    if not layout:
        return ""
    left, axis = "", 0
    for one in ranges:
        if one is Ellipsis:
            skipped = ndim - len(ranges) + 1
            left, axis = left + layout[axis : axis + skipped], axis + skipped
        else:
            left, axis = left + (layout[axis] if isinstance(one, slice) else ""), axis + 1
    return left + layout[axis:]


def _sliced(array: np.ndarray, ranges: tuple, place: int) -> np.ndarray:
    """An index of sample `place`: parts of it may be batches, or tensors of one element."""

    def number(value: Any) -> Any:
        if isinstance(value, Batch):
            value = value._arrays[place]
        if value is None or isinstance(value, int):
            return value
        return int(np.asarray(value).item())

    def part(one: Any) -> Any:
        if one is Ellipsis:
            return one
        if isinstance(one, slice):
            return slice(number(one.start), number(one.stop), number(one.step))
        return number(one)

    named = sum(one is not Ellipsis for one in ranges)
    if named > array.ndim:
        raise NumberOfRangesError(
            f"{named} ranges are more than the {array.ndim} axes of the tensor"
        )
    try:
        return np.asarray(array[tuple(map(part, ranges))], array.dtype)
    except IndexError as error:  # of numpy's, which says index, axis and extent
        raise OperatorError(str(error)) from None


class _Arithmetic:
    """Operators of Python; their numbers are those of pipelines."""

    __hash__ = None  # type: ignore[assignment]


def _add_arithmetic() -> None:
    signs = "add:+ sub:- mul:* truediv:/ floordiv:// pow:** and:& or:| xor:^"
    for pair in signs.split():
        name, sign = pair.split(":")

        def forward(self, other, sign=sign):
            return expression(sign, self, other)

        def backward(self, other, sign=sign):
            return expression(sign, other, self)

        setattr(_Arithmetic, f"__{name}__", forward)
        setattr(_Arithmetic, f"__r{name}__", backward)
    for pair in "eq:== ne:!= lt:< le:<= gt:> ge:>=".split():
        name, sign = pair.split(":")
        setattr(_Arithmetic, f"__{name}__", lambda a, b, sign=sign: expression(sign, a, b))
    _Arithmetic.__neg__ = lambda self: expression("-", self)  # type: ignore[attr-defined]
    _Arithmetic.__pos__ = lambda self: self  # type: ignore[attr-defined]
    _Arithmetic.__abs__ = lambda self: expression("abs", self)  # type: ignore[attr-defined]


_add_arithmetic()


class Tensor(_Arithmetic):
    """One tensor: `tensor()` and `as_tensor()` make it, operators give it."""

    def __init__(
        self, data: Any = None, dtype: Any = None, device: Any = None, layout: str | None = None
    ):
        _device(device)
        if isinstance(data, (Tensor, TensorCPU)) and layout is None:
            layout = data.layout if isinstance(data, Tensor) else data.layout()
        if isinstance(data, Batch):
            raise ValueError("a batch is no data of a tensor: as_tensor() stacks its samples")
        array = _array(data, dtype)
        self._array, self._layout = array, _check(layout, array.ndim)
        if dtype is not None and array.dtype != kinds.dtype(dtype).numpy:
            self._array = operator("cast", self, dtype=kinds.dtype(dtype))._array

    @classmethod
    def _of(cls, array: np.ndarray, layout: str) -> "Tensor":
        made = cls.__new__(cls)
        made._array, made._layout = array, layout
        return made

    dtype = property(lambda self: kinds.DType.from_fw_type(self._array.dtype), doc="Its type.")
    shape = property(lambda self: tuple(self._array.shape), doc="The extents.")
    ndim = property(lambda self: self._array.ndim, doc="The number of axes.")
    size = property(lambda self: self._array.size, doc="The number of elements.")
    itemsize = property(lambda self: self._array.itemsize, doc="Bytes of an element.")
    nbytes = property(lambda self: self._array.nbytes, doc="Bytes of all elements.")
    layout = property(lambda self: self._layout or None, doc="A letter an axis; None: unknown.")
    device = property(lambda self: Device.CPU, doc="Where it lies: the host's memory.")

    def cpu(self) -> "Tensor":
        """The tensor itself."""
        return self

    def gpu(self, index: int | None = None) -> "Tensor":
        """The tensor itself: dynamic mode runs on the CPU."""
        return self

    def to_device(self, device: Any, force_copy: bool = False) -> "Tensor":
        """The tensor itself; a copy where one is asked for."""
        _device(device)
        return Tensor._of(self._array.copy(), self._layout) if force_copy else self

    def evaluate(self) -> "Tensor":
        """The tensor itself: it has been computed."""
        return self

    def item(self) -> Any:
        """The only element."""
        if self._array.size != 1:
            raise ValueError(f"the tensor has {self._array.size} elements, and not one")
        return self._array.item()

    def torch(self, copy: bool = False) -> Any:
        """The same memory as a tensor of torch; a copy of it with `copy`."""
        import torch

        array = self._array
        return torch.from_numpy(array if array.flags.writeable and not copy else array.copy())

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        array = self._array if dtype is None else self._array.astype(dtype)
        return array.copy() if copy else array

    def __dlpack__(self, **options: Any) -> Any:
        array = self._array
        return (array if array.flags.writeable else array.copy()).__dlpack__(**options)

    def __dlpack_device__(self) -> tuple:
        return self._array.__dlpack_device__()

    def __bool__(self) -> bool:
        return bool(self.item())

    def __int__(self) -> int:
        return int(self.item())

    def __float__(self) -> float:
        return float(self.item())

    def __len__(self) -> int:
        if not self._array.ndim:
            raise TypeError("a scalar has no len()")
        return len(self._array)

    def __getitem__(self, ranges: Any) -> "Tensor":
        ranges = ranges if isinstance(ranges, tuple) else (ranges,)
        array = _sliced(self._array, ranges, 0)
        return Tensor._of(array, _kept(self._layout, ranges, self._array.ndim))

    def __repr__(self) -> str:
        return tensor_text.of_tensor("Tensor", self._array, self.dtype, self._layout, True)


class _Tensors(Sequence):
    """The samples of a batch, each as a tensor."""

    def __init__(self, batch: "Batch", places: Sequence[int]):
        self._batch, self._places = batch, places

    def __len__(self) -> int:
        return len(self._places)

    def __getitem__(self, selection: Any) -> Any:
        if isinstance(selection, slice):
            return _Tensors(self._batch, self._places[selection])
        if isinstance(selection, list):
            return _Tensors(self._batch, [self._places[i] for i in selection])
        array = self._batch._arrays[self._places[selection]]
        return Tensor._of(array, self._batch._layout)

    select = __getitem__

    def tolist(self) -> list[Tensor]:
        """The same as a list."""
        return list(self)

    def as_batch(self, copy: bool = False) -> "Batch":
        """The same as a batch."""
        return batch(list(self)) if copy else as_batch(list(self))


class _Slices:
    """`batch.slice[...]`: one index for all samples, or batches with one for each."""

    def __init__(self, batch: "Batch"):
        self._batch = batch

    def __getitem__(self, ranges: Any) -> "Batch":
        ranges = ranges if isinstance(ranges, tuple) else (ranges,)
        own = self._batch
        arrays = [_sliced(one, ranges, i) for i, one in enumerate(own._arrays)]
        return Batch._of(arrays, _kept(own._layout, ranges, own.ndim))


class Batch(_Arithmetic):
    """Tensors of one type and rank, whose extents may differ: `batch()` and `as_batch()` make it."""

    def __init__(
        self,
        tensors: Any = None,
        dtype: Any = None,
        device: Any = None,
        layout: str | None = None,
        copy: bool = False,
    ):
        _device(device)
        arrays = self._taken(tensors, dtype)
        if layout is None:
            layout = self._layout_in(tensors)
        if not arrays:
            raise ValueError("an empty list is no batch: its type and rank are unknown")
        for place, one in enumerate(arrays):
            if (one.dtype, one.ndim) != (arrays[0].dtype, arrays[0].ndim):
                raise RuntimeError(
                    f"tensor {place} is {one.dtype} of {one.ndim} axes, the first is "
                    f"{arrays[0].dtype} of {arrays[0].ndim}; tensors of a batch agree in both"
                )
        self._arrays = [one.copy() for one in arrays] if copy else arrays
        self._layout = _check(layout, arrays[0].ndim)
        if dtype is not None and arrays[0].dtype != kinds.dtype(dtype).numpy:
            self._arrays = operator("cast", self, dtype=kinds.dtype(dtype))._arrays

    @staticmethod
    def _taken(tensors: Any, dtype: Any) -> list[np.ndarray]:
        if isinstance(tensors, Batch):
            return tensors._arrays
        if isinstance(tensors, TensorListCPU):
            return [np.asarray(one) for one in tensors]
        if isinstance(tensors, (Tensor, TensorCPU)) or _is_array(tensors):
            whole = _array(tensors, dtype)
            if not whole.ndim:
                raise ValueError("a scalar is no batch: its first axis would count samples")
            return [np.asarray(one, whole.dtype) for one in whole]
        if not isinstance(tensors, Iterable) or isinstance(tensors, (str, bytes)):
            raise TypeError(f"a batch is made of tensors, not of a {type(tensors).__name__}")
        return [_array(one, dtype) for one in tensors]

    @staticmethod
    def _layout_in(tensors: Any) -> str | None:
        if isinstance(tensors, (Batch, _Tensors)):
            return tensors._layout if isinstance(tensors, Batch) else tensors._batch._layout
        if isinstance(tensors, TensorListCPU):
            return tensors.layout()
        if isinstance(tensors, (Tensor, TensorCPU)):
            layout = tensors.layout if isinstance(tensors, Tensor) else tensors.layout()
            return (layout or "")[1:]
        if isinstance(tensors, Sequence) and tensors and isinstance(tensors[0], Tensor):
            return tensors[0]._layout
        return None

    @classmethod
    def _of(cls, arrays: list[np.ndarray], layout: str) -> "Batch":
        made = cls.__new__(cls)
        made._arrays, made._layout = arrays, layout
        return made

    @staticmethod
    def broadcast(sample: Any, batch_size: int, device: Any = None, dtype: Any = None) -> "Batch":
        """A batch of one tensor, `batch_size` times."""
        if isinstance(sample, Batch):
            raise ValueError("a batch is no sample of a batch")
        made = Tensor(sample, dtype=dtype, device=device)
        return Batch._of([made._array] * batch_size, made._layout)

    dtype = property(lambda self: kinds.DType.from_fw_type(self._arrays[0].dtype), doc="Its type.")
    shape = property(
        lambda self: [tuple(one.shape) for one in self._arrays], doc="Extents of each."
    )
    ndim = property(lambda self: self._arrays[0].ndim, doc="The number of axes of a sample.")
    layout = property(lambda self: self._layout or None, doc="A letter an axis; None: unknown.")
    device = property(lambda self: Device.CPU, doc="Where it lies: the host's memory.")
    batch_size = property(lambda self: len(self._arrays), doc="The number of samples.")
    tensors = property(lambda self: _Tensors(self, range(len(self._arrays))), doc="The samples.")
    slice = property(_Slices, doc="Takes an index of each sample; see `_Slices`.")

    cpu, gpu, evaluate = Tensor.cpu, Tensor.gpu, Tensor.evaluate

    def to_device(self, device: Any, force_copy: bool = False) -> "Batch":
        """The batch itself; a copy where one is asked for."""
        _device(device)
        return Batch(self, copy=True) if force_copy else self

    def select(self, sample_range: Any) -> Any:
        """A sample, or a batch of those that a slice or a list names."""
        if sample_range is Ellipsis:
            return self
        chosen = self.tensors[sample_range]
        return chosen if isinstance(chosen, Tensor) else chosen.as_batch()

    def torch(self, copy: bool | None = None, pad: bool = False) -> Any:
        """All samples as one tensor of torch. `pad`: zeros fill those that are smaller."""
        if copy is False:
            raise ValueError("samples lie apart, so that one tensor of them is a copy")
        return as_tensor(self, pad=pad).torch(False)

    def __iter__(self) -> Any:
        return iter(self.tensors)

    def __bool__(self) -> bool:
        raise TypeError("a batch has no truth: look at its samples, or reduce it")

    def __repr__(self) -> str:
        return tensor_text.of_list("Batch", self._arrays, self.dtype, self._layout, True)


def _stacked(batch: Batch, pad: bool) -> Tensor:
    shapes = {one.shape for one in batch._arrays}
    arrays = batch._arrays
    if len(shapes) > 1:
        if not pad:
            raise ValueError(
                "samples of a batch differ in extents, so that they are no tensor: crop, resize or "
                "pad them, or say pad=True"
            )
        most = np.max(list(shapes), axis=0)
        arrays = [np.pad(a, [(0, m - e) for m, e in zip(most, a.shape)]) for a in arrays]
    return Tensor._of(np.stack(arrays), f"N{batch._layout}" if batch._layout else "")


def as_tensor(
    data: Any, dtype: Any = None, device: Any = None, layout: str | None = None, pad: bool = False
) -> Tensor:
    """A tensor of what a program has, without a copy where that can be."""
    if isinstance(data, (Batch, TensorListCPU)):
        data = _stacked(as_batch(data), pad)
    if isinstance(data, Tensor) and dtype is None and layout is None:
        return data
    return Tensor(data, dtype, device, layout)


def tensor(
    data: Any, dtype: Any = None, device: Any = None, layout: str | None = None, pad: bool = False
) -> Tensor:
    """A tensor of a copy of what a program has."""
    made = as_tensor(data, dtype, device, layout, pad)
    return Tensor._of(made._array.copy(), made._layout)


def as_batch(
    tensors: Any, dtype: Any = None, device: Any = None, layout: str | None = None
) -> Batch:
    """A batch of tensors, of the first axis of an array, or of a tensor list."""
    if isinstance(tensors, Batch) and dtype is None and layout is None:
        return tensors
    return Batch(tensors, dtype, device, layout)


def batch(tensors: Any, dtype: Any = None, device: Any = None, layout: str | None = None) -> Batch:
    """The same as as_batch(), of copies."""
    return Batch(tensors, dtype, device, layout, copy=True)
