"""`nvidia.dali.plugin.base_iterator`: what the iterators of all frameworks share.

An iterator counts samples per pipeline. With `reader_name` it knows the shard that each pipeline
reads in this epoch; readers that do not pad go on into the next shard to fill a batch, and what
they read ahead is subtracted from the next epoch.
"""

from __future__ import annotations

import json
import logging
import math
import warnings
from enum import Enum, unique
from typing import Any, Callable

import numpy as np

from ..names import getter
from ..types import PipelineAPIType

_log = logging.getLogger("galatea")


@unique
class LastBatchPolicy(Enum):
    """What becomes of the last batch of an epoch where samples do not fill it.

    FILL: filled by the reader (its last sample again, or the next epoch's first ones); DROP: left
    out; PARTIAL: cut to the samples of the epoch.
    """

    FILL = 0
    DROP = 1
    PARTIAL = 2


_AUTO_RESET = {False: "no", None: "no", "no": "no", True: "yes", "yes": "yes"}
_SAVED = ("_counter", "_counter_per_gpu", "_shard_sizes_per_gpu", "_shards_id", "_size")


class _DaliBaseIterator:
    """Counts, ends epochs and begins them.

    `pipelines`: one or a list, of one batch size; `size`: samples of an epoch over all pipelines,
    -1 where `reader_name` or a source's end says; `reader_name`: the reader whose epoch counts;
    `auto_reset`: "yes" begins the next epoch where one ended, else `reset()` or `iter()` does;
    `last_batch_padded`: the reader repeats its last sample (with `size` alone);
    `last_batch_policy`; `prepare_first_batch`: the first batch is made at once.
    """

    def __init__(
        self,
        pipelines: Any,
        size: int = -1,
        reader_name: str | None = None,
        auto_reset: Any = False,
        fill_last_batch: bool | None = None,
        last_batch_padded: bool = False,
        last_batch_policy: LastBatchPolicy = LastBatchPolicy.FILL,
        prepare_first_batch: bool = True,
    ):
        assert pipelines is not None, "an iterator needs at least one pipeline"
        pipes = pipelines if isinstance(pipelines, list) else [pipelines]
        self._pipes = pipes
        self._num_gpus = len(pipes)
        self.batch_size = pipes[0].max_batch_size
        for pipe in pipes:
            assert pipe.max_batch_size == self.batch_size, "the pipelines have other batch sizes"
        try:
            self._auto_reset = _AUTO_RESET[auto_reset]
        except (KeyError, TypeError):
            raise ValueError(f"`auto_reset` is 'yes' or 'no', not {auto_reset!r}") from None
        if fill_last_batch is not None:
            warnings.warn("`fill_last_batch` is old: use `last_batch_policy`", stacklevel=3)
            fills = LastBatchPolicy.FILL if fill_last_batch else LastBatchPolicy.PARTIAL
            last_batch_policy = fills
        elif type(last_batch_policy) is not LastBatchPolicy:
            raise ValueError(
                "`last_batch_policy` is a LastBatchPolicy, not a "
                f"{type(last_batch_policy).__name__}"
            )
        self._last_batch_policy = last_batch_policy
        self._last_batch_padded = last_batch_padded
        self._prepare_first_batch = prepare_first_batch
        self._size = int(size)
        assert self._size != 0, "`size` cannot be 0"
        assert (
            self._size > 0 or len(pipes) == 1 or reader_name
        ), "several pipelines need `reader_name` or `size`"
        assert not reader_name or self._size < 0, "`reader_name` says the size: leave `size` out"
        assert (
            not reader_name or not last_batch_padded
        ), "`reader_name` says whether the reader pads: leave `last_batch_padded` out"
        if self._size < 0 and not reader_name:
            self._last_batch_policy, self._last_batch_padded = LastBatchPolicy.FILL, False
        if self._size > 0:
            warnings.warn("`size` is old: use `reader_name`", stacklevel=3)
        self._reader_name = reader_name
        self._counter = 0
        for pipe in pipes:
            with pipe._check_api_type_scope(PipelineAPIType.ITERATOR):
                pipe.build()
        if reader_name:
            self._ask_readers()
        self._ever_scheduled = False
        self._ever_consumed = False
        self._enable_checkpointing = pipes[0]._enable_checkpointing
        for pipe in pipes:
            if pipe._enable_checkpointing != self._enable_checkpointing:
                raise ValueError("`enable_checkpointing` is the same for all pipelines")
        self._initial_checkpoints: list[bytes] = []
        if self._enable_checkpointing:
            self._restore()
            state = self._saved()
            self._initial_checkpoints = [pipe._get_checkpoint(state) for pipe in pipes]

    # Sizes.

    @property
    def size(self) -> int:
        """Samples of the epoch that is counted, rounded as the policy says; -1: not known."""
        return self._size

    def _ask_readers(self) -> None:
        metas = [pipe.reader_meta(self._reader_name) for pipe in self._pipes]
        for key in ("epoch_size", "number_of_shards", "pad_last_batch", "stick_to_shard"):
            values = {meta[key] for meta in metas}
            assert len(values) == 1, f"the readers of the pipelines differ in `{key}`: {values}"
        meta = metas[0]
        self._size_no_pad = meta["epoch_size"]
        self._shards_num = meta["number_of_shards"]
        self._last_batch_padded = bool(meta["pad_last_batch"])
        self._is_stick_to_shard = bool(meta["stick_to_shard"])
        self._shards_id = np.array([meta["shard_id"] for meta in metas], np.int64)
        if self._last_batch_policy is LastBatchPolicy.DROP:
            self._size = self._size_no_pad // self._shards_num
        elif self._last_batch_padded:
            self._size = meta["epoch_size_padded"] // self._shards_num
        else:
            self._size = self._whole_batches(math.ceil(self._size_no_pad / self._shards_num))
        # How far each shard was read into by what the epoch before read ahead.
        self._counter_per_gpu = np.zeros(self._shards_num, np.int64)
        bounds = np.arange(self._shards_num + 1) * self._size_no_pad // self._shards_num
        self._shard_sizes_per_gpu = np.diff(bounds).astype(np.int64)
        self._shard_sizes_per_gpu_initial = self._shard_sizes_per_gpu.copy()

    def _whole_batches(self, samples: int) -> int:
        return math.ceil(samples / self.batch_size) * self.batch_size

    def __len__(self) -> int:
        step = self.batch_size if self._reader_name else self._num_gpus * self.batch_size
        if self._last_batch_policy is LastBatchPolicy.DROP:
            return self._size // step
        return math.ceil(self._size / step)

    # Batches.

    def _get_outputs(self) -> list:
        if not self._ever_scheduled:
            self._schedule_runs(False)
        if 0 < self._size <= self._counter:
            self._end_iteration()
        try:
            outputs = []
            for pipe in self._pipes:
                with pipe._check_api_type_scope(PipelineAPIType.ITERATOR):
                    outputs.append(pipe.share_outputs())
        except StopIteration:
            if self._size < 0 and self._auto_reset == "yes":
                self.reset()
            raise
        if self._reader_name or self._size != -1:
            for lists in outputs:
                for one in lists:
                    assert (
                        len(one) == self.batch_size
                    ), "batches of other sizes do not go with `reader_name` or `size`"
        return outputs

    def _end_iteration(self) -> None:
        if self._auto_reset == "yes":
            self.reset()
        raise StopIteration

    def _schedule_runs(self, release_outputs: bool = True) -> None:
        self._ever_scheduled = True
        for pipe in self._pipes:
            with pipe._check_api_type_scope(PipelineAPIType.ITERATOR):
                if release_outputs:
                    pipe.release_outputs()
                pipe.schedule_run()

    def _advance_and_check_drop_last(
        self, dry_run: bool = False, end_iteration: bool = True
    ) -> bool:
        """Counts a batch; whether it is one that the policy DROP leaves out."""
        drops = self._last_batch_policy is LastBatchPolicy.DROP
        if self._reader_name:
            counter = self._counter + self.batch_size
            ends = drops and bool(
                np.any(self._counter_per_gpu + counter > self._shard_sizes_per_gpu)
            )
        else:
            counter = self._counter + self._num_gpus * self.batch_size
            ends = drops and counter > self._size
        if not dry_run:
            self._counter = counter
            if ends and end_iteration:
                self._end_iteration()
        return ends

    def _remove_padded(self) -> tuple[Any, Any]:
        """Whether PARTIAL cuts the batch of each pipeline, and to how many samples."""
        if self._last_batch_policy is not LastBatchPolicy.PARTIAL:
            return False, -1
        read = self._counter - self._shard_sizes_per_gpu_initial[self._shards_id]
        left = self.batch_size - read
        return left < self.batch_size, left

    def _cut(self, batches: list, cut: Callable = lambda value, count: value[:count]) -> list:
        """What the policy PARTIAL leaves of the batches of all pipelines, dictionaries all."""
        if self._reader_name:
            is_cut, left = self._remove_padded()
            if not np.any(is_cut):
                return batches
            return [
                {name: cut(value, int(count)) for name, value in batch.items()}
                for batch, count in zip(batches, left)
            ]
        is_partial = self._last_batch_policy is LastBatchPolicy.PARTIAL
        if not is_partial or not 0 < self._size < self._counter:
            return batches
        left = self._num_gpus * self.batch_size - (self._counter - self._size)
        kept = batches[: math.ceil(left / self.batch_size)]
        rest = left % self.batch_size or self.batch_size
        kept[-1] = {name: cut(value, rest) for name, value in kept[-1].items()}
        return kept

    def _make_batch(self) -> Any:
        """The next batch of all pipelines, as the framework's iterator gives it."""
        raise NotImplementedError

    def _prepare(self) -> None:
        """Makes the first batch, which the first `next` gives, unless that was refused."""
        self._first_batch: Any = None
        if not self._prepare_first_batch:
            return
        try:
            self._first_batch = self._make_batch()
        except StopIteration:
            self._report_no_data_in_pipeline()

    def _take_batch(self) -> Any:
        self._ever_consumed = True
        batch, self._first_batch = self._first_batch, None
        return self._make_batch() if batch is None else batch

    # Epochs.

    def reset(self) -> None:
        """Begins the next epoch, at the end of one; before it the call is ignored."""
        if self._last_batch_policy is LastBatchPolicy.DROP:
            # The loop ended at the length of the epoch, and its last batch is still there.
            is_due = self._advance_and_check_drop_last(dry_run=True, end_iteration=False)
            if is_due and not 0 < self._size <= self._counter:
                self._get_outputs()
                self._schedule_runs()
                self._advance_and_check_drop_last(end_iteration=False)
        if self._counter < self._size and self._size >= 0:
            _log.warning("an iterator begins anew only at the end of its epoch; reset() is ignored")
            return
        fills = self._last_batch_policy is LastBatchPolicy.FILL and not self._last_batch_padded
        if not fills:
            self._counter = 0
        elif self._reader_name:
            read = self._counter - int(min(self._counter_per_gpu))
            self._counter_per_gpu = self._counter_per_gpu + read - self._shard_sizes_per_gpu
            self._counter = int(min(self._counter_per_gpu))
        else:
            self._counter = self._counter % self._size
        if self._reader_name:
            if not self._is_stick_to_shard:
                self._shards_id = (self._shards_id + 1) % self._shards_num
            if fills:
                self._begin_filled()
        for pipe in self._pipes:
            pipe.reset()
            if pipe.empty():
                with pipe._check_api_type_scope(PipelineAPIType.ITERATOR):
                    pipe.schedule_run()

    def _begin_filled(self) -> None:
        """The size of the next epoch, of which some samples were read already."""
        if not self._is_stick_to_shard:
            self._shard_sizes_per_gpu = np.roll(self._shard_sizes_per_gpu, 1)
        left = self._shard_sizes_per_gpu - self._counter_per_gpu
        self._size = self._whole_batches(int(max(left)))
        if self._size == 0:  # all of it was read ahead: it is skipped
            self._counter_per_gpu = np.zeros(self._shards_num, np.int64)
            self._counter = 0
            self._shard_sizes_per_gpu = np.roll(self._shard_sizes_per_gpu, 1)
            self._size = self._whole_batches(int(max(self._shard_sizes_per_gpu)))

    def __iter__(self):
        if self._counter != 0 and self._ever_consumed:
            self.reset()
        return self

    def next(self) -> Any:
        """The next batch."""
        self._ever_consumed = True
        return self.__next__()

    def __next__(self) -> Any:
        return self._take_batch()

    def _report_no_data_in_pipeline(self) -> None:
        restored = [pipe for pipe in self._pipes if pipe.is_restored_from_checkpoint]
        if len(restored) == len(self._pipes) and not all(p._first_iter for p in restored):
            return
        raise RuntimeError(
            "the pipelines have no data: a shard may hold fewer samples than a batch"
        )

    # Checkpoints.

    def _saved(self) -> str:
        values = {name: getattr(self, name) for name in _SAVED if hasattr(self, name)}
        return json.dumps(
            {
                name: value.tolist() if isinstance(value, np.ndarray) else int(value)
                for name, value in values.items()
            }
        )

    def _restore(self) -> None:
        states = [p._iterator_data for p in self._pipes if p.is_restored_from_checkpoint]
        if not states:
            return
        if len(states) < len(self._pipes) or any(state != states[0] for state in states):
            _log.warning("the pipelines were restored from checkpoints that do not go together")
        if not states[0]:
            _log.warning("the checkpoint is that of a pipeline, not of an iterator")
            return
        for name, value in json.loads(states[0]).items():
            if hasattr(self, name):
                is_list = isinstance(value, list)
                setattr(self, name, np.asarray(value, np.int64) if is_list else value)

    def checkpoints(self) -> list[bytes]:
        """A checkpoint for each pipeline; pipelines made with them go on with the next batch."""
        if not self._enable_checkpointing:
            raise ValueError("checkpoints need pipelines with enable_checkpointing=True")
        if not self._ever_consumed:
            return self._initial_checkpoints
        state = self._saved()
        return [pipe._get_checkpoint(state) for pipe in self._pipes]


__getattr__ = getter("plugin.base_iterator")
