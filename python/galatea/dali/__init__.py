"""The API of nvidia.dali 2.4 on galatea.

    from galatea.dali import fn, pipeline_def, types  # or: import galatea.dali as dali
    galatea.dali.install()                            # `import nvidia.dali` finds it from now on

`python -m galatea.dali script.py …` runs a script with `nvidia.dali` found here. What DALI has
and galatea has not raises NotImplementedError with the name and the reason where it is used.
"""

from . import types as types  # isort: skip
from . import backend as backend
from . import backend_impl as backend_impl
from . import data_node as data_node
from . import external_source as external_source
from . import fn as fn
from . import math as math
from . import names as _names

from . import ops as ops
from . import pipeline as pipeline
from . import tensors as tensors
from .data_node import newaxis as newaxis
from .install import install as install
from .pipeline import OperatorConcurrency as OperatorConcurrency
from .pipeline import Pipeline as Pipeline
from .pipeline import StreamPolicy as StreamPolicy
from .pipeline import pipeline_def as pipeline_def

_names.install_modules()
__version__ = _names.document()["version"]
__getattr__ = _names.getter("")
