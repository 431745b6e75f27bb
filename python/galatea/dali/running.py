"""How a pipeline runs: it is compiled, its inputs are fed, its batches scheduled and taken."""

from __future__ import annotations

import collections
import json
import random
import warnings
import weakref
from typing import Any

import numpy as np

from galatea import Batch, GalateaError, _c
from galatea.engine import default_engine, flush_log
from galatea.sources import Driver, nobody_else_has
from galatea.trace.errors import TraceError
from galatea.trace.node import Node as DataNode

from . import types
from .errors import NoInputError, NothingFedError, raised
from .external_source import Feed, batch_of
from .saving import read_checkpoint
from .staged import Staged
from .state import State
from .types import PipelineAPIType
from .values import FullBatches, list_of_parts

_NOTHING_FED = "G0904"


class Running(State):
    """What runs a `Pipeline`: a part of that class."""

    def _arguments(self) -> dict[str, Any]:
        arguments = self._made.compile_arguments()
        arguments["prefetch_depth"] = max(1, self._depth)
        # The text says those that it was made with; deserialize() takes others.
        for name, value in (
            ("batch_size", self._max_batch_size),
            ("num_threads", self._num_threads),
        ):
            if value is not None:
                arguments[name] = value
        if self._device_id is None:
            arguments["device"] = "cpu"
        types_of_inputs = {}
        for feed in self._feeds:
            for name in feed.names:
                dtype, ndim = feed.dtypes.get(name), feed.ndims.get(name)
                layout = feed.layouts.get(name)
                ndim = len(layout) if ndim is None and layout else ndim
                if dtype is not None and ndim is not None:
                    types_of_inputs[name] = (int(dtype), ndim, layout)
        if types_of_inputs:
            arguments["input_types"] = types_of_inputs
        return arguments

    def build(self) -> None:
        """Traces and compiles the pipeline, opens its data and starts workers; once."""
        if self._session is not None:
            return
        if self._max_batch_size is None:
            raise ValueError("a pipeline needs a batch_size")
        if self._max_batch_size < 1:
            raise ValueError(f"the batch size is {self._max_batch_size}; it must be positive")
        if self._num_threads is not None and self._num_threads < 1:
            raise ValueError(f"num_threads is {self._num_threads}; a pipeline that runs needs one")
        if min(self._depths) < 1:
            raise ValueError("`prefetch_queue_depth` must be positive")
        if self._device_id is not None and self._device_id < 0:
            if self._device_id != types.CPU_ONLY_DEVICE_ID:
                raise RuntimeError(f"wrong device_id {self._device_id}: None is the CPU alone")
        self._define()
        state, saved = None, None
        arguments = self._arguments()
        has_seed = self._seed is not None and self._seed >= 0
        if self._checkpoint is not None:
            if not self._enable_checkpointing:
                raise RuntimeError(
                    "a pipeline that goes on from a checkpoint needs enable_checkpointing=True"
                )
            saved = read_checkpoint(self._checkpoint)
            state = saved["session"] or None
            self._iterator_data = saved.get("iterator", "")
            if not has_seed:
                arguments["seed"] = saved["seed"]
        elif self._enable_checkpointing and not has_seed:
            arguments["seed"] = random.SystemRandom().getrandbits(63)
        self._drawn_seed = arguments.get("seed")
        try:
            self._program = _c.Program(default_engine(), **arguments)
            inputs = {port["name"] for port in json.loads(self._program.ports_json())["inputs"]}
            session = _c.Session(self._program, max_held_batches=1 << 30, state=state)
        except TraceError:
            raise
        except GalateaError as error:
            raise raised(error) from error
        finally:
            flush_log(default_engine())
        self._inputs = inputs
        self._session = session
        self._full = FullBatches(self._max_batch_size)
        for name in inputs:
            self._fed.setdefault(name, collections.deque())
        self._layouts_fed: dict[str, str] = {}
        for feed in self._feeds:
            if self._is_driven(feed) and feed.driver is None:
                feed.driver = self._driver(feed)
        if self._plan is not None:
            seed = self._program.seed
            self._common.update(
                device=arguments.get("device", "cpu"),
                prefetch_depth=arguments["prefetch_depth"],
                seed=seed - 2**64 if seed >= 2**63 else seed,
            )
            self._staged = Staged(self._plan, self._results)
        if self._enable_checkpointing:
            self._warn_of_sources_without_state()
        if self._pool is not None:
            self._pool.start()
        self._session_state()
        if saved is not None:
            self._restore(saved)
        self._delivered = self._state_before

    def _warn_of_sources_without_state(self) -> None:
        for feed in self._feeds:
            if feed.driver is not None and not feed.driver.is_function_of_its_place:
                warnings.warn(
                    f"checkpoints hold nothing of the source {feed.driver.describe()}: only "
                    "callables that are told which sample or batch is wanted go on where they were",
                    UserWarning,
                    stacklevel=3,
                )

    def _is_driven(self, feed: Feed) -> bool:
        """Whether the feed has a source, and an output that the pipeline needs."""
        if feed.options.get("source") is None:
            return False
        needed = self._inputs
        if self._session is None and self._recorder.used:  # workers may start before the build
            needed = {self._input_nodes.get(node, "") for node in self._recorder.used}
        return not needed.isdisjoint(feed.names)

    def _driver(self, feed: Feed) -> Driver:
        o = feed.options
        if o.get("parallel") and self._py_num_workers < 1:
            raise RuntimeError(
                "a source with parallel=True needs worker processes: py_num_workers is 0"
            )
        if o.get("parallel") and self._py_num_workers > 0 and self._pool is None:
            from galatea.workers import Pool

            self._pool = Pool(
                self._py_num_workers, self._py_start_method, self._py_callback_pickler
            )
        return Driver(
            o["source"],
            names=feed.names,
            num_outputs=o.get("num_outputs"),
            batch=o.get("batch"),
            cycle=o.get("cycle"),
            batch_info=bool(o.get("batch_info")),
            parallel=bool(o.get("parallel")),
            prefetch_queue_depth=o.get("prefetch_queue_depth"),
            batch_size=self._max_batch_size or 1,
            pool=self._pool if o.get("parallel") else None,
        )

    @property
    def _py_pool(self) -> Any:
        """The worker processes, for programs that look after them; None where there are none."""
        return self._pool

    @property
    def _py_pool_started(self) -> bool:
        return self._pool is not None and bool(self._pool.workers)

    def external_source_shm_statistics(self) -> dict[str, list[int]]:
        """Bytes of shared memory that workers' results lie in, and the most of one sample."""
        self.build()
        capacities = self._pool.capacities() if self._pool is not None else []
        per_sample = [-(-size // (self._max_batch_size or 1)) for size in capacities]
        return {"capacities": capacities, "per_sample_capacities": per_sample}

    def start_py_workers(self) -> None:
        """Starts the workers of parallel sources now."""
        self._define()
        for feed in self._feeds:
            if self._is_driven(feed) and feed.driver is None:
                feed.driver = self._driver(feed)
        if self._pool is not None:
            self._pool.start()

    # Feeding.

    def input_feed_count(self, input_name: str) -> int:
        """How many batches an input wants before the first output."""
        self.build()
        if input_name not in self._inputs:
            raise NoInputError(input_name)
        return self._depth if self._exec_pipelined else 1

    def feed_input(
        self, data_node: Any, data: Any, layout=None, cuda_stream=None, use_copy_kernel=False
    ) -> None:
        """Feeds a batch to an input, by its node or name.

        `data`: an array whose first axis counts samples, a list of arrays, or a tensor list.
        """
        self.build()
        if isinstance(data_node, str):
            name = data_node
        elif isinstance(data_node, DataNode):
            here = self._recorder.taken(data_node)
            name = self._input_nodes.get(data_node if here is None else here, "")
        else:
            raise TypeError(
                f"an input is a data node or its name, not a {type(data_node).__name__}"
            )
        feed = next((feed for feed in self._feeds if name in feed.names), None)
        if name not in self._inputs:
            raise NoInputError(name)
        if feed is not None and feed.options.get("source") is not None:
            raise RuntimeError(f"the input {name!r} has a source, which feeds it")
        self._queue(name, data, layout)

    def _queue(
        self,
        name: str,
        data: Any,
        layout: str | None = None,
        copies: bool = True,
        declared: bool = False,
    ) -> None:
        """Queues a batch for an input: (a list of arrays or one of all samples, layout).

        `declared`: the input's layout goes before that of the data.
        """
        feed = next((feed for feed in self._feeds if name in feed.names), None)
        wanted = feed.layouts.get(name) if feed is not None else None
        if declared and not layout:
            layout = wanted
        samples, layout = batch_of(data, self._max_batch_size or 1, layout)
        layout = layout.strip("*") if layout else layout  # that of matrices, which names no axis
        if wanted and layout and layout != wanted:
            raise RuntimeError(f"the input {name!r} has the layout {wanted!r}, the data {layout!r}")
        if wanted and not layout:
            layout = wanted
            if len(wanted) != samples[0].ndim:
                raise RuntimeError(
                    f"the input {name!r} has the layout {wanted!r}, and its data "
                    f"{samples[0].ndim} dimensions"
                )
        if feed is not None:
            dtype, ndim = feed.dtypes.get(name), feed.ndims.get(name)
            found = types._OF_NUMPY[samples[0].dtype]
            if dtype is not None and dtype != found:
                raise RuntimeError(
                    f'the input "{name}" expected data of type {types.spelt(dtype)}, not '
                    f"{types.spelt(found)}"
                )
            if ndim is not None and ndim != samples[0].ndim:
                raise RuntimeError(
                    f'the input "{name}" expected data with {ndim} dimensions, not '
                    f"{samples[0].ndim}"
                )
        if copies:  # the caller may change its arrays as soon as this returns
            if isinstance(samples, list):
                samples = [np.array(one, order="C") for one in samples]
            else:
                samples = np.array(samples, order="C")
        with self._feeding:
            self._fed[name].append((samples, layout))
            self._feeding.notify_all()

    def _wait_for(self, names: list[str]) -> None:
        """Until another thread has fed one of these inputs."""
        with self._feeding:
            self._feeding.wait_for(lambda: any(self._fed[name] for name in names))

    def _hand_over(self) -> None:
        """Gives the session one batch of each input.

        Of a film that was given before, the session may have batches left; it says where not.
        """
        feeds = {name: feed for feed in self._feeds for name in feed.names}
        repeating = {name for name in self._inputs if name in feeds and feeds[name].repeat_last}
        for name in sorted(self._inputs):
            queue = self._fed[name]
            if not queue and name in self._last_fed:
                queue.append(self._last_fed[name])
            if name in feeds and feeds[name].is_film:
                continue
            if not queue and name in feeds and feeds[name].blocking:
                self._wait_for([name])
            if not queue:
                raise NothingFedError(
                    f"the input {name!r} has no batch: call feed_input() before each run, or give "
                    "external_source a source"
                )
        for name in sorted(name for name in self._inputs if self._fed[name]):
            if name in repeating:
                self._last_fed[name] = self._fed[name][0]
            self._hand_over_of(name, feeds.get(name), name not in repeating)
        self._has_fed = True

    def _hand_over_of(self, name: str, feed: Feed | None = None, may_lend: bool = True) -> None:
        """Gives the session one batch of an input."""
        samples, layout = self._fed[name].popleft()
        before = self._layouts_fed.setdefault(name, layout)
        if before and layout and layout != before:
            raise RuntimeError(
                f"the batches of the input {name!r} have the layout {before!r}; now {layout!r}"
            )
        is_list = isinstance(samples, list)
        box = samples if is_list else [samples]
        del samples
        # What nobody can change any more is read where it lies.
        driver = feed.driver if feed is not None else None
        is_workers = driver is not None and driver.parallel
        lends = may_lend and (is_workers or nobody_else_has(box))
        try:
            self._session.feed(name, box if is_list else box[0], None, 0, layout, lends)
        except GalateaError as error:
            raise raised(error) from error
        finally:
            flush_log(default_engine())

    # Running.

    def _check_api(self, kind: PipelineAPIType) -> None:
        if self._api is None:
            self._api = kind
        elif self._api is not kind and self._checks_api:
            raise RuntimeError(
                f"the pipeline is run by its {self._api.name.lower()} calls; run(), "
                "schedule_run()/share_outputs()/release_outputs() and iterators do not mix"
            )

    def enable_api_check(self, enable: bool) -> None:
        """Whether mixing the ways to run a pipeline is an error."""
        self._checks_api = enable

    def _check_api_type_scope(self, kind: PipelineAPIType) -> Any:
        return _Scope(self, kind)

    def _setup_iteration(self) -> None:
        """Asks sources for a batch, all of them, before anything is fed."""
        given, ended = [], False
        order = [f for f in self._feeds if f.driver and f.driver.parallel]
        order += [f for f in self._feeds if f.driver and not f.driver.parallel]
        for feed in order:
            try:
                given.append((feed, feed.driver.next(self._epoch_idx)))
            except StopIteration:
                ended = True
        if ended:
            raise StopIteration
        self.iter_setup()
        try:
            self._queue_given(given)
            if self._inputs:
                self._hand_over()
        except NothingFedError:
            raise
        except RuntimeError as error:
            if not self._to_consume:
                raise
            self._failure = error  # told when the batches before it were taken

    def _queue_given(self, given: list) -> None:
        """Queues what sources gave, and takes it out of the list: nobody else shall have it."""
        while given:
            feed, outputs = given.pop(0)
            for name, data in zip(feed.names, outputs):
                if name in self._inputs:
                    self._queue(name, data, copies=False, declared=True)  # copied or lent later

    def _schedule_one(self) -> None:
        if self._failure is not None:
            return
        try:
            self._setup_iteration()
            if self._failure is not None:
                return
            if self._staged is not None:
                self._staged.schedule(self)
            self._to_consume += 1
        except StopIteration:
            self._last_iter = True

    def _schedule(self) -> None:
        self.build()
        if self._first_iter and self._exec_pipelined:
            for _ in range(self._depth):
                self._first_iter = False
                if not self._schedule_ahead() or self._last_iter:
                    break
        elif not self._last_iter:
            self._schedule_ahead()

    def _schedule_ahead(self) -> bool:
        """Schedules a batch. False: nothing was fed for it, and those before it are not taken yet."""
        try:
            self._schedule_one()
        except NothingFedError:
            if not self._to_consume or any(self._fed.values()):
                raise
            return False
        return True

    def schedule_run(self) -> None:
        """Schedules a batch; the first call schedules `prefetch_queue_depth` of them."""
        if self._api is not PipelineAPIType.ITERATOR or not _Scope.depth(self):
            self._check_api(PipelineAPIType.SCHEDULED)
        self._schedule()

    def share_outputs(self, cuda_stream=None) -> tuple:
        """Waits for the oldest scheduled batch; StopIteration where there is none."""
        if self._api is not PipelineAPIType.ITERATOR or not _Scope.depth(self):
            self._check_api(PipelineAPIType.SCHEDULED)
        return self._take_outputs()

    def outputs(self, cuda_stream=None) -> tuple:
        """release_outputs() and share_outputs()."""
        return self.share_outputs()

    def release_outputs(self) -> None:
        """Accepted: outputs are given back when nobody refers to them."""
        if self._api is not PipelineAPIType.ITERATOR or not _Scope.depth(self):
            self._check_api(PipelineAPIType.SCHEDULED)
        self.build()

    def run(self, cuda_stream=None, /, **pipeline_inputs: Any) -> tuple:
        """Runs a batch: a tuple of tensor lists, one for each output.

        Keyword arguments feed inputs, where `prefetch_queue_depth` is 1. StopIteration at the end
        of an epoch of a source; reset() begins the next one.
        """
        if pipeline_inputs and self._exec_pipelined and self._depth > 1:
            raise RuntimeError(
                "run(name=data) needs prefetch_queue_depth=1 or exec_pipelined=False: batches that "
                "are scheduled ahead have to be fed before"
            )
        self.build()
        for name, data in pipeline_inputs.items():
            self.feed_input(name, data)
        self._check_api(PipelineAPIType.BASIC)
        self._schedule()
        return self._take_outputs()

    def empty(self) -> bool:
        """Whether nothing that was scheduled waits to be taken."""
        return self._to_consume == 0 and self._failure is None

    def reset(self) -> None:
        """Begins the next epoch, behind the end of one; does nothing before it."""
        if not self._last_iter:
            return
        self._first_iter, self._last_iter = True, False
        self._epoch_idx += 1
        self._consumed = 0
        for feed in self._feeds:
            if feed.driver is not None:
                feed.driver.begin_epoch()

    def _session_state(self) -> None:
        if not self._enable_checkpointing:
            return
        if self._program.num_outputs >= 0 or self._has_fed:
            self._state_before = (self._session.state(), 0)

    def _wait_for_films(self) -> bool:
        """Hands over the next one that is fed; False where no input of films blocks."""
        films = [feed for feed in self._feeds if feed.is_film and feed.blocking]
        names = [name for feed in films for name in feed.names]
        if not names:
            return False
        self._wait_for(names)
        for name in names:
            if self._fed[name]:
                self._hand_over_of(name)
        return True

    def _next_batch(self) -> Batch:
        ends = 0
        while True:
            self._session_state()
            try:
                handle = self._session.next(-1)
            except GalateaError as error:
                if error.code == _NOTHING_FED and self._wait_for_films():
                    continue
                raise raised(error) from error
            finally:
                flush_log(default_engine())
            if handle is not None:
                return Batch(handle, ())
            ends += 1
            if ends > 2:
                raise RuntimeError("the pipeline has no data: its readers deliver no samples")

    def _take_outputs(self) -> tuple:
        self.build()
        if self._to_consume == 0:
            raise self._failure or StopIteration
        self._to_consume -= 1
        self._consumed += 1
        if self._staged is not None:
            outputs, self._delivered = self._staged.take()
        else:
            parts = self._next_parts()
            self._delivered = self._state_before
            outputs = tuple(list_of_parts(parts, number) for number in range(len(parts[0][0])))
        for one, kind, layout in zip(outputs, self._enumerations, self._layouts_told):
            one._enumeration = kind
            one._layout = one._layout or layout
        self._check_outputs(outputs)
        return outputs

    def _next_parts(self) -> list:
        """The parts of the session's batches that are DALI's next one: (batch, begin, end)."""
        if self._inputs or not self._readers:
            batch = self._next_batch()
            parts = [(batch, 0, batch.num_samples)]
        else:
            parts = self._full.next(self._next_batch)
        if self._full.rest is None:
            self._session_state()
        else:
            self._state_before = (self._state_before[0], self._full.rest[1])
        return parts

    def _check_outputs(self, outputs: tuple) -> None:
        dtypes, ndims, layouts = self._outputs_given
        if dtypes is None and ndims is None and layouts is None:
            return
        found = zip(
            outputs,
            self._for_each_output(dtypes),
            self._for_each_output(ndims),
            self._for_each_output(layouts),
        )
        for place, (output, dtype, ndim, layout) in enumerate(found):
            for what, wanted, has in (
                ("Data type", dtype, output.dtype),
                ("Number of dimensions", ndim, output.ndim()),
                ("Layout", layout, output.layout()),
            ):
                if wanted is not None and wanted != has:
                    raise RuntimeError(
                        f"{what} of output {place}, {has}, does not match that of the "
                        f"pipeline's options, {wanted}"
                    )


class _Scope:
    """Within it an iterator runs the pipeline by the calls that programs schedule with."""

    _open: "weakref.WeakKeyDictionary[Running, int]" = weakref.WeakKeyDictionary()

    def __init__(self, pipe: Running, kind: PipelineAPIType):
        self.pipe, self.kind = pipe, kind

    def __enter__(self) -> "_Scope":
        self.pipe._check_api(self.kind)
        self._open[self.pipe] = self._open.get(self.pipe, 0) + 1
        return self

    def __exit__(self, *_: Any) -> None:
        self._open[self.pipe] -= 1

    @classmethod
    def depth(cls, pipe: Running) -> int:
        return cls._open.get(pipe, 0)
