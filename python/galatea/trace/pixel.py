"""Pixel functions: operators that are given by what one element is (docs/language.md).

@galatea.pixel
def vignette(image, strength):
    def at(y, x, c):
        dy, dx = y / image.height - 0.5, x / image.width - 0.5
        return image[y, x, c] * (1.0 - strength * (dy * dy + dx * dx))
    return at

Python does not run the function: its source stands in the text of each pipeline that calls it.
"""

from __future__ import annotations

import difflib
import functools
import types
from typing import Any, Callable, Iterable

from galatea.trace import place as places
from galatea.trace import recorder as recorders
from galatea.trace.errors import TraceError
from galatea.trace.expression import Call, Expression, Literal

_OPTIONS = ("border", "fill", "size", "channels", "dtype")


class PixelFunction:
    """What `galatea.pixel` makes of a function; called with data nodes, it gives a data node."""

    def __init__(self, function: types.FunctionType, options: dict[str, Any], place):
        functools.update_wrapper(self, function)
        self.function = function
        self.options = options
        self.place = place

    def __repr__(self) -> str:
        return f"<the pixel function `{self.function.__name__}`>"

    def __get__(self, instance, owner=None):
        if instance is None:
            return self
        raise TraceError(
            f"the pixel function `{self.function.__name__}` is a method, and the text has no objects",
            places.caller(),
            "define it outside of the class, or in a method: there it may read `self.strength`",
        )

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        recorder = recorders.require(f"the pixel function `{self.function.__name__}`")
        place = places.caller()
        kept, at_the_call = {}, dict(kwargs)
        for name, value in self.options.items():
            expression = recorder.value(value, place)
            if next(expression.nodes(), None) is None:
                kept[name] = expression
            else:  # data of the pipeline: the text has it where the function is called
                at_the_call.setdefault(name, value)
        name = self._definition(recorder.definitions, place, kept)
        arguments = [("", recorder.value(value, place, functions=True)) for value in args]
        arguments += [
            (key, recorder.value(value, place, functions=True))
            for key, value in at_the_call.items()
        ]
        return recorder.add(Call(name, arguments), place=place)

    def _definition(self, definitions, place, options: dict[str, Expression]) -> str:
        decorator: Expression = Literal("galatea.pixel")
        if options:
            decorator = Call("galatea.pixel", list(options.items()))
        return definitions.function(self.function, place, "pixel_function", decorator, self.place)

    def galatea_definition(self, definitions, place) -> str:
        """Its name in the text, where another function of the text uses it."""
        options = {
            name: definitions.recorder.value(value, place) for name, value in self.options.items()
        }
        for name, expression in options.items():
            if next(expression.nodes(), None) is not None:
                raise TraceError(
                    f"`{name}` of the pixel function `{self.function.__name__}` is a data node",
                    place,
                    "give it at the call",
                )
        return self._definition(definitions, place, options)


def pixel(function: Callable | None = None, /, **options: Any) -> Any:
    """Makes an operator of a function of images and numbers that returns a function of coordinates.

    The inner function is called as `at(y, x, c)` or `at(y, x)` and gives one element of the result.
    Options, here or at the call: `border` ("clamp", "reflect_101", "constant"), `fill` (a number),
    `size` ([rows, columns]), `channels`, `dtype` (of `galatea.types`). Both functions are written
    in the language: docs/language.md, "Pixel functions".
    """
    place = places.caller()
    for name in options:
        if name not in _OPTIONS:
            near = difflib.get_close_matches(name, _OPTIONS, 1)
            hint = f"did you mean `{near[0]}`?" if near else f"options: {', '.join(_OPTIONS)}"
            raise TraceError(f"`galatea.pixel` has no option `{name}`", place, hint)
    if function is None:
        return lambda decorated: _pixel(decorated, options, place)
    return _pixel(function, options, place)


def _pixel(function: Any, options: dict[str, Any], place) -> PixelFunction:
    if not isinstance(function, types.FunctionType):
        raise TraceError(
            f"`galatea.pixel` takes a Python function, not a value of type "
            f"`{type(function).__qualname__}`",
            place,
            "write `@galatea.pixel` above `def`",
        )
    return PixelFunction(function, options, place)


def sum(elements: Iterable[Any], term: Callable[[Any], Any]) -> Any:  # noqa: A001
    """`term(elements[0]) + term(elements[1]) + …`, from left to right; 0 without elements."""
    from galatea.trace import control

    call = control.call(term)  # type: ignore[attr-defined]
    terms = [call(element) for element in elements]
    return functools.reduce(lambda a, b: a + b, terms) if terms else 0
