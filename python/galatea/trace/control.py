"""What changed syntax trees call: `if`, `and`, `or`, `not`, ternaries, calls, assignments.

Comes in: conditions and values of the user's function. Where a condition is no data node, Python's
own meaning holds: one side is run, once, and truth is Python's. Where it is one, both arms are
run, and what they assigned becomes a branch of the text.
"""

from __future__ import annotations

import inspect
import operator
import sys
from typing import Any, Callable

from galatea.trace import place as places
from galatea.trace import recorder as recorders
from galatea.trace.errors import TraceError
from galatea.trace.expression import Binary, Unary, Use
from galatea.trace.literals import expression_of
from galatea.trace.merging import UNASSIGNED, Containers, Merging
from galatea.trace.node import Node, is_operand
from galatea.trace.recorder import Branch, Choice


class Side:
    """An arm that is run in one go: a side of an `and`, a function of a `select`.

    Where an exception leaves it, it stays open, and whoever catches the exception is told.
    """

    code = None

    def __init__(
        self, recorder, what: str, place, condition: Node | None = None, holds: bool = True
    ):
        self.recorder = recorder
        self.what = what
        self.place = place
        self.condition, self.holds = condition, holds

    def __enter__(self) -> "Side":
        self.block = self.recorder.open(self.what, self.condition, self.holds)
        self.recorder.open_branches.append(self)
        return self

    def __exit__(self, kind, *_) -> None:
        if kind is None:
            self.recorder.open_branches.pop()
            self.recorder.close(self.block)


class _Attributes:
    """Attributes of objects from outside that the arms of an `if` assign: they merge as variables.

    Those behind a property are left to its function.
    """

    def __init__(self, names: tuple[str, ...], scope: dict[str, Any]):
        self.owners: dict[str, Any] = {}
        for name in names:
            root, *path, last = name.split(".")
            owner = scope.get(root, UNASSIGNED)
            for part in path:
                owner = getattr(owner, part, UNASSIGNED)
            member = getattr(type(owner), last, None)
            is_plain = not hasattr(type(member), "__set__")
            if owner is not UNASSIGNED and (is_plain or inspect.ismemberdescriptor(member)):
                self.owners[name] = owner
        self.before = self.values()

    def values(self) -> dict[str, Any]:
        return {
            name: getattr(owner, name.rpartition(".")[2], UNASSIGNED)
            for name, owner in self.owners.items()
        }

    def set(self, values: dict[str, Any]) -> None:
        now = self.values()
        for name, value in values.items():
            owner, last = self.owners[name], name.rpartition(".")[2]
            if value is UNASSIGNED and now[name] is not UNASSIGNED:
                delattr(owner, last)
            elif value is not now[name]:
                setattr(owner, last, value)


class If:
    """One `if` statement. `begin_then` and `begin_else` say whether an arm is to be run."""

    def __init__(
        self,
        condition: Any,
        names: tuple[str, ...],
        a_global: str | None = None,
        attributes: tuple[str, ...] = (),
    ):
        self.names = names
        self.is_data = isinstance(condition, Node)
        if not self.is_data:
            self.truth = bool(condition)
            return
        self.place = places.caller()
        self.recorder = recorders.require("`if` on data")
        self.condition = self.recorder.own(condition, self.place)
        frame = sys._getframe(1)
        if a_global is not None:
            raise TraceError(
                f"the global variable `{a_global}` is assigned in an arm of an `if` on data",
                self.place,
                "return the value, and assign it behind the `if`",
            )
        self.code = frame.f_code
        scope = dict(frame.f_locals)
        self.before = {name: scope.get(name, UNASSIGNED) for name in names}
        self.attributes = _Attributes(attributes, {**frame.f_globals, **scope})
        self.containers = Containers(scope.items())
        self.recorder.open_branches.append(self)
        self.arms: list = []
        self.values: list[dict[str, Any]] = []
        self.contents: list[tuple[dict[int, Any], Any]] = []

    def _open(self, what: str) -> bool:
        what = f"the {what} of the `if` at {self.place}"
        self.arms.append(self.recorder.open(what, self.condition, holds=not self.arms))
        return True

    def _close(self, scope: dict[str, Any]) -> None:
        if self.recorder.open_branches[-1] is not self:
            inner = self.recorder.open_branches[-1]
            raise TraceError(
                f"the `if` on data at {inner.place} was left before its end",
                places.caller(),
                "assign the result to a variable and return it behind the `if`",
            )
        self.recorder.close(self.arms[-1])
        values = {name: scope.get(name, UNASSIGNED) for name in self.names}
        values.update(self.attributes.values())
        changed = self.containers.undo()
        self.contents.append((changed, places.caller()))
        # A variable that holds a changed container holds it as this arm left it.
        self.values.append({name: changed.get(id(one), one) for name, one in values.items()})

    def begin_then(self) -> bool:
        return self._open("first arm") if self.is_data else self.truth

    def begin_else(self) -> bool:
        if not self.is_data:
            return not self.truth
        self._close(sys._getframe(1).f_locals)
        self.attributes.set(self.attributes.before)
        return self._open("other arm")

    def old(self, name: str) -> Any:
        """What a variable held before the `if`."""
        return self.before[name]

    def merge(self) -> tuple:
        """What the variables hold behind the `if`, in the order of `names`."""
        self._close(sys._getframe(1).f_locals)
        self.recorder.open_branches.pop()
        merging = Merging(self.recorder, self.arms, self.place, "`if`")
        then, otherwise = self.values
        merged = tuple(merging.value(name, [then[name], otherwise[name]]) for name in self.names)
        attributes = {
            name: merging.value(name, [then[name], otherwise[name]])
            for name in self.attributes.before
        }
        # Behind the variables: those that hold one of the containers hold it as it was before.
        self.containers.merge(merging, self.contents)
        self.attributes.set(attributes)
        self.recorder.finish(_branch(self.condition, merging))
        return merged


