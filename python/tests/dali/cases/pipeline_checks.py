"""Pipelines: options, definitions, serialization, feeds, and what a run may be asked."""

import warnings

from . import case
from .checking import firsts, numbers, pipe_of, refused

# Pipelines.


@case
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


@case
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


@case
def built_twice(m):
    pipe = pipe_of(m, lambda: m.types.Constant(3))
    pipe.build()
    pipe.build()
    return firsts(m, pipe.run()[0])


@case
def run_without_build(m):
    return firsts(m, pipe_of(m, lambda: m.types.Constant(3)).run()[0])


@case
def outputs_of_a_name(m):
    def define():
        return m.fn.external_source(source=[numbers(m, 3)] * 2, name="numbers") + 1

    pipe = pipe_of(m, define)
    pipe.build()
    return [pipe.output_dtype(), pipe.output_ndim(), pipe.num_outputs]


@case
def output_description(m):
    pipe = m.Pipeline(2, 1, None, output_dtype=[m.types.INT32], output_ndim=[1])
    with pipe:
        pipe.set_outputs(m.fn.external_source(source=[numbers(m, 2)]))
    return [pipe.run()[0].shape(), pipe.output_dtype(), pipe.output_ndim()]


@case
def wrong_output_dtype(m):
    pipe = m.Pipeline(2, 1, None, output_dtype=m.types.FLOAT)
    with pipe:
        pipe.set_outputs(m.fn.external_source(source=[numbers(m, 2)]))
    refused(m, RuntimeError, "*Data type*does not match*", pipe.run)


@case
def wrong_output_ndim(m):
    pipe = m.Pipeline(2, 1, None, output_ndim=3)
    with pipe:
        pipe.set_outputs(m.fn.external_source(source=[numbers(m, 2)]))
    refused(m, RuntimeError, "*imension*does not match*", pipe.run)


@case
def output_dtype_count(m):
    pipe = m.Pipeline(2, 1, None, output_dtype=[m.types.FLOAT, m.types.FLOAT])
    with pipe:
        pipe.set_outputs(m.fn.external_source(source=[numbers(m, 2)]))
    refused(m, RuntimeError, "*", pipe.run)


@case
def negative_output_ndim(m):
    refused(m, ValueError, "*negative*", lambda: m.Pipeline(2, 1, None, output_ndim=-1))


@case
def no_type_as_output_dtype(m):
    refused(m, ValueError, "*", lambda: m.Pipeline(2, 1, None, output_dtype=m.types.NO_TYPE))


@case
def wrong_output_dtype_kind(m):
    refused(m, TypeError, "*", lambda: m.Pipeline(2, 1, None, output_dtype="int"))


@case
def seed_gives_the_same(m):
    def drawn(seed):
        define = lambda: m.fn.random.uniform(range=(0, 1), shape=[3])
        return m.plain(pipe_of(m, define, seed=seed).run()[0])

    return [drawn(5) == drawn(5), drawn(5) == drawn(6)]


@case
def operator_seed(m):
    def define():
        return [m.fn.random.uniform(range=(0, 1), seed=4) for _ in range(2)]

    a, b = pipe_of(m, lambda: tuple(define())).run()
    return m.plain(a) == m.plain(b)


@case
def serialized(m):
    def define():
        return m.fn.external_source(name="data") * 2

    text = pipe_of(m, define).serialize()
    other = m.Pipeline.deserialize(text, batch_size=2, num_threads=1, device_id=None)
    other.feed_input("data", numbers(m, 2))
    return [isinstance(text, (bytes, str)), firsts(m, other.run()[0]), other.max_batch_size]


@case
def serialized_file(m):
    path = str(m.path("pipe.bin"))
    pipe_of(m, lambda: m.fn.random.coin_flip(probability=1.0)).serialize(filename=path)
    other = m.Pipeline.deserialize(filename=path, batch_size=4, num_threads=1, device_id=None)
    return firsts(m, other.run()[0])


@case
def serialized_with_python(m):
    pipe = pipe_of(m, lambda: m.fn.external_source(source=lambda: numbers(m, 3)))
    text = pipe.serialize()
    other = m.Pipeline.deserialize(text)
    refused(m, (RuntimeError, KeyError), "*", other.run)


@case
def deserialize_nothing(m):
    refused(m, ValueError, "*", lambda: m.Pipeline.deserialize())


@case
def deserialize_both(m):
    refused(m, ValueError, "*", lambda: m.Pipeline.deserialize(b"", filename="a"))


@case
def deserialize_garbage(m):
    refused(m, RuntimeError, "*", lambda: m.Pipeline.deserialize(b"garbage").build())


