"""A choice among functions, by an index that differs from sample to sample."""

from __future__ import annotations

from typing import Any, Callable, Sequence

from galatea.trace import control
from galatea.trace import recorder as recorders
from galatea.trace.rewrite import call

from ...names import getter


def called(function: Callable) -> Callable:
    """A function of the user's, whose `if` on data works where the pipeline's does."""
    recorder = recorders.current()
    return call(function) if recorder is not None and recorder.conditionals else function


def select(ops: Sequence[Callable], selected_op_idx: Any, *op_args: Any, **op_kwargs: Any) -> Any:
    """`ops[selected_op_idx](*op_args, **op_kwargs)` for each sample.

    `selected_op_idx`: a data node of integers from 0 on. Each function sees its samples only.
    """
    if not ops:
        raise ValueError("there is nothing to select from: `ops` is empty")

    def among(first: int, last: int) -> Any:
        if first == last:
            return called(ops[first])(*op_args, **op_kwargs)
        middle = (first + last) // 2
        return control.conditional(
            selected_op_idx <= middle,
            lambda: among(first, middle),
            lambda: among(middle + 1, last),
        )

    return among(0, len(ops) - 1)


__getattr__ = getter("auto_aug.core._select")
