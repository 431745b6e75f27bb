"""Python objects as external inputs: callables, iterables, generators, in process or in workers.

Comes in: what `fn.external_source(source=…)` was given. Goes out: batches, a list of arrays for
each output. A source is asked for one batch after the other, by one thread at a time.

Kinds of sources. A *callable* takes no argument or one: for each sample a `SampleInfo`, for each
batch the number of the batch in the epoch, or a `BatchInfo` with `batch_info=True`. It raises
StopIteration at the end of an epoch. An *iterable* gives a sample or a batch with each `next`; a
*generator function* is called, and what it gives is such an iterable. `cycle="quiet"` begins
those anew at their end, `cycle="raise"` ends the epoch there.
"""

from __future__ import annotations

import functools
import inspect
import operator
import sys
from dataclasses import dataclass
from typing import Any, Callable

from galatea.errors import where_is

__all__ = ["BatchInfo", "SampleInfo", "Driver", "drivers", "nobody_else_has"]


@dataclass(eq=False)
class SampleInfo:
    """Which sample is wanted: all numbers from 0."""

    idx_in_epoch: int
    idx_in_batch: int
    iteration: int
    epoch_idx: int


@dataclass(eq=False)
class BatchInfo:
    """Which batch is wanted: its number in the epoch, and the epoch, from 0."""

    iteration: int
    epoch_idx: int


CALLABLE, ITERABLE, GENERATOR_FUNCTION = "callable", "iterable", "generator function"
_CYCLES = {None: None, False: None, "no": None, True: "quiet", "quiet": "quiet", "raise": "raise"}


def cycle_of(cycle: Any) -> str | None:
    """None, "quiet" or "raise"."""
    try:
        return _CYCLES[cycle]
    except (KeyError, TypeError):
        raise ValueError(
            f"cycle is {cycle!r}; it is one of 'no' (False, None), 'quiet' (True) and 'raise'"
        ) from None


def is_generator_function(source: Any) -> bool:
    """Whether calling `source` gives a generator; partial functions and objects, too."""
    if inspect.isgeneratorfunction(source):
        return True
    if isinstance(source, functools.partial):
        return is_generator_function(source.func)
    if inspect.isfunction(source) or inspect.ismethod(source) or isinstance(source, type):
        return False
    return inspect.isgeneratorfunction(getattr(type(source), "__call__", None))


def takes_argument(source: Callable) -> bool:
    """Whether a callable takes the index of what is wanted; TypeError where it takes more."""
    try:
        parameters = list(inspect.signature(source).parameters.values())
    except ValueError:  # a built-in without a signature
        return False
    said = f"the `source` callable {where_is(source)} must take 0 or 1 arguments: what is wanted"
    for parameter in parameters:
        if parameter.kind not in (parameter.POSITIONAL_ONLY, parameter.POSITIONAL_OR_KEYWORD):
            raise TypeError(f"{said}; it has `{parameter}`")
    if len(parameters) > 1:
        raise TypeError(f"{said}; it takes {len(parameters)}")
    return len(parameters) == 1


def kind_of(source: Any, cycle: Any = None) -> str:
    """What `source` is, with its cycle; TypeError or ValueError where it cannot be driven."""
    mode = cycle_of(cycle)
    if is_generator_function(source):
        return GENERATOR_FUNCTION
    if inspect.isgenerator(source) and mode:
        raise TypeError(
            "a generator cannot begin anew: give the generator function itself, without calling it"
        )
    if hasattr(type(source), "__iter__") or hasattr(type(source), "__getitem__"):
        return ITERABLE
    if cycle is not None:
        raise ValueError(
            f"`cycle` is {cycle!r}, which is taken where the `source` is iterable or a generator "
            "function; a callable raises StopIteration where an epoch ends"
        )
    if not callable(source):
        raise TypeError(
            f"a `source` is a callable, an iterable or a generator function, not a "
            f"{type(source).__name__}"
        )
    takes_argument(source)
    return CALLABLE


# Whose arrays they are.

_LENT_FROM = 16 << 10  # bytes of an array: smaller ones are copied as quickly as they are lent


def _references(box: list) -> int:
    return max([sys.getrefcount(one) for one in box])


_ALONE = _references([object()])


