"""external_source: every kind of source and what it may give."""

from . import case, each


def numbers(m, start=0, count=2):
    return m.np.arange(start, start + 2 * count, dtype="int32").reshape(count, 2)


def values(m, source, batches=2, setup=None, **options):
    """The batches that a source gives, up to its end."""
    settings = options.pop("pipeline", {})
    pipe = m.Pipeline(batch_size=2, num_threads=1, device_id=None, **settings)
    with pipe:
        made = m.fn.external_source(source=source, **options)
        pipe.set_outputs(*(made if isinstance(made, (list, tuple)) else [made]))
    pipe.build()
    got = []
    for _ in range(batches):
        try:
            got.append(m.plain(pipe.run()))
        except StopIteration:
            got.append("stop")
            pipe.reset()
    return got


class Counter:
    """A callable object."""

    def __init__(self, m, stop=None):
        self.np, self.stop = m.np, stop

    def __call__(self, info):
        index = info if isinstance(info, int) else info.idx_in_epoch
        if self.stop is not None and index >= self.stop:
            raise StopIteration
        return self.np.full((2, 1), index, "int32")


class Again:
    """An iterable that begins anew with each `iter`."""

    def __init__(self, m, count):
        self.m, self.count = m, count

    def __iter__(self):
        return iter([numbers(self.m, 10 * i) for i in range(self.count)])


@case
def list_of_batches(m):
    return values(m, [numbers(m), numbers(m, 10)], 3)


@case
def iterable(m):
    return values(m, Again(m, 2), 4)


@case
def iterator(m):
    return values(m, iter([numbers(m), numbers(m, 10)]), 4)


@case
def generator(m):
    return values(m, (numbers(m, i) for i in range(2)), 3)


@case
def generator_function(m):
    def source():
        for i in range(2):
            yield numbers(m, 10 * i)

    return values(m, source, 4)


@case
def callable_without_arguments(m):
    count = iter(range(100))
    return values(m, lambda: numbers(m, next(count)), 3)


@case
def callable_with_the_iteration(m):
    return values(m, lambda i: numbers(m, 100 * i), 3)


@case
def callable_object(m):
    return values(m, Counter(m), 3)


@case
def callable_method(m):
    return values(m, Counter(m).__call__, 2)


@case
def callable_that_stops(m):
    return values(m, Counter(m, 3), 9)


@case
def callable_with_a_default(m):
    return values(m, lambda i=5: numbers(m, i), 2)


@case
def callable_of_batch_info(m):
    def source(info):
        if info.iteration == 2:
            raise StopIteration
        return m.np.array([[info.iteration], [info.epoch_idx]], "int32")

    return values(m, source, 6, batch_info=True)


@case
def per_sample_without_arguments(m):
    count = iter(range(100))
    return values(m, lambda: m.np.array([next(count)], "int32"), 3, batch=False)


@case
def per_sample_info(m):
    def source(info):
        return m.np.array(
            [info.idx_in_epoch, info.idx_in_batch, info.iteration, info.epoch_idx], "int64"
        )

    return values(m, source, 3, batch=False)


@case
def per_sample_info_over_epochs(m):
    def source(info):
        if info.idx_in_epoch >= 4:
            raise StopIteration
        return m.np.array([info.idx_in_epoch, info.epoch_idx], "int64")

    return values(m, source, 7, batch=False)


@case
def per_sample_stops_inside_a_batch(m):
    def source(info):
        if info.idx_in_epoch >= 5:
            raise StopIteration
        return m.np.array([info.idx_in_epoch], "int64")

    return values(m, source, 4, batch=False)


@case
def per_sample_ragged(m):
    return values(m, lambda info: m.np.zeros((info.idx_in_batch + 1, 2), "uint8"), 1, batch=False)


@case
def per_sample_iterable(m):
    return values(m, [m.np.array([i], "int32") for i in range(4)], 3, batch=False)


@case
def per_sample_generator_function(m):
    def source():
        for i in range(5):
            yield m.np.array([i], "int32")

    return values(m, source, 3, batch=False)


@each(1, 2, 3)
def several_outputs(m, count):
    return values(m, lambda i: [numbers(m, 10 * i + k) for k in range(count)], 2, num_outputs=count)


@case
def several_outputs_as_tuples(m):
    return values(m, [(numbers(m), numbers(m, 5))], 1, num_outputs=2)


@case
def several_outputs_per_sample(m):
    def source(info):
        return m.np.array([info.idx_in_epoch]), m.np.array([-info.idx_in_epoch], "float32")

    return values(m, source, 2, num_outputs=2, batch=False)


@case
def several_outputs_too_few(m):
    return values(m, lambda: [numbers(m)], 1, num_outputs=2)


@case
def several_outputs_with_a_name(m):
    return values(m, lambda: [numbers(m)] * 2, 1, num_outputs=2, name="x")


