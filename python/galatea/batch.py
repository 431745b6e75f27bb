"""What a loader delivers: batches, their outputs, and the samples of those."""

from typing import Any, Iterator

import numpy as np

__all__ = ["Batch", "Output", "Sample"]

# By the numbers of galatea_dtype.
_DTYPES = tuple(
    np.dtype(name)
    for name in (
        "uint8 uint16 uint32 uint64 int8 int16 int32 int64 float16 float32 float64 bool".split()
    )
)


class _Tensor:
    """A tensor of a batch, without a copy: it keeps the batch's memory as long as it is used.

    It may be written to: the memory belongs to the batch, and to nobody else.
    """

    __slots__ = ("_batch", "_output", "_sample", "_described")

    def __init__(self, batch, output, sample):
        self._batch = batch
        self._output = output
        self._sample = sample
        self._described = None

    def _describe(self):
        if self._described is None:
            self._described = self._batch._handle.describe(self._output, self._sample)
        return self._described

    @property
    def dtype(self) -> np.dtype:
        """The element type."""
        return _DTYPES[self._describe()[0]]

    @property
    def device(self) -> str:
        """Where the elements lie: "cpu", or "cuda:N"."""
        number = self._batch._handle.output_device(self._output)
        return "cpu" if number < 0 else f"cuda:{number}"

    @property
    def address(self) -> int:
        """The address of the first element."""
        return self._describe()[5]

    def __dlpack_device__(self):
        number = self._batch._handle.output_device(self._output)
        return (1, 0) if number < 0 else (2, number)

    def __dlpack__(self, *, stream=None, max_version=None, dl_device=None, copy=None):
        if dl_device is not None and tuple(dl_device) != self.__dlpack_device__():
            raise BufferError(f"the tensor lies on {self.device}; copy it there first")
        if copy:
            raise BufferError("the tensor is handed out as it is, not copied; copy what you get")
        versioned = max_version is not None and tuple(max_version) >= (1, 0)
        return self._batch._handle.dlpack(self._output, self._sample, stream, versioned)

    def __array__(self, dtype=None, copy=None):
        array = self._array()
        if dtype is not None and array.dtype != dtype:
            if copy is False:
                raise ValueError(f"{array.dtype} becomes {np.dtype(dtype)} by a copy alone")
            return array.astype(dtype)
        return array.copy() if copy else array

    def _array(self):
        handle = self._batch._handle
        if handle.output_device(self._output) < 0:
            return np.asarray(handle.buffer(self._output, self._sample))
        dtype, extents = self._describe()[:2]
        array = np.empty(extents, _DTYPES[dtype])
        handle.copy_to_host(self._output, self._sample, array)
        return array

    def _torch(self):
        import torch

        if self.__dlpack_device__()[0] == 1:
            return torch.utils.dlpack.from_dlpack(self.__dlpack__())
        return torch.from_dlpack(self)

    def _jax(self):
        import jax

        return jax.dlpack.from_dlpack(self)


class Sample(_Tensor):
    """One sample of an output."""

    __slots__ = ()

    @property
    def shape(self) -> tuple:
        """Elements along each axis."""
        return self._describe()[1]

    @property
    def layout(self) -> str:
        """One letter an axis, "HWC"; "" where nothing is known."""
        return self._describe()[2]

    def __len__(self):
        if not self.shape:
            raise TypeError("a sample without dimensions has no length")
        return self.shape[0]

    def numpy(self) -> np.ndarray:
        """The sample as a numpy array: its memory, or a copy where it lies on a GPU."""
        return self._array()

    def torch(self):
        """The sample as a torch tensor: its memory."""
        return self._torch()

    def jax(self):
        """The sample as a jax array: its memory, where jax takes it."""
        return self._jax()

    def __repr__(self):
        return f"Sample(shape={self.shape}, dtype={self.dtype}, layout={self.layout!r})"


