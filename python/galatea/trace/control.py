"""What changed syntax trees call: `if`, `and`, `or`, `not`, ternaries, calls, assignments.

Comes in: conditions and values of the user's function. Where a condition is no data node, Python's
own meaning holds: one side is run, once, and truth is Python's. Where it is one, both arms are
run, and what they assigned becomes a branch of the text.
"""

from __future__ import annotations

import operator
import sys
from typing import Any, Callable

from galatea.trace import place as places
from galatea.trace import recorder as recorders
from galatea.trace.errors import TraceError
from galatea.trace.expression import Binary, Unary, Use
from galatea.trace.literals import expression_of
from galatea.trace.node import Node, is_operand
from galatea.trace.recorder import Branch, Choice


class _Unassigned:
    """A variable without a value."""

    def __repr__(self) -> str:
        return "<no value>"


UNASSIGNED = _Unassigned()


class Unmergeable:
    """A variable whose two values no pipeline can hold; using it raises."""

    def __init__(self, name: str, values: tuple[Any, Any], place):
        object.__setattr__(self, "_why", (name, values, place))

    def _fail(self, *_, **__):
        name, (a, b), place = object.__getattribute__(self, "_why")
        raise TraceError(
            f"`{name}` is {_kind(a)} or {_kind(b)} behind the `if` on data at {place}",
            places.caller(),
            "a value that differs from sample to sample must be a data node or a number; decide "
            "what is known now outside of the `if`",
        )

    def __getattribute__(self, name: str):
        if name in ("_why", "_fail", "__class__"):
            return object.__getattribute__(self, name)
        return object.__getattribute__(self, "_fail")()

    __call__ = __bool__ = __iter__ = __len__ = __getitem__ = __eq__ = _fail
    __add__ = __radd__ = __mul__ = __rmul__ = __sub__ = __lt__ = __gt__ = _fail
    __hash__ = None  # type: ignore[assignment]


def _kind(value: Any) -> str:
    if value is UNASSIGNED:
        return "without a value"
    if value is None:
        return "None"
    if isinstance(value, Node):
        return "a data node"
    return f"of type `{type(value).__name__}`"


class If:
    """One `if` statement. `begin_then` and `begin_else` say whether an arm is to be run."""

    def __init__(self, condition: Any, names: tuple[str, ...], a_global: str | None = None):
        self.names = names
        self.is_data = isinstance(condition, Node)
        if not self.is_data:
            self.truth = bool(condition)
            return
        self.place = places.caller()
        self.recorder = recorders.require("`if` on data")
        self.recorder.check(condition, self.place)
        self.condition = condition
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
        self.containers = [
            (name, value, _content(value))
            for name, value in scope.items()
            if isinstance(value, (list, dict, set))
        ]
        self.recorder.open_branches.append(self)
        self.arms: list = []
        self.values: list[dict[str, Any]] = []

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
        self.values.append({name: scope.get(name, UNASSIGNED) for name in self.names})
        for name, value, content in self.containers:
            if _differs(_content(value), content):
                raise TraceError(
                    f"`{name}` was changed in an arm of the `if` on data at {self.place}: the "
                    "change would hold for some samples only",
                    places.caller(),
                    f"make a new one, which merges: `{name} = {name} + [x]`, `{{**{name}, …}}`",
                )

    def begin_then(self) -> bool:
        return self._open("first arm") if self.is_data else self.truth

    def begin_else(self) -> bool:
        if not self.is_data:
            return not self.truth
        self._close(sys._getframe(1).f_locals)
        return self._open("other arm")

    def old(self, name: str) -> Any:
        """What a variable held before the `if`."""
        return self.before[name]

    def merge(self) -> tuple:
        """What the variables hold behind the `if`, in the order of `names`."""
        self._close(sys._getframe(1).f_locals)
        self.recorder.open_branches.pop()
        branch = Branch(Use(self.condition), self.arms[0], self.arms[1], self.place)
        then, otherwise = self.values
        merged = tuple(
            _merge(self.recorder, branch, name, then[name], otherwise[name]) for name in self.names
        )
        self.recorder.finish(branch)
        return merged


def _content(value: Any) -> Any:
    if isinstance(value, dict):
        return list(value.items())
    return list(value)


def _differs(a: list, b: list) -> bool:
    if len(a) != len(b):
        return True

    def same(x, y):
        if isinstance(x, tuple) and isinstance(y, tuple) and len(x) == len(y) == 2:
            return all(p is q for p, q in zip(x, y))
        return x is y

    return not all(same(x, y) for x, y in zip(a, b))


def _holds_node(value: Any) -> bool:
    if isinstance(value, (list, tuple)):
        return any(_holds_node(element) for element in value)
    if isinstance(value, dict):
        return any(_holds_node(element) for element in value.values())
    return isinstance(value, Node)


