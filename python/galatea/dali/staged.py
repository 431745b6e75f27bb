"""Runs a plan: programs, and between them functions of Python, batch by batch."""

from __future__ import annotations

import collections
from typing import Any

from .stages import Fork, Plan, PythonCall, programs_of
from .values import Pending, Samples, Values, merged, samples_of_parts, truths, values_of_parts


def run(plan: Plan, found: dict, samples: Samples, first: int = 0) -> Pending | None:
    """Runs the steps from `first` on; adds what nodes hold to `found`.

    The last step, where it is a program, is left running: its outputs are to be taken.
    """
    for number in range(first, len(plan.steps)):
        step = plan.steps[number]
        if isinstance(step, PythonCall):
            _call(step, found, samples)
        elif isinstance(step, Fork):
            _run_fork(step, found, samples)
        else:
            pending = step.feed(found, samples)
            if number == len(plan.steps) - 1:
                return pending
            pending.take(found)
    return None


def _call(step: PythonCall, found: dict, samples: Samples) -> None:
    inputs = [found[node] for node in step.inputs]
    places = inputs[-1].places if inputs else None  # of a merge, the last one is the predicate
    given = [Values([]) for _ in step.outputs]
    if places is None or places:
        given = step.function(inputs, samples.pick(places))
    found.update((node, one.within(places)) for node, one in zip(step.outputs, given))


def _run_fork(fork: Fork, found: dict, samples: Samples) -> None:
    where = f"the `if` at {fork.place}"
    condition = found[fork.condition]
    places = truths(condition, where)
    samples = samples.pick(condition.places)
    values: tuple[list[Values], list[Values]] = ([], [])
    for side, (plan, taken) in enumerate(zip(fork.arms, places)):
        if not taken:
            values[side].extend(Values([]) for _ in fork.merges)
            continue
        inner = {node: found[node].pick(taken) for node in plan.reads}
        pending = run(plan, inner, samples.pick(taken))
        if pending is not None:
            pending.take(inner)
        values[side].extend(inner[merge[1 + side]] for merge in fork.merges)
    for (result, _, _), then, otherwise in zip(fork.merges, *values):
        value = merged(places, (then, otherwise), len(samples), where)
        found[result] = value.within(condition.places)


class _Scheduled:
    """A batch whose functions have been called, or what one of them raised."""

    def __init__(self, delivered: Any):
        self.delivered = delivered  # where the session stands behind it
        self.found: dict = {}
        self.samples: Any = None
        self.pending: Pending | None = None
        self.error: BaseException | None = None


class Staged:
    """The batches of a pipeline that calls functions of Python."""

    def __init__(self, plan: Plan, results: list):
        self.plan, self.results = plan, results
        self._queue: collections.deque[_Scheduled] = collections.deque()

    def schedule(self, pipe: Any) -> None:
        """Takes a batch of the first program, calls the functions, and starts what follows.

        What fails is raised by the take() of this batch.
        """
        batch = _Scheduled(None)
        try:
            parts = pipe._next_parts()
            batch.samples = samples_of_parts(parts)
            for number, node in enumerate(self.plan.steps[0].outputs):
                batch.found[node] = values_of_parts(parts, number)
            batch.pending = run(self.plan, batch.found, batch.samples, first=1)
        except Exception as error:
            batch.error = error
        batch.delivered = pipe._state_before
        self._queue.append(batch)

    def take(self) -> tuple[tuple, Any]:
        """The outputs of the oldest batch, and where the session stands behind it."""
        batch = self._queue.popleft()
        if batch.error is not None:
            raise batch.error
        if batch.pending is not None:
            batch.pending.take(batch.found)
        values = [batch.found[node] for node in self.results]
        outputs = tuple(one.tensors(batch.samples.pick(one.places).names) for one in values)
        return outputs, batch.delivered

    def close(self) -> None:
        """Ends its sessions."""
        for program in programs_of(self.plan):
            program.close()
