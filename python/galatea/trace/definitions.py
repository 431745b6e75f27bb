"""Definitions of a text: functions and constants of Python that stand above the pipeline.

Comes in: a Python function. Goes out: its source in the text, once, as it is written, and the name
that calls use. What it reads from outside is there by value: modules of the language as such,
numbers, lists and arrays as constants, other functions as definitions of their own. Only the tokens
of names that are others in the text are changed.

Two functions of one source with other values are two definitions; the same one again is the same.
"""

from __future__ import annotations

import ast
import functools
import re
import types
from dataclasses import dataclass, field
from typing import Any

from galatea.trace import known
from galatea.trace.errors import NoLiteral, TraceError
from galatea.trace.excerpt import Edit, Excerpt
from galatea.trace.expression import Call, Expression, Literal
from galatea.trace.layout import Layout
from galatea.trace.names import RESERVED, free_name
from galatea.trace.node import Node
from galatea.trace.place import Place
from galatea.trace.scopes import Outside, Scopes, scopes_of
from galatea.trace.source import Missing, find

_PLAIN = (bool, int, float, complex, str, bytes, list, tuple, dict, set, range, type(None))
_WORD = re.compile(r"\w+")
_scopes: dict[ast.AST, Scopes] = {}


@dataclass
class Item:
    """A statement of the text's module: lines, and the places that ranges of them come from."""

    lines: list[str]
    ranges: list[tuple[tuple[int, int, int, int], Place]]
    is_function: bool
    is_constant: bool = False


@dataclass
class _Open:
    """A function that is being written."""

    name: str
    in_circle: bool = False


