"""galatea: data-loading pipelines, compiled.

``for images, labels in galatea.Loader("train.dali-dsl", data="photos")`` runs a pipeline; the
outputs are tensors of numpy, torch, jax and others, without copies.
"""

from .batch import Batch, Output, Sample
from .engine import default_engine, operators, version
from .errors import (
    BatchesHeldError,
    CancelledError,
    ClosedError,
    Diagnostic,
    ForkError,
    GalateaError,
    InternalError,
    NothingFedError,
    StateError,
    SystemFailure,
    TimeoutError,
    UserError,
)
from .loader import Loader
from . import fn, math, policy, types
from .pipeline import Pipeline, do_not_convert, pipeline_def
from .display import Sheet, view
from .text_pipeline import TextPipeline
from .trace.cuda_kernel import cuda_kernel
from .trace.errors import TraceError
from .trace.node import Node, newaxis
from .trace.pixel import pixel, sum
from .trace.select import select
from .trace.together import together

__version__ = version()


def __getattr__(name: str):
    """Operators that DALI does not have: `galatea.elastic` is `galatea.fn.galatea.elastic`."""
    own = None if name.startswith("_") else getattr(fn.galatea, name, None)
    if own is None:
        raise AttributeError(f"module 'galatea' has no attribute {name!r}")
    return own


def load_ipython_extension(shell) -> None:
    """`%load_ext galatea`: cells that begin with `%%galatea NAME` are pipelines."""
    from .display.magic import GalateaMagics

    shell.register_magics(GalateaMagics)
