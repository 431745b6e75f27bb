"""Sources of every kind by their batches, conditionals, and functions of Python."""

from . import case, each
from .checking import numbers, pipe_of, refused

# Sources.


def batches_of(m, make, count=3, batch_size=3):
    """Batches of a source, and "stop" where an epoch ends."""
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


SOURCES = {
    "samples": (6, lambda m: m.fn.external_source(source=Samples(m.np, 7), batch=False)),
    "samples_fit": (6, lambda m: m.fn.external_source(source=Samples(m.np, 6), batch=False)),
    "counter": (6, lambda m: m.fn.external_source(source=Counter(m.np, 2))),
    "counter_quiet": (5, lambda m: m.fn.external_source(source=Counter(m.np, 2), cycle=True)),
    "counter_raise": (6, lambda m: m.fn.external_source(source=Counter(m.np, 2), cycle="raise")),
    "generator": (
        4,
        lambda m: m.fn.external_source(
            source=lambda: (numbers(m, 3, (i,)) for i in (1, 2)), cycle="quiet"
        ),
    ),
    "batch_info": (
        3,
        lambda m: m.fn.external_source(
            source=lambda info: m.np.array([[info.iteration, info.epoch_idx]] * 3, "int32"),
            batch_info=True,
        ),
    ),
    "batch_number": (
        3,
        lambda m: m.fn.external_source(source=lambda i: m.np.full((3, 2), i, "int32")),
    ),
    "two_outputs": (
        3,
        lambda m: tuple(
            m.fn.external_source(
                source=lambda: (numbers(m, 3), numbers(m, 3, (2, 2), "float32")),
                num_outputs=2,
                layout=["A", "HW"],
                dtype=[m.types.INT32, m.types.FLOAT],
                ndim=[1, 2],
            )
        ),
    ),
    "one_of_one": (
        3,
        lambda m: m.fn.external_source(source=lambda: (numbers(m, 3),), num_outputs=1)[0],
    ),
    "list": (4, lambda m: m.fn.external_source(source=[numbers(m, 3), numbers(m, 3, (4,))])),
    "samples_of_iterables": (
        4,
        lambda m: m.fn.external_source(source=iter(numbers(m, 12)), batch=False),
    ),
    "ragged": (3, lambda m: m.fn.external_source(source=lambda: [m.np.ones(i) for i in range(3)])),
    "scalars": (
        1,
        lambda m: m.fn.external_source(source=lambda: m.np.arange(3, dtype="int64")) * 2,
    ),
    "constant_batch": (1, lambda m: m.fn.external_source(source=lambda: [m.np.int16(3)] * 3)),
    "blocking": (1, lambda m: m.fn.external_source(source=lambda: numbers(m, 3), blocking=True)),
    "no_copy": (1, lambda m: m.fn.external_source(source=lambda: numbers(m, 3), no_copy=True)),
    "two_sources": (
        4,
        lambda m: (
            m.fn.external_source(source=[numbers(m, 3)] * 4),
            m.fn.external_source(source=[numbers(m, 3, (1,))] * 2),
        ),
    ),
    "number_of_samples_differs": (
        1,
        lambda m: (
            m.fn.external_source(source=[numbers(m, 3)] * 4),
            m.fn.external_source(source=[numbers(m, 2)] * 2),
        ),
    ),
}


@each(**SOURCES)
def source(m, form):
    count, make = form
    return batches_of(m, make, count)


@case
def source_of_a_class(m):
    def define():
        source = m.ops.ExternalSource(source=lambda: (numbers(m, 3), numbers(m, 3)), num_outputs=2)
        a, b = source()
        return a + b

    return pipe_of(m, define).run()[0]


@case
def source_raises(m):
    def broken():
        raise KeyError("the reason")

    pipe = pipe_of(m, lambda: m.fn.external_source(source=broken))
    pipe.build()
    refused(m, KeyError, "*the reason*", pipe.run)


@case
def source_gives_nothing(m):
    pipe = pipe_of(m, lambda: m.fn.external_source(source=lambda: None))
    pipe.build()
    refused(m, (TypeError, RuntimeError), "*", pipe.run)


# Functions of Python.


@case
def python_function_forms(m):
    def define():
        x = m.fn.external_source(source=lambda: numbers(m, 3))
        a = m.fn.python_function(x, function=lambda x: x * 2)
        b, c = m.fn.python_function(
            x, x, function=lambda x, y: (x + y, m.np.array([x.sum()])), num_outputs=2
        )
        d = m.fn.python_function(
            x, function=lambda xs: [x + len(xs) for x in xs], batch_processing=True
        )
        return a, b, c, d

    return pipe_of(m, define, exec_async=False, exec_pipelined=False).run()


@case
def python_function_raises(m):
    def broken(x):
        raise ValueError("the reason")

    define = lambda: m.fn.python_function(m.types.Constant([1.0]), function=broken)
    pipe = pipe_of(m, define, exec_async=False, exec_pipelined=False)
    pipe.build()
    refused(m, RuntimeError, "*ValueError: the reason*", pipe.run)


@case
def python_function_no_outputs(m):
    seen = []

    def define():
        x = m.fn.external_source(source=lambda: numbers(m, 3))
        m.fn.python_function(
            x, function=lambda x: seen.append(int(x[0])), num_outputs=0, preserve=True
        )
        return x

    pipe_of(m, define, exec_async=False, exec_pipelined=False).run()
    return seen


@case
def python_function_wrong_type(m):
    define = lambda: m.fn.python_function(m.types.Constant([1.0]), function=lambda x: "abc")
    pipe = pipe_of(m, define, exec_async=False, exec_pipelined=False)
    pipe.build()
    refused(m, (RuntimeError, TypeError), "*", pipe.run)


@case
def python_function_no_callable(m):
    refused(
        m,
        (TypeError, RuntimeError),
        "*",
        lambda: pipe_of(m, lambda: m.fn.python_function(m.types.Constant([1.0]), function=3)).run(),
    )


@case
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
    pipe = m.pipeline_def(batch_size=3, num_threads=1, device_id=None, enable_conditionals=True)(
        define
    )(m)
    return list(pipe.run())