@dataclass
class Definitions:
    """What stands above a pipeline, in the order of the text."""

    recorder: Any
    items: list[Item] = field(default_factory=list)
    names: dict[str, None] = field(default_factory=dict)  # a set in the order of its elements
    _known: dict[tuple, str] = field(default_factory=dict)
    _constants: dict[tuple[str, str], list[str]] = field(default_factory=dict)
    _circles: dict[str, str] = field(default_factory=dict)
    _open: dict[tuple, _Open] = field(default_factory=dict)

    # Names.

    def is_taken(self, name: str) -> bool:
        return name in self.names or name == self.recorder.name or name in RESERVED

    def _name(self, wanted: str, avoid: set[str] | frozenset[str] = frozenset()) -> str:
        name = free_name(wanted, lambda each: each in avoid or self.is_taken(each))
        self.names[name] = None
        return name

    def imported(self, module: str, name: str) -> str:
        """The text's name of what a library module calls `name`."""
        key = ("import", module, name)
        if key not in self._known:
            own = self._name(name)
            self._known[key] = own
            spelling = name if own == name else f"{name} as {own}"
            self.recorder.modules.setdefault(module, set()).add(spelling)
        return self._known[key]

    # Constants.

    def constant(
        self,
        wanted: str,
        value: Expression | str,
        place: Place | None,
        avoid: set[str] | frozenset[str] = frozenset(),
    ) -> str:
        """The name of a constant of the text that is not in `avoid`."""
        expression = Literal(value) if isinstance(value, str) else value
        layout = Layout(str)
        text = layout.one_line(expression)
        names = self._constants.setdefault((wanted, text), [])
        for name in names:
            if name not in avoid:
                return name
        name = self._name(wanted, avoid)
        names.append(name)
        lines = layout.lines(f"{name} = ", expression, "", 0) or [f"{name} = {text}"]
        ranges = []
        if place is not None:
            ranges.append(((1, 1, len(lines), len(lines[-1]) + 1), place))
        self.items.append(Item(lines, ranges, False, True))
        return name

    # Values.

    def text_of(
        self,
        value: Any,
        wanted: str,
        place: Place | None,
        avoid: set[str] | frozenset[str] = frozenset(),
    ) -> str:
        """How the text names a Python value; `wanted` is a name for what needs a new one."""
        text = self.text_of_callable(value, place, wanted)
        if text is None:
            expression = self.recorder.value(value, place, functions=True)
            node = next(expression.nodes(), None)
            if node is not None:
                raise TraceError(
                    f"`{wanted}` holds a data node, made at {node.place}, from outside of the "
                    "function",
                    place,
                    "give it to the function as an argument",
                )
            return self.constant(wanted, expression, place, avoid)
        if text.split(".")[0] in avoid:
            return self.constant(text.rsplit(".", 1)[-1], text, place, avoid)
        return text

    def text_of_callable(self, value: Any, place: Place | None, wanted: str = "") -> str | None:
        """How the text names a module, a function or a type; None: `value` is none that it has."""
        text = known.text_of(value, place)
        if text is not None:
            return text
        written = getattr(type(value), "galatea_definition", None)
        if written is not None:
            return written(value, self, place)
        if isinstance(value, types.FunctionType):
            return self.function(value, place, wanted)
        if isinstance(value, functools._lru_cache_wrapper):
            return self.text_of_callable(value.__wrapped__, place, wanted)
        if isinstance(value, functools.partial):
            return self._partial(value, place, wanted)
        if isinstance(value, types.MethodType):
            raise TraceError(
                f"the method `{value.__qualname__}` cannot stand in the text, which has no objects",
                place,
                "write a function, and give it what it needs as arguments",
            )
        return None

    def _partial(self, value: functools.partial, place: Place | None, wanted: str) -> str:
        function = self.text_of_callable(value.func, place)
        if function is None:
            raise self._unknown(value.func, "the function", place)
        given = [self.recorder.value(each, place, functions=True) for each in value.args]
        named = {
            key: self.recorder.value(each, place, functions=True)
            for key, each in value.keywords.items()
        }
        for expression in (*given, *named.values()):
            if next(expression.nodes(), None) is not None:
                raise TraceError(
                    "a `functools.partial` holds a data node",
                    place,
                    "give it to the function as an argument",
                )
        arguments = [("", each) for each in (*given, Literal("*more"))]
        arguments += [(key, each) for key, each in named.items()]
        call = Layout(str).one_line(Call(function, [*arguments, ("", Literal("**named"))]))
        wanted = wanted or f"{function.rsplit('.', 1)[-1]}_partial"
        return self.constant(wanted, f"lambda *more, **named: {call}", place)

    def _unknown(self, value: Any, what: str, place: Place | None) -> TraceError:
        kind = type(value)
        is_what = f"of type `{kind.__module__}.{kind.__qualname__}`"
        if isinstance(value, (type, types.ModuleType)):
            is_what = "a class" if isinstance(value, type) else "a module"
        return TraceError(
            f"{what} is {is_what}, which the text cannot hold",
            place,
            "numbers, strings, lists, tuples, dicts, numpy arrays, functions whose source is "
            "there, and `fn`, `types`, `math`, `numpy` may be used in it",
        )

    # Functions.

    def function(
        self,
        function: types.FunctionType,
        place: Place | None,
        wanted: str = "",
        decorator: Expression | None = None,
        decorated_at: Place | None = None,
    ) -> str:
        """The name of a Python function in the text; it is written there if it is not yet.

        `decorator` stands above it, and comes from the place `decorated_at`.
        """
        own_name = function.__name__ if function.__name__.isidentifier() else wanted or "function"
        above = "" if decorator is None else Layout(str).one_line(decorator)
        cells = tuple(id(cell) for cell in function.__closure__ or ())
        same = (function.__code__, id(function.__globals__), cells, above)
        if same in self._open:
            opened = list(self._open)
            for each in opened[opened.index(same) + 1 :]:
                self._open[each].in_circle = True
            self._open[same].in_circle |= opened[-1] is not opened[opened.index(same)]
            return self._open[same].name
        try:
            source = find(function)
        except Missing as missing:
            raise TraceError(
                f"the function `{function.__name__}` cannot be written into the text: {missing}",
                place,
                "define it by `def`, on lines of its own, in a file or a notebook's cell",
            ) from None
        definition = source.definition
        if isinstance(definition, ast.AsyncFunctionDef):
            raise TraceError(
                f"the function `{function.__name__}` is `async`, which no pipeline can hold", place
            )
        items_before, names_before = len(self.items), set(self.names)
        opened_as = self._open[same] = _Open(self._name(own_name))
        try:
            excerpt = Excerpt(function.__code__.co_filename, source.lines, definition)
            edits = self._edits(function, definition, excerpt)
        finally:
            del self._open[same]
        # Its own name in it is no difference.
        changes = [(e.begin, "" if e.text == opened_as.name else e.text) for e in edits]
        key = ("function", above, excerpt.file, excerpt.text, *excerpt.begin, *changes)
        if key in self._known:
            self.names.pop(opened_as.name, None)
            return self._known[key]
        name = self._known[key] = opened_as.name
        excerpt.apply(edits)
        self.items.append(_item(excerpt, definition, name, decorator, decorated_at or place))
        if opened_as.in_circle and not any(each.in_circle for each in self._open.values()):
            return self._circle(name, items_before, names_before)
        return name

    def _circle(self, name: str, items_before: int, names_before: set[str]) -> str:
        """Functions that use each other are the same as others if only their own names differ."""
        new = [item for item in self.items[items_before:] if not item.is_constant]
        constants = {each for names in self._constants.values() for each in names}
        own = [each for each in self.names if each not in names_before and each not in constants]
        number = {each: f"\0{i}" for i, each in enumerate(own)}
        text = "\n".join(line for item in new for line in item.lines)
        text = _WORD.sub(lambda match: number.get(match.group(), match.group()), text)
        first = self._circles.setdefault(text, name)
        if first != name:
            self.items[items_before:] = [i for i in self.items[items_before:] if i.is_constant]
            self._known = {key: value for key, value in self._known.items() if value not in own}
            for each in own:
                del self.names[each]
        return first

    def _edits(self, function, definition, excerpt: Excerpt) -> list[Edit]:
        scopes = _scopes.get(definition)
        if scopes is None:
            scopes = _scopes[definition] = scopes_of(definition)
        edits = []
        if not isinstance(definition, ast.Lambda):
            name = self._open[list(self._open)[-1]].name
            edits.append(excerpt.name_of_definition(definition, name))
        for use in scopes.outside:
            edit = self._edit(use, function, scopes.bound, excerpt)
            if edit is not None:
                edits.append(edit)
        for node, value, name in _defaults(function, definition):
            is_plain = isinstance(
                node.operand if isinstance(node, ast.UnaryOp) else node, ast.Constant
            )
            if not is_plain:
                text = self._default(value, name, excerpt.place(node))
                made = excerpt.edit(node, node, text)
                edits += [made] if made else []
        return sorted(edits, key=lambda edit: edit.begin)

    def _default(self, value: Any, name: str, place: Place) -> str:
        """A default is evaluated outside of the function: as a literal where it is short."""
        if isinstance(value, (bool, int, float, str, type(None))) and type(value) in _PLAIN:
            return Layout(str).one_line(self.recorder.value(value, place))
        return self.text_of(value, name, place)

    def _edit(self, use: Outside, function, bound: set[str], excerpt: Excerpt) -> Edit | None:
        """What becomes of a name from outside; None: it stays."""
        place = excerpt.place(use.nodes[0])
        found, value = _value_of(function, use.name, place)
        if not found:  # of Python's builtins
            return None
        wanted = use.name
        for index, node in enumerate(use.nodes):
            place = excerpt.place(node)
            if index:
                name = node.attr  # type: ignore[attr-defined]
                is_owner = isinstance(value, (types.ModuleType, type)) or wanted == "self"
                wanted = name if is_owner else f"{wanted}_{name}"
                try:
                    value = getattr(value, name)
                except AttributeError as error:
                    raise TraceError(str(error), place) from None
            is_last = index == len(use.nodes) - 1
            if not is_last and _is_read_by_attributes(value):
                continue
            if isinstance(value, Node):
                raise TraceError(
                    f"`{use.name}` is a data node, made at {value.place}, from outside of "
                    f"`{function.__name__}`",
                    place,
                    "give it to the function as an argument",
                )
            try:
                text = self.text_of(value, wanted, place, bound)
            except NoLiteral as error:
                what = f"`{excerpt.source(use.nodes[0], node)}`"
                raise self._unknown(error.value, what, place) from None
            return excerpt.edit(use.nodes[0], node, text)
        raise AssertionError("a use has nodes")


