"""`nvidia.dali.data_node`: what stands for data while a pipeline is defined."""

from galatea.trace.node import NewAxis as _NewAxis
from galatea.trace.node import Node as DataNode


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
__all__ = ["DataNode", "newaxis"]
