"""`nvidia.dali.data_node`: what stands for data while a pipeline is defined."""

from __future__ import annotations

from typing import Any

import numpy as _np

from galatea.trace import place as _places
from galatea.trace.expression import Call as _Call
from galatea.trace.expression import Index as _Index
from galatea.trace.expression import Literal as _Literal
from galatea.trace.expression import Method as _Method
from galatea.trace.expression import Slice as _Slice
from galatea.trace.node import NewAxis as _NewAxis
from galatea.trace.node import Node as _Node

from .errors import TooLargeError
from .names import WithoutEngine
from .names import getter as _getter

from . import terms as _terms
from . import types as _types


def check_operand(value: Any, place: int, shown: str) -> None:
    """Raises where `value` is no operand: data nodes come one by one, and texts are no numbers."""
    if isinstance(value, (str, bytes, dict, set, complex, type(None))):
        raise TypeError(
            f"Expected scalar value or data node as operand {place} of {shown}, not a "
            f"{type(value).__name__}"
        )
    if isinstance(value, int) and not -(2**31) <= value < 2**31:
        raise TooLargeError(
            f"operand {place} of {shown} is {value}; a number without a type has 32 bits: give it "
            "one, as in `types.Constant(…, dtype=types.INT64)`"
        )
    if isinstance(value, (list, tuple)) and any(isinstance(one, _Node) for one in value):
        raise TypeError(
            f"operand {place} of the operator {shown} is no `DataNode` but a "
            f"{type(value).__name__} of them, as an operator with several results gives: index it"
        )


def _check(value: Any) -> None:
    """TypeError where `value` is no data node."""
    if not isinstance(value, DataNode):
        raise TypeError(f"a data node is wanted, not a {type(value).__name__}")


def _takes_elements(index: _Index) -> bool:
    """Whether an index takes less than everything: `x[:]` only looks at the number of axes."""
    return not all(isinstance(one, _Slice) and not one.parts() for one in index.selectors)


class OperatorInstance(WithoutEngine):
    """What made a node: `DataNode.source`."""

    _shown = "DataNode.source"

    def __init__(self, operation: Any, name: str):
        self.name = name
        self.inputs: list = [*operation.expression.nodes()]
        self.outputs: list = [*operation.outputs]


