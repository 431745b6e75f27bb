"""Pipelines, feeds, iterators, tensors and nodes, as programs ask and check them."""

import fnmatch
import itertools
import warnings

from . import each

CHECKS = {}


def check(function):
    """Registers a check below; its name is the case's."""
    CHECKS[function.__name__] = function
    return function


def refused(m, kinds, glob, function):
    """Asserts the class and the words of what a function raises."""
    try:
        function()
    except kinds as error:
        assert fnmatch.fnmatchcase(str(error), glob), str(error)
        return
    raise AssertionError("nothing was raised")


def numbers(m, count, shape=(2,), dtype="int32"):
    return [m.np.full(shape, i, dtype) for i in range(count)]


def pipe_of(m, define, batch_size=3, **options):
    options = dict(num_threads=1, device_id=None, **options)
    return m.pipeline_def(batch_size=batch_size, **options)(define)()


def firsts(m, outputs):
    return [int(m.np.array(one).ravel()[0]) for one in outputs]


# Pipelines.


@check
def pipe_options(m):
    pipe = m.Pipeline(batch_size=5, num_threads=2, device_id=None, seed=3, prefetch_queue_depth=4)
    return [
        pipe.batch_size,
        pipe.max_batch_size,
        pipe.num_threads,
        pipe.device_id,
        pipe.seed,
        pipe.prefetch_queue_depth,
        pipe.exec_pipelined,
        pipe.exec_async,
        pipe.exec_separated,
        pipe.exec_dynamic,
    ]


@check
def pipe_more_options(m):
    pipe = m.Pipeline(4, 1, None, exec_dynamic=False)
    return [
        pipe.cpu_queue_size,
        pipe.gpu_queue_size,
        pipe.set_affinity,
        pipe.py_num_workers,
        pipe.py_start_method,
        pipe.enable_memory_stats,
        pipe.is_restored_from_checkpoint,
        pipe.enable_conditionals if hasattr(pipe, "enable_conditionals") else None,
    ]


@check
def built_twice(m):
    pipe = pipe_of(m, lambda: m.types.Constant(3))
    pipe.build()
    pipe.build()
    return firsts(m, pipe.run()[0])


@check
def run_without_build(m):
    return firsts(m, pipe_of(m, lambda: m.types.Constant(3)).run()[0])


@check
def outputs_of_a_name(m):
    def define():
        return m.fn.external_source(source=[numbers(m, 3)] * 2, name="numbers") + 1

    pipe = pipe_of(m, define)
    pipe.build()
    return [pipe.output_dtype(), pipe.output_ndim(), pipe.num_outputs]


@check
def output_description(m):
    pipe = m.Pipeline(2, 1, None, output_dtype=[m.types.INT32], output_ndim=[1])
    with pipe:
        pipe.set_outputs(m.fn.external_source(source=[numbers(m, 2)]))
    return [pipe.run()[0].shape(), pipe.output_dtype(), pipe.output_ndim()]


@check
def wrong_output_dtype(m):
    pipe = m.Pipeline(2, 1, None, output_dtype=m.types.FLOAT)
    with pipe:
        pipe.set_outputs(m.fn.external_source(source=[numbers(m, 2)]))
    refused(m, RuntimeError, "*Data type*does not match*", pipe.run)


@check
def wrong_output_ndim(m):
    pipe = m.Pipeline(2, 1, None, output_ndim=3)
    with pipe:
        pipe.set_outputs(m.fn.external_source(source=[numbers(m, 2)]))
    refused(m, RuntimeError, "*imension*does not match*", pipe.run)


@check
def output_dtype_count(m):
    pipe = m.Pipeline(2, 1, None, output_dtype=[m.types.FLOAT, m.types.FLOAT])
    with pipe:
        pipe.set_outputs(m.fn.external_source(source=[numbers(m, 2)]))
    refused(m, RuntimeError, "*", pipe.run)


@check
def negative_output_ndim(m):
    refused(m, ValueError, "*negative*", lambda: m.Pipeline(2, 1, None, output_ndim=-1))


@check
def no_type_as_output_dtype(m):
    refused(m, ValueError, "*", lambda: m.Pipeline(2, 1, None, output_dtype=m.types.NO_TYPE))


@check
def wrong_output_dtype_kind(m):
    refused(m, TypeError, "*", lambda: m.Pipeline(2, 1, None, output_dtype="int"))


@check
def seed_gives_the_same(m):
    def drawn(seed):
        define = lambda: m.fn.random.uniform(range=(0, 1), shape=[3])
        return m.plain(pipe_of(m, define, seed=seed).run()[0])

    return [drawn(5) == drawn(5), drawn(5) == drawn(6)]


@check
def operator_seed(m):
    def define():
        return [m.fn.random.uniform(range=(0, 1), seed=4) for _ in range(2)]

    a, b = pipe_of(m, lambda: tuple(define())).run()
    return m.plain(a) == m.plain(b)


@check
def serialized(m):
    def define():
        return m.fn.external_source(name="data") * 2

    text = pipe_of(m, define).serialize()
    other = m.Pipeline.deserialize(text, batch_size=2, num_threads=1, device_id=None)
    other.feed_input("data", numbers(m, 2))
    return [isinstance(text, (bytes, str)), firsts(m, other.run()[0]), other.max_batch_size]


