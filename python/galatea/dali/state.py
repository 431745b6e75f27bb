"""What the parts of a `Pipeline` share, for readers and type checkers.

`Pipeline` is put together of parts that run it, save it and know its readers; its constructor fills
these attributes.
"""

from __future__ import annotations

import collections
from typing import TYPE_CHECKING, Any

from .external_source import Feed
from .types import PipelineAPIType


class State:
    """Attributes and methods that the parts of a pipeline use of each other."""

    _is_debug = False

    # Options.
    _max_batch_size: int | None
    _num_threads: int | None
    _device_id: int | None
    _seed: int | None
    _depth: int
    _given_depth: Any
    _exec_pipelined: bool
    _exec_async: bool
    _enable_checkpointing: bool
    _checkpoint: bytes | None
    _py_num_workers: int
    _py_start_method: str
    _py_callback_pickler: Any
    _outputs_given: tuple

    # What was traced.
    _recorder: Any  # a stages.PythonRecorder, or a debug_recorder.DebugRecorder
    _input_nodes: dict[Any, str]
    _feeds: list[Feed]
    _readers: dict[str, tuple[dict, dict]]
    _graph_out: Any
    _made: Any  # a galatea.Pipeline: of all, or of what precedes functions of Python
    _plan: Any  # a stages.Plan, where functions of Python are called
    _results: list  # of a plan: the nodes that are outputs
    _common: dict[str, Any]  # arguments for the compiler of the plan's other programs
    _num_outputs: int | None
    _enumerations: list  # whose members an output holds: enumerations.py

    # What runs.
    _program: Any
    _session: Any
    _staged: Any  # a staged.Staged, where functions of Python are called
    _pool: Any
    _full: Any  # values.FullBatches
    _inputs: set[str]
    _fed: dict[str, collections.deque]
    _feeding: Any  # a threading.Condition: something was fed
    _last_fed: dict[str, Any]
    _has_fed: bool
    _metas: dict[str, dict]

    # Where it stands.
    _api: PipelineAPIType | None
    _first_iter: bool
    _last_iter: bool
    _to_consume: int
    _epoch_idx: int
    _consumed: int
    _iterator_data: str
    _state_before: tuple[str, int]  # where what is taken next of the session begins
    _delivered: tuple[str, int]  # where the next outputs begin

    if TYPE_CHECKING:

        def build(self) -> None:
            """Of `Running`."""

        def iter_setup(self) -> None:
            """Of `Pipeline`."""

        def _define(self) -> None: ...

        def _restore(self, saved: dict) -> None: ...

        def _for_each_output(self, value: Any) -> list: ...

        def _next_batch(self) -> Any: ...

        # Of `DebugPipeline`, where `_is_debug`.

        def _fetch(self, options: dict[str, Any], at: Any) -> Any: ...

        def _nodes_of(self, inputs: tuple, keywords: dict) -> tuple[tuple, dict]: ...
