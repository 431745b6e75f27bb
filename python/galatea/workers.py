"""Worker processes for sources in Python: results come back through shared memory.

A worker has a socket to its parent. Tasks and small answers go over it; the elements of arrays lie
in memory without a name (memfd) that the worker makes and the parent maps, so that nothing is left
behind whatever ends first. A worker watches its parent by a pidfd and ends with it, in the middle
of a call of the user's, too.
"""

from __future__ import annotations

import builtins
import collections
import functools
import mmap
import multiprocessing
import os
import pickle
import select
import socket
import struct
import threading
import traceback
import weakref
from typing import Any, Callable

from galatea import by_value

__all__ = ["Pool", "WorkerError"]

_ALIGNMENT = 64
_READ_BEHIND = 64  # what kernels may read behind a sample (GALATEA_PADDING)
_PAGE = 4096
_pools: "weakref.WeakSet[Pool]" = weakref.WeakSet()


class WorkerError(RuntimeError):
    """A worker ended without an answer."""


# Messages: eight bytes of length, then a pickle; a memfd may travel with the length.


def _send(channel: socket.socket, message: Any, descriptor: int | None = None) -> None:
    data = pickle.dumps(message, protocol=pickle.HIGHEST_PROTOCOL)
    head = struct.pack("<q", len(data))
    if descriptor is None:
        channel.sendall(head)
    else:
        socket.send_fds(channel, [head], [descriptor])
    channel.sendall(data)


def _receive(channel: socket.socket) -> tuple[Any, int | None]:
    head, descriptors, _, _ = socket.recv_fds(channel, 8, 1)
    if not head:
        raise EOFError
    while len(head) < 8:
        head += _exactly(channel, 8 - len(head))
    data = _exactly(channel, struct.unpack("<q", head)[0])
    return pickle.loads(data), descriptors[0] if descriptors else None


def _exactly(channel: socket.socket, count: int) -> bytes:
    parts = []
    while count:
        part = channel.recv(min(count, 1 << 20))
        if not part:
            raise EOFError
        parts.append(part)
        count -= len(part)
    return b"".join(parts)


# Arrays, apart from what holds them.


class _Array:
    """An array's place in the shared memory."""

    def __init__(self, dtype: str, shape: tuple, offset: int):
        self.dtype, self.shape, self.offset = dtype, shape, offset


def _take_apart(value: Any, arrays: list) -> Any:
    """`value` with places where arrays were; the arrays go to `arrays`."""
    import numpy as np

    if isinstance(value, (list, tuple)):
        return type(value)(_take_apart(one, arrays) for one in value)
    if hasattr(value, "detach") and hasattr(value, "numpy"):
        value = value.detach().cpu().numpy()
    elif not isinstance(value, np.ndarray) and (
        hasattr(value, "__array_interface__") or hasattr(value, "as_array")
    ):
        value = value.as_array() if hasattr(value, "as_array") else np.asarray(value)
    if not isinstance(value, np.ndarray):
        raise TypeError(
            f"a source in a worker gives arrays of the host's memory, not a {type(value).__name__}"
        )
    if value.dtype.hasobject:
        raise TypeError("a source in a worker gives arrays of numbers, not of objects")
    arrays.append(value)
    return len(arrays) - 1


def _arrays(worker: "_Worker", slot: int, places: list) -> list:
    """Arrays over what a worker wrote; the slot is free again when the last of them is gone."""
    import numpy as np

    memory = np.frombuffer(worker.maps[slot], np.uint8)
    weakref.finalize(memory, worker.slots.append, slot).atexit = False
    return [np.ndarray(place.shape, place.dtype, memory, place.offset) for place in places]


def _put_together(value: Any, arrays: list) -> Any:
    if isinstance(value, (list, tuple)):
        return type(value)(_put_together(one, arrays) for one in value)
    return arrays[value]


# In the worker.


def _watch_parent(parent: int) -> None:
    """Ends this process when its parent has ended."""
    try:
        descriptor = os.pidfd_open(parent)
    except ProcessLookupError:
        os._exit(1)
    if os.getppid() != parent:
        os._exit(1)

    def wait():
        poll = select.poll()
        poll.register(descriptor, select.POLLIN)
        poll.poll()
        os._exit(1)

    threading.Thread(target=wait, name="galatea-parent", daemon=True).start()


class _Memory:
    """A piece of shared memory that the worker writes and the parent reads."""

    def __init__(self):
        self.size = 0
        self.descriptor = -1
        self.map: Any = None

    def fit(self, size: int) -> bool:
        """Makes it at least `size` bytes; True where it is another piece of memory now."""
        if size <= self.size:
            return False
        if self.map is not None:
            self.map.close()
            os.close(self.descriptor)
        size = max(4096, 1 << (size - 1).bit_length())
        self.descriptor = os.memfd_create("galatea-worker", os.MFD_CLOEXEC)
        os.ftruncate(self.descriptor, size)
        self.map = mmap.mmap(self.descriptor, size)
        self.size = size
        return True


