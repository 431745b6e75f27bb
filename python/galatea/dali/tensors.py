"""`nvidia.dali.tensors`: tensors and lists of them in the host's memory, over numpy arrays."""

from __future__ import annotations

import math
import re
import weakref
from typing import Any, Callable

import numpy as np

from . import tensor_text, types
from .names import getter, missing, stand_in

TensorGPU = stand_in("tensors.TensorGPU", "gpu")
TensorListGPU = stand_in("tensors.TensorListGPU", "gpu")
# How the engine calls samples that come from no file.
_OF_NO_FILE = re.compile(r"sample \d+")


class _Capsule:
    """A DLPack capsule of the host's memory, as numpy takes it: once."""

    def __init__(self, capsule: Any):
        self._capsule = capsule

    def __dlpack__(self, **_: Any) -> Any:
        return self._capsule

    def __dlpack_device__(self) -> tuple[int, int]:
        return (1, 0)


def is_capsule(value: Any) -> bool:
    """Whether it is what `__dlpack__` gives."""
    return type(value).__name__ == "PyCapsule"


def array_of_capsule(capsule: Any) -> np.ndarray:
    """A numpy array over the memory of a DLPack capsule, which is used up."""
    return np.from_dlpack(_Capsule(capsule))


def array_of(value: Any) -> np.ndarray:
    """A numpy array over what `value` holds; TypeError where it is no array."""
    if isinstance(value, np.ndarray):
        array = value
    elif isinstance(value, TensorCPU):
        return value._array
    elif hasattr(value, "__array_interface__"):
        array = np.asarray(value)
    elif hasattr(value, "__dlpack__"):
        if hasattr(value, "detach"):
            value = value.detach()
        array = np.from_dlpack(value)
    elif is_capsule(value):
        array = array_of_capsule(value)
    else:
        try:
            array = np.asarray(memoryview(value))
        except TypeError:
            raise TypeError(
                f"a {type(value).__name__} is no array: give a numpy array, a torch tensor or "
                "anything with __dlpack__ or the buffer protocol"
            ) from None
    if array.dtype not in types._OF_NUMPY:
        raise TypeError(f"elements of type {array.dtype} are none of DALI's element types")
    return array


_RECYCLED_FROM = 1 << 20  # bytes; the allocator of C keeps smaller pieces itself


class _Memory:
    """Memory for batches that are put together, used again when the arrays over it are gone.

    Fresh pages cost more than the copy into them. At most two blocks are idle.
    """

    _MOST_IDLE = 2

    def __init__(self) -> None:
        self._idle: list[bytearray] = []

    def take(self, shape: tuple[int, ...], dtype: np.dtype) -> np.ndarray:
        size = math.prod(shape) * dtype.itemsize
        # A finalizer may run here, on this thread, and others may take: no lock, but single steps.
        block = bytearray()
        while self._idle and not size <= len(block) <= 2 * size:
            try:
                block = self._idle.pop()
            except IndexError:
                break
        if not size <= len(block) <= 2 * size:
            block = bytearray(size)
        # Views of the array, and tensors over it, refer to this: it is no array's memory.
        owner = np.frombuffer(block, np.uint8)
        weakref.finalize(owner, self._give_back, block).atexit = False
        return np.ndarray(shape, dtype, owner)

    def _give_back(self, block: bytearray) -> None:
        if len(self._idle) < self._MOST_IDLE:
            self._idle.append(block)


_memory = _Memory()


def _joined(rows: list[np.ndarray]) -> np.ndarray:
    """`np.concatenate(rows)`, in memory that is used again where it is large."""
    shape = (sum(map(len, rows)), *rows[0].shape[1:])
    if math.prod(shape) * rows[0].itemsize < _RECYCLED_FROM:
        return np.concatenate(rows)
    return np.concatenate(rows, out=_memory.take(shape, rows[0].dtype))


def samples_in(array: np.ndarray) -> list[np.ndarray]:
    """The samples along the first axis; numbers become arrays without dimensions."""
    return list(array) if array.ndim > 1 else [array[k, ...] for k in range(len(array))]


def check_layout(layout: str, ndim: int) -> None:
    if layout and len(layout) != ndim:
        raise ValueError(
            f"the layout {layout!r} has {len(layout)} letters, and the data {ndim} dimensions"
        )


