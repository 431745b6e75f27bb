"""`nvidia.dali._utils`: what servers call of DALI's internals."""

from __future__ import annotations

from ..names import getter

__getattr__ = getter("_utils")