def nobody_else_has(box: list) -> bool:
    """Whether numpy arrays in a list are referred to by that list alone, and their memory by them.

    Such arrays cannot change any more. Views count as somebody's; small arrays, too, since nothing
    is gained by not copying them.
    """
    return (
        box[0].nbytes >= _LENT_FROM
        and _references(box) == _ALONE
        and all([array.flags.owndata for array in box])
    )


class _Items:
    """What an iterable gives, with its cycle."""

    def __init__(self, source: Any, kind: str, cycle: str | None):
        self.make = source if kind == GENERATOR_FUNCTION else lambda: source
        self.cycle = cycle
        self.iterator = iter(self.make())

    def __next__(self) -> Any:
        try:
            return next(self.iterator)
        except StopIteration:
            if self.cycle is None:
                raise
            self.iterator = iter(self.make())
            if self.cycle == "raise":
                raise
            return next(self.iterator)


class Caller:
    """Asks one source for one item after the other; lives where the source runs."""

    def __init__(self, source: Any, batch: bool, cycle: Any = None, batch_info: bool = False):
        self.source = source
        self.kind = kind_of(source, cycle)
        self.batch = batch
        self.batch_info = batch_info
        self.items = None
        self.takes_argument = False
        if self.kind == CALLABLE:
            self.takes_argument = takes_argument(source)
        else:
            self.items = _Items(source, self.kind, cycle_of(cycle))

    def _call(self, info: Any) -> Any:
        if self.items is not None:
            return next(self.items)
        return self.source(info) if self.takes_argument else self.source()

    def get(self, epoch: int, iteration: int, first: int, offset: int, count: int) -> Any:
        """A batch, or `count` samples from `offset` of a batch that begins at `first`."""
        if self.batch:
            info = BatchInfo(iteration, epoch) if self.batch_info else iteration
            return self._call(info)
        return [
            self._call(SampleInfo(first + i, i, iteration, epoch))
            for i in range(offset, offset + count)
        ]


