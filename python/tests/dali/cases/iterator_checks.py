"""Iterators by policy, size and shard, and checkpoints."""

import itertools
import warnings

from . import all_of, case, each
from .checking import numbers, pipe_of, refused

# Iterators.


def reader_pipe(m, size, batch_size=3, shards=1, shard=0, **reader):
    def define():
        data, label = m.fn.readers.file(
            file_root=m.files(size), name="r", num_shards=shards, shard_id=shard, **reader
        )
        return m.fn.slice(data, start=[0], shape=[1], axes=[0]), label

    return pipe_of(m, define, batch_size)


@each("FILL", "DROP", "PARTIAL")
def epochs(m, policy):
    forms = itertools.product((6, 7, 2), ("reader", "size"), (True, False, "pad"))
    return {
        "-".join(map(str, one)): m.attempt(lambda: two_epochs(m, policy, *one)) for one in forms
    }


def two_epochs(m, policy, size, how, pad):
    plugin = m.load("plugin.pytorch")
    base = m.load("plugin.base_iterator")
    pipe = reader_pipe(m, size, pad_last_batch=pad == "pad")
    given = (
        dict(reader_name="r")
        if how == "reader"
        else dict(size=size, last_batch_padded=pad == "pad")
    )
    found = []
    iterator = plugin.DALIGenericIterator(
        pipe,
        ["data", "label"],
        last_batch_policy=base.LastBatchPolicy[policy],
        auto_reset=pad is not False,
        **given,
    )
    for _ in range(2):
        found.append([one[0]["data"].flatten().tolist() for one in iterator])
        if pad is False:
            iterator.reset()
    try:
        found.append(len(iterator))
    except Exception as error:
        found.append(type(error).__name__)
    return found


@all_of(*itertools.product(("FILL", "DROP", "PARTIAL"), (True, False), (True, False)))
def sharded_epochs(m, form):
    policy, sticks, pads = form
    plugin = m.load("plugin.pytorch")
    base = m.load("plugin.base_iterator")
    found = []
    for shard in range(2):
        pipe = reader_pipe(m, 7, 2, 2, shard, stick_to_shard=sticks, pad_last_batch=pads)
        iterator = plugin.DALIGenericIterator(
            [pipe],
            ["data", "label"],
            reader_name="r",
            last_batch_policy=base.LastBatchPolicy[policy],
            auto_reset=True,
        )
        found.append([[one[0]["data"].flatten().tolist() for one in iterator] for _ in range(3)])
    return found


@case
def iterator_of_pipelines(m):
    plugin = m.load("plugin.pytorch")
    pipes = [reader_pipe(m, 8, 2, 2, i) for i in range(2)]
    iterator = plugin.DALIGenericIterator(pipes, ["data", "label"], reader_name="r")
    return [[two["data"].flatten().tolist() for two in one] for one in iterator]


@case
def iterator_unprepared(m):
    plugin = m.load("plugin.pytorch")
    iterator = plugin.DALIGenericIterator(
        reader_pipe(m, 4, 2), ["data", "label"], reader_name="r", prepare_first_batch=False
    )
    return [one[0]["label"].flatten().tolist() for one in iterator]


@case
def iterator_next(m):
    plugin = m.load("plugin.pytorch")
    iterator = plugin.DALIClassificationIterator(reader_pipe(m, 4, 2), reader_name="r")
    first = next(iterator)
    second = iterator.next()
    return [first[0]["data"], second[0]["label"], m.raises(lambda: next(iterator))]


@case
def iterator_ragged(m):
    plugin = m.load("plugin.pytorch")

    def define():
        return m.fn.external_source(
            source=lambda: [m.np.ones(i + 1, "float32") for i in range(3)]
        ), m.fn.external_source(source=lambda: numbers(m, 3))

    iterator = plugin.DALIRaggedIterator(
        pipe_of(m, define),
        ["a", "b"],
        output_types=[
            plugin.DALIRaggedIterator.SPARSE_LIST_TAG,
            plugin.DALIRaggedIterator.DENSE_TAG,
        ],
        size=3,
    )
    batch = next(iterator)[0]
    return [[one.tolist() for one in batch["a"]], batch["b"]]


@case
def iterator_names(m):
    plugin = m.load("plugin.pytorch")
    refused(
        m,
        Exception,
        "*",
        lambda: plugin.DALIGenericIterator(reader_pipe(m, 4), ["a", "a"], reader_name="r"),
    )


@case
def iterator_name_count(m):
    plugin = m.load("plugin.pytorch")
    refused(
        m,
        Exception,
        "*",
        lambda: next(plugin.DALIGenericIterator(reader_pipe(m, 4), ["a"], reader_name="r")),
    )


@case
def iterator_reader_unknown(m):
    plugin = m.load("plugin.pytorch")
    refused(
        m,
        Exception,
        "*",
        lambda: plugin.DALIGenericIterator(reader_pipe(m, 4), ["a", "b"], reader_name="nothing"),
    )