def _reinterpreted(array: np.ndarray, new_type: Any) -> np.ndarray:
    if type(new_type) is not types.DALIDataType:
        raise TypeError(f"an element type is one of `types`, not {new_type!r}")
    dtype = np.dtype(types.to_numpy_type(new_type))
    if dtype.itemsize != array.dtype.itemsize:
        raise RuntimeError(f"elements of {array.dtype} and {dtype} differ in their size")
    return array.view(dtype)


class TensorCPU:
    """A tensor in the host's memory, which it shares with what it was made of.

    `object`: a numpy array or anything with `__dlpack__` or the buffer protocol; `layout`: a
    letter an axis. `shape()`, `layout()`, `dtype`, `np.array(tensor)`, `__dlpack__`.
    """

    def __init__(self, object: Any, layout: str = "", is_pinned: bool = False):
        array = array_of(object)
        layout = layout or ""
        check_layout(layout, array.ndim)
        self._array = array
        self._layout = layout
        self._source_info = ""

    @classmethod
    def _of(cls, array: np.ndarray, layout: str, source_info: str = "") -> "TensorCPU":
        tensor = cls.__new__(cls)
        tensor._array, tensor._layout, tensor._source_info = array, layout, source_info
        return tensor

    @property
    def dtype(self) -> Any:
        """The element type."""
        return types._OF_NUMPY[self._array.dtype]

    def ndim(self) -> int:
        """The number of dimensions."""
        return self._array.ndim

    def shape(self) -> list[int]:
        """Extents."""
        return list(self._array.shape)

    def layout(self) -> str:
        """A letter an axis; "" where nothing is known."""
        return self._layout

    def source_info(self) -> str:
        """Where the data came from: a path; "" where nothing is known."""
        return self._source_info

    def get_property(self, key: str) -> Any:
        """ "layout" or "source_info"; None for other keys."""
        return {"layout": self._layout, "source_info": self._source_info}.get(key) or None

    def set_layout(self, layout: str | None) -> None:
        """Names the axes anew: a letter an axis, or "" or None for none."""
        check_layout(layout or "", self._array.ndim)
        self._layout = layout or ""

    def reinterpret(self, new_type: Any) -> None:
        """Takes the elements' bits for another element type of the same size."""
        self._array = _reinterpreted(self._array, new_type)

    def _make_copy(self) -> "TensorCPU":
        return TensorCPU._of(self._array.copy(), self._layout, self._source_info)

    def data_ptr(self) -> int:
        """The address of the first element."""
        return self._array.ctypes.data

    def device_id(self) -> int:
        """The GPU's number; there is none."""
        return types.CPU_ONLY_DEVICE_ID

    def squeeze(self, dim: int | None = None) -> bool:
        """Removes axes of extent 1, or the one axis `dim`; whether something was removed."""
        shape = self._array.shape
        if dim is None:
            axes = tuple(i for i, extent in enumerate(shape) if extent == 1)
        else:
            axis = dim + len(shape) if dim < 0 else dim
            if not 0 <= axis < len(shape):
                raise RuntimeError(f"there is no axis {dim} in a tensor of {len(shape)}")
            axes = (axis,) if shape[axis] == 1 else ()
        if not axes:
            return False
        self._array = self._array.squeeze(axes)
        if self._layout:
            self._layout = "".join(c for i, c in enumerate(self._layout) if i not in axes)
        return True

    def as_cpu(self) -> "TensorCPU":
        """The same tensor."""
        return self

    def copy_to_external(self, ptr: Any) -> None:
        """Copies the elements to an address, row-major."""
        import ctypes

        address = getattr(ptr, "value", ptr)
        array = np.ascontiguousarray(self._array)
        ctypes.memmove(address, array.ctypes.data, array.nbytes)

    @property
    def __array_interface__(self) -> dict:
        return self._array.__array_interface__

    def __array__(self, dtype=None, copy=None):
        if dtype is not None and np.dtype(dtype) != self._array.dtype:
            return self._array.astype(dtype)
        return self._array.copy() if copy else self._array

    def __dlpack__(self, **options):
        array = self._array
        if not array.flags.writeable:
            array = array.copy()
        return array.__dlpack__(**options)

    def __dlpack_device__(self) -> tuple[int, int]:
        return (1, 0)

    def __str__(self) -> str:
        return tensor_text.of_tensor("TensorCPU", self._array, self.dtype, self._layout, True)

    def __repr__(self) -> str:
        return tensor_text.of_tensor("TensorCPU", self._array, self.dtype, self._layout, False)


