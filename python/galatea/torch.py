"""Loaders that give torch tensors, for plain loops, Lightning and Accelerate alike."""

import torch

from . import loader as _loader

__all__ = ["IterableDataset", "Loader"]

_RAGGED = ("list", "nested", "padded")


class Loader(_loader.Loader):
    """A galatea.Loader whose batches are tuples of torch tensors, in the pipeline's order.

    Tensors are the batch's memory, not copies, on the CPU or on the GPU where the pipeline's
    outputs lie. More options than galatea.Loader's:

    * ``to``: a torch device to which outputs are copied through pinned memory, without waiting;
      None leaves them where they are;
    * ``ragged``: outputs whose samples differ in extents become a "list" of tensors, a "nested"
      tensor, or one tensor that is "padded" with ``fill``;
    * ``shard``: "auto" (the default) is "torch" where torch.distributed runs with several
      processes, else none.
    """

    def __init__(self, source, *, to=None, ragged="list", fill=0, shard="auto", **options):
        if ragged not in _RAGGED:
            raise ValueError(f"ragged is {ragged!r}; it must be one of {_RAGGED}")
        if shard == "auto":
            distributed = torch.distributed
            runs = distributed.is_available() and distributed.is_initialized()
            shard = "torch" if runs and distributed.get_world_size() > 1 else None
        self._form = {"to": None if to is None else str(to), "ragged": ragged, "fill": fill}
        super().__init__(source, shard=shard, **options)

    def _setup(self, arguments, sources, settings, engine=None):
        # Pickled with the rest.
        self._form = settings.setdefault("torch", getattr(self, "_form", None))
        super()._setup(arguments, sources, settings, engine)

    def _next(self):
        batch = self.next_batch()
        return None if batch is None else self.tensors(batch)

    def tensors(self, batch) -> tuple:
        """The outputs of a batch of next_batch() as torch tensors."""
        return tuple([self._tensor(output) for output in batch])

    def _tensor(self, output):
        form = self._form
        if output.is_dense:
            made = output.torch()
        elif form["ragged"] == "padded":
            made = torch.from_numpy(output.padded(form["fill"]))
        else:
            made = output.torch(nested=form["ragged"] == "nested")
        to = form["to"]
        if to is None:
            return made
        if isinstance(made, list):
            return [_moved(tensor, to) for tensor in made]
        return _moved(made, to)


def _moved(tensor, to):
    if tensor.device.type == "cpu" and torch.device(to).type == "cuda":
        return tensor.pin_memory().to(to, non_blocking=True)
    return tensor.to(to)


class IterableDataset(torch.utils.data.IterableDataset):
    """A loader for those who must have a torch.utils.data.DataLoader.

    ``DataLoader(IterableDataset("train.dali-dsl", …), batch_size=None)``: batches are the
    pipeline's. Arguments are Loader's. With ``num_workers`` each worker makes a loader of its own,
    and reads its share of the samples by the pipeline's parameters ``shard_id`` and ``num_shards``;
    galatea has threads of its own, so that ``num_workers=0`` is what to begin with.
    """

    def __init__(self, source, **options):
        self._source = source
        self._options = options
        self._loader = None
        self._made_in = None

    def _made(self):
        worker = torch.utils.data.get_worker_info()
        here = None if worker is None else worker.id
        if self._loader is None or self._made_in != here:
            options = dict(self._options)
            if worker is not None and worker.num_workers > 1:
                if options.get("shard", "auto") not in ("auto", None):
                    raise ValueError("give either shard= or num_workers above 1, not both")
                options["shard"] = (worker.id, worker.num_workers)
            self._loader = Loader(self._source, **options)
            self._made_in = here
        return self._loader

    def __iter__(self):
        return iter(self._made())

    def __len__(self):
        return len(self._made())

    def __getstate__(self):
        return {**self.__dict__, "_loader": None, "_made_in": None}
