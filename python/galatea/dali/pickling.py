"""`nvidia.dali.pickling`: how sources get to worker processes that are spawned."""

from __future__ import annotations

import pickle
from typing import Any

from galatea import by_value
from galatea.by_value import pickle_by_value as pickle_by_value

from .names import getter


class _DaliPickle:
    """The pickler of spawned workers: functions that cannot be imported travel by value."""

    @staticmethod
    def dumps(obj: Any, protocol: int | None = None, **kwargs: Any) -> bytes:
        return by_value.dumps(obj, protocol, **kwargs)

    @staticmethod
    def loads(s: bytes, **kwargs: Any) -> Any:
        return pickle.loads(s, **kwargs)


__getattr__ = getter("pickling")