def _is_read_by_attributes(value: Any) -> bool:
    """Whether `value.x` is what Python says now, not what the language says of a value."""
    if isinstance(value, Node) or type(value) in _PLAIN:
        return False
    if type(value).__module__.split(".")[0] == "numpy" and not isinstance(value, type):
        return False
    if hasattr(type(value), "galatea_definition"):
        return False
    return known.text_of(value, None) is None


def _value_of(function, name: str, place: Place) -> tuple[bool, Any]:
    """Whether a name from outside is a variable, and its value; builtins are none."""
    code = function.__code__
    cells = dict(zip(code.co_freevars, function.__closure__ or ()))
    if name in cells:
        try:
            return True, cells[name].cell_contents
        except ValueError:
            raise TraceError(f"`{name}` has no value yet", place) from None
    if name in function.__globals__:
        return True, function.__globals__[name]
    names = function.__globals__.get("__builtins__", {})
    if name in (names if isinstance(names, dict) else vars(names)):
        return False, None
    raise TraceError(f"the name `{name}` is not defined", place)


def _defaults(function, definition):
    """Default values: the source's expression, the value, the parameter."""
    arguments = definition.args
    positional = [*arguments.posonlyargs, *arguments.args]
    values = function.__defaults__ or ()
    names = positional[len(positional) - len(arguments.defaults) :]
    for parameter, node, value in zip(names, arguments.defaults, values):
        yield node, value, parameter.arg
    for parameter, node in zip(arguments.kwonlyargs, arguments.kw_defaults):
        if node is not None:
            yield node, (function.__kwdefaults__ or {})[parameter.arg], parameter.arg


def _item(excerpt: Excerpt, definition, name: str, decorator, decorated_at) -> Item:
    """The lines of a function, below its decorator."""
    layout = Layout(str)
    if isinstance(definition, ast.Lambda):
        before = f"{name} = "
        after = ""
        if decorator is not None:
            before, after = f"{before}{layout.one_line(decorator)}(", ")"
        elif excerpt.is_split():
            before, after = f"{before}(", ")"
        lines, ranges = excerpt.lines(before, after)
        ranges.insert(0, ((1, 1, len(lines), len(lines[-1]) + 1), excerpt.place(definition)))
        return Item(lines, ranges, False)
    above: list[str] = []
    if decorator is not None:
        above = layout.lines("@", decorator, "", 0) or [f"@{layout.one_line(decorator)}"]
    lines, ranges = excerpt.lines("", "")
    shift = len(above)
    ranges = [((a + shift, b, c + shift, d), place) for (a, b, c, d), place in ranges]
    if above and decorated_at is not None:
        ranges.append(((1, 1, shift, len(above[-1]) + 1), decorated_at))
    return Item([*above, *lines], ranges, True)
