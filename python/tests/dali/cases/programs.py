"""Programs as users of DALI write them: whole pipelines, and what is asked of them."""

import sys
import warnings

from . import case, each


def settings(**more):
    return {"batch_size": 4, "num_threads": 2, "device_id": None, **more}


def numbers(m, start=0, count=4):
    return m.np.arange(start, start + 2 * count, dtype="int32").reshape(count, 2)


def pictures(m, count=4):
    return [m.image(6 + i, 8 - i, 3, 5 * i) for i in range(count)]


def messages(function):
    """The classes of the warnings of a call, and what it gives."""
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        value = function()
    return [[one.category.__name__ for one in seen], value]


# Several sets of inputs.


@case
def sets_of_inputs(m):
    class Sets(m.Pipeline):
        def __init__(self):
            super().__init__(4, 1, None)
            self.input = m.ops.ExternalSource(source=lambda i: pictures(m), layout="HWC")
            self.normalize = m.ops.CropMirrorNormalize(
                dtype=m.types.FLOAT, output_layout="HWC", crop=(4, 4), mean=[8.0], std=[2.0]
            )
            self.flip = m.ops.Flip(device="cpu")

        def define_graph(self):
            images = self.input()
            first, second = self.normalize([images, images])
            (third,) = self.normalize([images])
            both = self.flip([first, second])
            both[1] = self.flip(both[1])
            return [first, second, third] + both

    pipe = Sets()
    pipe.build()
    return [m.plain(pipe.run()) for _ in range(2)]


@case
def sets_of_inputs_beside_one_node(m):
    def body():
        first, second = m.feed(pictures(m), layout="HWC"), m.feed(pictures(m), layout="HWC")
        angle = m.np.float32([0.25, 0.5])
        begin = m.feed([angle] * 4)
        size = m.feed([m.np.float32([0.5, 0.5])] * 4)
        return tuple(m.fn.slice([first, second], begin, size, axes=(0, 1)))

    return m.run(body, **settings())


@case
def sets_of_inputs_of_other_lengths(m):
    def body():
        x = m.feed(numbers(m))
        return tuple(m.fn.cat([x, x], [x]))

    return m.run(body, **settings())


@each("ops", "fn")
def sets_of_one(m, api):
    def body():
        x = m.feed(pictures(m), layout="HWC")
        made = m.ops.Flip()([x]) if api == "ops" else m.fn.flip([x])
        return [type(made).__name__, len(made)] and tuple(made)

    return m.run(body, **settings())


# Seeds.


def drawn(m, **more):
    pipe = m.Pipeline(**settings(**more))
    with pipe:
        pipe.set_outputs(
            m.fn.random.uniform(range=(0.0, 1.0)), m.fn.random.coin_flip(), m.fn.random.normal()
        )
    pipe.build()
    return [m.plain(pipe.run()) for _ in range(2)]


@each(fixed=12, zero=0, none=None, minus_one=-1, not_given="")
def seeds(m, seed):
    more = {} if seed == "" else {"seed": seed}
    return [drawn(m, **more) == drawn(m, **more) for _ in range(2)]


@case
def seed_of_a_serialized_pipeline(m):
    pipe = m.Pipeline(**settings(seed=12))
    with pipe:
        pipe.set_outputs(m.fn.random.uniform(range=(0.0, 1.0)))
    text = pipe.serialize()
    got = []
    for _ in range(3):
        again = m.Pipeline()
        again.deserialize_and_build(text)
        got.append(m.plain(again.run()))
    return [got[0] == got[1] == got[2], again.max_batch_size, again.num_threads, again.seed]


@case
def draws_of_one_pipeline_differ(m):
    pipe = m.Pipeline(**settings(seed=1))
    with pipe:
        pipe.set_outputs(m.fn.random.uniform(), m.fn.random.uniform())
    a, b = pipe.run()
    return bool((a.as_array() != b.as_array()).any())


# What an output is asked.


