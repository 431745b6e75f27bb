"""What nodes hold for the samples of one batch, and programs that compute some from others.

A pipeline that Python looks into (functions of Python, debug mode) runs as several programs. What
one hands to the next are `Values`; `Samples` says which samples they are, so that every program
draws the same random numbers for a sample as one program would.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from typing import Any, Callable, Iterable

import numpy as np

from galatea import Batch, GalateaError, _c
from galatea.engine import default_engine, flush_log

from . import types
from .errors import PipelineError, raised
from .names import missing
from .tensors import TensorListCPU


@dataclass
class Samples:
    """The samples of a batch: epoch, number in it, and name of each."""

    epochs: list[int]
    ids: list[int]
    names: list[str]

    def __len__(self) -> int:
        return len(self.ids)

    def pick(self, places: list[int] | None) -> "Samples":
        """Some of them; None: all."""
        if places is None:
            return self
        return Samples(
            [self.epochs[i] for i in places],
            [self.ids[i] for i in places],
            [self.names[i] for i in places],
        )

    def runs(self) -> Iterable[tuple[int, int, int]]:
        """(epoch, begin, end) of neighbours of one epoch."""
        begin = 0
        for epoch, group in itertools.groupby(self.epochs):
            end = begin + len(list(group))
            yield epoch, begin, end
            begin = end


@dataclass
class Values:
    """What a node holds: an array for each sample, all of one element type and rank."""

    arrays: list[np.ndarray]
    layout: str = ""
    dense: np.ndarray | None = None  # all of them, where they lie so
    places: list[int] | None = None  # of these samples in the batch, where they are not all of it

    def pick(self, places: list[int], is_part: bool = False) -> "Values":
        """Those of some samples, as a batch of their own, or as a part of this one."""
        arrays = [self.arrays[i] for i in places]
        return Values(arrays, self.layout, places=places if is_part else None)

    def within(self, outer: list[int] | None) -> "Values":
        """The same in the batch of which this one is the samples `outer`; None: all of them."""
        if outer is None:
            return self
        places = outer if self.places is None else [outer[i] for i in self.places]
        return Values(self.arrays, self.layout, self.dense, places)

    def kind(self) -> tuple:
        """What a program is compiled for: element type, rank, layout."""
        first = self.arrays[0]
        return first.dtype, first.ndim, self.layout

    def tensors(self, names: Iterable[str] = ()) -> TensorListCPU:
        """The same as DALI hands it out."""
        dtype = self.arrays[0].dtype if self.arrays else None
        return TensorListCPU._of(self.arrays, self.layout, self.dense, dtype, names)


# Parts of batches: (batch, begin, end). A batch of DALI's may begin in one of the session's and end
# in the next.


class FullBatches:
    """DALI's batches of readers, which are always full, from batches that end with the epoch."""

    def __init__(self, batch_size: int):
        self._batch_size = batch_size
        self.rest: tuple[Batch, int] | None = None  # a batch that was used up to a sample

    def next(self, take: Callable[[], Batch]) -> list:
        """The next one, in parts; `take` gives the session's next batch."""
        parts: list[tuple[Batch, int, int]] = []
        wanted = self._batch_size
        while wanted:
            batch, begin = self.rest or (take(), 0)
            count = min(wanted, batch.num_samples - begin)
            parts.append((batch, begin, begin + count))
            wanted -= count
            end = begin + count
            self.rest = (batch, end) if end < batch.num_samples else None
        return parts


def samples_of_parts(parts: list) -> Samples:
    """Which samples parts of batches hold."""
    epochs, ids, names = [], [], []
    for batch, begin, end in parts:
        epochs += [batch.epoch] * (end - begin)
        ids += [int(one) for one in batch.ids[begin:end]]
        names += list(batch.sample_names[begin:end])
    return Samples(epochs, ids, names)


def values_of_parts(parts: list, number: int) -> Values:
    """Output `number` of parts of batches."""
    arrays, layout, dense = [], "", None
    for batch, begin, end in parts:
        output = batch[number]
        if output.device != "cpu":
            missing("tensors.TensorListGPU", "gpu")
        if output.is_dense:
            whole = output.numpy()
            if whole.ndim == 1:  # elements of it would be numpy's scalars
                arrays += [np.asarray(one, whole.dtype) for one in whole[begin:end]]
            else:
                arrays += list(whole[begin:end])
            if len(parts) == 1:
                dense = whole[begin:end]
        else:
            arrays += [output[place].numpy() for place in range(begin, end)]
        layout = output.layout[1:] if output.layout else ""
    return Values(arrays, layout, dense)


def list_of_parts(parts: list, number: int) -> TensorListCPU:
    """Output `number` of parts of batches, as DALI hands it out. Of samples that lie in rows nothing
    is done for each of them.
    """
    output = parts[0][0][number]
    if output.device != "cpu":
        missing("tensors.TensorListGPU", "gpu")

    def names() -> list[str]:
        return samples_of_parts(parts).names

    rows = [batch[number].in_a_row() for batch, _, _ in parts]
    if any(row is None for row in rows):
        return values_of_parts(parts, number).tensors(names())
    cut = [row[begin:end] for row, (_, begin, end) in zip(rows, parts)]
    return TensorListCPU._of_rows(cut, output.layout[1:], names)


