"""`nvidia.dali.plugin.pytorch.fn`: operators on torch tensors, as functions."""

from __future__ import annotations

from ...names import getter
from ...python_function import TorchPythonFunction as TorchPythonFunction
from ...python_function import torch_python_function as torch_python_function

__getattr__ = getter("plugin.pytorch.fn")
