"""`nvidia.dali.plugin.pytorch.experimental.proxy`: workers of torch's DataLoader, one pipeline.

A `Dataset` calls `server.proxy` as its transform. In a worker process that only notes the sample:
the call gives a reference, and collating a batch of references sends the samples to the process
that made the server. A thread there runs the pipeline, and `produce_data` puts the results where
the references are.
"""

from __future__ import annotations

import inspect
import os
import queue
import sys
import threading
import types as _python_types
import uuid
from typing import Any, Iterator

import torch.multiprocessing
import torch.utils.data
from torch.utils.data._utils.collate import default_collate_fn_map

from ....names import getter
from ....pipeline import Pipeline
from ..torch_utils import to_torch

__all__ = ["DALIServer", "DataLoader"]


class DALIPipelineRunRef:
    """A batch: samples by the names of inputs until they are sent, then its id alone."""

    def __init__(self, batch_id: tuple[str, int]):
        self.batch_id = batch_id
        self.call_args: dict[str, list] = {}
        self.is_scheduled = False
        self.is_complete = False

    def __repr__(self) -> str:
        inputs = {name: len(samples) for name, samples in self.call_args.items()}
        state = f"is_complete={self.is_complete}, is_scheduled={self.is_scheduled}"
        return f"DALIPipelineRunRef(batch_id={self.batch_id}, samples={inputs}, {state})"


class DALIOutputSampleRef:
    """Stands for one sample of an output, until its batch is collated."""

    def __init__(self, proxy, pipe_run_ref: DALIPipelineRunRef, output_idx: int, sample_idx: int):
        self.proxy = proxy
        self.pipe_run_ref = pipe_run_ref
        self.output_idx = output_idx
        self.sample_idx = sample_idx

    def __repr__(self) -> str:
        place = f"output_idx={self.output_idx}, sample_idx={self.sample_idx}"
        return f"DALIOutputSampleRef({self.pipe_run_ref}, {place})"


class DALIOutputBatchRef:
    """Stands for one output of a batch, until `produce_data` puts the tensor in its place."""

    def __init__(self, pipe_run_ref: DALIPipelineRunRef, output_idx: int):
        self.pipe_run_ref = pipe_run_ref
        self.output_idx = output_idx

    def __repr__(self) -> str:
        return f"DALIOutputBatchRef({self.pipe_run_ref}, output_idx={self.output_idx})"


def _collate_dali_output_sample_ref_fn(samples, *, collate_fn_map=None) -> DALIOutputBatchRef:
    """Collates references to one output; the first output of a batch sends its samples."""
    first = samples[0]
    for place, sample in enumerate(samples):
        same = (sample.proxy, sample.pipe_run_ref, sample.output_idx)
        if same != (first.proxy, first.pipe_run_ref, first.output_idx):
            raise RuntimeError("samples of several batches, or of several outputs, are collated")
        if sample.sample_idx != place:
            raise RuntimeError(
                f"sample {sample.sample_idx} of a batch is collated as sample {place}: a batch is "
                "collated whole, and in the order in which the proxy was called"
            )
    run = first.pipe_run_ref
    run.is_complete = True
    if not first.proxy._deterministic and not run.is_scheduled:
        first.proxy._schedule_batch(run)
    return DALIOutputBatchRef(run, first.output_idx)


default_collate_fn_map[DALIOutputSampleRef] = _collate_dali_output_sample_ref_fn


