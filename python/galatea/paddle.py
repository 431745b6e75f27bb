"""Loaders that give paddle tensors."""

import paddle

from . import loader as _loader

__all__ = ["Loader"]


class Loader(_loader.Loader):
    """A galatea.Loader whose batches are tuples of paddle tensors, in the pipeline's order.

    Tensors are the batch's memory, by DLPack. Outputs whose samples differ in extents become lists.
    """

    def _next(self):
        batch = self.next_batch()
        return None if batch is None else tuple([_tensor(output) for output in batch])


def _tensor(output):
    if output.is_dense:
        return paddle.utils.dlpack.from_dlpack(output.__dlpack__())
    return [paddle.utils.dlpack.from_dlpack(sample.__dlpack__()) for sample in output]
