"""`galatea.view`: contact sheets of pipelines, loaders and batches."""

from __future__ import annotations

from typing import Any, Iterator, Mapping

from galatea.batch import Batch, Output, Sample
from galatea.loader import Loader
from galatea.sources import GENERATOR_FUNCTION, kind_of

from . import pictures
from .marks import Marks, Names
from .sheet import Cell, Sheet

__all__ = ["view"]

MOST = 200  # samples, as of `galatea view`


def view(
    source: Any,
    *,
    samples: int = 8,
    nodes: bool = False,
    draws: int = 0,
    boxes: Names | None = None,
    points: Names | None = None,
    labels: Mapping[str, str] | None = None,
    box_format: str = "xyxy",
    relative: bool = False,
    **options: Any,
) -> Sheet:
    """A contact sheet: the first samples in rows, their outputs in columns. A notebook shows it.

    ``source`` is what a `galatea.Loader` takes (a path, a text, a `Pipeline`, a function below
    `pipeline_def`), with the pipeline's parameters and the loader's options by keyword; or a
    loader, of which the first samples are made anew and which does not move; or a batch, an output
    or a sample that a loader delivered, which is shown as it is.

    * ``samples``: how many, 1 to 200;
    * ``nodes``: also the pictures on the way, in columns such as "image = resize, line 12";
    * ``draws``: instead of several samples the first one, as so many draws of its random numbers;
    * ``boxes``, ``points``: outputs that are drawn on outputs, by their names, such as
      ``{"image": "boxes"}`` (several as a list): rows of four numbers, of x and y; of a sequence the
      same on each frame, or per frame;
    * ``labels``: a number for each box, ``{"boxes": "labels"}``, which is written beside it and
      chooses its colour;
    * ``box_format``: "xyxy", "xywh" or "cxcywh", and ``relative``: fractions of the image, not
      pixels, as `galatea.together` takes them.

    Samples are made in batches of 8 at most, unless `batch_size` says more: only operators that see
    the whole batch can tell. What a Python object feeds (`fn.external_source(source=…)`) is taken
    from it: an iterator has moved on by a batch. Inputs that only a host feeds are an error; show a
    batch instead.
    """
    _check(samples=samples, draws=draws)
    marks = Marks.of(boxes, points, labels, box_format, relative)
    if isinstance(source, (Batch, Output, Sample)):
        if nodes or draws or options:
            raise TypeError(
                "a batch is there already: of it, view() takes `samples`, and what is drawn"
            )
        return _delivered(source, samples, marks)
    if isinstance(source, Loader):
        if options:
            raise TypeError(
                f"the loader has its options already; {', '.join(options)} are none here"
            )
        return _made(source._again, source.seed, samples, nodes, draws, marks)
    return _made(_maker(source, options), options.get("seed"), samples, nodes, draws, marks)


def _check(**counts: int) -> None:
    for name, count in counts.items():
        least = 1 if name == "samples" else 0
        if isinstance(count, bool) or not isinstance(count, int) or not least <= count <= MOST:
            raise ValueError(f"{name} is {count!r}; it is a number from {least} to {MOST}")


def _maker(source: Any, options: dict[str, Any]):
    """What makes a loader of the source, with changes of its options."""

    def make(**changes: Any) -> Loader:
        return Loader(source, **{**changes, **options})

    return make


def _made(make, seed: int | None, samples: int, nodes: bool, draws: int, marks: Marks) -> Sheet:
    rows: list[tuple[str, list[Cell]]] = []
    columns: tuple[str, ...] = ()
    title = ""
    # No more is made than is shown; a sample does not depend on the batch that it comes in.
    size = 1 if draws else min(samples, 8)
    for draw in range(draws or 1):
        look = {"nodes": nodes, "draw": draw, "prefetch_depth": 1}
        if seed is not None:
            look["seed"] = seed
        loader = make(**look, batch_size=size)
        if loader._sources:  # they make batches of the pipeline's own size
            loader = make(**look)
        with loader:
            _need_sources(loader, draws)
            seed, title = loader.seed, loader.name
            limit = 1 if draws else samples
            label = f"draw {draw}  " if draws else ""
            for count, (columns, row_label, cells) in enumerate(_rows(loader, marks)):
                rows.append((label + row_label, cells))
                if count + 1 == limit:
                    break
    title += f", {draws} draws of one sample" if draws else f", {_samples(len(rows))}"
    return Sheet(title, columns, [label for label, _ in rows], [cells for _, cells in rows])


def _need_sources(loader: Loader, draws: int) -> None:
    names = [port["name"] for port in loader.ports["inputs"]]
    fed = [name for name in names if name not in loader._sources]
    if fed:
        raise ValueError(
            f"the pipeline '{loader.name}' has inputs that its host feeds ({', '.join(fed)}): feed a "
            "loader, and view a batch of it: galatea.view(loader.next_batch())"
        )
    if draws < 2:
        return
    for name, source in loader._sources.items():
        given = source.driver.source
        if kind_of(given) != GENERATOR_FUNCTION and hasattr(given, "__next__"):
            raise ValueError(
                f"input '{name}' is fed by an iterator, {given!r}, which gives the first sample only "
                "once: draws= needs it for each draw"
            )


def _rows(loader: Loader, marks: Marks) -> Iterator[tuple[tuple[str, ...], str, list[Cell]]]:
    """Names of the columns, label and cells of one sample after the other."""
    while (batch := loader.next_batch()) is not None:
        _check_names(marks, batch)
        for place in range(batch.num_samples - batch.num_filled):
            cells = [_cell(batch, output, place, marks) for output in range(len(batch))]
            yield batch.names, _label(batch, place), cells
        batch.release()


def _check_names(marks: Marks, batch: Batch) -> None:
    for name in marks.outputs():
        if name not in batch.names:
            raise ValueError(
                f"there is no output {name!r} to draw, or to draw on; the outputs are "
                f"{', '.join(map(repr, batch.names))}"
            )


def _label(batch: Batch, place: int) -> str:
    name = batch._handle.sample_name(place)
    number = f"sample {batch._handle.sample_id(place)}"
    return number if name in ("", number) else f"{number}  {name}"


def _samples(count: int) -> str:
    return f"{count} sample{'' if count == 1 else 's'}"


def _cell(batch: Batch, output: int, place: int, marks: Marks) -> Cell:
    sample = batch[output][place]
    array = sample.numpy()
    if not pictures.is_picture(array.shape, array.dtype, sample.layout):
        return Cell.of(array, sample.layout)
    over = marks.of_picture(
        batch.names[output], array, sample.layout, lambda name: batch[name][place].numpy()
    )
    return Cell.of(array, sample.layout, over)


def _delivered(source: Batch | Output | Sample, samples: int, marks: Marks) -> Sheet:
    if isinstance(source, Sample):
        batch, outputs, places = source._batch, [source._output], [source._sample]
    else:
        batch = source if isinstance(source, Batch) else source._batch
        outputs = list(range(len(batch))) if isinstance(source, Batch) else [source._output]
        places = list(range(min(samples, batch.num_samples - batch.num_filled)))
    _check_names(marks, batch)
    columns = [batch.names[output] for output in outputs]
    cells = [[_cell(batch, output, place, marks) for output in outputs] for place in places]
    title = f"batch {batch.index} of epoch {batch.epoch}, {_samples(len(places))}"
    return Sheet(title, columns, [_label(batch, place) for place in places], cells)
