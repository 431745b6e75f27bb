"""Loaders that give paddle tensors."""

import paddle

from .framework import TensorLoader

__all__ = ["Loader"]


class Loader(TensorLoader):
    """A galatea.Loader whose batches are tuples of paddle tensors, in the pipeline's order.

    Tensors are the batch's memory, by DLPack. One more option than galatea.Loader's: ``ragged``;
    outputs whose samples differ in extents become a "list" of tensors, or one tensor that is
    "padded" with ``fill``. ``shard=(rank, processes)`` is to be given where there are several.
    """

    def _of_output(self, output):
        return paddle.utils.dlpack.from_dlpack(output.__dlpack__())

    def _of_array(self, array):
        return paddle.utils.dlpack.from_dlpack(array.__dlpack__())
