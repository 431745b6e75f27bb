"""Nodes: what the user's code gets in place of data.

Comes in: Python's operators and methods. Goes out: records of them. A node has no value while the
function runs; whatever would need one raises an error that says what to write instead.
"""

from __future__ import annotations

import difflib
from typing import Any, NoReturn

from galatea.trace import place as places
from galatea.trace.errors import NoTruth, TraceError
from galatea.trace.expression import Attribute, Binary, Call, Index, Literal, Method, Slice, Unary

_UFUNCS = {
    "add": "+",
    "subtract": "-",
    "multiply": "*",
    "divide": "/",
    "true_divide": "/",
    "floor_divide": "//",
    "remainder": "%",
    "power": "**",
    "bitwise_and": "&",
    "bitwise_or": "|",
    "bitwise_xor": "^",
    "left_shift": "<<",
    "right_shift": ">>",
    "equal": "==",
    "not_equal": "!=",
    "less": "<",
    "less_equal": "<=",
    "greater": ">",
    "greater_equal": ">=",
}
_METHODS = ("cpu", "gpu", "property", "shape", "source_info")


class Node:
    """One tensor for each sample, computed when batches are asked for.

    Supports arithmetic, comparisons, bitwise operators, `abs`, indices and slices, `shape()`,
    `gpu()`, `cpu()`. Arithmetic follows DALI's rules for element types.
    """

    def __init__(self, recorder, block, place):
        self.recorder = recorder
        self.block = block
        self.place = place
        self.hint = ""  # the user's variable
        self.operation = None  # what made it; None where branches merged

    # What has no meaning while the pipeline is built.

    def _refuse(self, what: str, help: str, error: type[TraceError] = TraceError) -> NoReturn:
        at = f", made at {self.place}," if self.place else ""
        raise error(f"a data node{at} {what}", places.caller(), help)

    def __bool__(self) -> bool:
        from galatea.trace.rewrite import reason_of

        reason = reason_of(places.frame())
        if reason:
            self._refuse("has no truth value while the pipeline is built", reason, NoTruth)
        self._refuse(
            "has no truth value while the pipeline is built",
            "`if`, `and`, `or`, `not` and `x if c else y` on data work in functions whose source "
            "is there and with `enable_conditionals=True`; `while`, `assert`, `in` and `match` need "
            "values that are known now; use `&` and `|` for both sides of a tensor",
            NoTruth,
        )

    def __iter__(self):
        self._refuse(
            "cannot be looped over or unpacked: its elements exist when batches are made",
            "index it: `x[0]`, `x[1]`",
        )

    def __len__(self) -> int:
        self._refuse(
            "has no length while the pipeline is built",
            "`x.shape()[0]` is the extent of each sample, a data node too",
        )

    def __array__(self, *_, **__):
        self._refuse(
            "is no numpy array",
            "use the operators of `galatea.fn` and `galatea.math`; numpy runs once, on what is "
            "known while the pipeline is built",
        )

    def __array_ufunc__(self, ufunc, method, *inputs, **keywords):
        """`array * node`, which numpy sees first."""
        sign = _UFUNCS.get(ufunc.__name__)
        if sign is None or method != "__call__" or keywords or len(inputs) != 2:
            self.__array__()
        place = places.caller()
        recorder = self.recorder.active()
        left, right = (recorder.value(value, place) for value in inputs)
        return recorder.add(Binary(sign, left, right), place=place)

    def __float__(self):
        self._refuse("is no number while the pipeline is built", "use `fn.cast` to convert data")

    __int__ = __index__ = __complex__ = __float__

    def __round__(self, *_):
        self._refuse("cannot be rounded by Python", "use `math.floor(x + 0.5)` or `fn.cast`")

    def __contains__(self, _):
        self._refuse(
            "cannot be searched while the pipeline is built",
            "compare its elements: `fn.reductions.max(x == y)`",
        )

    def __setitem__(self, *_):
        self._refuse("cannot be changed", "make a new one, for instance by `fn.cat` or `fn.erase`")

    def __reduce_ex__(self, _):
        self._refuse("cannot be copied or pickled", "nodes exist while one pipeline is traced")

    def __getattr__(self, name: str):
        if name.startswith("__"):
            raise AttributeError(name)
        near = difflib.get_close_matches(name, _METHODS, 1)
        hint = f"; did you mean `{near[0]}`?" if near else ""
        raise AttributeError(
            f"a data node has no attribute `{name}`{hint} (it has {', '.join(_METHODS)}, "
            "operators and indices)"
        )

    def __repr__(self) -> str:
        name = f" {self.hint}" if self.hint else ""
        return f"<data node{name} of {self.place}>"

    # What becomes part of the pipeline.

    __hash__ = object.__hash__

    def __abs__(self) -> "Node":
        return self._made(lambda operand: Call("abs", [("", operand)]))

    def __neg__(self) -> "Node":
        return self._made(lambda operand: Unary("-", operand))

    def __pos__(self) -> "Node":
        return self._made(lambda operand: Unary("+", operand))

    def __invert__(self) -> "Node":
        return self._made(lambda operand: Unary("~", operand))

    def _made(self, expression) -> "Node":
        place = places.caller()
        recorder = self.recorder.active()
        return recorder.add(expression(recorder.value(self, place)), place=place)

    # Arithmetic, bits, comparisons: both operands may be data, numbers, or lists of numbers.

    def _binary(self, sign: str, other: Any, swapped: bool = False):
        if not is_operand(other):
            return NotImplemented
        place = places.caller()
        recorder = self.recorder.active()
        own, operand = recorder.value(self, place), recorder.value(other, place)
        left, right = (operand, own) if swapped else (own, operand)
        return recorder.add(Binary(sign, left, right), place=place)

    def __add__(self, other: Any) -> "Node":
        return self._binary("+", other)

    def __radd__(self, other: Any) -> "Node":
        return self._binary("+", other, True)

    def __sub__(self, other: Any) -> "Node":
        return self._binary("-", other)

    def __rsub__(self, other: Any) -> "Node":
        return self._binary("-", other, True)

    def __mul__(self, other: Any) -> "Node":
        return self._binary("*", other)

    def __rmul__(self, other: Any) -> "Node":
        return self._binary("*", other, True)

    def __truediv__(self, other: Any) -> "Node":
        return self._binary("/", other)

    def __rtruediv__(self, other: Any) -> "Node":
        return self._binary("/", other, True)

    def __floordiv__(self, other: Any) -> "Node":
        return self._binary("//", other)

    def __rfloordiv__(self, other: Any) -> "Node":
        return self._binary("//", other, True)

    def __mod__(self, other: Any) -> "Node":
        return self._binary("%", other)

    def __rmod__(self, other: Any) -> "Node":
        return self._binary("%", other, True)

    def __pow__(self, other: Any) -> "Node":
        return self._binary("**", other)

    def __rpow__(self, other: Any) -> "Node":
        return self._binary("**", other, True)

    def __and__(self, other: Any) -> "Node":
        return self._binary("&", other)

    def __rand__(self, other: Any) -> "Node":
        return self._binary("&", other, True)

    def __or__(self, other: Any) -> "Node":
        return self._binary("|", other)

    def __ror__(self, other: Any) -> "Node":
        return self._binary("|", other, True)

    def __xor__(self, other: Any) -> "Node":
        return self._binary("^", other)

    def __rxor__(self, other: Any) -> "Node":
        return self._binary("^", other, True)

    def __lshift__(self, other: Any) -> "Node":
        return self._binary("<<", other)

    def __rlshift__(self, other: Any) -> "Node":
        return self._binary("<<", other, True)

    def __rshift__(self, other: Any) -> "Node":
        return self._binary(">>", other)

    def __rrshift__(self, other: Any) -> "Node":
        return self._binary(">>", other, True)

    def __eq__(self, other: Any) -> "Node":  # type: ignore[override]
        return self._binary("==", other)

    def __ne__(self, other: Any) -> "Node":  # type: ignore[override]
        return self._binary("!=", other)

    def __lt__(self, other: Any) -> "Node":
        return self._binary("<", other)

    def __le__(self, other: Any) -> "Node":
        return self._binary("<=", other)

    def __gt__(self, other: Any) -> "Node":
        return self._binary(">", other)

    def __ge__(self, other: Any) -> "Node":
        return self._binary(">=", other)

    def __getitem__(self, selectors) -> "Node":
        place = places.caller()
        if not isinstance(selectors, tuple):
            selectors = (selectors,)
        if not selectors:
            return self
        recorder = self.recorder.active()
        parts = [self._selector(recorder, selector, place) for selector in selectors]
        return recorder.add(Index(recorder.value(self, place), parts), place=place)

    def _selector(self, recorder, selector: Any, place):
        def part(value):
            return None if value is None else recorder.value(value, place)

        if isinstance(selector, slice):
            return Slice(part(selector.start), part(selector.stop), part(selector.step))
        if selector is None:
            raise TraceError(
                "`None` is no index of a data node",
                place,
                "write `galatea.newaxis` for a new axis",
            )
        if selector is Ellipsis:
            return Literal("...")
        if getattr(selector, "shape", None) == (1,) and hasattr(selector, "item"):
            selector = selector.item()  # an array of one number, as numpy takes it for an index
        return recorder.value(selector, place)

    def _method(self, name: str, positional, keywords):
        place = places.caller()
        recorder = self.recorder.active()
        arguments = [("", recorder.value(value, place)) for value in positional]
        arguments += [(key, recorder.value(value, place)) for key, value in keywords.items()]
        return recorder.add(Method(recorder.value(self, place), name, arguments), place=place)

    def _attribute(self, name: str) -> "Node":
        place = places.caller()
        recorder = self.recorder.active()
        return recorder.add(Attribute(recorder.value(self, place), name), place=place)

    # Of what `galatea.together` makes, and of what operators make of it.

    @property
    def image(self) -> "Node":
        """The picture of a bundle."""
        return self._attribute("image")

    @property
    def mask(self) -> "Node":
        """The mask of a bundle, as the picture lies now."""
        return self._attribute("mask")

    @property
    def boxes(self) -> "Node":
        """Boxes of a bundle that are seen, FLOAT [n, 4], clipped to the picture."""
        return self._attribute("boxes")

    @property
    def labels(self) -> "Node":
        """Rows of the labels of a bundle, of the boxes that are seen."""
        return self._attribute("labels")

    @property
    def points(self) -> "Node":
        """Points of a bundle, FLOAT, where they are now."""
        return self._attribute("points")

    @property
    def inside(self) -> "Node":
        """BOOL: whether each point of a bundle is on the picture, and has been."""
        return self._attribute("inside")

    @property
    def matrix(self) -> "Node":
        """FLOAT [3, 3]: from places of the first picture of a bundle to places of this one."""
        return self._attribute("matrix")

    def gpu(self) -> "Node":
        """The same data in the GPU's memory."""
        return self._method("gpu", (), {})

    def cpu(self) -> "Node":
        """The same data in the host's memory."""
        return self._method("cpu", (), {})

    def shape(self, *args, **kwargs) -> "Node":
        """Extents of each sample, INT64 of one dimension; `dtype` chooses another integer type."""
        return self._method("shape", args, kwargs)

    def property(self, key) -> "Node":
        """A property of each sample, such as "source_info"."""
        return self._method("property", (key,), {})

    def source_info(self) -> "Node":
        """Where each sample comes from, as bytes."""
        return self._method("source_info", (), {})


def is_operand(value: Any) -> bool:
    """Whether arithmetic on data takes it; strings and None give comparisons their Python way."""
    return not isinstance(value, (str, bytes, type(None), dict, set, type))


class NewAxis:
    """`x[:, newaxis]`: a new axis of extent 1; `newaxis("C")` names it."""

    def __init__(self, name: str = ""):
        self.axis_name = name

    def __call__(self, name: str) -> "NewAxis":
        return NewAxis(name)

    def __repr__(self) -> str:
        return f'galatea.newaxis("{self.axis_name}")' if self.axis_name else "galatea.newaxis"


newaxis = NewAxis()
