"""Devices, threads and ways to evaluate: all accepted; data lie in the host's memory."""

from __future__ import annotations

import os
import threading
from enum import Enum
from typing import Any

from ...names import internal, missing

_here = threading.local()


class Device:
    """ "cpu" or "gpu". Operators run on the CPU, whatever it says, and give the same values."""

    CPU: "Device"

    def __init__(self, name: str, device_id: int | None = None):
        kind, _, number = str(name).partition(":")
        if kind not in ("cpu", "gpu", "cuda") or (number and not number.isdigit()):
            raise ValueError(
                f"Invalid device type: {name}; it is 'cpu' or 'gpu', or 'gpu:0' and the like"
            )
        if kind == "cpu" and device_id:
            raise ValueError(f"there is one device 'cpu', without the number {device_id}")
        self.device_type = "cpu" if kind == "cpu" else "gpu"
        given = int(number) if number else device_id
        self.device_id = None if kind == "cpu" else given or 0

    @staticmethod
    def current() -> "Device":
        """The one of the innermost `with` on this thread."""
        stack = getattr(_here, "devices", [])
        return stack[-1] if stack else Device.CPU

    @staticmethod
    def default_device_id(device_type: str) -> int | None:
        """The number of the device that a text without one means."""
        return Device(device_type).device_id

    @staticmethod
    def type_from_dlpack(dev_type: Any) -> str:
        """ "cpu" or "gpu", of a number of DLPack's."""
        if int(dev_type) not in (1, 2, 3):
            raise ValueError(f"{dev_type} is no device of DLPack that holds tensors here")
        return "gpu" if int(dev_type) == 2 else "cpu"

    @staticmethod
    def from_dlpack(dlpack_device: tuple) -> "Device":
        """The device of what `__dlpack_device__()` gave."""
        kind, number = dlpack_device
        return Device(Device.type_from_dlpack(kind), int(number))

    def __enter__(self) -> "Device":
        if not hasattr(_here, "devices"):
            _here.devices = []
        _here.devices.append(self)
        return self

    def __exit__(self, *_: Any) -> None:
        _here.devices.pop()

    def __eq__(self, other: Any) -> bool:
        if not isinstance(other, Device):
            return NotImplemented
        return (self.device_type, self.device_id) == (other.device_type, other.device_id)

    def __hash__(self) -> int:
        return hash((self.device_type, self.device_id))

    def __str__(self) -> str:
        return "cpu" if self.device_type == "cpu" else f"gpu:{self.device_id}"

    def __repr__(self) -> str:
        number = "" if self.device_id is None else f", device_id={self.device_id}"
        return f"Device(device_type='{self.device_type}'{number})"


Device.CPU = Device("cpu")


def device(obj: Any, id: int | None = None) -> Device | None:
    """The device that a text, a device of torch's or None stands for."""
    if obj is None or isinstance(obj, Device):
        return obj
    if isinstance(obj, str) or type(obj).__module__ == "torch":
        return Device(str(obj), id)
    raise TypeError(f"a device is a text or a Device, not a {type(obj).__name__}")


class _Scope:
    """What a `with` may name; it changes nothing."""

    def __enter__(self):
        return self

    def __exit__(self, *_: Any) -> None:
        pass


class EvalMode(_Scope, Enum):
    """When operators run. Here each runs where it is called, in every mode."""

    deferred = 1
    eager = 2
    sync_cpu = 3
    sync_full = 4
    default = eager

    def __enter__(self) -> None:  # type: ignore[override]
        _modes().append(self)

    def __exit__(self, *_: Any) -> None:
        _modes().pop()

    @staticmethod
    def current() -> "EvalMode":
        """The mode of the innermost `with` of this thread."""
        return (_modes() or [EvalMode.default])[-1]


_entered = threading.local()


def _modes() -> list[EvalMode]:
    """The modes that this thread is in."""
    if not hasattr(_entered, "modes"):
        _entered.modes = []
    return _entered.modes


class ThreadPool:
    """Accepted: says a number of threads; the engine has its own."""

    device_id = None

    def __init__(self, num_threads: int):
        if not isinstance(num_threads, int) or isinstance(num_threads, bool):
            raise TypeError(f"a number of threads is an integer, not {num_threads!r}")
        self._threads = num_threads

    num_threads = property(lambda self: self._threads, doc="As it was given.")


class EvalContext(_Scope):
    """Accepted: operators run where they are called, on the threads of galatea's engine."""

    cuda_stream = None

    def __init__(
        self,
        *,
        num_threads: int | None = None,
        device_id: int | None = None,
        cuda_stream: Any = None,
        thread_pool: ThreadPool | None = None,
    ):
        if thread_pool is not None and num_threads is not None:
            raise ValueError("a context has `num_threads` or a `thread_pool`, not both")
        if thread_pool is not None and not isinstance(thread_pool, ThreadPool):
            raise TypeError(f"`thread_pool` is a ThreadPool, not a {type(thread_pool).__name__}")
        if cuda_stream is not None:
            missing("experimental.dynamic.EvalContext.cuda_stream", "gpu")
        self._pool = thread_pool or ThreadPool(num_threads or get_num_threads())
        self._device_id = device_id

    thread_pool = property(lambda self: self._pool, doc="As it was given.")

    num_threads = property(lambda self: self._pool.num_threads, doc="As it was given.")
    device_id = property(lambda self: self._device_id, doc="As it was given.")

    @staticmethod
    def current() -> "EvalContext":
        """A context."""
        return EvalContext()

    default = current

    def evaluate_all(self) -> None:
        """Nothing: all has been evaluated."""

    cache_results = internal("experimental.dynamic.EvalContext.cache_results")
    cached_results = internal("experimental.dynamic.EvalContext.cached_results")

    @property
    def checkpoint(self) -> Any:
        """The checkpoint of this thread."""
        from . import checkpoint

        return checkpoint.current()


_threads = max(1, min(os.cpu_count() or 1, 8))


def get_num_threads() -> int:
    """Threads of operators that are called from now on."""
    return _threads


def set_num_threads(n: int) -> None:
    """Sets the threads of operators that are called from now on."""
    global _threads
    if not isinstance(n, int) or n < 1:
        raise ValueError(f"a number of threads is at least 1, not {n!r}")
    _threads = n


def get_current_stream(*_: Any) -> None:
    """None: data lie in the host's memory, and no stream orders what runs."""


def get_default_stream(*_: Any) -> None:
    """None, as `get_current_stream`."""


def set_current_stream(stream: Any, *_: Any) -> None:
    """Takes None; there are no streams of a GPU here."""
    if stream is not None:
        missing("experimental.dynamic.set_current_stream", "gpu")


set_default_stream = set_current_stream