class _Proxy:
    """What a dataset calls: takes a sample of each input, gives a reference to each output.

    One input may be given by position; several are given by name.
    """

    def __init__(self, names: list[str], num_outputs: int, requests: Any, deterministic: bool):
        self._names = names
        self._num_outputs = num_outputs
        self._requests = requests
        self._deterministic = deterministic
        kind = inspect.Parameter.KEYWORD_ONLY
        if len(names) == 1:
            kind = inspect.Parameter.POSITIONAL_OR_KEYWORD
        parameters = [inspect.Parameter(name, kind) for name in names]
        self._signature = inspect.Signature(parameters)
        self._local = threading.local()

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in self.__dict__.items() if name != "_local"}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state, _local=threading.local())

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        try:
            inputs = self._signature.bind(*args, **kwargs).arguments
        except TypeError as error:
            raise ValueError(f"the proxy takes {self._signature}: {error}") from None
        run = self._current_run()
        place = len(run.call_args.setdefault(self._names[0], []))
        for name, value in inputs.items():
            run.call_args.setdefault(name, []).append(value)
        references = tuple(
            DALIOutputSampleRef(self, run, output, place) for output in range(self._num_outputs)
        )
        return references[0] if len(references) == 1 else references

    def _current_run(self) -> DALIPipelineRunRef:
        """The batch that this thread fills; ids are unique over processes, forked ones too."""
        local = self._local
        if getattr(local, "process", None) != os.getpid():
            local.process, local.worker, local.count = os.getpid(), uuid.uuid4().hex, 0
            local.run = None
        if local.run is None or local.run.is_complete:
            local.run = DALIPipelineRunRef((local.worker, local.count))
            local.count += 1
        return local.run

    def _schedule_batch(self, run: DALIPipelineRunRef) -> None:
        self._requests.put((run.batch_id, run.call_args))
        run.call_args = {}
        run.is_scheduled = True


class DALIServer:
    """Runs a pipeline for the workers of a DataLoader; `with server:` starts and stops its thread.

    `pipeline`: one with named inputs (`fn.external_source(name=…)`). `deterministic`: batches run
    in the order in which the loop wants them, not in that in which workers are ready. `proxy` is
    the transform for datasets.
    """

    def __init__(self, pipeline: Pipeline, deterministic: bool = False):
        if not isinstance(pipeline, Pipeline):
            raise TypeError(f"a server runs a Pipeline, not a {type(pipeline).__name__}")
        self._pipe = pipeline
        self._thread: threading.Thread | None = None
        if getattr(pipeline, "_made_of_text", False):
            raise RuntimeError("a deserialized pipeline does not say the order of its inputs")
        pipeline._define()
        feeds = [feed for feed in pipeline._feeds if feed.options.get("source") is None]
        self._dali_input_names = [name for feed in feeds for name in feed.names]
        if not self._dali_input_names:
            raise RuntimeError("the pipeline has no inputs: name an external_source without source")
        # A queue of this context goes to workers of every start method; one of "fork" does not.
        self._dali_input_q = torch.multiprocessing.get_context("spawn").Queue()
        self._dali_output_q: queue.SimpleQueue = queue.SimpleQueue()
        self._cache_outputs: dict[tuple[str, int], tuple] = {}
        self._stop = threading.Event()
        self._deterministic = deterministic
        self._proxy = _Proxy(
            self._dali_input_names, pipeline._num_outputs or 1, self._dali_input_q, deterministic
        )

    @property
    def proxy(self) -> _Proxy:
        """The transform: called with a sample of each input, it gives references to outputs."""
        return self._proxy

    def start_thread(self) -> None:
        """Starts the thread that runs the pipeline; `with server:` does it as well."""
        if self._thread is not None:
            return
        self._pipe.build()
        self._stop = threading.Event()
        queues = self._dali_input_q, self._dali_output_q
        # Not a method: the thread does not keep the server alive.
        self._thread = threading.Thread(
            target=_serve, args=(self._pipe, *queues, self._stop), daemon=True
        )
        self._thread.start()

    def stop_thread(self) -> None:
        """Ends the thread, and forgets batches that nobody took."""
        thread, self._thread = self._thread, None
        if thread is None:
            return
        self._stop.set()
        self._dali_input_q.put(None)
        thread.join()
        self._dali_output_q = queue.SimpleQueue()
        self._cache_outputs = {}

    def _is_thread_running(self) -> bool:
        return self._thread is not None

    def __enter__(self) -> "DALIServer":
        self.start_thread()
        return self

    def __exit__(self, *_: Any) -> None:
        self.stop_thread()

    def __del__(self) -> None:
        # The thread is not waited for: at the end of the interpreter nothing wakes it.
        if self.__dict__.get("_thread") is not None and not sys.is_finalizing():
            self._stop.set()
            self._dali_input_q.put(None)

    def _get_outputs(self, run: DALIPipelineRunRef) -> tuple:
        """The tensors of a batch; raises what its run raised."""
        if self._thread is None:
            raise RuntimeError("the server does not run: `with server:`, or server.start_thread()")
        if not run.is_scheduled:
            self._proxy._schedule_batch(run)
        while run.batch_id not in self._cache_outputs:
            batch_id, outputs, error = self._dali_output_q.get()
            if batch_id is None:
                raise RuntimeError("the server was stopped while a batch was waited for")
            self._cache_outputs[batch_id] = (outputs, error)
        outputs, error = self._cache_outputs.pop(run.batch_id)
        if error is not None:
            raise error
        return outputs

    def produce_data(self, obj: Any) -> Any:
        """`obj` with tensors where it had references: in lists, tuples, dicts and attributes.

        Lists, dicts and objects are changed in place.
        """
        return self._produced(obj, {}, {})

    def _produced(self, obj: Any, runs: dict, seen: dict[int, Any]) -> Any:
        if isinstance(obj, DALIOutputBatchRef):
            batch_id = obj.pipe_run_ref.batch_id
            if batch_id not in runs:
                runs[batch_id] = self._get_outputs(obj.pipe_run_ref)
            return runs[batch_id][obj.output_idx]
        if id(obj) in seen:
            return seen[id(obj)]
        seen[id(obj)] = obj
        if isinstance(obj, list):
            obj[:] = [self._produced(one, runs, seen) for one in obj]
        elif isinstance(obj, tuple):
            made = [self._produced(one, runs, seen) for one in obj]
            if any(new is not old for new, old in zip(made, obj)):
                obj_type = type(obj)
                of_fields = getattr(obj_type, "_make", None)  # of a named tuple
                seen[id(obj)] = of_fields(made) if of_fields else obj_type(made)
        elif isinstance(obj, dict):
            for key, value in list(obj.items()):
                obj[key] = self._produced(value, runs, seen)
        elif not isinstance(obj, _LEAVES):
            for name, value in list(getattr(obj, "__dict__", {}).items()):
                made = self._produced(value, runs, seen)
                if made is not value:
                    setattr(obj, name, made)
        return seen[id(obj)]


