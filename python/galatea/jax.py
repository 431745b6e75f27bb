"""Loaders that give jax arrays, also spread over devices."""

import jax

from . import loader as _loader

__all__ = ["Loader"]


class Loader(_loader.Loader):
    """A galatea.Loader whose batches are tuples of jax arrays, in the pipeline's order.

    Arrays are the batch's memory where jax takes it, which wants it aligned; else copies. More
    options than galatea.Loader's:

    * ``sharding``: a jax.sharding.Sharding of global arrays; each process gives its part of the
      samples (jax.make_array_from_process_local_data);
    * ``shard``: "auto" (the default) is "jax" where there are several processes, else none.

    Outputs whose samples differ in extents become lists; with ``sharding`` they are an error.
    """

    def __init__(self, source, *, sharding=None, shard="auto", **options):
        if shard == "auto":
            shard = "jax" if jax.process_count() > 1 else None
        self._sharding = sharding
        super().__init__(source, shard=shard, **options)

    _sharding = None

    def _next(self):
        batch = self.next_batch()
        return None if batch is None else tuple([self._array(output) for output in batch])

    def _array(self, output):
        if self._sharding is None:
            return output.jax()
        if not output.is_dense:
            raise ValueError(f"output '{output.name}' is ragged: sharded arrays cannot be")
        # A copy: arrays on several devices outlive the batch.
        return jax.make_array_from_process_local_data(self._sharding, output.numpy().copy())

    def __reduce__(self):
        if self._sharding is not None:
            raise TypeError("a loader with a sharding cannot be pickled: its devices are this process's")
        return super().__reduce__()