@case
def several_outputs_kind(m):
    pipe = m.Pipeline(batch_size=2, num_threads=1, device_id=None)
    with pipe:
        made = m.fn.external_source(source=lambda: [numbers(m)] * 2, num_outputs=2)
        one = m.fn.external_source(source=lambda: [numbers(m)], num_outputs=1)
    return [type(made).__name__, len(made), type(one).__name__, len(one)]


@case
def some_outputs_are_not_used(m):
    pipe = m.Pipeline(batch_size=2, num_threads=1, device_id=None)
    with pipe:
        _, second = m.fn.external_source(source=lambda: [numbers(m), numbers(m, 7)], num_outputs=2)
        pipe.set_outputs(second)
    return m.plain(pipe.run())


# cycle


@each("quiet", "raise", "no")
def cycle_of_a_list(m, mode):
    return values(m, [numbers(m), numbers(m, 10)], 6, cycle=mode)


@each(yes=True, no=False, none=None)
def cycle_as_a_bool(m, mode):
    return values(m, [numbers(m), numbers(m, 10)], 4, cycle=mode)


@each("quiet", "raise")
def cycle_of_a_generator_function(m, mode):
    def source():
        yield numbers(m)
        yield numbers(m, 10)

    return values(m, source, 5, cycle=mode)


@case
def cycle_of_a_generator(m):
    return values(m, (numbers(m) for _ in range(2)), 3, cycle="quiet")


@case
def cycle_of_a_callable(m):
    return values(m, lambda: numbers(m), 3, cycle="quiet")


@case
def cycle_of_an_unknown_kind(m):
    return values(m, [numbers(m)], 1, cycle="twice")


# Layouts and types.


@case
def layout(m):
    return values(m, [numbers(m)], 1, layout="W")


@case
def layout_of_wrong_length(m):
    return values(m, [numbers(m)], 1, layout="HWC")


@case
def layouts(m):
    return values(m, lambda: [numbers(m), numbers(m)], 1, num_outputs=2, layout=["A", "B"])


@case
def layouts_too_few(m):
    return values(m, lambda: [numbers(m), numbers(m)], 1, num_outputs=2, layout=["A"])


@case
def layouts_too_many(m):
    return values(m, lambda: [numbers(m)], 1, num_outputs=1, layout=["A", "B"])


@case
def layouts_without_num_outputs(m):
    return values(m, lambda: numbers(m), 1, layout=["A"])


@case
def dtype(m):
    return values(m, [numbers(m)], 1, dtype=m.types.INT32, ndim=1)


@case
def dtype_is_wrong(m):
    return values(m, [numbers(m)], 1, dtype=m.types.FLOAT)


@case
def ndim_is_wrong(m):
    return values(m, [numbers(m)], 1, ndim=2)


@case
def ndim_and_layout_disagree(m):
    return values(m, [numbers(m)], 1, ndim=2, layout="A")


@case
def dtypes(m):
    return values(
        m,
        lambda: [numbers(m), numbers(m).astype("float32")],
        1,
        num_outputs=2,
        dtype=[m.types.INT32, m.types.FLOAT],
        ndim=[1, 1],
    )


@case
def dtypes_of_wrong_count(m):
    return values(m, lambda: [numbers(m)] * 2, 1, num_outputs=2, dtype=[m.types.INT32])


@case
def numpy_dtype_for_dtype(m):
    return values(m, [numbers(m)], 1, dtype=m.np.int32)


@case
def dtype_changes(m):
    return values(m, [numbers(m), numbers(m).astype("float32")], 2)


@case
def rank_changes(m):
    return m.raises(lambda: values(m, [numbers(m), numbers(m).reshape(2, 1, 2)], 2))


# What a source may give.


@each("uint8", "int16", "int64", "float16", "float32", "float64", "bool")
def element_type(m, name):
    return values(m, [numbers(m).astype(name)], 1)


@case
def list_of_arrays(m):
    return values(m, [[m.np.zeros((1, 2), "uint8"), m.np.ones((3, 1), "uint8")]], 1)


@case
def tensor_list(m):
    return values(m, lambda: m.tensors.TensorListCPU(numbers(m), layout="W"), 1)


@case
def list_of_tensors(m):
    return values(m, lambda: [m.tensors.TensorCPU(one) for one in numbers(m)], 1)


@case
def scalars(m):
    return values(m, lambda: m.np.array([1, 2], "int32"), 1)


@case
def strided(m):
    return values(m, lambda: m.np.arange(12, dtype="int32").reshape(2, 6)[:, ::2], 1)


@case
def transposed(m):
    return values(m, lambda: m.np.arange(12, dtype="int32").reshape(2, 2, 3).transpose(0, 2, 1), 1)


