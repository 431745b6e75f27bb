"""Loaders that give torch tensors, for plain loops, Lightning and Accelerate alike."""

import torch

from .framework import TensorLoader

__all__ = ["IterableDataset", "Loader"]


def _process():
    """(rank, processes) of torch.distributed where several run, else None."""
    distributed = torch.distributed
    if not (distributed.is_available() and distributed.is_initialized()):
        return None
    count = distributed.get_world_size()
    return (distributed.get_rank(), count) if count > 1 else None


class Loader(TensorLoader):
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

    forms = ("list", "nested", "padded")

    def __init__(self, source, *, to=None, shard="auto", **options):
        if shard == "auto":
            shard = None if _process() is None else "torch"
        self._form = {"to": None if to is None else str(to)}
        super().__init__(source, shard=shard, **options)

    def _tensor(self, output):
        made = super()._tensor(output)
        to = self._form["to"]
        if to is None:
            return made
        return [_moved(one, to) for one in made] if isinstance(made, list) else _moved(made, to)

    def _of_output(self, output):
        return output.torch()

    def _of_array(self, array):
        return torch.from_numpy(array)

    def _of_ragged(self, output):
        return output.torch(nested=self._form["ragged"] == "nested")


def _moved(tensor, to):
    if tensor.device.type == "cpu" and torch.device(to).type == "cuda":
        return tensor.pin_memory().to(to, non_blocking=True)
    return tensor.to(to)


class IterableDataset(torch.utils.data.IterableDataset):
    """A loader for those who must have a torch.utils.data.DataLoader.

    ``DataLoader(IterableDataset("train.dali-dsl", …), batch_size=None)``: batches are the
    pipeline's. Arguments are Loader's. With ``num_workers`` each worker makes a loader of its own,
    and reads its share of the samples (of its process's share, where torch.distributed runs) by
    the pipeline's parameters ``shard_id`` and ``num_shards``; galatea has threads of its own, so
    that ``num_workers=0`` is what to begin with.

    ``state_dict`` and ``load_state_dict`` are the loader's of this process: torchdata's
    StatefulDataLoader finds them.
    """

    def __init__(self, source, **options):
        self._source = source
        self._options = options
        self._loader = None
        self._made_in = None
        self._ranks = None
        self._state = None

    def _made(self):
        worker = torch.utils.data.get_worker_info()
        here = None if worker is None else worker.id
        if self._loader is None or self._made_in != here:
            options = dict(self._options)
            if worker is not None and worker.num_workers > 1:
                if options.get("shard", "auto") not in ("auto", None):
                    raise ValueError("give either shard= or num_workers above 1, not both")
                # A spawned worker knows no processes of torch.distributed; they were pickled.
                rank, count = self._ranks or _process() or (0, 1)
                number = rank * worker.num_workers + worker.id
                options["shard"] = (number, count * worker.num_workers)
            elif worker is not None and self._ranks is not None:
                options.setdefault("shard", self._ranks)
            self._loader = Loader(self._source, **options)
            self._made_in = here
            if self._state is not None:
                self._loader.load_state_dict(self._state)
                self._state = None
        return self._loader

    def __iter__(self):
        return iter(self._made())

    def __len__(self):
        return len(self._made())

    def state_dict(self) -> dict:
        """Where the loader of this process stands; a batch that was delivered is behind it."""
        return self._made().state_dict()

    def load_state_dict(self, state: dict) -> None:
        """Goes on where state_dict() was called; in a worker once its loader is made."""
        if self._loader is not None:
            self._loader.load_state_dict(state)
        else:
            self._state = state

    def __getstate__(self):
        return {**self.__dict__, "_loader": None, "_made_in": None, "_ranks": _process()}
