"""Functions and values of the language's own library, as Python sees them.

Comes in: `rand_augment(image, n=2)`. Goes out: the same call in the text, below an import. What
has no node among its arguments (a policy, an augmentation) is a static value of the text, which
other calls take; its meaning is known to the compiler alone.
"""

from __future__ import annotations

import types
from typing import Any

from galatea.trace import place as places
from galatea.trace import recorder as recorders
from galatea.trace.errors import TraceError
from galatea.trace.expression import Call, Expression, Literal, Method
from galatea.trace.node import Node


def _holds_node(value: Any) -> bool:
    if isinstance(value, (list, tuple)):
        return any(_holds_node(element) for element in value)
    if isinstance(value, dict):
        return any(_holds_node(element) for element in value.values())
    return isinstance(value, Node)


class LibraryValue:
    """A name of a library module, or what became of one by attributes and calls."""

    def __init__(self, module: str, name: str, steps: tuple = ()):
        self._origin = (module, name, steps)

    def __repr__(self) -> str:
        module, name, steps = self._origin
        tail = "".join(f".{step}" if isinstance(step, str) else "(…)" for step in steps)
        return f"<{module}.{name}{tail}>"

    def __getattr__(self, name: str) -> "LibraryValue":
        if name.startswith("_"):
            raise AttributeError(name)
        module, first, steps = self._origin
        return LibraryValue(module, first, (*steps, name))

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        place = places.caller()
        for value in (*args, *kwargs.values()):
            if isinstance(value, types.FunctionType):
                raise TraceError(
                    f"{self!r} takes a Python function, which the text cannot hold",
                    place,
                    "write the augmentation in a pipeline file (docs/auto-augment.md), or as an "
                    "`if` on a draw",
                )
        module, first, steps = self._origin
        made = LibraryValue(module, first, (*steps, (args, kwargs)))
        if not _holds_node(args) and not _holds_node(kwargs):
            return made
        recorder = recorders.require(f"`{first}`")
        return recorder.add(made.galatea_expression(recorder, place), place=place)

    def galatea_expression(self, recorder, place) -> Expression:
        """The value in the text; its module is imported there."""
        module, first, steps = self._origin
        recorder.modules.setdefault(module, set()).add(first)
        expression: Expression = Literal(first)
        pending = ""
        for step in steps:
            if isinstance(step, str):
                if pending:
                    raise TraceError(f"{self!r} cannot be written as text", place)
                pending = step
                continue
            args, kwargs = step
            arguments = [("", recorder.value(value, place)) for value in args]
            arguments += [(key, recorder.value(value, place)) for key, value in kwargs.items()]
            if pending:
                expression = Method(expression, pending, arguments)
            else:
                if not isinstance(expression, Literal):
                    raise TraceError(f"{self!r} cannot be written as text", place)
                expression = Call(expression.text, arguments)
            pending = ""
        if pending:
            if not isinstance(expression, Literal):
                raise TraceError(f"{self!r} cannot be written as text", place)
            expression = Literal(f"{expression.text}.{pending}")
        return expression


def module_getattr(module: str):
    """`__getattr__` of a module whose names are the library's."""

    def __getattr__(name: str) -> LibraryValue:
        if name.startswith("_"):
            raise AttributeError(name)
        return LibraryValue(module, name)

    return __getattr__