@check
def serialized_file(m):
    path = str(m.path("pipe.bin"))
    pipe_of(m, lambda: m.fn.random.coin_flip(probability=1.0)).serialize(filename=path)
    other = m.Pipeline.deserialize(filename=path, batch_size=4, num_threads=1, device_id=None)
    return firsts(m, other.run()[0])


@check
def serialized_with_python(m):
    pipe = pipe_of(m, lambda: m.fn.external_source(source=lambda: numbers(m, 3)))
    text = pipe.serialize()
    other = m.Pipeline.deserialize(text)
    refused(m, (RuntimeError, KeyError), "*", other.run)


@check
def deserialize_nothing(m):
    refused(m, ValueError, "*", lambda: m.Pipeline.deserialize())


@check
def deserialize_both(m):
    refused(
        m, ValueError, "*", lambda: m.Pipeline.deserialize(b"", filename="a")
    )


@check
def deserialize_garbage(m):
    refused(m, RuntimeError, "*", lambda: m.Pipeline.deserialize(b"garbage").build())


@check
def pipeline_in_pipeline(m):
    with m.Pipeline(2, 1, None) as first:
        with m.Pipeline(3, 1, None) as second:
            seen = m.Pipeline.current() is second
            second.set_outputs(m.types.Constant(1))
        first.set_outputs(m.types.Constant(2))
    return [seen, firsts(m, first.run()[0]), firsts(m, second.run()[0])]


@check
def no_current(m):
    return m.Pipeline.current()


@check
def node_outside(m):
    refused(m, RuntimeError, "*", lambda: m.fn.random.coin_flip())


@check
def constant_outside(m):
    return repr(type(m.types.Constant(3)).__name__)


@check
def nodes_of_two_pipelines(m):
    with m.Pipeline(2, 1, None):
        node = m.fn.random.uniform(range=(0, 1))
    with m.Pipeline(2, 1, None) as other:
        other.set_outputs(node + 1)
    refused(m, RuntimeError, "*different pipeline*", other.build)


@check
def outputs_missing(m):
    with m.Pipeline(2, 1, None) as pipe:
        m.fn.random.uniform(range=(0, 1))
    refused(m, (RuntimeError, NotImplementedError), "*", pipe.build)


@check
def nested_output(m):
    refused(
        m,
        TypeError,
        "*output 0 contains a nested `DataNode`*",
        lambda: pipe_of(m, lambda: ([m.types.Constant(3), m.fn.random.coin_flip()],)).build(),
    )


@check
def unsupported_output(m):
    refused(m, TypeError, "*output 0*", lambda: pipe_of(m, lambda: object()).build())


@check
def duplicate_outputs(m):
    def define():
        node = m.fn.external_source(source=[numbers(m, 3)])
        return node, node

    a, b = pipe_of(m, define).run()
    return [firsts(m, a), firsts(m, b)]


@check
def constant_outputs(m):
    a, b, c = pipe_of(m, lambda: (1, 2.5, m.np.array([1, 2], "uint8"))).run()
    return [a, b, c]


@check
def number_of_threads_missing(m):
    refused(
        m,
        (RuntimeError, ValueError),
        "*",
        lambda: m.pipeline_def(lambda: m.types.Constant(1))(num_threads=1, device_id=None).build(),
    )


@check
def batch_size_zero(m):
    refused(m, Exception, "*", lambda: pipe_of(m, lambda: m.types.Constant(1), 0).build())


@check
def batch_size_negative(m):
    refused(m, Exception, "*", lambda: pipe_of(m, lambda: m.types.Constant(1), -2).build())


@check
def threads_zero(m):
    pipe = m.pipeline_def(batch_size=1, num_threads=0, device_id=None)(lambda: m.types.Constant(1))
    refused(m, Exception, "*", lambda: pipe().build())


@check
def arguments_of_a_definition(m):
    @m.pipeline_def(num_threads=1, device_id=None)
    def define(value, more=2, *, last=3):
        return m.types.Constant(value), m.types.Constant(more), m.types.Constant(last)

    pipe = define(7, last=9, batch_size=2)
    return [firsts(m, one) for one in pipe.run()]


@check
def definition_with_kwargs(m):
    def define():
        @m.pipeline_def(batch_size=1, num_threads=1, device_id=None)
        def inner(**kwargs):
            return m.types.Constant(kwargs["a"])

        return inner(a=3)

    refused(m, TypeError, "*variadic keyword*", define)


@check
def definition_with_args(m):
    @m.pipeline_def(batch_size=1, num_threads=1, device_id=None)
    def inner(*args):
        return tuple(m.types.Constant(a) for a in args)

    return [firsts(m, one) for one in inner(3, 4).run()]


@check
def option_named_as_argument(m):
    @m.pipeline_def(batch_size=1, num_threads=1, device_id=None)
    def inner(max_batch_size, seed):
        return m.types.Constant(max_batch_size)

    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        try:
            pipe = inner(max_batch_size=3, seed=1)
        except Exception as error:
            return type(error).__name__
    return [pipe.max_batch_size, len(seen) > 0]


@check
def names_of_a_definition(m):
    @m.pipeline_def
    def documented():
        """What it makes."""
        return m.types.Constant(1)

    return [documented.__name__, documented.__doc__]


