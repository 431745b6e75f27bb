"""`fn._conditional.split` and `merge`: nodes that hold some samples of a batch, and no others.

A call is recorded as a border between programs, as one of a function of Python is. What reads the
outputs of a split belongs to a program that is fed with those samples alone.
"""

from __future__ import annotations

from typing import Any

from galatea.trace import place as places
from galatea.trace.errors import TraceError
from galatea.trace.node import Node
from galatea.trace.place import Place

from .names import missing
from .values import Samples, Values, merged, truths


class PartError(TraceError, RuntimeError):
    """A call that what it is given has no samples for."""


class Split:
    """The samples for which a predicate holds, and the others."""

    num_outputs = 2

    def __init__(self, place: Place | None):
        self.place = place

    def __call__(self, inputs: list[Values], samples: Samples) -> list[Values]:
        value, predicate = inputs
        taken = truths(predicate, f"fn._conditional.split at {self.place}")
        return [value.pick(one, is_part=True) for one in taken]


class Merge:
    """The batch that a predicate split, of what became of both parts."""

    num_outputs = 1

    def __init__(self, place: Place | None):
        self.place = place

    def __call__(self, inputs: list[Values], samples: Samples) -> list[Values]:
        where = f"fn._conditional.merge at {self.place}"
        *values, predicate = inputs
        taken = truths(predicate, where)
        for side, own, wanted in zip(("first", "second"), values, taken):
            if len(own.arrays) != len(wanted):
                raise RuntimeError(
                    f"{where}: the {side} input has {len(own.arrays)} samples, and the predicate "
                    f"says {len(wanted)}; merge what `split` gave for the same predicate"
                )
        return [merged(taken, tuple(values), len(predicate.arrays), where)]


# A part of a batch: the predicate that split it, and 0 or 1; None is all of it.
Part = tuple[Node, int] | None


def part_of(reads: dict[Node, None], parts: dict[Node, Part], place: Place | None) -> Part:
    """The samples that a statement runs for: those that all it reads have."""
    found = {parts.get(node) for node in reads}
    if len(found) > 1:
        raise PartError(
            f"the inputs of the call at {place} hold different samples of the batch",
            place,
            "what fn._conditional.split gave is computed with what it gave for the same predicate "
            "and the same side, until fn._conditional.merge",
        )
    return found.pop() if found else None


def parts_of_call(function: Any, inputs: list[Node], own: Part) -> list[Part]:
    """What the outputs of a call of `function` hold; `own` is what its inputs hold."""
    if isinstance(function, Split):
        return [(inputs[-1], 0), (inputs[-1], 1)]
    return [own] * function.num_outputs


def _call(kind: type, inputs: tuple, predicate: Any) -> list[Node]:
    from .pipeline import Pipeline

    shown = f"fn._conditional.{kind.__name__.lower()}"
    pipe = Pipeline._required(shown)
    if pipe._is_debug:
        missing(shown, "debug mode has `if`")
    at = places.caller()
    for value in (*inputs, predicate):
        if not isinstance(value, Node):
            raise PartError(
                f"{shown} takes data nodes, and a `predicate` that is one, not a "
                f"{type(value).__name__}",
                at,
            )
    return pipe._recorder.call_python(kind(at), [*inputs, predicate], at)


def split(value: Any, *, predicate: Any = None, _if_stmt: bool = False) -> list[Node]:
    """The samples of `value` for which `predicate`, a scalar, holds, and the others: two nodes.

    What is computed of them exists for those samples alone, also as an output. `_if_stmt` is
    accepted and has no effect. An `if` on `predicate` does the same, and serializes.
    """
    return _call(Split, (value,), predicate)


def merge(first: Any, second: Any, *, predicate: Any = None) -> Node:
    """What `split` parted by the same `predicate`, as one batch in its order.

    Types, ranks and layouts must agree: a RuntimeError, where both parts have samples.
    """
    return _call(Merge, (first, second), predicate)[0]