def _branch(condition: Node, merging: Merging) -> Branch:
    merges = [(result, *expressions) for result, expressions in merging.results]
    return Branch(Use(condition), *merging.blocks, merging.place, merges)


def _choice(kind: str, left: Node, right, other=None) -> Any:
    place = places.caller()
    recorder = recorders.require(f"`{kind}` on data")
    left = recorder.own(left, place)
    with Side(recorder, f"a side of the `{kind}` at {place}", place, left, kind != "or") as side:
        value = right()
    block = side.block
    if other is None:
        result = recorder.node(place)
        recorder.block = block
        expression = expression_of(recorder, value, place)
        recorder.block = block.parent
        choice = Choice(result, kind, Use(left), block, expression, place)
        recorder.finish(choice)
        return result
    with Side(recorder, f"a side of the conditional at {place}", place, left, False) as side:
        other_value = other()
    merging = Merging(recorder, [block, side.block], place, "conditional expression")
    merged = merging.value("", [value, other_value])
    if isinstance(merged, Node) and len(merging.results) == 1 and merged is merging.results[0][0]:
        then, otherwise = merging.results[0][1]
        choice = Choice(merged, "if", Use(left), block, then, place, side.block, otherwise)
        recorder.finish(choice)
    elif merging.results:
        recorder.finish(_branch(left, merging))
    return merged


def conditional(condition: Any, then: Callable[[], Any], otherwise: Callable[[], Any]) -> Any:
    """`then() if condition else otherwise()`."""
    if isinstance(condition, Node):
        return _choice("if", condition, then, otherwise)
    return then() if condition else otherwise()


def all_of(first: Any, *rest: Callable[[], Any]) -> Any:
    """`first and rest[0]() and …`."""
    value = first
    for index, function in enumerate(rest):
        if isinstance(value, Node):
            tail = rest[index:]
            return _choice("and", value, lambda: all_of(tail[0](), *tail[1:]))
        if not value:
            return value
        value = function()
    return value


def any_of(first: Any, *rest: Callable[[], Any]) -> Any:
    """`first or rest[0]() or …`."""
    value = first
    for index, function in enumerate(rest):
        if isinstance(value, Node):
            tail = rest[index:]
            return _choice("or", value, lambda: any_of(tail[0](), *tail[1:]))
        if value:
            return value
        value = function()
    return value


def negated(value: Any) -> Any:
    """`not value`."""
    if isinstance(value, Node):
        recorder = value.recorder.active()
        return recorder.add(Unary("not", recorder.value(value)))
    return not value


_COMPARE = {
    "Eq": operator.eq,
    "NotEq": operator.ne,
    "Lt": operator.lt,
    "LtE": operator.le,
    "Gt": operator.gt,
    "GtE": operator.ge,
    "Is": operator.is_,
    "IsNot": operator.is_not,
    "In": lambda a, b: a in b,
    "NotIn": lambda a, b: a not in b,
}