@check
def schedule_and_share(m):
    pipe = pipe_of(m, lambda: m.fn.external_source(name="x"), prefetch_queue_depth=1)
    pipe.build()
    found = []
    for i in range(3):
        pipe.feed_input("x", numbers(m, 3, (i + 1,)))
        pipe.schedule_run()
        found.append(pipe.share_outputs()[0].shape())
        pipe.release_outputs()
    return found


@check
def outputs_after_run(m):
    pipe = pipe_of(m, lambda: m.fn.external_source(name="x"))
    pipe.feed_input("x", numbers(m, 3))
    pipe.feed_input("x", numbers(m, 3, (4,)))
    first = pipe.run()
    second = pipe.run()
    return [second[0].shape(), len(first)]


@check
def run_with_keywords(m):
    pipe = pipe_of(m, lambda: (m.fn.external_source(name="x") + m.fn.external_source(name="y")), prefetch_queue_depth=1)
    pipe.build()
    return [firsts(m, pipe.run(x=numbers(m, 3), y=numbers(m, 3))[0]) for _ in range(2)]


@check
def run_with_a_missing_input(m):
    pipe = pipe_of(m, lambda: (m.fn.external_source(name="x") + m.fn.external_source(name="y")), prefetch_queue_depth=1)
    pipe.build()
    refused(m, (RuntimeError, ValueError), "*", lambda: pipe.run(x=numbers(m, 3)))


@check
def run_with_an_unknown_input(m):
    pipe = pipe_of(m, lambda: m.fn.external_source(name="x") + 1, prefetch_queue_depth=1)
    pipe.build()
    refused(m, (RuntimeError, KeyError, ValueError), "*nothing*", lambda: pipe.run(nothing=numbers(m, 3)))


@check
def feed_forms(m):
    found = []
    for feed in (
        m.np.arange(6, dtype="int32").reshape(3, 2),
        list(m.np.arange(6, dtype="int32").reshape(3, 2)),
        m.tensors.TensorListCPU(m.np.arange(6, dtype="int32").reshape(3, 2)),
        [m.tensors.TensorCPU(one) for one in numbers(m, 3)],
        m.tensors.TensorCPU(m.np.arange(6, dtype="int32").reshape(3, 2)),
        m.np.arange(3, dtype="float32"),
    ):
        pipe = pipe_of(m, lambda: m.fn.external_source(name="x"))
        pipe.build()
        pipe.feed_input("x", feed)
        found.append(m.plain(pipe.run()[0]))
    return found


@check
def feed_layout(m):
    pipe = pipe_of(m, lambda: m.fn.external_source(name="x"))
    pipe.build()
    pipe.feed_input("x", numbers(m, 3, (2, 3)), layout="HW")
    return pipe.run()[0].layout()


@check
def feed_layout_wrong(m):
    pipe = pipe_of(m, lambda: m.fn.external_source(name="x", layout="HWC"))
    pipe.build()

    def run():
        pipe.feed_input("x", numbers(m, 3, (2, 3)))
        pipe.run()

    refused(m, RuntimeError, "*", run)


@check
def feed_ndim_wrong(m):
    pipe = pipe_of(m, lambda: m.fn.external_source(name="x", ndim=3))
    pipe.build()

    def run():
        pipe.feed_input("x", numbers(m, 3, (2, 3)))
        pipe.run()

    refused(m, RuntimeError, "*xpected data with 3 dimensions*2*", run)


@check
def feed_dtype_wrong(m):
    pipe = pipe_of(m, lambda: m.fn.external_source(name="x", dtype=m.types.FLOAT))
    pipe.build()

    def run():
        pipe.feed_input("x", numbers(m, 3, (2, 3)))
        pipe.run()

    refused(m, RuntimeError, "*xpected data of type float*int32*", run)


@check
def feed_too_many(m):
    pipe = pipe_of(m, lambda: m.fn.external_source(name="x"))
    pipe.build()

    def run():
        pipe.feed_input("x", numbers(m, 5))
        pipe.run()

    refused(m, (RuntimeError, ValueError), "*", run)


@check
def feed_fewer(m):
    pipe = pipe_of(m, lambda: m.fn.external_source(name="x") + 1, prefetch_queue_depth=1)
    pipe.build()
    found = []
    for count in (3, 1, 2):
        pipe.feed_input("x", numbers(m, count))
        found.append(firsts(m, pipe.run()[0]))
    return found


@check
def feed_mixed_types(m):
    pipe = pipe_of(m, lambda: m.fn.external_source(name="x"), 2)
    pipe.build()
    refused(
        m,
        (RuntimeError, ValueError, TypeError),
        "*",
        lambda: pipe.feed_input("x", [m.np.zeros(2, "uint8"), m.np.zeros(2, "float32")]),
    )


@check
def feed_unknown(m):
    pipe = pipe_of(m, lambda: m.fn.external_source(name="x"))
    pipe.build()
    refused(m, KeyError, "*\"y\"*", lambda: pipe.feed_input("y", numbers(m, 3)))


@check
def feed_not_an_input(m):
    pipe = pipe_of(m, lambda: m.fn.random.uniform(range=(0, 1), name="u"))
    pipe.build()
    refused(m, (RuntimeError, KeyError), "*", lambda: pipe.feed_input("u", numbers(m, 3)))