class DataNode(_Node):
    """One tensor for each sample, computed when batches are asked for.

    `name` and `device` are the operator's, `index` says which of its outputs it is; `layout`,
    `dtype` and `ndim` are None: they are known when the pipeline is compiled. Made by its class it
    belongs to no operator, and no pipeline takes it.
    """

    # So that no node is an `Iterable`: programs ask that of an operator's result to find lists.
    __iter__ = None  # type: ignore[assignment]
    layout = dtype = ndim = None
    enumeration: Any = None  # whose members' numbers it holds: enumerations.py
    _given: Any = None  # name, device and index of a node of no operator
    __hash__ = _Node.__hash__

    def __init__(
        self, name, device="cpu", source=None, index=0, ndim=None, dtype=None, layout=None
    ):
        if source is not None:
            raise TypeError("`source` is None: only operators make nodes that have one")
        from .graph import Loose

        recorder = Loose("nothing")
        super().__init__(recorder, recorder.body, _places.caller())
        self._given = (name, device, index)
        self.ndim, self.dtype, self.layout = ndim, dtype, layout

    @classmethod
    def made(cls, recorder, block, place) -> "DataNode":
        """One of an operator's."""
        node = cls.__new__(cls)
        _Node.__init__(node, recorder, block, place)
        return node

    def _refuse(self, what: str, *rest: Any) -> Any:
        super()._refuse("; ".join([what, *_terms.of([what])]), *rest)

    def __getattr__(self, name: str) -> Any:
        try:
            return super().__getattr__(name)
        except AttributeError as error:
            raise AttributeError("; ".join([str(error), *_terms.of([str(error)])])) from None

    def told_layout(self) -> str:
        """What an output of the pipeline tells as its layout where it has none."""
        expression = getattr(self.operation, "expression", None)
        is_matrix = isinstance(expression, _Call) and ".transforms." in expression.callee
        return "**" if is_matrix else ""

    def _argument(self, name: str) -> str:
        expression = getattr(self.operation, "expression", None)
        if isinstance(expression, _Call):
            for key, value in expression.arguments:
                if key == name and isinstance(value, _Literal):
                    return value.text.strip("\"'")
        return ""

    @property
    def name(self) -> str:
        """The operator's, as it was given; one of its own where none was given."""
        if self._given is not None:
            return self._given[0]
        expression = getattr(self.operation, "expression", None)
        what = getattr(expression, "callee", "node").rpartition(".")[2]
        if isinstance(expression, _Index):
            what = "TensorSubscript" if _takes_elements(expression) else "SubscriptDimCheck"
        name = self._argument("name") or f"__{what}_{id(self):x}"
        is_one = self.operation is None or len(self.operation.outputs) == 1
        return name if is_one else f"{name}[{self.index}]"

    @property
    def index(self) -> int:
        """Which of the operator's outputs it is."""
        if self._given is not None:
            return self._given[2]
        outputs = () if self.operation is None else self.operation.outputs
        return next((i for i, one in enumerate(outputs) if one is self), 0)

    @property
    def source(self) -> "OperatorInstance | None":
        """The operator that made it."""
        if self.operation is None:
            return None
        return OperatorInstance(self.operation, self.name.partition("[")[0])

    @property
    def device(self) -> str:
        """Where the pipeline's author wants the data: "cpu" or "gpu"."""
        if self._given is not None:
            return self._given[1]
        expression = getattr(self.operation, "expression", None)
        if isinstance(expression, _Method) and expression.name in ("cpu", "gpu"):
            return expression.name
        if given := self._argument("device"):
            return "cpu" if given == "cpu" else "gpu"
        nodes = expression.nodes() if expression is not None else ()
        return "gpu" if any(node.device == "gpu" for node in nodes) else "cpu"

    def _on(self, made: Any, device: Any) -> Any:
        """What a method gave, on the device that its caller asks for."""
        if device not in ("cpu", "gpu"):
            raise ValueError(f"a device is 'cpu' or 'gpu', not {device!r}")
        return made.gpu() if device == "gpu" else made

    def shape(self, *, dtype: Any = None, device: str = "cpu") -> Any:
        """Extents of each sample, INT64 of one dimension; `dtype` chooses another integer type."""
        return self._on(super().shape(**({} if dtype is None else {"dtype": dtype})), device)

    def property(self, key: str, *, device: str = "cpu") -> Any:
        """A property of each sample, such as "source_info" and "layout"."""
        return self._on(super().property(key), device)

    def source_info(self, *, device: str = "cpu") -> Any:
        """Where each sample comes from, as bytes."""
        return self._on(super().source_info(), device)

    def __copy__(self) -> "DataNode":
        return self

    def __str__(self) -> str:
        return f'DataNode(name="{self.name}", device="{self.device}", index="{self.index}")'

    __repr__ = __str__

    def __getitem__(self, selectors: Any) -> "DataNode":
        made = super().__getitem__(selectors)
        made.enumeration = self.enumeration
        return made

    def _binary(self, sign: str, other: Any, swapped: bool = False):
        check_operand(other, 0 if swapped else 1, f"`{sign}`")
        if isinstance(other, _np.ndarray) and other.ndim == 0 and other.dtype in _types._OF_NUMPY:
            other = _types.ScalarConstant(other.item(), _types._OF_NUMPY[other.dtype])
        return super()._binary(sign, other, swapped)

    def _selector(self, recorder, selector: Any, place):
        if selector is Ellipsis:
            raise NotImplementedError("Ellipsis, `...`, is not implemented for data nodes")
        parts = [selector]
        if isinstance(selector, slice):
            parts = [selector.start, selector.stop, selector.step]
        for part in parts:
            if isinstance(part, (str, float, list, tuple)):
                raise TypeError(f"Invalid type for an index: {part!r} is no integer and no node")
        if isinstance(selector, bool):  # a number in DALI, too
            selector = int(selector)
        if selector is None:  # all of the axis; newaxis is an object of its own
            selector = slice(None)
        return super()._selector(recorder, selector, place)


class _Axis(_NewAxis):
    """`x[:, newaxis]`: a new axis of extent 1; `newaxis("C")` names it."""

    def __init__(self, name=None):
        if name is not None and not isinstance(name, str):
            raise TypeError("the name of an axis is one letter")
        if name is not None and len(name) != 1:
            raise ValueError("the name of an axis is one letter")
        super().__init__(name or "")
        self.name = name

    def __call__(self, name=None):
        return _Axis(name)


newaxis = _Axis()
__getattr__ = _getter("data_node")
__all__ = ["DataNode", "newaxis"]