def _answer(channel: socket.socket, memory: _Memory, result: Any) -> None:
    import numpy as np

    arrays: list = []
    form = _take_apart(result, arrays)
    places, end = [], 0
    for array in arrays:
        begin = (end + _ALIGNMENT - 1) // _ALIGNMENT * _ALIGNMENT
        places.append(_Array(array.dtype.str, array.shape, begin))
        end = begin + array.nbytes
    # The library copies what ends where a page does, since it may read behind it; and then the
    # samples lie in a row no longer.
    shift = _ALIGNMENT if -end % _PAGE < _READ_BEHIND else 0
    is_new = memory.fit(end + shift + _READ_BEHIND)
    for array, place in zip(arrays, places):
        place.offset += shift
        to = np.ndarray(array.shape, array.dtype, memory.map, place.offset)
        to[...] = array
    _send(channel, ("result", form, places), memory.descriptor if is_new else None)


def _work(channel: socket.socket, parent: int, sources: Any, loads, to_close: list) -> None:
    """Answers tasks until the parent closes the channel."""
    # A forked worker holds copies of its brothers' channels, as they were when it was forked.
    for other in (*to_close, *(w.channel for pool in _pools for w in pool.workers)):
        other.close()
    _watch_parent(parent)
    from galatea.sources import Caller

    callers: list = []
    failure = None
    try:
        given = loads(sources) if isinstance(sources, bytes) else sources
        callers = [Caller(*one) for one in given]
    except Exception as error:  # told with each task
        failure = error
    memories: dict[int, _Memory] = collections.defaultdict(_Memory)
    ended: dict[int, int] = {}
    while True:
        try:
            (context, generation, slot, place), _ = _receive(channel)
        except (EOFError, OSError, KeyboardInterrupt):
            os._exit(0)
        try:
            if failure is not None:
                raise failure
            if ended.get(context) == generation:
                raise StopIteration  # what was asked ahead, behind the end of an epoch
            caller = callers[context]
            result = caller.get(*place)
            _answer(channel, memories[slot], [result] if caller.batch else result)
        except StopIteration:
            ended[context] = generation
            told: tuple = ("stop",)
        except Exception as error:
            name = next(c.__name__ for c in type(error).__mro__ if c.__module__ == "builtins")
            told = ("error", name, str(error), traceback.format_exc())
        else:
            continue
        try:
            _send(channel, told)
        except OSError:  # the parent ended meanwhile
            os._exit(0)


# In the parent.


class _Worker:
    def __init__(self, context, sources, loads):
        self.channel, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_STREAM)
        closed = [self.channel] if context.get_start_method() == "fork" else []
        self.process = context.Process(
            target=_work, args=(theirs, os.getpid(), sources, loads, closed), daemon=True
        )
        self.process.start()
        theirs.close()
        self.maps: dict[int, Any] = {}
        self.slots: list[int] = []  # those whose memory nobody reads
        self.num_slots = 0
        self.waiting: collections.deque = collections.deque()  # slots, oldest first


def picklers_of(given: Any) -> tuple[Callable, Callable]:
    """`dumps` and `loads` of what a pipeline was given as pickler; ValueError where it is none."""
    if given is None:
        return by_value.dumps, pickle.loads
    keywords: list = [{}, {}]
    if isinstance(given, (tuple, list)) and 1 <= len(given) <= 3:
        given, *rest = given
        keywords[: len(rest)] = [one or {} for one in rest]
    if not hasattr(given, "dumps") or not hasattr(given, "loads"):
        raise ValueError(
            "a pickler is an object with `dumps` and `loads`, or a tuple of it and keyword "
            f"arguments for either, not {type(given).__name__}"
        )
    dumps = functools.partial(given.dumps, **keywords[0])
    return dumps, functools.partial(given.loads, **keywords[1])


