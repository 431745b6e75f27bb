"""`nvidia.dali.plugin.numba`: functions that numba compiles, which galatea has not."""

import sys
import types as _python_types

from ..names import missing as _missing
from ..names import stand_in as _stand_in

_WHY = (
    "a pipeline is compiled by galatea, which calls no code of numba; write the function as "
    "`@galatea.pixel`, as CUDA text by `galatea.cuda_kernel` (docs/custom-kernels.md), or with "
    "operators"
)
NumbaFunction = _stand_in("plugin.numba.NumbaFunction", _WHY)


def _numba_function(*_, **__):
    """`nvidia.dali.plugin.numba.fn.numba_function`, which raises NotImplementedError."""
    _missing("plugin.numba.fn.numba_function", _WHY)


def _module(name: str, **members) -> _python_types.ModuleType:
    module = _python_types.ModuleType(f"{__name__}.{name}", "Functions of numba, as in `numba`.")
    module.__path__ = []  # type: ignore[attr-defined]
    module.__dict__.update(members)
    sys.modules[module.__name__] = module
    return module


__path__: list[str] = []
fn = _module("fn", numba_function=_numba_function)
fn.experimental = _module("fn.experimental", numba_function=_numba_function)
experimental = _module("experimental", NumbaFunction=NumbaFunction)