@check
def input_counts(m):
    pipe = pipe_of(m, lambda: m.fn.external_source(name="x"), prefetch_queue_depth=3)
    pipe.build()
    return pipe.input_feed_count("x")


@check
def reader_meta(m):
    def define():
        return m.fn.readers.file(file_root=m.files(7), name="r", shard_id=1, num_shards=3)[0]

    pipe = pipe_of(m, define)
    pipe.build()
    return [pipe.reader_meta("r"), sorted(pipe.reader_meta()), pipe.epoch_size("r"), pipe.epoch_size()]


@check
def reader_meta_unknown(m):
    pipe = pipe_of(m, lambda: m.types.Constant(1))
    pipe.build()
    return pipe.reader_meta()


@check
def epoch_size_unknown(m):
    pipe = pipe_of(m, lambda: m.types.Constant(1))
    pipe.build()
    refused(m, (KeyError, RuntimeError), "*", lambda: pipe.epoch_size("nothing"))


@check
def statistics(m):
    pipe = pipe_of(m, lambda: m.fn.cast(m.types.Constant(1), dtype=m.types.FLOAT, name="c"), enable_memory_stats=True)
    pipe.build()
    pipe.run()
    found = pipe.executor_statistics()
    return [type(found).__name__, bool(found), all("max_real_memory_size" in one for one in found.values())]


@check
def subclass(m):
    class Mine(m.Pipeline):
        def __init__(self):
            super().__init__(3, 1, None, seed=1)
            self.cast = m.ops.Cast(dtype=m.types.FLOAT)
            self.source = m.ops.ExternalSource()

        def define_graph(self):
            self.data = self.source()
            return self.cast(self.data)

        def iter_setup(self):
            self.feed_input(self.data, numbers(m, 3))

    pipe = Mine()
    pipe.build()
    return [pipe.run()[0] for _ in range(2)]


@check
def graph_without_a_definition(m):
    refused(m, (NotImplementedError, RuntimeError), "*", lambda: m.Pipeline(3, 1, None).build())


# Sources.


def source_case(name, make, count=3, batch_size=3):
    @check
    def run(m):
        pipe = pipe_of(m, lambda: make(m), batch_size)
        pipe.build()
        found = []
        for _ in range(count):
            try:
                found.append([m.plain(one) for one in pipe.run()])
            except StopIteration:
                found.append("stop")
                pipe.reset()
        return found

    CHECKS["source_" + name] = CHECKS.pop("run")


class Samples:
    """A source of one sample for each call."""

    def __init__(self, np, count):
        self.np, self.count = np, count

    def __call__(self, info):
        if info.idx_in_epoch >= self.count:
            raise StopIteration
        return self.np.array(
            [info.idx_in_epoch, info.idx_in_batch, info.iteration, info.epoch_idx], "int32"
        )


class Counter:
    """An iterable that counts its epochs."""

    def __init__(self, np, count):
        self.np, self.count, self.epoch, self.at = np, count, 0, 0

    def __iter__(self):
        self.epoch, self.at = self.epoch + 1, 0
        return self

    def __next__(self):
        if self.at == self.count:
            raise StopIteration
        self.at += 1
        return [self.np.array([self.epoch, self.at, i], "int32") for i in range(3)]


source_case("samples", lambda m: m.fn.external_source(source=Samples(m.np, 7), batch=False), 6)
source_case("samples_fit", lambda m: m.fn.external_source(source=Samples(m.np, 6), batch=False), 6)
source_case("counter", lambda m: m.fn.external_source(source=Counter(m.np, 2)), 6)
source_case("counter_quiet", lambda m: m.fn.external_source(source=Counter(m.np, 2), cycle=True), 5)
source_case(
    "counter_raise", lambda m: m.fn.external_source(source=Counter(m.np, 2), cycle="raise"), 6
)
source_case(
    "generator",
    lambda m: m.fn.external_source(source=lambda: (numbers(m, 3, (i,)) for i in (1, 2)), cycle="quiet"),
    4,
)
source_case(
    "batch_info",
    lambda m: m.fn.external_source(
        source=lambda info: m.np.array([[info.iteration, info.epoch_idx]] * 3, "int32"),
        batch_info=True,
    ),
)
source_case(
    "batch_number",
    lambda m: m.fn.external_source(source=lambda i: m.np.full((3, 2), i, "int32")),
)
source_case(
    "two_outputs",
    lambda m: tuple(
        m.fn.external_source(
            source=lambda: (numbers(m, 3), numbers(m, 3, (2, 2), "float32")),
            num_outputs=2,
            layout=["A", "HW"],
            dtype=[m.types.INT32, m.types.FLOAT],
            ndim=[1, 2],
        )
    ),
)
source_case(
    "one_of_one",
    lambda m: m.fn.external_source(source=lambda: (numbers(m, 3),), num_outputs=1)[0],
)
source_case("list", lambda m: m.fn.external_source(source=[numbers(m, 3), numbers(m, 3, (4,))]), 4)
source_case(
    "samples_of_iterables",
    lambda m: m.fn.external_source(source=iter(numbers(m, 12)), batch=False),
    4,
)
source_case("ragged", lambda m: m.fn.external_source(source=lambda: [m.np.ones(i) for i in range(3)]))
source_case(
    "scalars", lambda m: m.fn.external_source(source=lambda: m.np.arange(3, dtype="int64")) * 2, 1
)
source_case(
    "constant_batch",
    lambda m: m.fn.external_source(source=lambda: [m.np.int16(3)] * 3),
    1,
)
source_case(
    "blocking", lambda m: m.fn.external_source(source=lambda: numbers(m, 3), blocking=True), 1
)
source_case(
    "no_copy", lambda m: m.fn.external_source(source=lambda: numbers(m, 3), no_copy=True), 1
)
source_case(
    "two_sources",
    lambda m: (
        m.fn.external_source(source=[numbers(m, 3)] * 4),
        m.fn.external_source(source=[numbers(m, 3, (1,))] * 2),
    ),
    4,
)
source_case(
    "number_of_samples_differs",
    lambda m: (
        m.fn.external_source(source=[numbers(m, 3)] * 4),
        m.fn.external_source(source=[numbers(m, 2)] * 2),
    ),
    1,
)