class Pool:
    """Workers, and the sources that run in them.

    `num_workers` processes (0: sources run in the calling process); `start_method`: "fork" or
    "spawn". They start with the first task. `pickler`: takes sources to spawned workers, an object
    with `dumps` and `loads`, or a tuple of it and keyword arguments for either; without it,
    functions that cannot be imported travel by value.
    """

    def __init__(self, num_workers: int = 1, start_method: str = "fork", pickler: Any = None):
        if start_method not in ("fork", "spawn"):
            raise ValueError(f"the start method is 'fork' or 'spawn', not {start_method!r}")
        self.num_workers = num_workers
        self.start_method = start_method
        self._dumps, self._loads = picklers_of(pickler)
        self.sources: list[tuple] = []
        self.dedicated: list[int | None] = []
        self.workers: list[_Worker] = []
        self.tasks: list[collections.deque] = []  # per context: lists of (worker, slot)
        self.generations: list[int] = []  # per context: how often its tasks were thrown away
        self.pid = os.getpid()
        self._next = 0
        _pools.add(self)
        self._finalizer: Any = None

    def add(self, source, batch: bool, cycle, batch_info: bool, one_worker: bool) -> int:
        """Adds a source; `one_worker`: its batches depend on each other. Gives its number."""
        if self.workers:
            raise RuntimeError("the workers were started before this source was added")
        self.sources.append((source, batch, cycle, batch_info))
        self.dedicated.append(len(self.sources) - 1 if one_worker else None)
        self.tasks.append(collections.deque())
        self.generations.append(0)
        return len(self.sources) - 1

    def start(self) -> None:
        """Starts the workers, before threads or devices are there that a fork would not survive."""
        if self.workers:
            return
        context = multiprocessing.get_context(self.start_method)
        sources: Any = self.sources
        if self.start_method == "spawn":
            sources = self._dumps(self.sources)
        for _ in range(max(1, self.num_workers)):
            self.workers.append(_Worker(context, sources, self._loads))
        self._finalizer = weakref.finalize(self, _end, self.workers, os.getpid())

    def pids(self) -> list[int]:
        """Process numbers of the workers that were started."""
        return [worker.process.pid for worker in self.workers]

    def capacities(self) -> list[int]:
        """Bytes of each piece of shared memory."""
        return [len(memory) for worker in self.workers for memory in worker.maps.values()]

    def schedule(self, context: int, epoch, iteration, first, count) -> None:
        """Has a batch made."""
        self.start()
        source, is_batch = self.sources[context][:2]
        parts = []
        if is_batch or self.dedicated[context] is not None:
            fixed = self.dedicated[context]
            number = self._next if fixed is None else fixed
            if fixed is None:
                self._next += 1
            parts.append((number % len(self.workers), 0, count))
        else:
            size = -(-count // len(self.workers))
            for number, offset in enumerate(range(0, count, size)):
                parts.append((number, offset, min(size, count - offset)))
        sent = []
        for number, offset, size in parts:
            worker = self.workers[number]
            if worker.slots:
                slot = worker.slots.pop()
            else:
                slot = worker.num_slots
                worker.num_slots += 1
            task = (
                context,
                self.generations[context],
                slot,
                (epoch, iteration, first, offset, size),
            )
            try:
                _send(worker.channel, task)
            except (BrokenPipeError, ConnectionError):
                raise self._ended(worker, context) from None
            answer: list = []
            worker.waiting.append((slot, answer))
            sent.append((worker, slot, answer))
        self.tasks[context].append(sent)

    def _ended(self, worker: _Worker, context: int) -> WorkerError:
        from galatea.errors import where_is

        worker.process.join(60)
        source = where_is(self.sources[context][0])
        return WorkerError(
            f"the worker process that ran the source {source} ended (exit code "
            f"{worker.process.exitcode}): it was killed, or the source ended it"
        )

    def _await(self, worker: _Worker, answer: list, context: int) -> tuple:
        """The answer of a task; those of earlier tasks of the worker are put down for later."""
        while not answer:
            try:
                message, descriptor = _receive(worker.channel)
            except (EOFError, ConnectionError):
                raise self._ended(worker, context) from None
            slot, to = worker.waiting.popleft()
            if descriptor is not None:
                size = os.fstat(descriptor).st_size
                worker.maps[slot] = mmap.mmap(descriptor, size)
                os.close(descriptor)
            to.append(message)
        return answer[0]

    def receive(self, context: int) -> list:
        """The oldest batch that was scheduled: an item, or its samples in order.

        Raises what the source raised, with the worker's traceback. Arrays lie where the worker wrote
        them; it writes there again when the last of them is gone.
        """
        sent = self.tasks[context].popleft()
        answers = [self._await(worker, answer, context) for worker, _, answer in sent]
        items: list = []
        failure: BaseException | None = None
        for (worker, slot, _), message in zip(sent, answers):
            if failure is None and message[0] == "result":
                items += _put_together(message[1], _arrays(worker, slot, message[2]))
                continue
            worker.slots.append(slot)
            if failure is None:
                is_end = message[0] == "stop"
                failure = StopIteration() if is_end else self._error(context, *message[1:])
        if failure is not None:
            raise failure
        return items

    def _error(self, context: int, name: str, text: str, trace: str) -> BaseException:
        from galatea.errors import where_is

        source = where_is(self.sources[context][0])
        cls = getattr(builtins, name, RuntimeError)
        message = f"the source {source} failed in a worker process: {name}: {text}\n\n{trace}"
        try:
            error = cls(message)
        except TypeError:  # classes whose constructors take more
            error = RuntimeError(message)
        return error

    def discard(self, context: int) -> None:
        """Waits for what was scheduled, and throws it away; what comes next is another epoch."""
        self.generations[context] += 1
        for sent in self.tasks[context]:
            for worker, slot, answer in sent:
                self._await(worker, answer, context)
                worker.slots.append(slot)
        self.tasks[context].clear()

    def close(self) -> None:
        """Ends the workers."""
        if self._finalizer is not None:
            self._finalizer()
        self.workers = []


def _end(workers: list[_Worker], pid: int) -> None:
    if os.getpid() != pid:  # a forked child has no workers of its own
        return
    for worker in workers:
        worker.channel.close()
        if worker.process.is_alive():
            worker.process.terminate()
    for worker in workers:
        worker.process.join(10)
        if worker.process.is_alive():
            worker.process.kill()
            worker.process.join()
