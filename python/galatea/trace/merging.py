"""What variables hold behind a branch: values of its arms become one.

Comes in: for each arm its block and a value. Goes out: one value. Equal static values stay as they
are, containers of equal structure merge leaf by leaf, and the rest becomes nodes that the text
assigns in each arm.
"""

from __future__ import annotations

import re
import types
from typing import Any, Iterable

from galatea.trace import place as places
from galatea.trace.errors import TraceError
from galatea.trace.expression import Expression
from galatea.trace.node import Node


class _Unassigned:
    """A variable without a value."""

    def __repr__(self) -> str:
        return "<no value>"


UNASSIGNED = _Unassigned()


class Unmergeable:
    """A variable whose values no pipeline can hold as one; using it raises."""

    def __init__(self, name: str, values: list[Any], branch: str):
        object.__setattr__(self, "_why", (name, values, branch))

    def _fail(self, *_, **__):
        name, values, branch = object.__getattribute__(self, "_why")
        kinds = list(dict.fromkeys(map(_kind, values)))
        raise TraceError(
            f"{f'`{name}`' if name else 'a value'} is {' or '.join(kinds if len(kinds) > 1 else map(_kind, values[:2]))} "
            f"behind the {branch}",
            places.caller(),
            "a value that differs from sample to sample must be a data node or a number, or a list, "
            "tuple or dict of them with the same structure in each arm; decide what is known now "
            "outside of it",
        )

    def __getattribute__(self, name: str):
        if name in ("_why", "_fail", "use", "__class__"):
            return object.__getattribute__(self, name)
        return object.__getattribute__(self, "_fail")()

    def use(self) -> None:
        """Raises: what uses it is an output, which looks at no attribute."""
        object.__getattribute__(self, "_fail")()

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
    if isinstance(value, dict):
        return f"a dict of {', '.join(map(repr, value)) or 'nothing'}"
    if isinstance(value, (list, tuple)):
        return f"a {type(value).__name__} of {len(value)}"
    return f"of type `{type(value).__name__}`"


def holds_node(value: Any) -> bool:
    if isinstance(value, (list, tuple)):
        return any(holds_node(element) for element in value)
    if isinstance(value, dict):
        return any(holds_node(element) for element in value.values())
    return isinstance(value, Node)


def equal(a: Any, b: Any) -> bool:
    """Whether two values are one static value, or one node."""
    if a is b:
        return True
    if type(a) is not type(b) or holds_node(a) or holds_node(b):
        return False
    if isinstance(a, (bool, int, float, str, bytes, list, tuple, dict, range)):
        try:
            return repr(a) == repr(b) and bool(a == b)
        except Exception:  # noqa: BLE001 - a comparison of the user's that fails: not equal
            return False
    return bool(getattr(a, "galatea_text", None)) and a.galatea_text == b.galatea_text


class Merging:
    """Merges what the arms `blocks` of one branch made; `branch` names it in messages.

    `results` are the nodes that it needed, each with an expression for every arm (None: the arm
    assigned nothing).
    """

    def __init__(self, recorder, blocks: list, place, branch: str):
        self.recorder = recorder
        self.blocks = blocks
        self.place = place
        self.branch = branch
        self.results: list[tuple[Node, list[Expression | None]]] = []

    def value(self, name: str, values: list[Any]) -> Any:
        """One value for the variable `name`; "" where it has none yet."""
        for value in values:
            if type(value) is Unmergeable:  # it says where it became one
                return value
        first = values[0]
        may_stay = len(values) > 1 or not holds_node(first)  # a node of the only arm is its own
        if may_stay and all(equal(first, other) for other in values[1:]):
            return first
        if all(type(value) is type(first) for value in values):
            if isinstance(first, (list, tuple)) and len({len(value) for value in values}) == 1:
                leaves = [
                    self.value(_leaf(name, i), list(elements))
                    for i, elements in enumerate(zip(*values))
                ]
                return type(first)(*leaves) if hasattr(first, "_fields") else type(first)(leaves)
            if isinstance(first, dict) and all(value.keys() == first.keys() for value in values):
                return {
                    key: self.value(_leaf(name, key), [value[key] for value in values])
                    for key in first
                }
        if any(holds_node(value) and not isinstance(value, Node) for value in values):
            return Unmergeable(name, values, f"{self.branch} on data at {self.place}")
        expressions: list[Expression | None] = []
        outer = self.recorder.block
        for value, arm in zip(values, self.blocks):
            if value is UNASSIGNED:
                expressions.append(None)
                continue
            try:
                self.recorder.block = arm
                expressions.append(self.recorder.constant(value, self.place))
            except TraceError:
                if isinstance(value, Node):
                    raise
                return Unmergeable(name, values, f"{self.branch} on data at {self.place}")
            finally:
                self.recorder.block = outer
        result = self.recorder.node(self.place)
        result.hint = _name_for(name, values)
        self.results.append((result, expressions))
        return result