_SIGNS = {"Eq": "==", "NotEq": "!=", "Lt": "<", "LtE": "<=", "Gt": ">", "GtE": ">="}


def _compare(sign: str, a: Any, b: Any) -> Any:
    """Python would turn `1 < node` round."""
    if sign in _SIGNS and isinstance(b, Node) and not isinstance(a, Node) and is_operand(a):
        place = places.caller()
        recorder = b.recorder.active()
        left, right = recorder.value(a, place), recorder.value(b, place)
        return recorder.add(Binary(_SIGNS[sign], left, right), place=place)
    return _COMPARE[sign](a, b)


def compared(first: Any, *rest: tuple[str, Callable[[], Any]]) -> Any:
    """A chain `first < rest[0]() < …`: each operand is evaluated once, and lazily."""
    (sign, function), tail = rest[0], rest[1:]
    second = function()
    result = _compare(sign, first, second)
    if not tail:
        return result
    if isinstance(result, Node):
        return _choice("and", result, lambda: compared(second, *tail))
    return compared(second, *tail) if result else result


def named(names: Any, value: Any) -> Any:
    """Remembers the variables that a value is assigned to; gives the value."""
    if isinstance(names, str):
        # Another name for what stands before an arm is no name for it there.
        is_new = isinstance(value, Node) and value.block is value.recorder.block
        if isinstance(value, Node) and not value.hint and is_new:
            value.hint = names
        elif isinstance(value, (list, tuple)) and type(value) in (list, tuple):
            for i, element in enumerate(value):
                if isinstance(element, Node) and not element.hint:
                    element.hint = f"{names}_{i}"
        elif type(value) is dict:
            for key, element in value.items():
                if isinstance(element, Node) and not element.hint:
                    element.hint = f"{names}_{key}"
    elif type(value) in (list, tuple) and len(value) == len(names):
        for name, element in zip(names, value):
            if name is not None:
                named(name, element)
    return value


_INSTEAD = {
    "`while`": "write a `for` over a fixed number of rounds with `if …: break`",
    "`if` in a comprehension": "how many elements a list has is known now: write "
    "`x if c else y` for the element",
    "`assert`": "check what is known now; samples are checked by `on_error` of the pipeline",
    "`if` of a `case`": "write `if`, `elif` and `else`",
}


def static(value: Any, what: str) -> Any:
    """A condition that decides now what is run."""
    if isinstance(value, Node):
        raise TraceError(
            f"{what} cannot depend on data",
            places.caller(),
            _INSTEAD.get(what, "assign to the variable in a statement before, or write `if`"),
        )
    return value


def leaving(value: Any, what: str, opened: int | None = None) -> Any:
    """Checks that no `if` on data is left in its middle by `what`.

    `opened`: how many arms were open where `what` leads; None: those of other functions.
    """
    recorder = recorders.current()
    if recorder is None:
        return value
    code = sys._getframe(1).f_code
    own = any(each.code is code for each in recorder.open_branches)
    if own if opened is None else depth() > opened:
        raise TraceError(
            f"{what} leaves the `if` on data at {recorder.open_branches[-1].place} in its middle",
            places.caller(),
            "assign to a variable in both arms, and go on behind the `if`",
        )
    return value


def stops(left: Any, is_while: bool) -> bool:
    """Whether a loop ends here: every sample has left it."""
    if isinstance(left, Node):
        if is_while:
            static(left, "`while`")
        return False
    return bool(left)


def now(flag: Any, what: str) -> bool:
    """A flag that must be known while the pipeline is built."""
    if isinstance(flag, Node):
        raise TraceError(
            f"{what} depends on data",
            places.caller(),
            "assign to a variable, `break`, and return behind the loop",
        )
    return bool(flag)


def depth() -> int:
    """How many arms are open."""
    recorder = recorders.current()
    return len(recorder.open_branches) if recorder is not None else 0


def caught(opened: int) -> None:
    """At the begin of an `except`: the arms that were open at its `try` must still be those."""
    if depth() != opened:
        raise TraceError(
            "an exception left an arm of an `if` on data and was caught outside of it",
            places.caller(),
            "an arm is run once for all samples: catch the exception inside of it",
        )


def check_arms(recorder) -> None:
    """At the end of a pipeline: all arms were left at their ends."""
    if recorder.open_branches:
        raise TraceError(
            "an exception left an arm of a branch on data, and was caught outside of it",
            recorder.open_branches[-1].place,
            "an arm is run once for all samples: catch the exception inside of it",
        )