@case
def read_only(m):
    def source():
        array = numbers(m)
        array.flags.writeable = False
        return array

    return values(m, source, 1)


@case
def array_is_reused(m):
    array = numbers(m)

    def source(i):
        array[:] = i
        return array

    return values(m, source, 4)


@case
def array_is_reused_without_pipelining(m):
    array = numbers(m)

    def source(i):
        array[:] = i
        return array

    return values(m, source, 3, pipeline={"exec_pipelined": False, "exec_async": False})


@case
def smaller_batches(m):
    return values(m, lambda i: numbers(m, 0, 1 + i % 2), 3)


@case
def smaller_batches_everywhere(m):
    return values(m, lambda i: [numbers(m, 0, 1), numbers(m, 1, 1)], 2, num_outputs=2)


GIVEN = {
    "too_many": lambda m: numbers(m, 0, 3),
    "nothing": lambda m: None,
    "text": lambda m: "text",
    "number": lambda m: 5,
    "empty": lambda m: [],
    "objects": lambda m: [object()] * 2,
    "lists": lambda m: [[1, 2], [3, 4]],
    "dict": lambda m: {"a": numbers(m)},
    "complex": lambda m: numbers(m).astype("complex64"),
    "mixed_dtypes": lambda m: [m.np.zeros(2, "int32"), m.np.zeros(2, "float32")],
    "mixed_ranks": lambda m: [m.np.zeros(2, "int32"), m.np.zeros((2, 2), "int32")],
}


@each(**GIVEN)
def wrong_batch(m, make):
    return values(m, lambda: make(m), 1)


@each(**{name: make for name, make in GIVEN.items() if name in ("nothing", "text", "complex")})
def wrong_sample(m, make):
    return values(m, lambda: make(m), 1, batch=False)


@case
def sizes_disagree(m):
    pipe = m.Pipeline(batch_size=2, num_threads=1, device_id=None)
    with pipe:
        a = m.fn.external_source(source=lambda: numbers(m, 0, 1))
        b = m.fn.external_source(source=lambda: numbers(m, 0, 2))
        pipe.set_outputs(a, b)
    return m.plain(pipe.run())


@each(KeyError, ValueError, RuntimeError, TypeError, ZeroDivisionError)
def source_raises(m, error):
    def source():
        raise error("of the source")

    return values(m, source, 1)


@case
def source_raises_later(m):
    def source(i):
        if i == 3:
            raise KeyError("later")
        return numbers(m, i)

    return m.raises(lambda: values(m, source, 6))


@case
def per_sample_source_raises(m):
    def source(info):
        raise LookupError("no sample")

    return values(m, source, 1, batch=False)


SOURCES = {
    "two_arguments": lambda a, b: None,
    "variable": lambda *a: None,
    "keywords": lambda **a: None,
    "keyword_only": lambda *, a: None,
}


@each(number=3, **SOURCES)
def wrong_source(m, source):
    return values(m, source, 1)


@case
def unknown_argument(m):
    return values(m, [numbers(m)], 1, no_such_argument=3)


@case
def wrong_device(m):
    return values(m, [numbers(m)], 1, device="tpu")


@case
def class_with_the_source_at_the_call(m):
    pipe = m.Pipeline(batch_size=2, num_threads=1, device_id=None)
    with pipe:
        pipe.set_outputs(m.ops.ExternalSource()(source=[numbers(m)]))
    return m.plain(pipe.run())


@case
def class_with_the_source(m):
    pipe = m.Pipeline(batch_size=2, num_threads=1, device_id=None)
    with pipe:
        pipe.set_outputs(m.ops.ExternalSource(source=[numbers(m)], layout="W")())
    return m.plain(pipe.run())


@case
def class_with_the_source_twice(m):
    pipe = m.Pipeline(batch_size=2, num_threads=1, device_id=None)
    with pipe:
        pipe.set_outputs(m.ops.ExternalSource(source=[numbers(m)])(source=[numbers(m)]))


@case
def class_with_several_outputs(m):
    pipe = m.Pipeline(batch_size=2, num_threads=1, device_id=None)
    with pipe:
        pipe.set_outputs(*m.ops.ExternalSource(source=lambda: [numbers(m)] * 2, num_outputs=2)())
    return m.plain(pipe.run())


@case
def two_sources(m):
    pipe = m.Pipeline(batch_size=2, num_threads=1, device_id=None)
    with pipe:
        a = m.fn.external_source(source=lambda i: numbers(m, i))
        b = m.fn.external_source(source=lambda i: numbers(m, 10 * i))
        pipe.set_outputs(a + b)
    return [m.plain(pipe.run()) for _ in range(3)]


