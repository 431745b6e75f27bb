"""Loaders as a tf.data.Dataset."""

import numpy as np
import tensorflow as tf

__all__ = ["dataset"]


def dataset(loader) -> "tf.data.Dataset":
    """A tf.data.Dataset over the epochs of a galatea.Loader: one epoch each time it is iterated.

    Elements are tuples of tensors in the pipeline's order; tensorflow copies what it is given.
    Extents that vary are None in the dataset's element_spec. Outputs whose samples differ in
    extents become tensors that are padded with zeros.
    """
    ports = loader.ports["outputs"]
    if ports is None:
        raise ValueError("the pipeline has to say the types of its inputs")
    names = dict(u8="uint8", u16="uint16", u32="uint32", u64="uint64", i8="int8", i16="int16")
    names.update(i32="int32", i64="int64", f16="float16", f32="float32", f64="float64", bool="bool")

    def extents(port):
        if port["extents"] is None:
            return [None] * port["ndim"]
        return [extent if isinstance(extent, int) else None for extent in port["extents"]]

    signature = tuple(
        tf.TensorSpec([None, *extents(port)], tf.as_dtype(names[port["dtypes"][0]]), port["name"])
        for port in ports
    )

    def batches():
        for batch in loader:
            yield tuple(np.asarray(output.padded()) for output in batch)

    return tf.data.Dataset.from_generator(batches, output_signature=signature)