class Driver:
    """One source with its options; gives batches of all its outputs.

    `batch=None` means True, and False with `parallel`. With `parallel` the source runs in `pool`
    (`galatea.workers.Pool`), `prefetch` batches ahead.
    """

    def __init__(
        self,
        source: Any,
        *,
        names: list[str],
        num_outputs: int | None = None,
        batch: bool | None = None,
        cycle: Any = None,
        batch_info: bool = False,
        parallel: bool = False,
        prefetch_queue_depth: int | None = None,
        batch_size: int = 1,
        pool: Any = None,
    ):
        self.source = source
        self.names = names
        self.num_outputs = num_outputs
        self.batch = (not parallel) if batch is None else bool(batch)
        self.batch_size = batch_size
        self.parallel = pool is not None and parallel
        self.depth = prefetch_queue_depth or 1
        self.pool = pool
        self.iteration = 0
        self.first = 0
        self._scheduled = 0
        self._kept: tuple[tuple[int, int], Any] | None = None
        self._taken: set[str] = set()
        self._position: tuple[int, int] | None = None
        self.kind = kind_of(source, cycle)
        if self.parallel:
            self.context = pool.add(source, self.batch, cycle, batch_info, self.kind != CALLABLE)
            self.caller = None
        else:
            self.caller = Caller(source, self.batch, cycle, batch_info)

    @property
    def is_function_of_its_place(self) -> bool:
        """Whether what it gives depends on nothing but which sample or batch is asked for."""
        return self.kind == CALLABLE and takes_argument(self.source)

    def describe(self) -> str:
        """The source with its file and line."""
        return where_is(self.source)

    # One batch after the other, as the host asks.

    def schedule(self, epoch: int) -> None:
        """Has workers begin what will be asked for next."""
        while self.parallel and self._scheduled < self.depth:
            ahead = self._scheduled
            self.pool.schedule(
                self.context,
                epoch,
                self.iteration + ahead,
                self.first + ahead * self.batch_size,
                self.batch_size,
            )
            self._scheduled += 1

    def next(self, epoch: int) -> list:
        """The next batch: for each output an array or a list. StopIteration ends the epoch."""
        try:
            if self.parallel:
                self.schedule(epoch)
                self._scheduled -= 1
                got = self.pool.receive(self.context)
                given = got[0] if self.batch else got
            else:
                assert self.caller is not None
                given = self.caller.get(epoch, self.iteration, self.first, 0, self.batch_size)
        except StopIteration:
            self.reset()
            raise
        self.iteration += 1
        self.first += self.batch_size
        if self.parallel:
            self.schedule(epoch)
        return self.outputs_of(given)

    def outputs_of(self, given: Any) -> list:
        """What the source gave, output by output."""
        if self.num_outputs is None:
            return [given]
        items = [given] if self.batch else given
        for item in items:
            if not hasattr(item, "__len__") or not hasattr(item, "__getitem__"):
                raise TypeError(
                    f"the source {self.describe()} gave a {type(item).__name__}; with "
                    f"num_outputs={self.num_outputs} it gives a tuple or list of that length"
                )
            if len(item) < self.num_outputs:
                raise IndexError(
                    f"the source {self.describe()} gave {len(item)} outputs, and "
                    f"num_outputs={self.num_outputs}"
                )
        pick = [operator.itemgetter(i) for i in range(self.num_outputs)]
        if self.batch:
            return [one(given) for one in pick]
        return [[one(item) for item in given] for one in pick]

    def reset(self) -> None:
        """Begins an epoch; what workers made ahead is thrown away."""
        self.iteration = 0
        self.first = 0
        if self.parallel:
            self.pool.discard(self.context)
        self._scheduled = 0

    def begin_epoch(self) -> None:
        """Begins an epoch because another source ended the last one.

        An iterable goes on where it is, also with what workers took of it ahead.
        """
        if self.kind == CALLABLE:
            self.reset()
        self.iteration = 0
        self.first = 0

    def go_to(self, iteration: int) -> None:
        """Goes on at a batch of the epoch, for sources that are functions of where they are."""
        self.iteration = iteration
        self.first = iteration * self.batch_size

    # Inputs that the library pulls.

    def pull(self, name: str, epoch: int, batch: int, first: int, count: int) -> list:
        """What a session asks of one input; all outputs of a batch come of one call."""
        at = (epoch, batch)
        if self._kept is None or self._kept[0] != at or name in self._taken:
            if self._position != at and self.caller is not None and self.caller.kind == CALLABLE:
                self.iteration, self.first = batch, first
            self._kept = (at, self.next(epoch))
            self._position = (epoch, batch + 1)
            self._taken = set()
        self._taken.add(name)
        given = self._kept[1][self.names.index(name)]
        samples = list(given) if isinstance(given, (list, tuple)) else given
        if len(samples) > count:
            raise ValueError(
                f"the source {self.describe()} gave {len(samples)} samples; a batch has at most "
                f"{count}"
            )
        return samples


class _Input:
    """One input of a driver."""

    def __init__(self, driver: Driver, name: str):
        self.driver = driver
        self.name = name

    def start(self) -> None:
        """Starts its workers, before the session has threads that a fork would not survive."""
        if self.driver.parallel:
            self.driver.pool.start()

    def attach(self, session: Any) -> None:
        """Has the session pull this input."""

        def pull(epoch, batch, first, count):
            return self.driver.pull(self.name, epoch, batch, first, count)

        pull.galatea_source = self.driver.source  # type: ignore[attr-defined]
        session.pull_input(self.name, pull, True, None)


_USED = ("batch", "cycle", "batch_info", "parallel", "prefetch_queue_depth")
_IGNORED = ("no_copy", "cuda_stream", "use_copy_kernel", "blocking", "bytes_per_sample_hint")


def drivers(sources: list, options: dict[str, Any]) -> dict[str, _Input]:
    """What feeds the inputs of a traced pipeline: input name → object with `.attach(session)`."""
    found: dict[str, _Input] = {}
    pool = None
    for record in sources:
        given = dict(record.options)
        for name in given:
            if name not in (*_USED, *_IGNORED):
                raise TypeError(f"`fn.external_source` has no argument `{name}`")
        kept = {name: given[name] for name in _USED if given.get(name) is not None}
        if kept.get("parallel") and pool is None:
            from galatea.workers import Pool

            pool = Pool(options.get("py_num_workers", 1), options.get("py_start_method", "fork"))
        driver = Driver(
            record.source,
            names=record.names,
            num_outputs=record.num_outputs,
            batch_size=options.get("batch_size") or 1,
            pool=pool,
            **kept,
        )
        for name in record.names:
            found[name] = _Input(driver, name)
    return found