@each([2, 2], [4, 1], [1, 4], [4], [1, 2, 1, 2, 1], [2, 3], [4, 2], [0, 4], [8], [1, 1, 5])
def reshaped(m, shape):
    pipe = m.Pipeline(**settings())
    with pipe:
        pipe.set_outputs(m.fn.readers.file(file_root=m.files(9))[1])
    (out,) = pipe.run()
    return [out.as_tensor().shape(), m.attempt(lambda: out.as_reshaped_tensor(shape).shape())]


@each(
    "bool",
    "int8",
    "int16",
    "int32",
    "int64",
    "uint8",
    "uint16",
    "uint32",
    "uint64",
    "float16",
    "float32",
    "float64",
    "intc",
    "intp",
    "short",
    "longlong",
    "ushort",
    "ulonglong",
)
def formats(m, name):
    class Fed(m.Pipeline):
        def __init__(self):
            super().__init__(2, 1, None)
            self.input = m.ops.ExternalSource()

        def define_graph(self):
            self.data = self.input()
            return self.data

        def iter_setup(self):
            self.feed_input(self.data, m.np.array([[1, 1], [1, 1]], name))

    pipe = Fed()
    pipe.build()
    (out,) = pipe.run()
    return [out.at(0).dtype.str, out, out.dtype.name]


@case
def outputs_given_twice(m):
    def body():
        x = m.feed(pictures(m), layout="HWC")
        y = m.fn.flip(x)
        again = y
        return y, again, y, x

    out = m.run(body, **settings())[0]
    return [out[0] == out[1] == out[2], out]


@case
def outputs_given_twice_serialized(m):
    pipe = m.Pipeline(**settings(prefetch_queue_depth=1))
    with pipe:
        x = m.fn.external_source(name="x", layout="HWC")
        y = m.fn.flip(x)
        pipe.set_outputs(y, y, x)
    again = m.Pipeline(**settings(prefetch_queue_depth=1))
    again.deserialize_and_build(pipe.serialize())
    again.feed_input("x", pictures(m))
    return again.run()


@case
def output_of_a_pipeline_that_is_gone(m):
    def output():
        pipe = m.Pipeline(1, 1, None)
        with pipe:
            pipe.set_outputs(m.fn.external_source(source=[[m.np.array([-0.5, 1.25])]]))
        pipe.build()
        return pipe.run()

    return output()[0].at(0)


@case
def constants_as_outputs(m):
    pipe = m.Pipeline(1, 1, None)
    kinds = [bool, m.np.int8, m.np.uint8, m.np.int16, m.np.uint16, m.np.int32, m.np.uint32]
    kinds += [m.np.int64, m.np.float16, m.np.float32, int, float]
    pipe.set_outputs(m.np.array([[1, 2], [3, 4]]), 10, *[kind(42) for kind in kinds])
    pipe.build()
    return [m.attempt(lambda one=one: one.at(0)) for one in pipe.run()]


@each(
    text=lambda m, x: "test",
    nested=lambda m, x: [x, x],
    none=lambda m, x: None,
    dict=lambda m, x: {"x": x},
    function=lambda m, x: len,
    list_of_numbers=lambda m, x: [1, 2, 3],
    tuple_of_numbers=lambda m, x: (1, 2),
)
def outputs_that_are_none(m, what):
    pipe = m.Pipeline(**settings())
    pipe.set_outputs(what(m, m.fn.external_source(source=[numbers(m)])))
    pipe.build()
    return pipe.run()


@case
def nested_output_of_a_source(m):
    pipe = m.Pipeline(batch_size=1, num_threads=1, device_id=None)
    data = [[[m.np.ones((1, 3, 2))], [m.np.ones((1, 4, 5))]]]
    pipe.set_outputs(m.fn.external_source(data, num_outputs=2, cycle="quiet"))
    pipe.build()


# Attributes.


