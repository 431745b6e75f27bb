"""Loaders: pipelines that run."""

import json
import operator
import os
import sys
import threading
from typing import Any, Iterator

from . import _c, arguments as _given, arrow as _arrow, engine as _engine
from .batch import Batch
from .errors import BatchesHeldError
from .policy.document import as_path_or_document, as_paths

__all__ = ["Loader"]

_LAST_BATCH = ("partial", "drop", "pad")
_PREFETCH_DEPTH = 2  # batches that a table is fed ahead where nothing else is said
_FOLDER = os.path.dirname(os.path.abspath(__file__))


class Loader:
    """Runs a pipeline: ``for images, labels in loader`` is one epoch, the next ``for`` the next.

    ``source`` is the path of a pipeline file, its text (anything with a line break), a
    ``galatea.Pipeline``, or a function made by ``galatea.pipeline_def``. Parameters of the pipeline
    are keyword arguments, or a dictionary ``parameters`` where a name is an option's, too.

    Options that are None stay as the pipeline says:

    * ``pipeline``: its name, where a file has several;
    * ``batch_size``, ``num_threads``, ``prefetch_depth`` (batches made ahead), ``seed``;
    * ``on_error``: "raise", "skip" or "replace" samples that fail;
    * ``exact``: False allows forms that change values slightly;
    * ``memory_limit`` in bytes; ``device``: "auto", "cpu", "gpu", "gpu:N"; ``decoder``;
      ``backend``: "llvm", "interpreter"; ``tiers``; ``import_root``;
    * ``limits``: {name: number}; ``policies``: paths, spellings, dicts or Documents
      (galatea.policy);
    * ``input_types``: {input: (number of the element type, dimensions, layout)};
    * ``nodes``: True adds every picture on the way to the outputs, before the pipeline's own, named
      "image = resize, line 12"; ``draw``: 1, 2, … are other random numbers for the same samples,
      given the same seed. Both are for looking at a pipeline (galatea.view).

    Options of the loader:

    * ``last_batch``: what becomes of batches that are not full: "partial" delivers them as they
      are, "drop" leaves them out, "pad" repeats their last sample (``batch.num_filled``);
    * ``shard``: (number, count), "torch" (torch.distributed) or "jax" (jax.process_index): given to
      the pipeline as its parameters ``shard_id`` and ``num_shards`` where there is more than one;
    * ``epochs``: how many ``run()`` delivers;
    * ``max_held_batches``: batches that may be alive at once (8);
    * ``synchronous``: everything runs in the calling thread;
    * ``wait_for_feed``: another thread feeds, and ``next_batch`` waits for it;
    * ``inputs``: a table of Arrow (pyarrow, polars, Hugging Face datasets, anything with
      ``__arrow_c_stream__``), whose columns are the inputs of these names, an epoch a pass.

    Errors of the pipeline are raised here, those of its data when the first batch is wanted or by
    ``open()``.
    """

    def __init__(
        self,
        source,
        *,
        pipeline=None,
        batch_size=None,
        num_threads=None,
        prefetch_depth=None,
        seed=None,
        exact=None,
        on_error=None,
        memory_limit=None,
        backend=None,
        device=None,
        decoder=None,
        tiers=None,
        import_root=None,
        limits=None,
        policies=None,
        input_types=None,
        nodes=None,
        draw=None,
        parameters=None,
        last_batch="partial",
        shard=None,
        epochs=None,
        max_held_batches=8,
        synchronous=False,
        wait_for_feed=False,
        inputs=None,
        engine=None,
        **more_parameters,
    ):
        given = locals()
        options = {name: given[name] for name in _given.PROGRAM_OPTIONS if given[name] is not None}
        _given.check_kinds({**options, "epochs": epochs, "max_held_batches": max_held_batches})
        parameters = {**(parameters or {}), **more_parameters}
        if last_batch not in _LAST_BATCH:
            raise ValueError(f"last_batch is {last_batch!r}; it must be one of {_LAST_BATCH}")
        if inputs is not None and not _arrow.is_table(inputs):
            raise TypeError(
                "inputs= takes a table with __arrow_c_stream__ (pyarrow, polars), or a Dataset of "
                f"Hugging Face, not {type(inputs).__name__}"
            )
        parameters.update(_given.shard_parameters(shard))
        arguments, sources, self._pipeline = _given.arguments_of(source, options, parameters)
        self._setup(
            arguments,
            sources,
            {
                "last_batch": last_batch,
                "epochs": epochs,
                "inputs": inputs,
                "has_seed": seed is not None,
                "session": {
                    "max_held_batches": max_held_batches,
                    "synchronous": synchronous,
                    "wait_for_feed": wait_for_feed,
                },
            },
            engine,
        )

    _pipeline: Any = None  # what makes the sources anew

    def _setup(self, arguments, sources, settings, engine=None, program=None):
        if "policies" in arguments:
            policies = [as_path_or_document(each) for each in arguments["policies"]]
            arguments = {**arguments, "policies": policies}
        self._arguments = arguments
        self._sources = sources
        self._settings = settings
        self._last_batch = settings["last_batch"]
        self._engine = engine if engine is not None else _engine.default_engine()
        self._session = None
        self._feeder = None  # of a table
        self._first_batch = 0  # of the epoch, where the table begins
        self._opening = threading.Lock()
        self._state = None
        self._begun = False  # whether a batch of the current epoch was delivered
        self._delivered = 0  # samples of the last batch
        self._token = None
        self._is_closed = False
        self._compile(program)

    def _compile(self, program=None):
        self._program = self._new_program() if program is None else program
        self._names = None
        self._batch_size = self._program.batch_size

    def _new_program(self):
        arguments = self._arguments
        with as_paths(arguments.get("policies", ())) as paths:
            if paths:
                arguments = {**arguments, "policies": paths}
            try:
                return _c.Program(self._engine, **arguments)
            finally:
                _engine.flush_log(self._engine)

    def on_devices(self, devices) -> list["Loader"]:
        """A loader for each GPU, all of this one's program, each over its own part of the data.

        ``devices``: the numbers of the GPUs, such as ``range(4)`` or ``[0, 2]``. Of n loaders, the
        k-th delivers shard k of n of what this one would, from its beginning, with its outputs on
        its GPU; of a pipeline with ``num_shards`` and ``shard_id`` of its own they divide that
        shard. No loader uses memory of another's GPU. Where the pipeline runs on the CPU they
        divide the data all the same. A pipeline that is fed by its host has no data to divide: that
        is a ValueError.
        """
        gpus = [operator.index(device) for device in devices]
        if not gpus:
            raise ValueError("devices is empty; name the number of a GPU, such as [0]")
        if json.loads(self._program.ports_json())["inputs"]:
            raise ValueError(
                "a pipeline that is fed has no data to divide; make a loader a GPU and feed each its part"
            )
        loaders = []
        for k, gpu in enumerate(gpus):
            part = {"device": gpu, "num_shards": len(gpus), "shard_id": k}
            session = {**self._settings["session"], **part}
            loader = Loader.__new__(type(self))
            loader.__dict__.update(self.__dict__)
            loader._setup(
                self._arguments,
                {},
                {**self._settings, "session": session},
                self._engine,
                self._program,
            )
            loaders.append(loader)
        return loaders

    def _again(self, **changes) -> "Loader":
        """A loader of the same pipeline, at its beginning, with other options of the program."""
        if self._sources and self._pipeline is None:
            raise ValueError(
                "a loader that was unpickled has no sources to begin anew with; use its pipeline"
            )
        sources = dict(self._pipeline.sources) if self._sources else {}
        loader = Loader.__new__(Loader)
        loader._setup({**self._arguments, **changes}, sources, self._settings, self._engine)
        return loader

    # ------------------------------------------------------------------------ what it is

    @property
    def name(self) -> str:
        """The pipeline's name."""
        return self._program.name

    @property
    def batch_size(self) -> int:
        """The most samples of a batch."""
        return self._batch_size

    @property
    def seed(self) -> int:
        """The seed in force: of the loader, of the file, or drawn."""
        return self._program.seed

    @property
    def ports(self) -> dict:
        """Inputs and outputs (docs/c-api.md), as far as they are known.

        Where the pipeline leaves types of inputs open, "outputs" is None until each was fed once.
        """
        known_by = self._program if self._session is None else self._session
        return json.loads(known_by.ports_json())

    @property
    def output_names(self) -> tuple[str, ...]:
        """Names of the outputs: the variables that the pipeline returned."""
        if self._names is None:
            outputs = self.ports["outputs"]
            if outputs is None:
                raise RuntimeError(
                    "the outputs are not known before the first batch, since the pipeline does not "
                    "say the types of its inputs"
                )
            self._names = tuple(port["name"] for port in outputs)
        return self._names

    @property
    def epoch_size(self) -> int:
        """Samples of an epoch; -1 where only who feeds knows."""
        return self._opened().epoch_size

    def __len__(self):
        """Batches of an epoch, without samples that are left out for their errors."""
        size = self.epoch_size
        if size < 0:
            raise TypeError("how many batches an epoch has is known to those who feed it")
        whole, rest = divmod(size, self._batch_size)
        return whole + (rest > 0 and self._last_batch != "drop")

    def __length_hint__(self):
        return max(self.epoch_size, 0)

    # ------------------------------------------------------------------------ running

    def _opened(self):
        if self._session is None:
            with self._opening:
                if self._session is None:
                    self._session = self._new_session()
        return self._session

    def _new_session(self):
        if self._is_closed:
            raise ValueError("the loader was closed; make another one")
        for source in self._sources.values():
            source.start()
        try:
            session = _c.Session(
                self._program,
                state=None if self._state is None else json.dumps(self._state),
                **self._settings["session"],
            )
        finally:
            _engine.flush_log(self._engine)
        try:
            for source in self._sources.values():
                source.attach(session)
            table = self._settings.get("inputs")
            if table is not None:
                fed = [port["name"] for port in json.loads(self._program.ports_json())["inputs"]]
                names = [name for name in fed if name not in self._sources]
                ahead = 1 + (self._arguments.get("prefetch_depth") or _PREFETCH_DEPTH)
                self._feeder = _arrow.Feeder(
                    table, session, names, self._batch_size, ahead, self._first_batch
                )
        except BaseException:
            session.close()
            raise
        return session

    def open(self) -> "Loader":
        """Opens the data and starts the threads now, not with the first batch."""
        self._opened()
        return self

    def _take(self, timeout_ms):
        session = self._session or self._opened()
        feeder = self._feeder
        try:
            if feeder is not None:
                feeder.feed()
            handle = session.next(timeout_ms)
        except BatchesHeldError as error:
            _name_holder(error)
            raise
        except Exception as error:
            cause = session.take_failure()
            if cause is not None:
                raise error from cause
            raise
        finally:
            _engine.flush_log(self._engine)
        self._begun = handle is not None
        if feeder is not None:
            feeder.take(self._begun)
        return handle

    def next_batch(self, timeout: float | None = None) -> Batch | None:
        """The next batch, or None at the end of an epoch; the next call begins the next one.

        Waits at most `timeout` seconds, then raises galatea.TimeoutError; None: as long as it takes.
        """
        timeout_ms = -1 if timeout is None else max(0, int(timeout * 1000))
        while True:
            handle = self._take(timeout_ms)
            if handle is None:
                return None
            size = 0
            if self._last_batch != "partial" and handle.num_samples < self._batch_size:
                if self._last_batch == "drop":
                    handle.release()
                    continue
                size = self._batch_size
            self._delivered = handle.num_samples
            if self._names is None:
                self._names = handle.output_names
            return Batch(handle, self._names, size)

    def _next(self):
        """What an iterator gives, None at the end; loaders of frameworks make tensors of it."""
        return self.next_batch()

    def skip_epoch(self) -> None:
        """Goes to the end of the current epoch. What is left of it is made, and thrown away."""
        while self._begun:
            handle = self._take(-1)
            if handle is not None:
                handle.release()

    def __iter__(self) -> Iterator[Batch]:
        # A `for` that was left early is over. Behind load_state_dict() nothing was delivered yet.
        # Of an epoch that the host feeds, only the host knows where the next one begins.
        if self._begun and (self._sources or self._feeder or self._program.num_inputs == 0):
            self.skip_epoch()
        self._token = token = object()
        return _Epoch(self, token)

    def run(self, epochs: int | None = None, *, progress: bool | str = False) -> Iterator[Batch]:
        """Batches of several epochs, one after the other; `epochs`: the loader's.

        `progress`: True shows samples, samples a second, the batch of the epoch and the time that is
        left, where stderr is a terminal or the program is a notebook; "always" does so everywhere.
        It is a bar of tqdm, where that is installed, else a line.
        """
        epochs = self._settings["epochs"] if epochs is None else epochs
        if epochs is None:
            raise ValueError("how many epochs? Loader(…, epochs=N) or run(N)")
        if progress not in (False, True, "always"):
            raise ValueError(f"progress is {progress!r}; it is False, True or 'always'")
        return self._run(epochs, progress)

    def _run(self, epochs, progress):
        if not progress:
            for _ in range(epochs):
                yield from self
            return
        from .display.progress import Progress

        with Progress(self, epochs, progress == "always") as bar:
            for epoch in range(epochs):
                bar.begin(epoch)
                yield from map(bar.count, self)  # holds no batch

    # ------------------------------------------------------------------------ feeding

    def feed(self, name: str, arrays, ids=None, *, timeout: float | None = 0, layout=None) -> None:
        """Gives an external input its next batch: a list of arrays, or one array of all samples.

        Arrays are anything in the host's memory with __dlpack__ or the buffer protocol; they are
        copied. `timeout`: seconds to wait for room (galatea.TimeoutError); None: as long as it takes.
        """
        timeout_ms = -1 if timeout is None else int(timeout * 1000)
        try:
            self._opened().feed(name, arrays, ids, timeout_ms, layout)
        finally:
            _engine.flush_log(self._engine)

    def end_of_feed(self) -> None:
        """The epoch ends behind what was fed."""
        self._opened().end_of_feed()

    def pull(self, name: str, function, *, per_batch: bool = False, layout=None) -> None:
        """Has an input made by ``function(epoch, batch, first_sample, num_samples)``.

        It returns a list of arrays, one a sample (`num_samples` is 1 unless `per_batch`), or raises
        StopIteration at the end of an epoch. It is called on a thread of the loader, before the
        batches are wanted; call this before the first batch is taken.
        """
        self._opened().pull_input(name, function, per_batch, layout)

    # ------------------------------------------------------------------------ state

    def state_dict(self) -> dict:
        """Where the loader stands: a small dictionary of plain values.

        A loader of the same pipeline and data goes on from it with the next batch, bit for bit.
        Behind an epoch's last batch it is the beginning of the next epoch, once the ``for`` ended.
        """
        session = json.loads(self._opened().state())
        return self._loader_state(session, self._feeder.batch if self._feeder else 0)

    def _loader_state(self, session, batch):
        state = {"galatea_loader": 1, "session": session}
        if self._settings.get("inputs") is not None:
            state["inputs"] = {"batch": batch}
        return state

    def load_state_dict(self, state: dict) -> None:
        """Goes on where state_dict() was called, in the middle of an epoch, too.

        The seed is that of the state, unless the loader was given one. A state of another pipeline,
        other data or another seed raises galatea.StateError.
        """
        if not isinstance(state, dict) or state.get("galatea_loader") != 1:
            raise ValueError("load_state_dict() takes what state_dict() gave, of form 1")
        session = state.get("session")
        batch = (state.get("inputs") or {}).get("batch", 0)
        if not isinstance(batch, int) or batch < 0:
            raise ValueError(f"the state says batch {batch!r} of the table")
        self._first_batch = batch
        seed = session.get("seed") if isinstance(session, dict) else None
        if isinstance(seed, str) and not self._settings["has_seed"]:
            self._go_to(session, self._with_seed(seed))
        else:
            self._go_to(session, self._arguments)

    def _with_seed(self, seed):
        """The arguments of _c.Program with the seed of a state, which has it as hexadecimal text."""
        try:
            number = int(seed, 16)
        except ValueError:
            return self._arguments  # the session says what is wrong with the state
        if number == self._program.seed:
            return self._arguments
        return {**self._arguments, "seed": number - 2**64 if number >= 2**63 else number}

    def _go_to(self, state, arguments):
        """Replaces the session by one that begins from a state; where that fails, all stays."""
        before = self._arguments, self._program, self._session, self._state
        self._state = state
        try:
            if arguments is not self._arguments:
                self._arguments = arguments
                self._compile()
            self._session = self._new_session()
        except BaseException:
            self._arguments, self._program, self._session, self._state = before
            raise
        if before[2] is not None:
            before[2].close()
        self._token = None
        self._begun = False

    def statistics(self) -> dict:
        """Counts and times: samples, batches, seconds, seconds per operator, peak memory, failures."""
        return json.loads(self._opened().statistics())

    def cancel(self) -> None:
        """Stops the loader, from any thread; whoever waits for a batch gets CancelledError."""
        if self._session is not None:
            self._session.cancel()

    def close(self) -> None:
        """Ends threads and files. Batches that are held live on."""
        self._is_closed = True
        session, self._session = self._session, None
        if session is not None:
            session.close()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def __reduce__(self):
        state = None
        if self._session is not None:
            state = self.state_dict()
        elif self._state is not None:
            state = self._loader_state(self._state, self._first_batch)
        return _make_again, (type(self), self._arguments, self._sources, self._settings, state)

    def __repr__(self):
        return f"<{type(self).__module__}.{type(self).__qualname__} of '{self.name}'>"

    def _repr_html_(self):
        from .display.objects import loader

        return loader(self)


class _Epoch:
    """The batches of one epoch; holds none of them."""

    __slots__ = ("_loader", "_token")

    def __init__(self, loader, token):
        self._loader = loader
        self._token = token

    def __iter__(self):
        return self

    def __next__(self):
        loader = self._loader
        if loader is None:
            raise StopIteration
        if loader._token is not self._token:
            raise RuntimeError(
                "another `for` over this loader has begun, or a state was loaded: this one is over"
            )
        batch = loader._next()
        if batch is None:
            self._loader = None
            raise StopIteration
        return batch


def _make_again(cls, arguments, sources, settings, state):
    loader = cls.__new__(cls)
    loader._setup(arguments, sources, settings)
    if state is not None:
        loader.load_state_dict(state)
    return loader


def _name_holder(error):
    """Adds the user's line at which batches were asked for, since that is what keeps them."""
    frame = sys._getframe(1)
    while frame is not None and frame.f_code.co_filename.startswith(_FOLDER):
        frame = frame.f_back
    if frame is None:
        return
    place = f"{frame.f_code.co_filename}:{frame.f_lineno}"
    error.args = (
        f"{error}\n  = help: batches are taken at {place}; let go of them there (copy what you "
        "keep), or give the loader max_held_batches=N",
    )