class TensorListCPU:
    """Samples of one output in the host's memory.

    `object`: an array whose first axis counts samples, a list of tensors or arrays (of one element
    type and rank; extents may differ), or another list; `layout`: a letter an axis of a sample.
    """

    _enumeration: Any = None  # whose members' numbers it holds: enumerations.py

    def __init__(self, object: Any, layout: str | None = None, is_pinned: bool = False, **_: Any):
        dense = None
        if isinstance(object, TensorListCPU):
            samples, dense = object._samples, object._dense
            layout = object._layout if layout is None else layout
        elif isinstance(object, (list, tuple)):
            samples = []
            for place, one in enumerate(object):
                try:
                    samples.append(array_of(one))
                except TypeError as error:
                    raise TypeError(f"the object at {place} is no sample: {error}") from None
            for place, one in enumerate(samples):
                if one.dtype != samples[0].dtype or one.ndim != samples[0].ndim:
                    raise TypeError(
                        f"the tensor at {place} is {one.dtype} of {one.ndim} dimensions, the first "
                        f"{samples[0].dtype} of {samples[0].ndim}; they must agree"
                    )
            if object and isinstance(object[0], TensorCPU):
                first = object[0]._layout
                for place, one in enumerate(object):
                    if isinstance(one, TensorCPU) and one._layout not in ("", first):
                        raise TypeError(
                            f"the tensor at {place} has the layout {one._layout!r}, the first "
                            f"{first!r}; they must agree"
                        )
                layout = first if layout is None else layout
        else:
            dense = array_of(object)
            if dense.ndim == 0:
                raise RuntimeError(
                    "a list of tensors needs an axis that counts them; this has none"
                )
            samples = samples_in(dense)
        if samples:
            check_layout(layout or "", samples[0].ndim)
        self._made: list[np.ndarray] | None = samples
        self._rows = [] if dense is None else [dense]
        self._layout = layout or ""
        self._dtype = dense.dtype if dense is not None else None
        self._names: Callable[[], list[str]] = list

    @classmethod
    def _of(cls, samples, layout: str, dense=None, dtype=None, names=()) -> "TensorListCPU":
        made = cls.__new__(cls)
        made._made, made._layout, made._rows = samples, layout, [] if dense is None else [dense]
        made._dtype, made._names = dtype, lambda: list(names)
        return made

    @classmethod
    def _of_rows(cls, rows, layout: str, names) -> "TensorListCPU":
        """Of arrays of samples, one behind the other; `names` gives the samples' names when asked."""
        made = cls.__new__(cls)
        made._made, made._layout, made._rows = None, layout, rows
        made._dtype, made._names = rows[0].dtype, names
        return made

    @property
    def _samples(self) -> list[np.ndarray]:
        if self._made is None:
            self._made = [one for row in self._rows for one in samples_in(row)]
        return self._made

    @property
    def _dense(self) -> np.ndarray | None:
        return self._rows[0] if len(self._rows) == 1 else None

    @property
    def dtype(self) -> Any:
        """The element type."""
        if self._enumeration is not None:
            return self._enumeration
        dtype = self._samples[0].dtype if len(self) else self._dtype
        return types.DALIDataType.NO_TYPE if dtype is None else types._OF_NUMPY[np.dtype(dtype)]

    def ndim(self) -> int:
        """Dimensions of a sample."""
        return self._samples[0].ndim if len(self) else 0

    def __len__(self) -> int:
        return sum(map(len, self._rows)) if self._rows else len(self._samples)

    def shape(self) -> list[tuple[int, ...]]:
        """Extents of each sample."""
        return [tuple(one.shape) for one in self._samples]

    def layout(self) -> str:
        """A letter an axis of a sample; "" where nothing is known."""
        return self._layout

    def at(self, index: int) -> np.ndarray:
        """A sample as a numpy array, without a copy."""
        if not 0 <= index < len(self):
            raise RuntimeError(f"sample {index} is out of range: there are {len(self)}")
        return self._samples[index]

    def __getitem__(self, index: int) -> TensorCPU:
        if not isinstance(index, int) and not hasattr(index, "__index__"):
            raise TypeError(f"samples are counted by integers, not by {type(index).__name__}")
        place = int(index) + len(self) if index < 0 else int(index)
        if not 0 <= place < len(self):
            raise IndexError(f"sample {index} is out of range: there are {len(self)}")
        names = self._names()
        name = names[place] if names else ""
        if _OF_NO_FILE.fullmatch(name):
            name = ""
        return TensorCPU._of(self._samples[place], self._layout, name)

    def __iter__(self):
        return (self[place] for place in range(len(self)))

    def is_dense_tensor(self) -> bool:
        """Whether all samples have the same extents."""
        return (
            len({one.shape[1:] for one in self._rows} or {one.shape for one in self._samples}) <= 1
        )

    def _whole(self) -> np.ndarray:
        if not self.is_dense_tensor():
            raise RuntimeError(
                f"samples of extents {self.shape()} are no tensor: crop, resize or pad them to one "
                "shape, or take them one by one"
            )
        if len(self._rows) != 1:
            if not len(self):
                return np.empty((0,), self._dtype)
            self._rows = [_joined(self._rows or [one[None] for one in self._samples])]
        return self._rows[0]

    def as_array(self) -> np.ndarray:
        """All samples as one array; RuntimeError where their extents differ."""
        if self._enumeration is not None:
            raise TypeError(
                "members of enumerations are no numbers of an array: `nvidia.dali.fn.cast` makes "
                "integers of them"
            )
        return self._whole()

    def as_tensor(self) -> TensorCPU:
        """All samples as one tensor, layout "N…"; RuntimeError where their extents differ."""
        has_names = self._layout or not self.ndim()
        return TensorCPU._of(self._whole(), f"N{self._layout}" if has_names else "")

    def as_reshaped_tensor(self, new_shape: Any) -> TensorCPU:
        """All elements as one tensor of other extents."""
        whole = self._whole()
        if int(np.prod(new_shape)) != whole.size:
            raise RuntimeError(f"{whole.size} elements are no tensor of extents {list(new_shape)}")
        return TensorCPU._of(whole.reshape(new_shape), "")

    def as_cpu(self) -> "TensorListCPU":
        """The same list."""
        return self

    def set_layout(self, layout: str | None) -> None:
        """Names the axes of a sample anew: a letter an axis, or "" or None for none."""
        check_layout(layout or "", self.ndim())
        self._layout = layout or ""

    def reinterpret(self, new_type: Any) -> None:
        """Takes the elements' bits for another element type of the same size."""
        self._made = [_reinterpreted(one, new_type) for one in self._samples]
        self._rows, self._dtype = [], types.to_numpy_type(new_type)

    def _make_copy(self) -> "TensorListCPU":
        samples = [one.copy() for one in self._samples]
        return TensorListCPU._of(samples, self._layout, None, self._dtype, self._names())

    @staticmethod
    def broadcast(tensor: Any, num_samples: int) -> "TensorListCPU":
        """The same tensor or array `num_samples` times, without copies."""
        if not isinstance(tensor, TensorCPU):
            tensor = TensorCPU(tensor)
        samples = [tensor._array] * num_samples
        return TensorListCPU._of(samples, tensor._layout, None, tensor._array.dtype)

    @staticmethod
    def from_dlpack_list(list: Any, layout: str | None = None) -> "TensorListCPU":
        """A list over what objects with `__dlpack__` hold."""
        return TensorListCPU([*list], layout or "")

    def reset(self) -> None:
        """Drops all samples."""
        self._made, self._rows = [], []

    def data_ptr(self) -> int:
        """The address of the first element: of the dense list, or of the first sample."""
        first = self._whole() if self.is_dense_tensor() else self._samples[0]
        return first.ctypes.data

    def copy_to_external(self, ptr: Any) -> None:
        """Copies all elements to an address, row-major, sample after sample."""
        self.as_tensor().copy_to_external(ptr)

    def __str__(self) -> str:
        return tensor_text.of_list("TensorListCPU", self._samples, self.dtype, self._layout, True)

    def __repr__(self) -> str:
        return tensor_text.of_list("TensorListCPU", self._samples, self.dtype, self._layout, False)


def _gpu(name: str):
    def refuse(self, *_: Any, **__: Any):
        missing(f"tensors.{name}", "gpu")

    return refuse


TensorCPU._expose_dlpack_capsule = lambda self: self.__dlpack__()  # type: ignore[attr-defined]
for _kind in (TensorCPU, TensorListCPU):
    _kind._as_gpu = _gpu(f"{_kind.__name__}._as_gpu")  # type: ignore[attr-defined]
__getattr__ = getter("tensors")