@case
def properties(m):
    seen = []

    @m.pipeline_def(batch_size=11, prefetch_queue_depth={"cpu_size": 3, "gpu_size": 2})
    def body():
        pipe = m.Pipeline.current()
        names = "max_batch_size batch_size num_threads device_id seed exec_pipelined exec_async"
        names += " set_affinity max_streams prefetch_queue_depth cpu_queue_size gpu_queue_size"
        names += " py_num_workers py_start_method enable_memory_stats exec_separated"
        names += " num_outputs"
        seen.extend([name, m.attempt(lambda: getattr(pipe, name))] for name in names.split())
        return m.np.float32([1, 2, 3])

    body(device_id=None, seed=1234, num_threads=3, set_affinity=True, py_num_workers=3)
    return seen


@case
def attributes(m):
    """Read before the build and behind it."""
    pipe = m.Pipeline(**settings(seed=5))
    with pipe:
        pipe.set_outputs(m.feed(numbers(m)))
    names = "batch_size max_batch_size num_threads device_id seed exec_pipelined exec_async"
    names += " set_affinity prefetch_queue_depth cpu_queue_size gpu_queue_size py_num_workers"
    names += " py_start_method enable_memory_stats num_outputs exec_separated max_streams"
    names += " is_restored_from_checkpoint external_source_shm_statistics name iterator built"
    names += " default_cuda_stream_priority"

    def read(name):
        value = getattr(pipe, name)
        return "method" if callable(value) else value

    before = [[name, m.attempt(lambda: read(name))] for name in names.split()]
    pipe.build()
    return [before, [[name, m.attempt(lambda: read(name))] for name in names.split()]]


@case
def references(m):
    class Labels(m.Pipeline):
        def __init__(self):
            super().__init__(1, 1, None, seed=12)
            self.input = m.ops.readers.File(file_root=m.files(4), random_shuffle=True)

        def define_graph(self):
            return self.input()[1]

    pipe = Labels()
    counts = [sys.getrefcount(pipe)]
    pipe.build()
    counts.append(sys.getrefcount(pipe))
    pipe.run()
    return counts + [sys.getrefcount(pipe)]


@case
def meta_of_several_readers(m):
    pipe = m.Pipeline(**settings())
    with pipe:
        a, _ = m.fn.readers.file(file_root=m.files(9), name="first")
        b, _ = m.fn.readers.file(file_root=m.files(4), name="second", pad_last_batch=True)
        pipe.set_outputs(a, b)
    pipe.build()
    return [
        sorted(pipe.reader_meta()),
        pipe.epoch_size(),
        pipe.epoch_size("first"),
        pipe.reader_meta("second"),
        m.attempt(lambda: pipe.epoch_size("third")),
        m.attempt(lambda: pipe.reader_meta("third")),
    ]


@case
def epoch_size_by_class(m):
    class Readers(m.Pipeline):
        def __init__(self):
            super().__init__(1, 1, None, prefetch_queue_depth=1)
            self.first = m.ops.readers.File(file_root=m.files(9), num_shards=1)
            self.second = m.ops.readers.File(file_root=m.files(4), prefetch_queue_depth=1)

        def define_graph(self):
            return self.first(name="a")[0], self.second(name="b")[0]

    pipe = Readers()
    pipe.build()
    return [len(pipe.reader_meta()), pipe.epoch_size("a"), pipe.epoch_size("b")]


@case
def statistics_of_the_executor(m):
    pipe = m.Pipeline(**settings(enable_memory_stats=True))
    with pipe:
        x = m.feed(pictures(m), pictures(m), layout="HWC", name="pictures")
        pipe.set_outputs(m.fn.flip(x, name="flipped"), m.fn.random.coin_flip(name="coin"))
    pipe.build()
    pipe.run()
    meta = pipe.executor_statistics()
    keys = {key for one in meta.values() for key in one}
    return [
        isinstance(meta, dict),
        sorted(keys),
        all(
            max(one["real_memory_size"]) <= max(one["reserved_memory_size"])
            for one in meta.values()
        ),
    ]


# The order of calls.


def reading(m, **more):
    class Reading(m.Pipeline):
        def __init__(self):
            super().__init__(1, 1, None, **more)
            self.input = m.ops.readers.File(file_root=m.files(9))

        def define_graph(self):
            return self.input(name="Reader")[0]

    pipe = Reading()
    pipe.build()
    return pipe