def _leaf(name: str, part: Any) -> str:
    return f"{name}_{part}" if name else ""


def _name_for(name: str, values: list[Any]) -> str:
    """The variable's name; where it is not the user's, the one of the values."""
    if not name.startswith("_galatea"):
        return name.removeprefix("self.")
    hints = {value.hint for value in values if isinstance(value, Node) and value.hint}
    return hints.pop() if len(hints) == 1 else name.removeprefix("_galatea_")


class Containers:
    """Lists, dicts and sets from outside of an arm: what an arm changes in them is undone behind it,
    and merges, or is an error.

    Those inside of them count, and attributes of objects, where they hold data nodes: a list of
    what was called is the user's affair.
    """

    def __init__(self, named: Iterable[tuple[str, Any]]):
        # (name, container, what it held, whether any change of it counts)
        self._kept: list[tuple[str, Any, Any, bool]] = []
        self._seen: set[int] = set()
        for name, value in named:
            self._keep(name, value, True)
            for attribute, inner in _attributes(value):
                self._keep(f"{name}.{attribute}", inner, False)

    def _keep(self, name: str, value: Any, counts: bool) -> None:
        if not isinstance(value, (list, dict, set)) or id(value) in self._seen:
            return
        self._seen.add(id(value))
        self._kept.append((name, value, _copy(value), counts))
        inside = value.items() if isinstance(value, dict) else enumerate(value)
        for key, inner in inside:
            self._keep(f"{name}[{key!r}]", inner, False)

    def undo(self) -> dict[int, Any]:
        """What changed containers hold, by their ids; they hold again what they held before."""
        changed = {}
        for _, value, before, counts in self._kept:
            now = _copy(value)
            if _differs(now, before) and (counts or _holds_any(now) or _holds_any(before)):
                changed[id(value)] = now
                _fill(value, before)
        return changed

    def check(self, arm: str) -> None:
        """Raises where an arm changed one of them."""
        self._fail(self.undo(), arm, places.caller())

    def _fail(self, changed, arm: str, place) -> None:
        for name, value, _, _ in self._kept:
            if id(value) in changed:
                raise TraceError(
                    f"`{name}` was changed in {arm}: the change would hold for some samples only",
                    place,
                    f"make a new one, which merges: `{name} = {name} + [x]`, `{{**{name}, …}}`",
                )

    def merge(self, merging: Merging, arms: list[tuple[dict[int, Any], Any]]) -> None:
        """Has them hold what both arms left: [(what undo() gave, the place of the arm's end)]."""
        for name, value, before, _ in self._kept:
            if not any(id(value) in changed for changed, _ in arms):
                continue
            held = [changed.get(id(value), before) for changed, _ in arms]
            if isinstance(value, set) or not _have_one_structure(held):
                changed, place = next(arm for arm in arms if id(value) in arm[0])
                self._fail(
                    {id(value)}, f"an arm of the {merging.branch} on data at {merging.place}", place
                )
            _fill(value, merging.value(re.sub(r"\W+", "_", name), held))


def _attributes(value: Any) -> Iterable[tuple[str, Any]]:
    """The attributes of an object of the user's."""
    if isinstance(value, (Node, type, types.ModuleType, types.FunctionType)):
        return ()
    if type(value) is Unmergeable or not hasattr(value, "__dict__"):
        return ()
    is_ours = any(each.__module__.split(".")[0] == "galatea" for each in type(value).__mro__)
    return [(k, v) for k, v in vars(value).items() if not (is_ours and k.startswith("_"))]


def _copy(value: Any) -> Any:
    if isinstance(value, dict):
        return dict(value)
    return set(value) if isinstance(value, set) else list(value)


def _fill(value: Any, content: Any) -> None:
    """Has a container hold something else."""
    value.clear()
    if isinstance(value, list):
        value.extend(content)
    else:
        value.update(content)


def _holds_any(content: Any) -> bool:
    return not isinstance(content, set) and holds_node(content)


def _have_one_structure(held: list) -> bool:
    if isinstance(held[0], dict):
        return all(one.keys() == held[0].keys() for one in held)
    return len({len(one) for one in held}) == 1


def _differs(a: Any, b: Any) -> bool:
    if len(a) != len(b):
        return True
    if isinstance(a, set):
        return {id(one) for one in a} != {id(one) for one in b}
    if isinstance(a, dict):
        return any(x is not y or a[x] is not b[y] for x, y in zip(a, b))
    return any(x is not y for x, y in zip(a, b))