class Output(_Tensor):
    """One output of a batch: a tensor with the samples as its first axis.

    Where the pipeline leaves extents to the data it is ragged, whatever a batch happens to hold:
    ``numpy()`` and its like give lists of one tensor a sample, ``padded()`` makes one tensor of
    them. ``output[3]`` is a sample, ``len(output)`` their number.
    """

    __slots__ = ("_padded_array",)

    def __init__(self, batch, output):
        super().__init__(batch, output, -1)
        self._padded_array = None

    @property
    def name(self) -> str:
        """The variable that the pipeline returned."""
        return self._batch.names[self._output]

    @property
    def is_dense(self) -> bool:
        """Whether it is one tensor: the pipeline says all extents of its samples."""
        return self._batch._handle.is_dense(self._output)

    def _describe(self):
        if self._described is None:
            handle = self._batch._handle
            if self.is_dense:
                described = handle.describe(self._output, -1)
            else:
                described = handle.describe(self._output, 0)
            self._described = described
        return self._described

    @property
    def shape(self) -> tuple:
        """Samples first, then elements along each axis: None where samples differ."""
        if self.is_dense:
            return (len(self), *self._describe()[1][1:])
        columns = zip(*self.shapes)
        return (len(self), *(column[0] if len(set(column)) == 1 else None for column in columns))

    @property
    def shapes(self) -> list[tuple]:
        """The extents of each sample."""
        handle = self._batch._handle
        return [handle.describe(self._output, self._place(k))[1] for k in range(len(self))]

    @property
    def layout(self) -> str:
        """One letter an axis, "NHWC", with N for the samples; "" where nothing is known."""
        layout = self._describe()[2]
        return layout if self.is_dense or not layout else "N" + layout

    @property
    def address(self) -> int:
        if not self.is_dense:
            raise ValueError(f"output '{self.name}' is ragged: its samples have addresses")
        return super().address

    def _place(self, sample):
        """Where sample `sample` lies: those that fill a batch up are the last one again."""
        return min(sample, self._batch._handle.num_samples - 1)

    def _is_filled(self):
        return len(self) != self._batch._handle.num_samples

    def __len__(self):
        return self._batch.num_samples

    def __getitem__(self, sample) -> Sample:
        if isinstance(sample, slice):
            return [self[k] for k in range(*sample.indices(len(self)))]
        place = sample + len(self) if sample < 0 else sample
        if not 0 <= place < len(self):
            raise IndexError(f"sample {sample} of a batch of {len(self)}")
        return Sample(self._batch, self._output, self._place(place))

    def __iter__(self) -> Iterator[Sample]:
        return (self[sample] for sample in range(len(self)))

    def _array(self):
        if not self.is_dense:
            raise ValueError(
                f"output '{self.name}' is ragged, shape {self.shape}; use .padded(fill), or its "
                "samples: .numpy() gives a list"
            )
        if not self._is_filled():
            return super()._array()
        if self._padded_array is None:
            array = super()._array()
            more = len(self) - len(array)
            self._padded_array = np.concatenate([array, np.repeat(array[-1:], more, axis=0)])
        return self._padded_array

    def __dlpack__(self, *, stream=None, max_version=None, dl_device=None, copy=None):
        if not self.is_dense:
            raise BufferError(
                f"output '{self.name}' is ragged, shape {self.shape}; take its samples, or .padded()"
            )
        if self._is_filled():
            self._need_host()
            return self._array().__dlpack__()
        return super().__dlpack__(
            stream=stream, max_version=max_version, dl_device=dl_device, copy=copy
        )

    def _need_host(self):
        if self.device != "cpu":
            raise ValueError(
                "last_batch='pad' fills batches in the host's memory; for outputs on a GPU give the "
                "reader pad_last_batch=True"
            )

    def in_a_row(self) -> np.ndarray | None:
        """One array of all samples without a copy, on the host; None where they do not lie in a row.

        Samples of a ragged output may: those that a pipeline hands on as they were fed.
        """
        if self.is_dense or self._is_filled():
            return self._array() if self.is_dense else None
        row = self._batch._handle.buffer_of_row(self._output)
        return None if row is None else np.asarray(row)

    def numpy(self) -> Any:
        """One array, or a list of arrays where the output is ragged."""
        return self._array() if self.is_dense else [sample.numpy() for sample in self]

    def torch(self, *, nested: bool = False) -> Any:
        """One torch tensor; where the output is ragged a list of them, or a nested tensor.

        Nested tensors are torch.jagged where one axis varies, which is all that torch has it for.
        """
        if not self.is_dense:
            samples = [sample.torch() for sample in self]
            if not nested:
                return samples
            import torch

            is_jagged = self.shape[1:].count(None) == 1
            layout = torch.jagged if is_jagged else torch.strided
            return torch.nested.nested_tensor(samples, layout=layout)
        return self._torch()

    def jax(self) -> Any:
        """One jax array, or a list of arrays where the output is ragged."""
        return self._jax() if self.is_dense else [sample.jax() for sample in self]

    def padded(self, fill=0) -> np.ndarray:
        """One array whose samples have the largest extents of the batch; what is behind is `fill`.

        Samples begin at index 0 of every axis. Of a dense output it is what numpy() gives.
        """
        if self.is_dense:
            return self._array()
        samples = self.numpy()
        extents = tuple(max(column) for column in zip(*(sample.shape for sample in samples)))
        array = np.full((len(samples), *extents), fill, samples[0].dtype)
        for to, sample in zip(array, samples):
            to[tuple(slice(extent) for extent in sample.shape)] = sample
        return array

    def __repr__(self):
        return (
            f"Output({self.name!r}, shape={self.shape}, dtype={self.dtype}, "
            f"layout={self.layout!r}, device={self.device!r})"
        )

    def _repr_html_(self):
        from .display.objects import output

        return output(self)