@case
def calls_after_run(m):
    pipe = reading(m)
    pipe.run()
    names = "schedule_run share_outputs release_outputs outputs".split()
    got = [m.raises(getattr(pipe, name)) for name in names]
    pipe.enable_api_check(False)
    return got + [m.raises(getattr(pipe, name)) for name in names]


@case
def run_after_calls(m):
    pipe = reading(m)
    pipe.schedule_run()
    pipe.share_outputs()
    pipe.release_outputs()
    pipe.schedule_run()
    pipe.outputs()
    got = m.raises(pipe.run)
    pipe.enable_api_check(False)
    return [got, m.plain(pipe.run())]


@case
def iter_setup_and_reset(m):
    class Once(m.Pipeline):
        def __init__(self, iterator):
            super().__init__(1, 3, None)
            self.input = m.ops.ExternalSource()
            self.iterator = iterator

        def define_graph(self):
            self.batch = self.input()
            return self.batch

        def iter_setup(self):
            self.feed_input(self.batch, next(self.iterator))

    class Again:
        def __init__(self, count):
            self.count = count

        def __iter__(self):
            self.i = 0
            return self

        def __next__(self):
            if self.i == self.count:
                self.i = 0
                raise StopIteration
            self.i += 1
            return [m.np.array([self.i], "float32")]

    pipe = Once(iter(Again(5)))
    pipe.build()
    got = []
    for _ in range(2):
        while True:
            try:
                got.append(pipe.run()[0].at(0)[0])
            except StopIteration:
                got.append("stop")
                break
        pipe.reset()
    return got


@case
def reset_without_an_end(m):
    pipe = m.Pipeline(**settings())
    with pipe:
        pipe.set_outputs(m.fn.external_source(source=[numbers(m, i) for i in range(5)]))
    pipe.build()
    first = m.plain(pipe.run())
    pipe.reset()
    return [first, m.attempt(pipe.run)]


@case
def empty_in_between(m):
    pipe = reading(m)
    got = [pipe.empty()]
    for call in "schedule_run schedule_run outputs outputs release_outputs".split():
        got.append([call, m.attempt(lambda: getattr(pipe, call)() and None), pipe.empty()])
    return got


# Serialized.


@each(text="any_string", number=42, list=[1])
def serialize_of_what_is_no_function(m, what):
    @m.pipeline_def(**settings())
    def body():
        return m.fn.external_source(name="input")

    return body().serialize(what)


@case
def serialize_by_a_function(m):
    pipe = m.Pipeline(**settings(prefetch_queue_depth=1))

    def define_graph():
        return m.fn.external_source(name="x") + 1

    text = pipe.serialize(define_graph)
    again = m.Pipeline.deserialize(text)
    again.feed_input("x", numbers(m))
    return again.run()


OUTPUT_TYPES = {
    "both": ("UINT8 INT32", [3, 1]),
    "dtype_open": ("None None", [3, 1]),
    "ndim_open": ("UINT8 INT32", None),
    "one_of_each": ("UINT8 None", [None, 1]),
    "wrong_dtype": ("UINT8 FLOAT", None),
    "wrong_ndim": (None, [3, 3]),
    "broadcast": ("UINT8", None),
    "broadcast_ndim": (None, 3),
    "too_few": ("UINT8,", None),
    "too_few_ndim": (None, [1]),
    "open_of_wrong_count": ("None None", [None]),
    "too_many": ("UINT8 INT32 INT32", None),
    "negative": (None, -1),
    "negative_in_list": (None, [3, -2]),
    "no_type": ("NO_TYPE", None),
    "no_type_in_list": ("NO_TYPE INT32", None),
    "python_type": (int, None),
    "text": ("'float", None),
    "float_ndim": (None, 3.0),
}