def merged(
    places: tuple[list[int], list[int]], values: tuple[Values, Values], count: int, where: str
) -> Values:
    """One node's values behind an `if`: `places` says which samples took which arm.

    `where` names it in errors: "the `if` at …".
    """
    filled = [one for one in values if one.arrays]
    if not filled:
        return Values([])
    kinds = ("element types", "numbers of dimensions", "layouts")
    for what, a, b in zip(kinds, filled[0].kind(), filled[-1].kind()):
        if a != b:
            raise PipelineError(
                f"a value that both sides of {where} give has different {what}, "
                f"`{a}` and `{b}`; convert one of them, for instance by `fn.cast`, or by "
                "`fn.reshape` with a `layout`"
            )
    arrays: list[Any] = [None] * count
    for taken, one in zip(places, values):
        for place, array in zip(taken, one.arrays):
            arrays[place] = array
    return Values(arrays, filled[0].layout)


def truths(condition: Values, where: str) -> tuple[list[int], list[int]]:
    """The samples for which a condition holds, and the others."""
    places: tuple[list[int], list[int]] = ([], [])
    for place, one in enumerate(condition.arrays):
        if one.ndim:
            raise PipelineError(
                f"the condition of {where} has the extents {list(one.shape)} for a "
                "sample; a condition is a scalar, such as `fn.reductions.max(x) > 3`"
            )
        places[0 if one else 1].append(place)
    return places


class _Open:
    """A session that is fed, and the epoch that it stands in."""

    def __init__(self, program: Any, synchronous: bool):
        self.session = _c.Session(program, max_held_batches=1 << 30, synchronous=synchronous)
        self.epoch = 0

    def feed(self, values: dict[str, Values], samples: Samples) -> int:
        """Feeds a batch; gives how many batches of the session it became."""
        count = 0
        for epoch, begin, end in samples.runs():
            while self.epoch < epoch:
                self.session.end_of_feed()
                self.epoch += 1
            ids = samples.ids[begin:end]
            for name, one in values.items():
                self.session.feed(name, one.arrays[begin:end], ids, 0, one.layout or None)
            count += 1
        return count

    def take(self, count: int) -> list:
        """What became of it. All is taken before an error is raised: the next batch follows."""
        parts, failed = [], None
        for _ in range(count):
            try:
                handle = None
                while handle is None:
                    handle = self.session.next(-1)
                batch = Batch(handle, ())
                parts.append((batch, 0, batch.num_samples))
            except GalateaError as error:
                failed = failed or error
        if failed is not None:
            raise failed
        return parts


class Later:
    """A program whose inputs are nodes of programs before it.

    It is compiled for the types that it is fed; where they change, as what a function of Python
    gives may, it is compiled again.
    """

    _TICK = "__tick"  # an input of programs that need none: it says which samples there are

    def __init__(
        self,
        made: Any,
        inputs: list,
        outputs: list,
        common: dict[str, Any],
        synchronous: bool = False,
    ):
        self.made = made
        self.inputs, self.outputs = inputs, outputs  # nodes
        self._common, self._synchronous = common, synchronous
        self._sessions: dict[tuple, _Open] = {}

    def _program(self, fed: dict[str, Values]) -> Any:
        """The program for the types of what is fed."""
        kinds = {name: one.kind() for name, one in fed.items()}
        input_types = {
            name: (int(types._OF_NUMPY[dtype]), ndim, layout or None)
            for name, (dtype, ndim, layout) in kinds.items()
        }
        arguments = {**self.made.compile_arguments(), **self._common, "input_types": input_types}
        return _c.Program(default_engine(), **arguments)

    @staticmethod
    def input_name(place: int) -> str:
        """The name of an input in the text."""
        return f"__carried_{place}"

    def feed(self, found: dict, samples: Samples) -> "Pending":
        """Begins a batch of what nodes hold."""
        fed = {self.input_name(i): found[node] for i, node in enumerate(self.inputs)}
        if not fed:
            fed[self._TICK] = Values([np.zeros((), np.uint8)] * len(samples))
        places = next(iter(fed.values())).places
        samples = samples.pick(places)
        if not len(samples):  # of a part that no sample is in
            return Pending(self, None, 0, places)
        kind = tuple(one.kind() for one in fed.values())
        try:
            opened = self._sessions.get(kind)
            if opened is None:
                opened = self._sessions[kind] = _Open(self._program(fed), self._synchronous)
            return Pending(self, opened, opened.feed(fed, samples), places)
        except GalateaError as error:
            raise raised(error) from error
        finally:
            flush_log(default_engine())

    def close(self) -> None:
        """Ends its sessions."""
        for opened in self._sessions.values():
            opened.session.close()
        self._sessions.clear()


class Pending:
    """A batch that a program is making."""

    def __init__(self, program: Later, opened: _Open | None, count: int, places: list[int] | None):
        self._program, self._opened, self._count = program, opened, count
        self._places = places

    def take(self, found: dict) -> None:
        """Waits for it, and adds what its output nodes hold."""
        try:
            parts = self._opened.take(self._count) if self._opened is not None else []
        except GalateaError as error:
            raise raised(error) from error
        finally:
            flush_log(default_engine())
        for number, node in enumerate(self._program.outputs):
            found[node] = values_of_parts(parts, number).within(self._places)
