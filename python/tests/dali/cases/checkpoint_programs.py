"""Programs that stop, and go on from a checkpoint."""

import itertools

from . import case, each
from .programs import messages, numbers, settings


@case
def sources_warn_of_checkpoints(m):
    def body(source):
        @m.pipeline_def(**settings(enable_checkpointing=True))
        def made():
            return m.fn.external_source(source=source)

        return messages(lambda: made().build())

    return [
        body([numbers(m)]),
        body(iter([numbers(m)])),
        body(lambda: numbers(m)),
        body(lambda i: numbers(m)),
    ]


CHECKPOINTS = {
    f"{mode}-{epoch}x{batch}-{steps}": (mode, epoch, batch, steps)
    for mode in ("idx", "batch_info", "sample_info")
    for (epoch, batch), steps in itertools.product(((1, 1), (3, 4)), (0, 3, 7))
}


@each(**CHECKPOINTS)
def checkpoints_of_callables(m, what):
    mode, epoch, batch, steps = what

    def source(info):
        if mode == "idx":
            if info >= epoch:
                raise StopIteration
            return [m.np.array([info, i]) for i in range(batch)]
        if mode == "batch_info":
            if info.iteration >= epoch:
                raise StopIteration
            return [m.np.array([info.epoch_idx, info.iteration, i]) for i in range(batch)]
        if info.idx_in_epoch >= epoch * batch:
            raise StopIteration
        return m.np.array([info.epoch_idx, info.iteration, info.idx_in_epoch, info.idx_in_batch])

    def make(**more):
        pipe = m.Pipeline(
            batch_size=batch, num_threads=1, device_id=None, enable_checkpointing=True, **more
        )
        with pipe:
            pipe.set_outputs(
                m.fn.external_source(
                    source=source, batch=mode != "sample_info", batch_info=mode == "batch_info"
                )
            )
        pipe.build()
        return pipe

    def step(pipe):
        try:
            return m.plain(pipe.run())
        except StopIteration:
            pipe.reset()
            return m.plain(pipe.run())

    pipe = make()
    for _ in range(steps):
        step(pipe)
    again = make(checkpoint=pipe.checkpoint())
    return [[step(pipe), step(again)] for _ in range(2 * epoch)]


READERS = {
    "one": (1, 3, 0, 1, True, False, False, True, None),
    "two_shards": (2, 4, 0, 2, True, False, False, True, 1),
    "sticks": (1, 3, 1, 2, False, False, True, True, None),
    "after_epoch": (2, 3, 0, 1, False, True, False, True, None),
    "after_epoch_shard": (1, 2, 1, 3, False, True, False, True, 1),
    "not_padded": (2, 4, 1, 2, False, False, False, False, 2),
    "not_padded_drawn": (3, 3, 0, 2, True, False, False, False, 1),
    "sticks_drawn": (2, 2, 1, 2, True, False, True, False, 1),
    "from_the_start": (0, 4, 2, 4, True, False, False, False, 0),
}


@each(**READERS)
def checkpoints_of_readers(m, what):
    epochs, batch, shard, shards, shuffled, after, sticks, padded, into = what

    def make(**more):
        pipe = m.Pipeline(
            batch_size=batch,
            num_threads=2,
            device_id=None,
            enable_checkpointing=True,
            seed=7,
            **more,
        )
        with pipe:
            pipe.set_outputs(
                *m.fn.readers.file(
                    name="Reader",
                    file_root=m.files(13),
                    pad_last_batch=padded,
                    random_shuffle=shuffled,
                    shard_id=shard,
                    num_shards=shards,
                    shuffle_after_epoch=after,
                    stick_to_shard=sticks,
                    initial_fill=5,
                )
            )
        pipe.build()
        return pipe

    pipe = make()
    steps = -(-(pipe.reader_meta("Reader")["epoch_size_padded"] // shards) // batch)
    for _ in range(max(epochs - 1, 0) * steps + (into if into is not None else steps)):
        pipe.run()
    again = make(checkpoint=pipe.checkpoint())
    return [m.plain(pipe.run()) == m.plain(again.run()) for _ in range((shards + 1) * steps)]


@each(0, 1, 2, 5)
def checkpoints_of_two_readers(m, steps):
    def make(**more):
        pipe = m.Pipeline(1, 2, None, enable_checkpointing=True, seed=3, **more)
        with pipe:
            a, _ = m.fn.readers.file(name="a", file_root=m.files(2), random_shuffle=True)
            b, _ = m.fn.readers.file(name="b", file_root=m.files(3), random_shuffle=True)
            pipe.set_outputs(a + b, m.fn.random.uniform(shape=[3]))
        pipe.build()
        return pipe

    pipe = make()
    for _ in range(steps):
        pipe.run()
    again = make(checkpoint=pipe.checkpoint())
    return [m.plain(pipe.run()) == m.plain(again.run()) for _ in range(12)]
