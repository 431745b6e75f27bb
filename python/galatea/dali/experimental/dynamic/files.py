"""Pictures of files."""

from __future__ import annotations

import os
from typing import Any

import numpy as np

from . import calls
from .data import Batch, Tensor, _Tensors, as_batch, tensor


def _content(path: Any) -> Tensor:
    """A file's bytes; a tensor holds the letters of its path."""
    if isinstance(path, Tensor):
        path = path._array.tobytes().decode()
    if not isinstance(path, (str, os.PathLike)):
        raise TypeError(f"a path is a text or a pathlib.Path, not a {type(path).__name__}")
    try:
        return tensor(np.fromfile(path, np.uint8))
    except OSError as error:
        raise RuntimeError(f"cannot read {os.fspath(path)}: {error.strerror}") from error


def imread(filepaths: Any, /, *, device: str = "cpu", **arguments: Any) -> Any:
    """The picture of a file, or a batch of those of several; `arguments` of `decoders.image`."""
    if device not in ("cpu", "gpu"):
        raise ValueError(f"a device is 'cpu' or 'gpu', not {device!r}")
    if isinstance(filepaths, (list, tuple, Batch, _Tensors)):
        contents: Any = as_batch([_content(one) for one in filepaths])
    else:
        contents = _content(filepaths)
    return calls.operator("decoders.image", contents, **arguments)