class OpsSource:
    pass


@check
def source_of_a_class(m):
    def define():
        source = m.ops.ExternalSource(source=lambda: (numbers(m, 3), numbers(m, 3)), num_outputs=2)
        a, b = source()
        return a + b

    return pipe_of(m, define).run()[0]


@check
def source_raises(m):
    def broken():
        raise KeyError("the reason")

    pipe = pipe_of(m, lambda: m.fn.external_source(source=broken))
    pipe.build()
    refused(m, KeyError, "*the reason*", pipe.run)


@check
def source_gives_nothing(m):
    pipe = pipe_of(m, lambda: m.fn.external_source(source=lambda: None))
    pipe.build()
    refused(m, (TypeError, RuntimeError), "*", pipe.run)


@check
def source_count_of_outputs(m):
    pipe = pipe_of(m, lambda: m.fn.external_source(source=lambda: [numbers(m, 3)] * 3, num_outputs=2)[0])
    pipe.build()
    refused(m, (IndexError, RuntimeError, ValueError), "*", pipe.run)


# Iterators.


def reader_pipe(m, size, batch_size=3, shards=1, shard=0, **reader):
    def define():
        data, label = m.fn.readers.file(
            file_root=m.files(size), name="r", num_shards=shards, shard_id=shard, **reader
        )
        return m.fn.slice(data, start=[0], shape=[1], axes=[0]), label

    return pipe_of(m, define, batch_size)


POLICIES = list(
    itertools.product(
        ("FILL", "DROP", "PARTIAL"), (6, 7, 2), ("reader", "size"), (True, False, "pad")
    )
)


@each(**{"-".join(map(str, one)): one for one in POLICIES})
def epochs(m, form):
    policy, size, how, pad = form
    plugin = m.load("plugin.pytorch")
    base = m.load("plugin.base_iterator")
    pipe = reader_pipe(m, size, pad_last_batch=pad == "pad")
    given = dict(reader_name="r") if how == "reader" else dict(size=size, last_batch_padded=pad == "pad")
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


@each(*itertools.product(("FILL", "DROP", "PARTIAL"), (True, False), (True, False)))
def sharded_epochs(m, form):
    policy, sticks, pads = form
    plugin = m.load("plugin.pytorch")
    base = m.load("plugin.base_iterator")
    found = []
    for shard in range(2):
        pipe = reader_pipe(
            m, 7, 2, 2, shard, stick_to_shard=sticks, pad_last_batch=pads
        )
        iterator = plugin.DALIGenericIterator(
            [pipe],
            ["data", "label"],
            reader_name="r",
            last_batch_policy=base.LastBatchPolicy[policy],
            auto_reset=True,
        )
        found.append([[one[0]["data"].flatten().tolist() for one in iterator] for _ in range(3)])
    return found


@check
def iterator_of_pipelines(m):
    plugin = m.load("plugin.pytorch")
    pipes = [reader_pipe(m, 8, 2, 2, i) for i in range(2)]
    iterator = plugin.DALIGenericIterator(pipes, ["data", "label"], reader_name="r")
    return [[two["data"].flatten().tolist() for two in one] for one in iterator]


@check
def iterator_unprepared(m):
    plugin = m.load("plugin.pytorch")
    iterator = plugin.DALIGenericIterator(
        reader_pipe(m, 4, 2), ["data", "label"], reader_name="r", prepare_first_batch=False
    )
    return [one[0]["label"].flatten().tolist() for one in iterator]


@check
def iterator_next(m):
    plugin = m.load("plugin.pytorch")
    iterator = plugin.DALIClassificationIterator(reader_pipe(m, 4, 2), reader_name="r")
    first = next(iterator)
    second = iterator.next()
    return [first[0]["data"], second[0]["label"], m.raises(lambda: next(iterator))]


@check
def iterator_ragged(m):
    plugin = m.load("plugin.pytorch")

    def define():
        return m.fn.external_source(source=lambda: [m.np.ones(i + 1, "float32") for i in range(3)]), m.fn.external_source(source=lambda: numbers(m, 3))

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


@check
def iterator_ragged_dense(m):
    plugin = m.load("plugin.pytorch")
    define = lambda: m.fn.external_source(source=lambda: [m.np.ones(i + 1) for i in range(3)])
    refused(
        m,
        RuntimeError,
        "*uniform shapes*",
        lambda: next(plugin.DALIGenericIterator(pipe_of(m, define), ["a"])),
    )


