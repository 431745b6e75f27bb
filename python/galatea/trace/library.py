"""Functions and values of the language's own library, as Python sees them.

Comes in: `rand_augment(image, n=2)`. Goes out: the same call in the text, below an import. What
has no node among its arguments (a policy, an augmentation) is a constant of the text, which other
calls take; its meaning is known to the compiler alone. A Python function that is given to it, or
that it decorates, becomes a definition of the text.
"""

from __future__ import annotations

import types
from typing import Any

from galatea.trace import place as places
from galatea.trace import recorder as recorders
from galatea.trace.errors import TraceError
from galatea.trace.expression import Call, Expression, Literal, Method
from galatea.trace.node import Node

# What draws random numbers where it is called, though no data is given to it.
_DRAWS = ("signed_bin",)


def _holds_node(value: Any) -> bool:
    if isinstance(value, (list, tuple)):
        return any(_holds_node(element) for element in value)
    if isinstance(value, dict):
        return any(_holds_node(element) for element in value.values())
    return isinstance(value, Node)


class LibraryValue:
    """A name of a library module, or what became of one by attributes and calls."""

    def __init__(self, module: str, name: str, steps: tuple = (), place=None):
        self._origin = (module, name, steps)
        self._place = place

    def __repr__(self) -> str:
        module, name, steps = self._origin
        tail = "".join(f".{step}" if isinstance(step, str) else "(…)" for step in steps)
        return f"<{module}.{name}{tail}>"

    def __getattr__(self, name: str) -> "LibraryValue":
        if name.startswith("_"):
            raise AttributeError(name)
        module, first, steps = self._origin
        return LibraryValue(module, first, (*steps, name), self._place)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        place = places.caller()
        module, first, steps = self._origin
        made = LibraryValue(module, first, (*steps, (args, kwargs, place)), place)
        draws = first in _DRAWS and not steps and recorders.current() is not None
        if not draws and not _holds_node(args) and not _holds_node(kwargs):
            return made
        recorder = recorders.require(f"`{first}`")
        return recorder.add(made._expression(recorder, place), place=place)

    def galatea_expression(self, recorder, place) -> Expression:
        """The value in the text: a name of a module that is imported, or of a constant."""
        expression = self._expression(recorder, place)
        if isinstance(expression, Literal):
            return expression
        return _constant(recorder, expression, self._place)

    def galatea_definition(self, definitions, place) -> str:
        """The same, where a function of the text uses it."""
        expression = self.galatea_expression(definitions.recorder, place)
        assert isinstance(expression, Literal)
        return expression.text

    def _expression(self, recorder, place) -> Expression:
        module, first, steps = self._origin
        expression: Expression = Literal(recorder.definitions.imported(module, first))
        pending = ""
        for step in steps:
            if isinstance(step, str):
                if pending:
                    expression = Literal(f"{_named(recorder, expression, place)}.{pending}")
                pending = step
                continue
            args, kwargs, at = step
            if not pending and not kwargs and len(args) == 1 and _is_function(args[0]):
                name = recorder.definitions.function(args[0], at, "augmentation", expression, at)
                expression = Literal(name)
                continue
            arguments = [("", recorder.value(value, at, functions=True)) for value in args]
            arguments += [
                (key, recorder.value(value, at, functions=True)) for key, value in kwargs.items()
            ]
            callee = Literal(_named(recorder, expression, at))
            expression = (
                Method(callee, pending, arguments) if pending else Call(callee.text, arguments)
            )
            pending = ""
        if pending:
            expression = Literal(f"{_named(recorder, expression, place)}.{pending}")
        return expression


def _is_function(value: Any) -> bool:
    return isinstance(value, types.FunctionType)


def _named(recorder, expression: Expression, place) -> str:
    """An expression whose attributes are read, or that is called, has a name."""
    if not isinstance(expression, Literal):
        expression = _constant(recorder, expression, place)
    return expression.text


def _constant(recorder, expression: Expression, place) -> Literal:
    node = next(expression.nodes(), None)
    if node is not None:
        raise TraceError("a value of the library holds a data node here", place)
    base = expression.base if isinstance(expression, Method) else expression
    wanted = base.text if isinstance(base, Literal) else base.callee  # type: ignore[attr-defined]
    return Literal(recorder.definitions.constant(wanted.split(".")[0].lower(), expression, place))


def module_getattr(module: str):
    """`__getattr__` of a module whose names are the library's."""

    def __getattr__(name: str) -> LibraryValue:
        if name.startswith("_"):
            raise AttributeError(name)
        return LibraryValue(module, name)

    return __getattr__