@case
def pipeline_in_pipeline(m):
    with m.Pipeline(2, 1, None) as first:
        with m.Pipeline(3, 1, None) as second:
            seen = m.Pipeline.current() is second
            second.set_outputs(m.types.Constant(1))
        first.set_outputs(m.types.Constant(2))
    return [seen, firsts(m, first.run()[0]), firsts(m, second.run()[0])]


@case
def no_current(m):
    return m.Pipeline.current()


@case
def constant_outside(m):
    return repr(type(m.types.Constant(3)).__name__)


@case
def outputs_missing(m):
    with m.Pipeline(2, 1, None) as pipe:
        m.fn.random.uniform(range=(0, 1))
    refused(m, (RuntimeError, NotImplementedError), "*", pipe.build)


@case
def nested_output(m):
    refused(
        m,
        TypeError,
        "*output 0 contains a nested `DataNode`*",
        lambda: pipe_of(m, lambda: ([m.types.Constant(3), m.fn.random.coin_flip()],)).build(),
    )


@case
def unsupported_output(m):
    refused(m, TypeError, "*output 0*", lambda: pipe_of(m, lambda: object()).build())


@case
def duplicate_outputs(m):
    def define():
        node = m.fn.external_source(source=[numbers(m, 3)])
        return node, node

    a, b = pipe_of(m, define).run()
    return [firsts(m, a), firsts(m, b)]


@case
def constant_outputs(m):
    a, b, c = pipe_of(m, lambda: (1, 2.5, m.np.array([1, 2], "uint8"))).run()
    return [a, b, c]


@case
def number_of_threads_missing(m):
    refused(
        m,
        (RuntimeError, ValueError),
        "*",
        lambda: m.pipeline_def(lambda: m.types.Constant(1))(num_threads=1, device_id=None).build(),
    )


@case
def batch_size_zero(m):
    refused(m, Exception, "*", lambda: pipe_of(m, lambda: m.types.Constant(1), 0).build())


@case
def batch_size_negative(m):
    refused(m, Exception, "*", lambda: pipe_of(m, lambda: m.types.Constant(1), -2).build())


@case
def threads_zero(m):
    pipe = m.pipeline_def(batch_size=1, num_threads=0, device_id=None)(lambda: m.types.Constant(1))
    refused(m, Exception, "*", lambda: pipe().build())


@case
def arguments_of_a_definition(m):
    @m.pipeline_def(num_threads=1, device_id=None)
    def define(value, more=2, *, last=3):
        return m.types.Constant(value), m.types.Constant(more), m.types.Constant(last)

    pipe = define(7, last=9, batch_size=2)
    return [firsts(m, one) for one in pipe.run()]


@case
def definition_with_kwargs(m):
    def define():
        @m.pipeline_def(batch_size=1, num_threads=1, device_id=None)
        def inner(**kwargs):
            return m.types.Constant(kwargs["a"])

        return inner(a=3)

    refused(m, TypeError, "*variadic keyword*", define)


@case
def definition_with_args(m):
    @m.pipeline_def(batch_size=1, num_threads=1, device_id=None)
    def inner(*args):
        return tuple(m.types.Constant(a) for a in args)

    return [firsts(m, one) for one in inner(3, 4).run()]


@case
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


@case
def names_of_a_definition(m):
    @m.pipeline_def
    def documented():
        """What it makes."""
        return m.types.Constant(1)

    return [documented.__name__, documented.__doc__]


@case
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


@case
def outputs_after_run(m):
    pipe = pipe_of(m, lambda: m.fn.external_source(name="x"))
    pipe.feed_input("x", numbers(m, 3))
    pipe.feed_input("x", numbers(m, 3, (4,)))
    first = pipe.run()
    second = pipe.run()
    return [second[0].shape(), len(first)]


@case
def run_with_keywords(m):
    pipe = pipe_of(
        m,
        lambda: m.fn.external_source(name="x") + m.fn.external_source(name="y"),
        prefetch_queue_depth=1,
    )
    pipe.build()
    return [firsts(m, pipe.run(x=numbers(m, 3), y=numbers(m, 3))[0]) for _ in range(2)]


@case
def run_with_a_missing_input(m):
    pipe = pipe_of(
        m,
        lambda: m.fn.external_source(name="x") + m.fn.external_source(name="y"),
        prefetch_queue_depth=1,
    )
    pipe.build()
    refused(m, (RuntimeError, ValueError, IndexError), "*", lambda: pipe.run(x=numbers(m, 3)))