@check
def iterator_names(m):
    plugin = m.load("plugin.pytorch")
    refused(
        m,
        Exception,
        "*",
        lambda: plugin.DALIGenericIterator(reader_pipe(m, 4), ["a", "a"], reader_name="r"),
    )


@check
def iterator_name_count(m):
    plugin = m.load("plugin.pytorch")
    refused(
        m,
        Exception,
        "*",
        lambda: next(plugin.DALIGenericIterator(reader_pipe(m, 4), ["a"], reader_name="r")),
    )


@check
def iterator_reader_unknown(m):
    plugin = m.load("plugin.pytorch")
    refused(
        m,
        Exception,
        "*",
        lambda: plugin.DALIGenericIterator(reader_pipe(m, 4), ["a", "b"], reader_name="nothing"),
    )


@check
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


@check
def iterator_no_pipelines(m):
    plugin = m.load("plugin.pytorch")
    refused(
        m, AssertionError, "*umber of provided pipelines*", lambda: plugin.DALIGenericIterator([], ["a"])
    )


@check
def iterator_reset_early(m):
    plugin = m.load("plugin.pytorch")
    iterator = plugin.DALIGenericIterator(reader_pipe(m, 6, 2), ["data", "label"], reader_name="r")
    first = [next(iterator)[0]["data"].flatten().tolist()]
    iterator.reset()
    return first + [one[0]["data"].flatten().tolist() for one in iterator]


@check
def iterator_unlimited(m):
    plugin = m.load("plugin.pytorch")
    define = lambda: m.fn.external_source(source=[numbers(m, 3)] * 2, cycle="raise")
    iterator = plugin.DALIGenericIterator(pipe_of(m, define), ["a"], auto_reset=True)
    return [[one[0]["a"].flatten().tolist() for one in iterator] for _ in range(2)]


@check
def iterator_dynamic_shapes(m):
    plugin = m.load("plugin.pytorch")
    shapes = iter([(2,), (3,), (1,), (5,)])
    define = lambda: m.fn.external_source(source=lambda: numbers(m, 3, next(shapes)))
    iterator = plugin.DALIGenericIterator(
        pipe_of(m, define, prefetch_queue_depth=1), ["a"], size=9, dynamic_shape=True
    )
    return [tuple(one[0]["a"].shape) for one in iterator]


@check
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


@check
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


@check
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


@check
def checkpoint_of_draws(m):
    def pipe(state=None):
        define = lambda: m.fn.random.normal(shape=[2])
        return pipe_of(m, define, 2, enable_checkpointing=True, checkpoint=state, seed=3)

    first = pipe()
    first.run()
    second = pipe(first.checkpoint())
    return [m.plain(first.run()) == m.plain(second.run()), second.is_restored_from_checkpoint]


@check
def checkpoint_disabled(m):
    pipe = pipe_of(m, lambda: m.fn.random.normal())
    pipe.build()
    refused(m, (RuntimeError, ValueError), "*heckpointing*enabled*", pipe.checkpoint)


@check
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


@check
def checkpoint_garbage(m):
    define = lambda: m.fn.random.normal()
    refused(
        m,
        RuntimeError,
        "*",
        lambda: pipe_of(m, define, enable_checkpointing=True, checkpoint=b"xx").build(),
    )


@check
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


# Tensors and tensor lists.


@check
def list_forms(m):
    t = m.tensors.TensorListCPU([m.np.full((2, 3), i, "uint8") for i in range(3)], layout="HW")
    return [
        len(t), t.dtype, t.layout(), t.shape(), t.is_dense_tensor(), t.at(1), t[2], t[-1],
        t.as_array(), t.as_tensor(), t.as_reshaped_tensor([3, 6]), [m.np.array(o).sum() for o in t],
    ]


@check
def list_of_ragged(m):
    t = m.tensors.TensorListCPU([m.np.ones((i, 3), "float32") for i in range(3)])
    return [t.shape(), t.is_dense_tensor(), m.raises(t.as_array), m.raises(t.as_tensor), m.raises(lambda: m.np.array(t))]


@check
def list_index_error(m):
    t = m.tensors.TensorListCPU(m.np.ones((2, 3)))
    refused(m, IndexError, "*out of range*", lambda: t[5])


@check
def list_at_error(m):
    t = m.tensors.TensorListCPU(m.np.ones((2, 3)))
    refused(m, (IndexError, RuntimeError), "*out*of*range*", lambda: t.at(5))


@check
def list_layout_error(m):
    refused(
        m, (RuntimeError, ValueError), "*", lambda: m.tensors.TensorListCPU(m.np.ones((2, 3)), layout="HWC")
    )


@check
def list_types_error(m):
    refused(
        m,
        (TypeError, RuntimeError, ValueError),
        "*",
        lambda: m.tensors.TensorListCPU([m.np.ones(2, "uint8"), m.np.ones(2, "int32")]),
    )


@check
def list_ndim_error(m):
    refused(
        m,
        (TypeError, RuntimeError, ValueError),
        "*",
        lambda: m.tensors.TensorListCPU([m.np.ones(2), m.np.ones((2, 2))]),
    )


