"""`nvidia.dali.plugin`: iterators of frameworks."""

from ..names import getter

__getattr__ = getter("plugin")
