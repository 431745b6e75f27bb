"""`nvidia.dali.plugin.pytorch.experimental`: torch's DataLoader around one pipeline (`proxy`)."""

from . import proxy as proxy