@check
def list_text(m):
    t = m.tensors.TensorListCPU(m.np.arange(4, dtype="int32").reshape(2, 2), layout="X")
    return [str(t), repr(t)]


@check
def tensor_text(m):
    t = m.tensors.TensorCPU(m.np.arange(4, dtype="float32").reshape(2, 2), layout="XY")
    return [str(t), repr(t)]


@check
def tensor_forms(m):
    t = m.tensors.TensorCPU(m.np.arange(6, dtype="int16").reshape(2, 3), layout="HW")
    return [
        t.shape(), t.dtype, t.layout(), m.np.array(t), m.np.asarray(t).dtype.name,
        t.squeeze() is not None, t.source_info(), isinstance(t.data_ptr(), int),
    ]


@check
def tensor_shares_memory(m):
    source = m.np.zeros(3, "int32")
    t = m.tensors.TensorCPU(source)
    source[1] = 7
    return m.np.array(t)


@check
def tensor_interface(m):
    t = m.tensors.TensorCPU(m.np.arange(6, dtype="int32").reshape(2, 3))
    one = t.__array_interface__
    return [sorted(one), list(one["shape"]), len(one["data"])]


@check
def tensor_copied_out(m):
    import ctypes

    t = m.tensors.TensorCPU(m.np.arange(6, dtype="int32"))
    target = m.np.zeros(6, "int32")
    t.copy_to_external(ctypes.c_void_p(target.ctypes.data))
    return target


@check
def list_copied_out(m):
    import ctypes

    t = m.tensors.TensorListCPU(m.np.arange(6, dtype="int32").reshape(3, 2))
    target = m.np.zeros(6, "int32")
    t.copy_to_external(ctypes.c_void_p(target.ctypes.data))
    return target


@check
def tensor_of_dlpack(m):
    torch = __import__("torch")
    return m.tensors.TensorCPU(torch.utils.dlpack.to_dlpack(torch.arange(6).reshape(2, 3)), "AB")


@check
def list_of_dlpack(m):
    torch = __import__("torch")
    return m.tensors.TensorListCPU(torch.utils.dlpack.to_dlpack(torch.arange(6).reshape(2, 3)), "A")


@check
def list_to_torch(m):
    torch = __import__("torch")
    t = m.tensors.TensorListCPU(m.np.arange(6, dtype="int32").reshape(3, 2))
    return [torch.from_dlpack(t.as_tensor()), torch.from_dlpack(t[1])]


@check
def list_as_cpu(m):
    t = m.tensors.TensorListCPU(m.np.arange(6, dtype="int32").reshape(3, 2), layout="X")
    return [t.as_cpu() is t, t[0].as_cpu().shape(), hasattr(t, "as_gpu"), hasattr(t, "_as_gpu")]


@check
def list_of_a_generator(m):
    refused(
        m, (TypeError, RuntimeError), "*", lambda: m.tensors.TensorListCPU(m.np.ones(2) for _ in "ab")
    )


@check
def list_of_other_tensors(m):
    t = m.tensors.TensorListCPU([m.tensors.TensorCPU(m.np.ones((2, i), "uint8"), "HW") for i in (1, 2)])
    return [t.layout(), t.shape()]


@check
def list_empty(m):
    t = m.tensors.TensorListCPU([])
    return [len(t), t.shape(), t.layout()]


@check
def outputs_as_tuple(m):
    found = pipe_of(m, lambda: (m.types.Constant(1), m.types.Constant(2))).run()
    return [type(found).__name__, len(found), type(found[0]).__name__]


@check
def types_of_kinds(m):
    return [
        m.types.to_numpy_type(m.types.INT16)().dtype.name,
        str(m.types.DALIDataType.FLOAT),
        m.types.DALIInterpType.INTERP_TRIANGULAR.name,
        m.types.SampleInfo(3, 1, 2, 0).idx_in_epoch,
        m.types.BatchInfo(2, 1).iteration,
    ]


# Nodes.


@check
def node_text(m):
    with m.Pipeline(2, 1, None):
        node = m.fn.random.uniform(range=(0, 1), name="u")
        return [str(node), repr(node), node.name, node.device]


@check
def node_shape(m):
    def define():
        x = m.fn.external_source(source=lambda: numbers(m, 3, (2, 5)))
        return x.shape(), x.shape(dtype=m.types.FLOAT), x.property("layout")

    return pipe_of(m, define).run()


@check
def node_source_info(m):
    def define():
        x, _ = m.fn.readers.file(file_root=m.files(3))
        return x.property("source_info")

    return [bytes(m.np.array(o)).decode()[-9:] for o in pipe_of(m, define).run()[0]]


@check
def node_cpu(m):
    return pipe_of(m, lambda: m.types.Constant(3).cpu() if hasattr(m.types.Constant(3), "cpu") else m.fn.random.coin_flip(probability=1.0).cpu()).run()[0]


@check
def node_gpu(m):
    refused(
        m, RuntimeError, "*", lambda: pipe_of(m, lambda: m.fn.random.coin_flip().gpu()).build()
    )


@check
def node_hash(m):
    with m.Pipeline(2, 1, None):
        node = m.fn.random.uniform(range=(0, 1))
        return [len({node, node}), isinstance(hash(node), int)]


