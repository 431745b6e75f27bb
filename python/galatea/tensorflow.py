"""Loaders that give tensorflow's tensors, and loaders as a tf.data.Dataset."""

import weakref

import numpy as np
import tensorflow as tf

from .framework import TensorLoader

__all__ = ["Loader", "dataset"]

_SHORT = dict(u="uint", i="int", f="float")


class Loader(TensorLoader):
    """A galatea.Loader whose batches are tuples of tensors, in the pipeline's order: eager loops.

    Tensors are the batch's memory, by DLPack, not copies; those of bools are copies. One more
    option than galatea.Loader's: ``ragged``; outputs whose samples differ in extents become a
    "list" of tensors, a tf.RaggedTensor ("ragged", a copy), or one tensor that is "padded" with
    ``fill``. Keras and others that want a tf.data.Dataset: ``dataset()``.
    """

    forms = ("list", "ragged", "padded")

    def _of_output(self, output):
        if output.dtype == bool:  # tensorflow's DLPack has none
            return tf.constant(output.numpy())
        return tf.experimental.dlpack.from_dlpack(output.__dlpack__())

    def _of_array(self, array):
        return tf.constant(array)

    def _of_ragged(self, output):
        if self._form["ragged"] == "list":
            return super()._of_ragged(output)
        return _ragged_tensor(output, _ragged_rank(_extents(_port(self, output.name))))


def _port(loader, name):
    return next(port for port in loader.ports["outputs"] if port["name"] == name)


def _extents(port) -> list:
    """Extents of a sample, None where they vary."""
    if port["extents"] is None:
        return [None] * port["ndim"]
    return [extent if isinstance(extent, int) else None for extent in port["extents"]]


def _ragged_rank(extents) -> int:
    """Axes of a sample up to the last one that varies: a RaggedTensor keeps those apart."""
    return max(axis + 1 for axis, extent in enumerate(extents) if extent is None)


def _ragged_tensor(output, rank):
    samples = [np.asarray(sample.numpy()) for sample in output]
    lengths = [[] for _ in range(rank)]
    for sample in samples:
        rows = 1
        for axis in range(rank):
            lengths[axis] += [sample.shape[axis]] * rows
            rows *= sample.shape[axis]
    flat = np.concatenate([sample.reshape(-1, *sample.shape[rank:]) for sample in samples])
    return tf.RaggedTensor.from_nested_row_lengths(flat, lengths, validate=False)


def _dtype(port):
    short = port["dtypes"][0]
    return tf.as_dtype(short if short == "bool" else _SHORT[short[0]] + short[1:])


def dataset(loader, *, ragged="padded", fill=0) -> "tf.data.Dataset":
    """A tf.data.Dataset over the epochs of a galatea.Loader: one epoch each time it is iterated.

    Elements are tuples of tensors in the pipeline's order. They are the batch's memory, not copies,
    while tensorflow keeps fewer than half of the loader's ``max_held_batches`` alive; what it keeps
    beyond that (``shuffle``, ``cache``) is copied. Extents that vary are None in the dataset's
    element_spec; that of the batch is known with ``last_batch="drop"`` and "pad". ``ragged``:
    outputs whose samples differ in extents become tensors that are "padded" with ``fill``, or
    "ragged" ones; both are copies.
    """
    if ragged not in ("padded", "ragged"):
        raise ValueError(f"ragged is {ragged!r}; it must be 'padded' or 'ragged'")
    if isinstance(loader, TensorLoader):
        raise TypeError(
            f"dataset() makes tensors itself: give it a galatea.Loader, no {type(loader).__module__}."
            f"{type(loader).__name__}"
        )
    ports = loader.ports["outputs"]
    if ports is None:
        raise ValueError("the pipeline has to say the types of its inputs")
    samples = None if loader._last_batch == "partial" else loader.batch_size

    def spec(port):
        extents = _extents(port)
        if ragged == "padded" or None not in extents:
            return tf.TensorSpec([samples, *extents], _dtype(port), port["name"])
        shape = [samples, *extents]
        rank = _ragged_rank(extents)
        return tf.RaggedTensorSpec(shape, _dtype(port), ragged_rank=rank, row_splits_dtype=tf.int64)

    signature = tuple(spec(port) for port in ports)

    def element(output, spec):
        if isinstance(spec, tf.RaggedTensorSpec):
            return _ragged_tensor(output, spec.ragged_rank)
        return output.padded(fill)

    most = loader._settings["session"]["max_held_batches"] // 2

    def batches():
        # The arrays of batches that tensorflow may still look into: it holds them as they are.
        lent = []
        for batch in loader:
            elements = tuple(element(*pair) for pair in zip(batch, signature))
            arrays = [one for one in elements if isinstance(one, np.ndarray)]
            lent = [refs for refs in lent if any(ref() is not None for ref in refs)]
            if len(lent) < most:
                lent.append([weakref.ref(array) for array in arrays])
            else:
                elements = tuple(
                    one.copy() if isinstance(one, np.ndarray) else one for one in elements
                )
            del batch, arrays
            yield elements
            del elements

    return tf.data.Dataset.from_generator(batches, output_signature=signature)
