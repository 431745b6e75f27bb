"""`galatea.select`: one of several functions, each sample its own.

Comes in: callables and an index. Goes out: what the chosen one returns. Where the index is data,
each function is run once while tracing, and the text has a `select` of what they did.
"""

from __future__ import annotations

import operator
import types
from typing import Any, Callable, Iterable

from galatea.trace import control
from galatea.trace import place as places
from galatea.trace import recorder as recorders
from galatea.trace.errors import TraceError
from galatea.trace.merging import Containers, Merging
from galatea.trace.node import Node
from galatea.trace.recorder import Selection


def select(functions: Iterable[Callable], index: Any, /, *args: Any, **kwargs: Any) -> Any:
    """Calls the function of `functions` that `index` names, with the arguments that follow.

    `index`: an integer from 0, or a data node of integers without dimensions. Then each sample runs
    the function that its own index names: one branch of as many ways. What the functions return
    merges as behind an `if`; an index outside is an error of the sample.
    """
    place = places.caller()
    if isinstance(functions, (Node, str, bytes)) or not isinstance(functions, Iterable):
        raise TraceError(
            f"`select` takes a list of functions, not a value of type `{type(functions).__name__}`",
            place,
        )
    arms = list(functions)
    for number, arm in enumerate(arms):
        if not callable(arm):
            raise TraceError(
                f"element {number} of the functions of `select` is of type "
                f"`{type(arm).__name__}`, which cannot be called",
                place,
                "write a function: `lambda image: image` leaves the image alone",
            )
    if not arms:
        raise TraceError("`select` has no functions to choose from", place)
    call = control.call  # type: ignore[attr-defined]
    if isinstance(index, Node):
        return _select(arms, index, [call(arm) for arm in arms], args, kwargs, place)
    try:
        number = operator.index(index)
    except TypeError:
        raise TraceError(
            f"the index of `select` is of type `{type(index).__name__}`",
            place,
            "an integer, or a data node of integers without dimensions",
        ) from None
    if not 0 <= number < len(arms):
        raise TraceError(
            f"`select` has no function {number}: there are {len(arms)}, counted from 0", place
        )
    return call(arms[number])(*args, **kwargs)


def _select(arms, index: Node, calls, args, kwargs, place) -> Any:
    recorder = recorders.require("`select` on data")
    index = recorder.own(index, place)
    given = [(f"argument {i}", value) for i, value in enumerate(args)]
    captured = [pair for arm in arms for pair in _captured(arm)]
    containers = Containers([*given, *kwargs.items(), *captured])
    blocks, values = [], []
    for number, each in enumerate(calls):
        what = f"function {number} of the `select` at {place}"
        with control.Side(recorder, what, place) as side:
            values.append(each(*args, **kwargs))
        containers.check(what)
        blocks.append(side.block)
    merging = Merging(recorder, blocks, place, "`select`")
    result = merging.value("", values)
    if merging.results:
        columns = [[values[i] for _, values in merging.results] for i in range(len(blocks))]
        outputs = [node for node, _ in merging.results]
        names = [_name(arm) for arm in arms]
        arms_of_text = list(zip(blocks, columns))
        index_read = recorder.value(index, place)
        recorder.finish(Selection(outputs, index_read, arms_of_text, names, place))
    return result


def _captured(arm: Any) -> list[tuple[str, Any]]:
    """Variables that a function holds from outside."""
    if isinstance(arm, types.MethodType):
        return _captured(arm.__func__)
    if not isinstance(arm, types.FunctionType):
        return []
    found = []
    for name, cell in zip(arm.__code__.co_freevars, arm.__closure__ or ()):
        try:
            found.append((name, cell.cell_contents))
        except ValueError:  # not assigned yet
            continue
    return found


def _name(arm: Any) -> str:
    name = getattr(arm, "__name__", "")
    return name if isinstance(name, str) and name.isidentifier() else "arm"