@case
def the_shortest_source_ends_the_epoch(m):
    pipe = m.Pipeline(batch_size=2, num_threads=1, device_id=None)
    with pipe:
        a = m.fn.external_source(source=[numbers(m)] * 3, cycle="raise")
        b = m.fn.external_source(source=lambda i: numbers(m, i))
        pipe.set_outputs(a, b)
    got = []
    for _ in range(6):
        try:
            got.append(m.plain(pipe.run()))
        except StopIteration:
            got.append("stop")
            pipe.reset()
    return got


@case
def repeat_last(m):
    pipe = m.Pipeline(batch_size=2, num_threads=1, device_id=None, prefetch_queue_depth=1)
    with pipe:
        pipe.set_outputs(m.fn.external_source(name="x", repeat_last=True))
    pipe.build()
    pipe.feed_input("x", numbers(m))
    got = [m.plain(pipe.run()) for _ in range(3)]
    pipe.feed_input("x", numbers(m, 50))
    return got + [m.plain(pipe.run()) for _ in range(2)]


@case
def repeat_last_with_a_source(m):
    return m.raises(lambda: values(m, [numbers(m)], 1, repeat_last=True))


@case
def repeat_last_never_fed(m):
    pipe = m.Pipeline(batch_size=2, num_threads=1, device_id=None, prefetch_queue_depth=1)
    with pipe:
        pipe.set_outputs(m.fn.external_source(name="x", repeat_last=True))
    pipe.build()
    return pipe.run()


@case
def reset_before_the_end(m):
    pipe = m.Pipeline(batch_size=2, num_threads=1, device_id=None)
    with pipe:
        pipe.set_outputs(m.fn.external_source(source=lambda i: numbers(m, i)))
    first = m.plain(pipe.run())
    pipe.reset()
    return [first, m.plain(pipe.run())]


# In worker processes. The callables stand at the level of the module, so that they can be sent.


class Parallel:
    """Per sample; ends after `stop` samples."""

    def __init__(self, stop=None, fail=None):
        self.stop, self.fail = stop, fail

    def __call__(self, info):
        import numpy

        if self.fail is not None and info.idx_in_epoch >= self.fail:
            raise KeyError("in the worker")
        if self.stop is not None and info.idx_in_epoch >= self.stop:
            raise StopIteration
        return numpy.array([info.idx_in_epoch, info.idx_in_batch, info.epoch_idx], "int64")


def parallel_batch(info):
    import numpy

    if info.iteration == 3:
        raise StopIteration
    return list(numpy.full((2, 2), info.iteration, "int32"))


def parallel_several(info):
    import numpy

    return numpy.array([info.idx_in_epoch]), numpy.full((2,), info.iteration, "float32")


def parallel_wrong(info):
    return "text"


class ParallelBatches:
    """An iterable of batches."""

    def __iter__(self):
        import numpy

        return iter([list(numpy.full((2, 1), i, "int32")) for i in range(3)])


def parallel(m, source, batches, start="fork", workers=2, **options):
    return values(
        m,
        source,
        batches,
        parallel=True,
        pipeline={"py_num_workers": workers, "py_start_method": start},
        **{"batch": False, **options},
    )


@each(1, 2, 3)
def parallel_per_sample(m, workers):
    return parallel(m, Parallel(), 4, workers=workers)


@case
def parallel_spawned(m):
    return parallel(m, Parallel(4), 4, "spawn")


@case
def parallel_epochs(m):
    return parallel(m, Parallel(4), 7)


@case
def parallel_stops_inside_a_batch(m):
    return parallel(m, Parallel(5), 4)


@case
def parallel_per_batch(m):
    return parallel(m, parallel_batch, 5, batch=True, batch_info=True)


@case
def parallel_iterable(m):
    return parallel(m, ParallelBatches(), 5, batch=True, cycle="raise")


@case
def parallel_several_outputs(m):
    return parallel(m, parallel_several, 3, num_outputs=2)


@each(1, 2, 5)
def parallel_prefetching(m, depth):
    return parallel(m, Parallel(8), 5, prefetch_queue_depth=depth)


@case
def parallel_raises(m):
    return m.raises(lambda: parallel(m, Parallel(fail=4), 6))


@case
def parallel_gives_text(m):
    return m.raises(lambda: parallel(m, parallel_wrong, 1))


@case
def parallel_without_arguments(m):
    return parallel(m, lambda: None, 1)


@case
def parallel_without_a_source(m):
    return parallel(m, None, 1)


@case
def parallel_copies(m):
    return parallel(m, Parallel(), 1, no_copy=False)


@case
def parallel_iterable_per_sample(m):
    return parallel(m, ParallelBatches(), 1, batch=False)


@case
def parallel_without_workers(m):
    return parallel(m, Parallel(4), 3, workers=0)


@case
def prefetching_without_parallel(m):
    return values(m, [numbers(m)], 1, prefetch_queue_depth=2)


@case
def batch_info_of_an_iterable(m):
    return values(m, [numbers(m)], 1, batch_info=True)