_LEAVES = (torch.Tensor, type, _python_types.ModuleType, _python_types.FunctionType)


def _serve(pipe: Pipeline, requests: Any, results: queue.SimpleQueue, stop: threading.Event):
    """Feeds what is asked for, as many batches ahead as the pipeline prefetches."""
    depth = max(1, pipe._depth)
    scheduled: list[tuple[str, int]] = []
    while not stop.is_set():
        while len(scheduled) < depth:
            try:
                request = requests.get(block=not scheduled)
            except queue.Empty:
                break
            if request is None:  # stop_thread() woke this thread; an old call's is no news
                if stop.is_set():
                    break
                continue
            batch_id, inputs = request
            try:
                for name, samples in inputs.items():
                    pipe._queue(name, samples, copies=False)
                pipe._schedule_one()
                scheduled.append(batch_id)
            except Exception as error:
                for fed in pipe._fed.values():
                    fed.clear()
                results.put((batch_id, None, error))
        if scheduled and not stop.is_set():
            results.put((scheduled.pop(0), *_outputs(pipe)))
    while scheduled:  # what was fed is taken: the next thread begins anew
        _outputs(pipe)
        scheduled.pop()
    results.put((None, None, None))


def _outputs(pipe: Pipeline) -> tuple:
    """The tensors of the oldest scheduled batch and None, or None and what it raised."""
    try:
        outputs = pipe._take_outputs()
        return tuple(to_torch(one.as_tensor()._array) for one in outputs), None
    except Exception as error:
        return None, error


class DataLoader(torch.utils.data.DataLoader):
    """torch's DataLoader whose batches have tensors where the dataset had the proxy's references.

    `dali_server`: a DALIServer, which is started where it does not run; then torch's arguments.
    """

    def __init__(self, dali_server: DALIServer, *args: Any, **kwargs: Any):
        self.server_started_by_loader = False
        super().__init__(*args, **kwargs)
        self.dali_server = dali_server

    def ensure_server_listening(self) -> None:
        """Starts the server where it does not run."""
        if not self.dali_server._is_thread_running():
            self.dali_server.start_thread()
            self.server_started_by_loader = True

    def __iter__(self) -> Iterator[Any]:
        for batch in super().__iter__():
            self.ensure_server_listening()
            yield self.dali_server.produce_data(batch)

    def __del__(self) -> None:
        if self.server_started_by_loader and not sys.is_finalizing():
            self.dali_server.stop_thread()


__getattr__ = getter("plugin.pytorch.experimental.proxy")
