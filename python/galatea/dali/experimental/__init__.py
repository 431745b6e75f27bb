"""`nvidia.dali.experimental`: the dynamic mode, in which operators are called on data."""

from ..names import getter as _getter

__getattr__ = _getter("experimental")
