"""What the loaders of torch, jax, tensorflow and paddle share: batches as tuples of tensors."""

from typing import TYPE_CHECKING, Any, Iterator

from . import loader as _loader

__all__ = ["TensorLoader"]


class TensorLoader(_loader.Loader):
    """A galatea.Loader whose batches are tuples of a framework's tensors.

    Subclasses say how a dense output, one sample and a numpy array become a tensor; `forms` are
    what they make of ragged outputs.
    """

    forms: tuple[str, ...] = ("list", "padded")

    if TYPE_CHECKING:  # what type checkers and editors see of `_next`

        def __iter__(self) -> Iterator[tuple[Any, ...]]: ...  # type: ignore[override]

        def run(  # type: ignore[override]
            self, epochs: int | None = None, *, progress: bool | str = False
        ) -> Iterator[tuple[Any, ...]]: ...

    def __init__(self, source, *, ragged="list", fill=0, **options):
        if ragged not in self.forms:
            raise ValueError(f"ragged is {ragged!r}; it must be one of {self.forms}")
        self._form = {"ragged": ragged, "fill": fill, **getattr(self, "_form", {})}
        super().__init__(source, **options)

    def _setup(self, arguments, sources, settings, engine=None):
        # Among the settings it is pickled with the rest.
        self._form = settings.setdefault("form", getattr(self, "_form", {}))
        super()._setup(arguments, sources, settings, engine)

    def _next(self):
        batch = self.next_batch()
        return None if batch is None else self.tensors(batch)

    def tensors(self, batch) -> tuple:
        """The outputs of a batch of next_batch() as this loader's tensors."""
        return tuple([self._tensor(output) for output in batch])

    def _tensor(self, output):
        if output.is_dense:
            return self._of_output(output)
        if self._form["ragged"] == "padded":
            return self._of_array(output.padded(self._form["fill"]))
        return self._of_ragged(output)

    def _of_output(self, output):
        raise NotImplementedError

    def _of_array(self, array):
        raise NotImplementedError

    def _of_ragged(self, output):
        return [self._of_output(sample) for sample in output]
