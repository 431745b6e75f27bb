"""Loaders that give jax arrays, also spread over devices."""

import jax

from .framework import TensorLoader

__all__ = ["Loader"]


class Loader(TensorLoader):
    """A galatea.Loader whose batches are tuples of jax arrays, in the pipeline's order.

    Arrays are the batch's memory where jax takes it, which wants it aligned; else copies. More
    options than galatea.Loader's:

    * ``sharding``: a jax.sharding.Sharding of global arrays; each process gives its part of the
      samples (jax.make_array_from_process_local_data), a copy;
    * ``ragged``: outputs whose samples differ in extents become a "list" of arrays, or one array
      that is "padded" with ``fill``, which is what ``sharding`` needs;
    * ``shard``: "auto" (the default) is "jax" where there are several processes, else none.

    jax compiles for one shape: ``last_batch="drop"`` or "pad" leaves none of another size.
    """

    _sharding = None

    def __init__(self, source, *, sharding=None, shard="auto", **options):
        if sharding is not None and not isinstance(sharding, jax.sharding.Sharding):
            raise TypeError(f"sharding is a jax.sharding.Sharding, not a {type(sharding).__name__}")
        if shard == "auto":
            shard = "jax" if jax.process_count() > 1 else None
        self._sharding = sharding
        super().__init__(source, shard=shard, **options)

    def _of_output(self, output):
        if self._sharding is None:
            return output.jax()
        # A copy: arrays on several devices outlive the batch.
        return self._of_array(output.numpy().copy())

    def _of_array(self, array):
        if self._sharding is None:
            return jax.numpy.asarray(array)
        return jax.make_array_from_process_local_data(self._sharding, array)

    def _of_ragged(self, output):
        if self._sharding is not None:
            raise ValueError(
                f"output '{output.name}' is ragged: a sharded array has one shape; give "
                "ragged='padded', or resize"
            )
        return super()._of_ragged(output)

    def __reduce__(self):
        if self._sharding is not None:
            raise TypeError(
                "a loader with a sharding cannot be pickled: its devices are this process's"
            )
        return super().__reduce__()