@check
def node_conditional(m):
    def define():
        x = m.fn.external_source(source=lambda: numbers(m, 3, ()))
        if x > 1:
            y = x * 10
        else:
            y = -x
        return y

    refused(m, TypeError, "*conditional*", lambda: pipe_of(m, define).build())


@check
def constants(m):
    return list(pipe_of(m, lambda: tuple(m.types.Constant(*a, **k) for a, k in [
        ((3,), {}), ((2.5,), {}), ((True,), {}), (([1, 2, 3],), {}), (((1.5, 2),), {}),
        ((m.np.uint8([[1, 2]]),), {}), ((3,), dict(dtype=m.types.UINT8)),
        (([1, 2, 3, 4],), dict(shape=(2, 2))), ((2,), dict(shape=[3])),
        ((m.np.zeros((2, 2, 1), "float32"),), dict(layout="HWC")),
    ])).run())


# Functions of Python.


@check
def python_function_forms(m):
    def define():
        x = m.fn.external_source(source=lambda: numbers(m, 3))
        a = m.fn.python_function(x, function=lambda x: x * 2)
        b, c = m.fn.python_function(x, x, function=lambda x, y: (x + y, m.np.array([x.sum()])), num_outputs=2)
        d = m.fn.python_function(x, function=lambda xs: [x + len(xs) for x in xs], batch_processing=True)
        return a, b, c, d

    return pipe_of(m, define, exec_async=False, exec_pipelined=False).run()


@check
def python_function_raises(m):
    def broken(x):
        raise ValueError("the reason")

    define = lambda: m.fn.python_function(m.types.Constant([1.0]), function=broken)
    pipe = pipe_of(m, define, exec_async=False, exec_pipelined=False)
    pipe.build()
    refused(m, RuntimeError, "*ValueError: the reason*", pipe.run)


@check
def python_function_no_outputs(m):
    seen = []

    def define():
        x = m.fn.external_source(source=lambda: numbers(m, 3))
        m.fn.python_function(x, function=lambda x: seen.append(int(x[0])), num_outputs=0, preserve=True)
        return x

    pipe_of(m, define, exec_async=False, exec_pipelined=False).run()
    return seen


@check
def python_function_wrong_type(m):
    define = lambda: m.fn.python_function(m.types.Constant([1.0]), function=lambda x: "abc")
    pipe = pipe_of(m, define, exec_async=False, exec_pipelined=False)
    pipe.build()
    refused(m, (RuntimeError, TypeError), "*", pipe.run)


@check
def python_function_no_callable(m):
    refused(
        m,
        (TypeError, RuntimeError),
        "*",
        lambda: pipe_of(m, lambda: m.fn.python_function(m.types.Constant([1.0]), function=3)).run(),
    )


@check
def dlpack_function(m):
    torch = __import__("torch")
    from_, to = torch.utils.dlpack.from_dlpack, torch.utils.dlpack.to_dlpack

    def define():
        x = m.fn.external_source(source=lambda: numbers(m, 3))
        return m.fn.dl_tensor_python_function(
            x, function=lambda xs: [to(from_(x) + 1) for x in xs], batch_processing=True
        )

    return pipe_of(m, define, exec_async=False, exec_pipelined=False).run()


def scalars(m):
    return m.fn.external_source(source=lambda: [m.np.array(i, "int32") for i in range(3)])


def if_greater(m):
    x = scalars(m)
    if x > 1:
        y = x * 10
    else:
        y = -x
    return y


def if_both(m):
    x = scalars(m)
    if x > 0 and x < 2:
        y = x + 100
    elif x == 0:
        y = x + 200
    else:
        y = x + 300
    return y


def if_not(m):
    x = scalars(m)
    y = x
    if not x == 1:
        y = y + 5
    return y


def if_nested(m):
    x = scalars(m)
    if x > 0:
        if x > 1:
            y = x * 2
        else:
            y = x * 3
    else:
        y = x - 1
    return y, x


def if_undefined(m):
    x = scalars(m)
    if x > 0:
        y = x
    return y


def if_types(m):
    x = scalars(m)
    if x > 0:
        y = m.fn.cast(x, dtype=m.types.FLOAT)
    else:
        y = x
    return y


def if_row(m):
    x = m.fn.external_source(source=lambda: numbers(m, 3))
    if x > 1:
        x = x + 1
    return x


def if_returns(m):
    x = scalars(m)
    if x > 1:
        return x * 2
    else:
        return x


def if_and_number(m):
    x = scalars(m)
    if x and x > 1:
        x = x + 1
    return x


def if_loops(m):
    x = scalars(m)
    for i in range(3):
        if x > i:
            x = x + 1
    return x


def if_constant(m):
    x = scalars(m)
    if x > 1:
        y = 1
    else:
        y = 7
    return y


@each(
    **{
        one.__name__: one
        for one in (
            if_greater,
            if_both,
            if_not,
            if_nested,
            if_undefined,
            if_types,
            if_row,
            if_returns,
            if_and_number,
            if_loops,
            if_constant,
        )
    }
)
def branches(m, define):
    pipe = m.pipeline_def(
        batch_size=3, num_threads=1, device_id=None, enable_conditionals=True
    )(define)(m)
    return list(pipe.run())


@each(**CHECKS)
def checked(m, function):
    return function(m)