@case
def run_with_an_unknown_input(m):
    pipe = pipe_of(m, lambda: m.fn.external_source(name="x") + 1, prefetch_queue_depth=1)
    pipe.build()
    refused(
        m,
        (RuntimeError, KeyError, ValueError),
        "*nothing*",
        lambda: pipe.run(nothing=numbers(m, 3)),
    )


@case
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


@case
def feed_layout(m):
    pipe = pipe_of(m, lambda: m.fn.external_source(name="x"))
    pipe.build()
    pipe.feed_input("x", numbers(m, 3, (2, 3)), layout="HW")
    return pipe.run()[0].layout()


@case
def feed_layout_wrong(m):
    pipe = pipe_of(m, lambda: m.fn.external_source(name="x", layout="HWC"))
    pipe.build()

    def run():
        pipe.feed_input("x", numbers(m, 3, (2, 3)))
        pipe.run()

    refused(m, RuntimeError, "*", run)


@case
def feed_ndim_wrong(m):
    pipe = pipe_of(m, lambda: m.fn.external_source(name="x", ndim=3))
    pipe.build()

    def run():
        pipe.feed_input("x", numbers(m, 3, (2, 3)))
        pipe.run()

    refused(m, RuntimeError, "*xpected data with 3 dimensions*2*", run)


@case
def feed_dtype_wrong(m):
    pipe = pipe_of(m, lambda: m.fn.external_source(name="x", dtype=m.types.FLOAT))
    pipe.build()

    def run():
        pipe.feed_input("x", numbers(m, 3, (2, 3)))
        pipe.run()

    refused(m, RuntimeError, "*xpected data of type float*int32*", run)


@case
def feed_too_many(m):
    pipe = pipe_of(m, lambda: m.fn.external_source(name="x"))
    pipe.build()

    def run():
        pipe.feed_input("x", numbers(m, 5))
        pipe.run()

    refused(m, (RuntimeError, ValueError), "*", run)


@case
def feed_fewer(m):
    pipe = pipe_of(m, lambda: m.fn.external_source(name="x") + 1, prefetch_queue_depth=1)
    pipe.build()
    found = []
    for count in (3, 1, 2):
        pipe.feed_input("x", numbers(m, count))
        found.append(firsts(m, pipe.run()[0]))
    return found


@case
def feed_mixed_types(m):
    pipe = pipe_of(m, lambda: m.fn.external_source(name="x"), 2)
    pipe.build()
    refused(
        m,
        (RuntimeError, ValueError, TypeError),
        "*",
        lambda: pipe.feed_input("x", [m.np.zeros(2, "uint8"), m.np.zeros(2, "float32")]),
    )


@case
def feed_unknown(m):
    pipe = pipe_of(m, lambda: m.fn.external_source(name="x"))
    pipe.build()
    refused(m, KeyError, '*"y"*', lambda: pipe.feed_input("y", numbers(m, 3)))


@case
def feed_not_an_input(m):
    pipe = pipe_of(m, lambda: m.fn.random.uniform(range=(0, 1), name="u"))
    pipe.build()
    refused(m, (RuntimeError, KeyError), "*", lambda: pipe.feed_input("u", numbers(m, 3)))


@case
def input_counts(m):
    pipe = pipe_of(m, lambda: m.fn.external_source(name="x"), prefetch_queue_depth=3)
    pipe.build()
    return pipe.input_feed_count("x")


@case
def reader_meta(m):
    def define():
        return m.fn.readers.file(file_root=m.files(7), name="r", shard_id=1, num_shards=3)[0]

    pipe = pipe_of(m, define)
    pipe.build()
    return [
        pipe.reader_meta("r"),
        sorted(pipe.reader_meta()),
        pipe.epoch_size("r"),
        pipe.epoch_size(),
    ]


@case
def reader_meta_unknown(m):
    pipe = pipe_of(m, lambda: m.types.Constant(1))
    pipe.build()
    return pipe.reader_meta()


@case
def epoch_size_unknown(m):
    pipe = pipe_of(m, lambda: m.types.Constant(1))
    pipe.build()
    refused(m, (KeyError, RuntimeError), "*", lambda: pipe.epoch_size("nothing"))


@case
def statistics(m):
    pipe = pipe_of(
        m,
        lambda: m.fn.cast(m.types.Constant(1), dtype=m.types.FLOAT, name="c"),
        enable_memory_stats=True,
    )
    pipe.build()
    pipe.run()
    found = pipe.executor_statistics()
    return [
        type(found).__name__,
        bool(found),
        all("max_real_memory_size" in one for one in found.values()),
    ]


@case
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


@case
def graph_without_a_definition(m):
    refused(m, (NotImplementedError, RuntimeError), "*", lambda: m.Pipeline(3, 1, None).build())