@case
def iterator_size_and_reader(m):
    plugin = m.load("plugin.pytorch")
    refused(
        m,
        AssertionError,
        "*",
        lambda: plugin.DALIGenericIterator(
            reader_pipe(m, 4), ["a", "b"], reader_name="r", size=4, last_batch_padded=True
        ),
    )


@case
def iterator_no_pipelines(m):
    plugin = m.load("plugin.pytorch")
    refused(
        m,
        AssertionError,
        "*umber of provided pipelines*",
        lambda: plugin.DALIGenericIterator([], ["a"]),
    )


@case
def iterator_reset_early(m):
    plugin = m.load("plugin.pytorch")
    iterator = plugin.DALIGenericIterator(reader_pipe(m, 6, 2), ["data", "label"], reader_name="r")
    first = [next(iterator)[0]["data"].flatten().tolist()]
    iterator.reset()
    return first + [one[0]["data"].flatten().tolist() for one in iterator]


@case
def iterator_unlimited(m):
    plugin = m.load("plugin.pytorch")
    define = lambda: m.fn.external_source(source=[numbers(m, 3)] * 2, cycle="raise")
    iterator = plugin.DALIGenericIterator(pipe_of(m, define), ["a"], auto_reset=True)
    return [[one[0]["a"].flatten().tolist() for one in iterator] for _ in range(2)]


@case
def iterator_dynamic_shapes(m):
    plugin = m.load("plugin.pytorch")
    shapes = iter([(2,), (3,), (1,), (5,)])
    define = lambda: m.fn.external_source(source=lambda: numbers(m, 3, next(shapes)))
    iterator = plugin.DALIGenericIterator(
        pipe_of(m, define, prefetch_queue_depth=1), ["a"], size=9, dynamic_shape=True
    )
    return [tuple(one[0]["a"].shape) for one in iterator]


@case
def iterator_policy_text(m):
    plugin = m.load("plugin.pytorch")
    refused(
        m,
        ValueError,
        "*",
        lambda: plugin.DALIGenericIterator(
            reader_pipe(m, 4), ["a", "b"], reader_name="r", last_batch_policy="FILL"
        ),
    )


@case
def iterator_old_arguments(m):
    plugin = m.load("plugin.pytorch")
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        iterator = plugin.DALIGenericIterator(
            reader_pipe(m, 7), ["a", "b"], reader_name="r", fill_last_batch=False
        )
    found = [one[0]["a"].flatten().tolist() for one in iterator]
    return [found, any("fill_last_batch" in str(one.message) for one in seen)]


# Checkpoints.


@case
def checkpoint_of_a_reader(m):
    def pipe(state=None):
        def define():
            return m.fn.readers.file(file_root=m.files(9), name="r", random_shuffle=True, seed=4)[0]

        made = pipe_of(m, define, 2, enable_checkpointing=True, checkpoint=state)
        made.build()
        return made

    first = pipe()
    for _ in range(3):
        first.run()
    second = pipe(first.checkpoint())
    return [m.plain(first.run()) == m.plain(second.run()) for _ in range(6)]


@case
def checkpoint_of_draws(m):
    def pipe(state=None):
        define = lambda: m.fn.random.normal(shape=[2])
        return pipe_of(m, define, 2, enable_checkpointing=True, checkpoint=state, seed=3)

    first = pipe()
    first.run()
    second = pipe(first.checkpoint())
    return [m.plain(first.run()) == m.plain(second.run()), second.is_restored_from_checkpoint]


@case
def checkpoint_disabled(m):
    pipe = pipe_of(m, lambda: m.fn.random.normal())
    pipe.build()
    refused(m, (RuntimeError, ValueError), "*heckpointing*enabled*", pipe.checkpoint)


@case
def checkpoint_of_an_iterator(m):
    plugin = m.load("plugin.pytorch")

    def iterator(state=None):
        def define():
            return m.fn.readers.file(file_root=m.files(8), name="r")[0][:1]

        pipe = pipe_of(m, define, 2, enable_checkpointing=True, checkpoint=state)
        return plugin.DALIGenericIterator(pipe, ["a"], reader_name="r", auto_reset=True)

    first = iterator()
    next(first), next(first)
    second = iterator(first.checkpoints()[0])
    return [one[0]["a"].flatten().tolist() for one in second]


@case
def checkpoint_garbage(m):
    define = lambda: m.fn.random.normal()
    refused(
        m,
        RuntimeError,
        "*",
        lambda: pipe_of(m, define, enable_checkpointing=True, checkpoint=b"xx").build(),
    )


@case
def checkpoint_of_another(m):
    first = pipe_of(m, lambda: m.fn.random.normal(), enable_checkpointing=True)
    first.build()
    refused(
        m,
        RuntimeError,
        "*",
        lambda: pipe_of(
            m,
            lambda: (m.fn.random.normal(), m.fn.random.coin_flip()),
            enable_checkpointing=True,
            checkpoint=first.checkpoint(),
        ).build(),
    )