def _equal(a: Any, b: Any) -> bool:
    if a is b:
        return True
    if type(a) is not type(b) or _holds_node(a) or _holds_node(b):
        return False
    if isinstance(a, (bool, int, float, str, bytes, list, tuple, dict, range)):
        try:
            return repr(a) == repr(b) and bool(a == b)
        except Exception:  # noqa: BLE001 - a comparison of the user's that fails: not equal
            return False
    return bool(getattr(a, "galatea_text", None)) and a.galatea_text == b.galatea_text


def _merge(recorder, branch: Branch, name: str, a: Any, b: Any) -> Any:
    """One value behind the `if`; containers of equal structure merge leaf by leaf."""
    if _equal(a, b):
        return a
    if type(a) is type(b) and isinstance(a, (list, tuple)) and len(a) == len(b):
        leaves = [_merge(recorder, branch, f"{name}_{i}", x, y) for i, (x, y) in _pairs(a, b)]
        if hasattr(a, "_fields"):
            return type(a)(*leaves)
        return type(a)(leaves)
    if isinstance(a, dict) and isinstance(b, dict) and list(a) == list(b):
        return {key: _merge(recorder, branch, f"{name}_{key}", a[key], b[key]) for key in a}
    expressions = []
    for value, arm in ((a, branch.then), (b, branch.otherwise)):
        if value is UNASSIGNED:
            expressions.append(None)
            continue
        try:
            recorder.block = arm
            expressions.append(expression_of(recorder, value, branch.place))
        except TraceError:
            if _holds_node(value):
                raise
            return Unmergeable(name, (a, b), branch.place)
        finally:
            recorder.block = branch.then.parent
    result = recorder.node(branch.place)
    result.hint = _name_for(name, a, b)
    branch.merges.append((result, expressions[0], expressions[1]))
    return result


def _name_for(name: str, a: Any, b: Any) -> str:
    """The variable's name; where it is not the user's, the one of the values."""
    if not name.startswith("_galatea"):
        return name
    hints = {value.hint for value in (a, b) if isinstance(value, Node) and value.hint}
    return hints.pop() if len(hints) == 1 else name.removeprefix("_galatea_")


def _pairs(a, b):
    return enumerate(zip(a, b))


def is_data(value: Any) -> bool:
    return isinstance(value, Node)


def _lazy(recorder, what: str, function: Callable[[], Any], condition: Node, holds: bool):
    block = recorder.open(what, condition, holds)
    value = function()
    recorder.close(block)
    return block, value


def _choice(kind: str, left: Node, right, other=None) -> Any:
    place = places.caller()
    recorder = recorders.require(f"`{kind}` on data")
    recorder.check(left, place)
    what = f"a side of the `{kind}` at {place}"
    block, value = _lazy(recorder, what, right, left, kind != "or")
    if other is None:
        result = recorder.node(place)
        recorder.block = block
        expression = expression_of(recorder, value, place)
        recorder.block = block.parent
        choice = Choice(result, kind, Use(left), block, expression, place)
        recorder.finish(choice)
        return result
    other_block, other_value = _lazy(recorder, what, other, left, False)
    if isinstance(value, (list, tuple, dict)) or isinstance(other_value, (list, tuple, dict)):
        branch = Branch(Use(left), block, other_block, place)
        merged = _merge(recorder, branch, "chosen", value, other_value)
        recorder.finish(branch)
        return merged
    if _equal(value, other_value) and not block.statements and not other_block.statements:
        return value
    expressions = []
    for each, arm in ((value, block), (other_value, other_block)):
        recorder.block = arm
        try:
            expressions.append(expression_of(recorder, each, place))
        except TraceError:
            if _holds_node(each):
                raise
            return Unmergeable("the conditional expression", (value, other_value), place)
        finally:
            recorder.block = block.parent
    result = recorder.node(place)
    choice = Choice(
        result, "if", Use(left), block, expressions[0], place, other_block, expressions[1]
    )
    recorder.finish(choice)
    return result


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
        return value.recorder.add(Unary("not", Use(value)))
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
        return b.recorder.add(Binary(_SIGNS[sign], b.recorder.value(a, place), Use(b)), place=place)
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
        if isinstance(value, Node) and not value.hint:
            value.hint = names
        elif isinstance(value, (list, tuple)) and type(value) in (list, tuple):
            for i, element in enumerate(value):
                if isinstance(element, Node) and not element.hint:
                    element.hint = f"{names}_{i}"
    elif type(value) in (list, tuple) and len(value) == len(names):
        for name, element in zip(names, value):
            if name is not None:
                named(name, element)
    return value


def static(value: Any, what: str) -> Any:
    """A condition that decides now what is run."""
    if isinstance(value, Node):
        raise TraceError(
            f"{what} cannot depend on data",
            places.caller(),
            (
                "write a `for` over a fixed number of rounds with `if …: break`"
                if what == "`while`"
                else None
            ),
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
