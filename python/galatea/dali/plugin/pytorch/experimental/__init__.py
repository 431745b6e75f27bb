"""`nvidia.dali.plugin.pytorch.experimental`: torch's DataLoader around one pipeline (`proxy`)."""

from ....names import getter
from . import proxy as proxy

__getattr__ = getter("plugin.pytorch.experimental")
