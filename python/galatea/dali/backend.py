"""`nvidia.dali.backend`: the tensors under their old names, and settings of DALI's memory.

The settings are kept and told, with DALI's bounds; the engine measures what it needs, and has none.
"""

from __future__ import annotations

from .names import getter
from .schemas import GetSchema as GetSchema
from .schemas import OpSchema as OpSchema
from .schemas import TryGetSchema as TryGetSchema
from .tensors import TensorCPU as TensorCPU
from .tensors import TensorGPU as TensorGPU
from .tensors import TensorListCPU as TensorListCPU
from .tensors import TensorListGPU as TensorListGPU

_settings = {"host growth": 1.1, "device growth": 1.1, "host shrink": 0.5}


def _set(factor: float, least: float, most: float, *names: str) -> None:
    if isinstance(factor, bool) or not isinstance(factor, (int, float)):
        raise TypeError(f"the factor is a number, not a {type(factor).__name__}")
    if not least <= factor <= most:
        raise ValueError(f"the factor is between {least:g} and {most:g}, not {factor}")
    for name in names:
        _settings[name] = float(factor)


def SetHostBufferGrowthFactor(factor: float) -> None:
    """Taken, and without effect."""
    _set(factor, 1, 4, "host growth")


def SetDeviceBufferGrowthFactor(factor: float) -> None:
    """Taken, and without effect."""
    _set(factor, 1, 4, "device growth")


def SetBufferGrowthFactor(factor: float) -> None:
    """Taken, and without effect."""
    _set(factor, 1, 4, "host growth", "device growth")


def SetHostBufferShrinkThreshold(factor: float) -> None:
    """Taken, and without effect."""
    _set(factor, 0, 1, "host shrink")


def GetHostBufferGrowthFactor() -> float:
    """What was set."""
    return _settings["host growth"]


def GetDeviceBufferGrowthFactor() -> float:
    """What was set."""
    return _settings["device growth"]


def GetHostBufferShrinkThreshold() -> float:
    """What was set."""
    return _settings["host shrink"]


def ReleaseUnusedMemory() -> None:
    """Nothing: memory that is not used is not kept for long."""


def GetCUDADeviceCount() -> int:
    """0: this module works on the CPU."""
    return 0


def IsDriverInitialized() -> bool:
    """False: this module works on the CPU."""
    return False


__getattr__ = getter("backend")