@each(**OUTPUT_TYPES)
def output_types(m, given):
    """Given to the pipeline, kept in its text, and checked where it runs."""

    def named(text):
        return None if text == "None" else getattr(m.types, text)

    dtype, ndim = given
    if isinstance(dtype, str) and dtype[0] != "'":
        parts = dtype.rstrip(",").split()
        dtype = [named(one) for one in parts] if len(parts) > 1 or "," in given[0] else named(dtype)

    @m.pipeline_def(**settings(batch_size=1, output_dtype=dtype, output_ndim=ndim))
    def body():
        x = m.fn.external_source(name="x", layout="HWC")
        return x, m.fn.cast(m.fn.shapes(x)[0:1], dtype=m.types.INT32)

    path = str(m.path(f"typed{abs(hash(str(given)))}"))
    pipe = body(prefetch_queue_depth=1)
    pipe.serialize(filename=path)
    again = m.Pipeline.deserialize(filename=path)
    again.build()
    got = [again.output_dtype(), again.output_ndim()]
    again.feed_input("x", pictures(m, 1))
    return got + [m.plain(again.run())]


# The decorator.


@case
def argument_named_as_an_option(m):
    @m.pipeline_def(**settings())
    def body(max_streams):
        return m.feed(numbers(m)) + max_streams

    pipe = body(max_streams=42)
    return m.plain(pipe.run())


@case
def argument_named_as_an_option_of_the_call(m):
    @m.pipeline_def(**settings(batch_size=3))
    def body(batch_size):
        return m.feed(numbers(m, count=2)) + batch_size

    pipe = body(batch_size=2)
    return [pipe.max_batch_size, m.attempt(pipe.run)]


@case
def nodes_as_arguments(m):
    @m.pipeline_def(**settings())
    def body(vertical, horizontal):
        x = m.feed(pictures(m), layout="HWC")
        return m.fn.flip(x, horizontal=horizontal, vertical=vertical), x

    coin = m.fn.random.coin_flip(seed=123, probability=1.0)
    return body(coin, m.fn.random.coin_flip(seed=234, probability=0.0)).run()


@case
def variable_arguments(m):
    @m.pipeline_def(**settings())
    def body(first, *rest):
        x = m.feed(numbers(m)) + first
        for one in rest:
            x = x * one
        return x

    return body(1, 2, 3).run()


@case
def keywords_of_any_name(m):
    @m.pipeline_def
    def body(arg1, arg2, *args, **kwargs):
        pass

    return body(arg1=1, arg2=2, arg3=3)


@each(bare=0, called=1, options=2)
def marks(m, how):
    def body():
        return 42

    decorate = [
        m.pipeline_def,
        m.pipeline_def(),
        m.pipeline_def(max_batch_size=1, num_threads=1, device_id=None),
    ][how]
    made = decorate(body)
    return [made._is_pipeline_def, made.__name__, m.attempt(lambda: made.__wrapped__ is body)]


@case
def options_of_the_decorator_and_of_the_call(m):
    @m.pipeline_def(batch_size=4, num_threads=2, device_id=None, seed=3)
    def body(scale=2, *, shift=0):
        return m.feed(numbers(m)) * scale + shift

    pipes = [body(), body(3), body(shift=5), body(scale=1, shift=1, num_threads=1, seed=9)]
    return [[one.num_threads, one.seed, m.plain(one.run())] for one in pipes]


@case
def missing_argument_of_a_function(m):
    @m.pipeline_def(**settings())
    def body(needed):
        return m.feed(numbers(m)) + needed

    return body()


@case
def unknown_option_of_a_function(m):
    @m.pipeline_def(**settings())
    def body():
        return m.feed(numbers(m))

    return body(no_such_option=1)


@case
def error_inside_a_function(m):
    @m.pipeline_def(**settings())
    def body():
        raise KeyError("mine")

    return body()


@case
def missing_batch_size(m):
    @m.pipeline_def(num_threads=1, device_id=None)
    def body():
        return m.feed(numbers(m))

    pipe = body()
    return m.attempt(pipe.build)


@case
def missing_threads(m):
    @m.pipeline_def(batch_size=4, device_id=None)
    def body():
        return m.feed(numbers(m))

    return m.attempt(body().run)