class Batch:
    """Samples that were delivered together: a sequence of outputs, by position or name.

    ``images, labels = batch``, ``batch[0]``, ``batch["images"]``. A batch lives as long as it, or
    anything that was made of it, is used; a loader delivers no more while ``max_held_batches`` are
    alive.
    """

    __slots__ = ("_handle", "_names", "_size", "_length", "__weakref__")

    def __init__(self, handle, names, size=0):
        self._handle = handle
        self._names = names
        self._size = size
        self._length = handle.num_outputs

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the outputs: the variables that the pipeline returned."""
        return self._names

    @property
    def num_samples(self) -> int:
        """Samples, with those that fill the batch up."""
        return self._size or self._handle.num_samples

    @property
    def num_filled(self) -> int:
        """How many samples at the end only fill the batch up (last_batch="pad")."""
        return self.num_samples - self._handle.num_samples

    @property
    def epoch(self) -> int:
        """The epoch, from 0."""
        return self._handle.epoch

    @property
    def index(self) -> int:
        """The number of the batch in its epoch, from 0."""
        return self._handle.index

    @property
    def ids(self) -> list[int]:
        """Numbers of the samples in the data set, or what was given when they were fed."""
        return [self._handle.sample_id(k) for k in range(self._handle.num_samples)]

    @property
    def sample_names(self) -> list[str]:
        """Names of the samples for people: paths, or "sample 17"."""
        return [self._handle.sample_name(k) for k in range(self._handle.num_samples)]

    def __len__(self):
        return self._length

    def __getitem__(self, key) -> Output:
        if isinstance(key, str):
            if key not in self._names:
                raise KeyError(f"no output '{key}'; there are {', '.join(self._names)}")
            key = self._names.index(key)
        if isinstance(key, slice):
            return [self[k] for k in range(*key.indices(len(self)))]
        number = key + len(self) if key < 0 else key
        if not 0 <= number < len(self):
            raise IndexError(f"output {key} of a batch with {len(self)}")
        return Output(self, number)

    def __iter__(self) -> Iterator[Output]:
        return iter([Output(self, number) for number in range(self._length)])

    def release(self) -> None:
        """Gives the memory back now, but for what tensors still hold."""
        self._handle.release()

    def __repr__(self):
        return f"Batch(epoch={self.epoch}, index={self.index}, {list(self)})"

    def _repr_html_(self):
        from .display.objects import batch

        return batch(self)
