"""Programs with sources: what they give, how their epochs end, what is checked of their data."""

import functools
import itertools
import random

from . import case, each
from .programs import messages, numbers


class Batches:
    """Batches of ragged arrays, several outputs; each `iter` begins anew."""

    def __init__(self, m, count, dims, dense=False):
        self.m, self.count, self.dims, self.dense, self.i = m, count, dims, dense, 0

    def __len__(self):
        return self.count

    def __iter__(self):
        return Batches(self.m, self.count, self.dims, self.dense)

    def __next__(self):
        if self.i == self.count:
            self.i = 0
            raise StopIteration
        self.i += 1
        rng = random.Random(self.i)
        np = self.m.np

        def one(rank):
            return np.full([rng.randint(1, 3) for _ in range(rank)], self.i * 10 + rank, "float64")

        def batch(rank):
            if self.dense:
                return np.stack([one(rank)] * 4)
            return [one(rank) for _ in range(4)]

        return [batch(r) for r in self.dims] if isinstance(self.dims, list) else batch(self.dims)


class Samples:
    def __init__(self, batches, several=False):
        self.batches, self.several = batches, several
        self.batch, self.i = ([],) if several else [], 0

    def __iter__(self):
        return Samples(iter(self.batches), self.several)

    def __next__(self):
        count = len(self.batch[0]) if self.several else len(self.batch)
        if self.i == count:
            self.i = 0
            self.batch = next(self.batches)
        self.i += 1
        if self.several:
            return tuple(one[self.i - 1] for one in self.batch)
        return self.batch[self.i - 1]


def until_stop(m, pipe, limit=8):
    got = []
    for _ in range(limit):
        try:
            got.append(m.plain(pipe.run()))
        except StopIteration:
            got.append("stop")
            break
    return got


KINDS = {
    f"{api}-{kind}-{'batch' if batch else 'sample'}-{'dense' if dense else 'list'}": (
        api,
        kind,
        batch,
        dense,
    )
    for api, kind, batch, dense in itertools.product(
        ("fn", "ops"), ("callable", "iterable"), (True, False), (True, False)
    )
}


@each(**KINDS)
def sources_one(m, what):
    api, kind, batch, dense = what
    source = Batches(m, 3, 2, dense)
    if not batch:
        source = Samples(iter(source))
    if kind == "callable":
        iterator = iter(source)
        source = lambda: next(iterator)  # noqa: E731
    pipe = m.Pipeline(4, 3, None)
    if api == "fn":
        made = m.fn.external_source(source, batch=batch)
    else:
        made = m.ops.ExternalSource(source, batch=batch)()
    pipe.set_outputs(made)
    pipe.build()
    return until_stop(m, pipe)


@each(**KINDS)
def sources_several(m, what):
    api, kind, batch, dense = what
    source = Batches(m, 3, [1, 2], dense)
    if not batch:
        source = Samples(iter(source), True)
    if kind == "callable":
        iterator = iter(source)
        source = lambda: next(iterator)  # noqa: E731
    pipe = m.Pipeline(4, 3, None)
    if api == "fn":
        made = m.fn.external_source(source, 2, batch=batch)
    else:
        made = m.ops.ExternalSource(source, num_outputs=2, batch=batch)()
    pipe.set_outputs(*made)
    pipe.build()
    return until_stop(m, pipe)


ITER_SETUPS = {
    f"{api}-{name}-{'no_copy' if no_copy else 'copy'}": (api, name, no_copy)
    for api, name, no_copy in itertools.product(("fn", "ops"), ("name", "node"), (False, True))
}


@each(**ITER_SETUPS)
def iter_setups(m, what):
    api, by, no_copy = what

    class Setup(m.Pipeline):
        def __init__(self, iterator):
            super().__init__(4, 3, None, prefetch_queue_depth=3)
            self.iterator = iterator

        def define_graph(self):
            if api == "fn":
                self.one = m.fn.external_source(name="src1", no_copy=no_copy)
                self.two = m.fn.external_source(name="src2", no_copy=no_copy)
            else:
                self.one = m.ops.ExternalSource(no_copy=no_copy)(name="src1")
                self.two = m.ops.ExternalSource(no_copy=no_copy)(name="src2")
            return [self.one, self.two]

        def iter_setup(self):
            one, two = next(self.iterator)
            self.kept = getattr(self, "kept", []) + [one, two]
            self.feed_input("src1" if by == "name" else self.one, one)
            self.feed_input("src2" if by == "name" else self.two, two)

    pipe = Setup(iter(Batches(m, 5, [1, 2])))
    pipe.build()
    return until_stop(m, pipe)


@case
def array_of_scalars_as_samples(m):
    pipe = m.Pipeline(4, 3, None)
    pipe.set_outputs(m.fn.external_source(m.np.float32([1.5, 2.5, 2, 3]), batch=False))
    pipe.build()
    return until_stop(m, pipe)


@each("raise", "quiet", True, False, None, "no")
def cycles(m, cycle):
    """A list and a generator's function beside each other."""
    batches = [[m.np.float32([1.5, 2.5])], [m.np.float32([-1, 3.5, 4.5])]]

    def generator():
        yield from batches

    pipe = m.Pipeline(1, 3, None, prefetch_queue_depth=1)
    pipe.set_outputs(
        m.fn.external_source(batches, cycle=cycle), m.fn.external_source(generator, cycle=cycle)
    )
    pipe.build()
    got = []
    for _ in range(2):
        got += until_stop(m, pipe, 5)
        pipe.reset()
    return got


@each("raise", "quiet")
def cycle_of_a_partial_generator(m, cycle):
    def generator(base):
        for i in range(3):
            yield [m.np.float32([i + base])]

    pipe = m.Pipeline(1, 3, None)
    pipe.set_outputs(m.fn.external_source(functools.partial(generator, 1.5), cycle=cycle))
    pipe.build()
    got = []
    for _ in range(2):
        got += until_stop(m, pipe, 7)
        pipe.reset()
    return got


@case
def cycle_of_what_does_not_begin_anew(m):
    class Once:
        def __init__(self):
            self.i = 0

        def __iter__(self):
            return self

        def __next__(self):
            if self.i == 3:
                raise StopIteration
            self.i += 1
            return numbers(m, self.i)

    pipe = m.Pipeline(4, 1, None, prefetch_queue_depth=1)
    pipe.set_outputs(m.fn.external_source(Once(), cycle="quiet"))
    pipe.build()
    got = until_stop(m, pipe)
    pipe.reset()
    return got + until_stop(m, pipe)


@case
def feeding_what_is_not_read(m):
    class Unread(m.Pipeline):
        def __init__(self):
            super().__init__(3, 1, None)
            self.one, self.two = m.ops.ExternalSource(), m.ops.ExternalSource()

        def define_graph(self):
            self.first, self.second = self.one(), self.two()
            return [self.first]

        def iter_setup(self):
            self.feed_input(self.first, m.np.zeros([3, 4, 5]))
            self.feed_input(self.second, m.np.zeros([3, 4, 5]))

    pipe = Unread()
    pipe.build()
    return m.attempt(pipe.run)


@each(lists=[[10], [11], [12]], scalars=[10, 20, 30])
def feeding_lists_of_numbers(m, data):
    class Fed(m.Pipeline):
        def __init__(self):
            super().__init__(3, 1, None)
            self.input = m.ops.ExternalSource()

        def define_graph(self):
            self.batch = self.input()
            return [self.batch]

        def iter_setup(self):
            self.feed_input(self.batch, [m.np.array(one, "uint8") for one in data])

    pipe = Fed()
    pipe.build()
    return [m.plain(pipe.run()) for _ in range(3)]


@each("list", "tensors", "arrays")
def feeding_the_output_of_a_pipeline(m, kind):
    """Batch by batch, with its layout, and with another."""

    def source(layout):
        batches = [
            [m.np.ones((2, 3), "float32"), m.np.zeros((3, 2), "float32")],
            [m.np.full((2, 2), 9, "float32"), m.np.full((1, 5), 7, "float32")],
        ]
        pipe = m.Pipeline(2, 1, None)
        pipe.set_outputs(m.fn.external_source(source=batches, cycle=True, layout=layout))
        pipe.build()
        return pipe

    def taken(pipe):
        (out,) = pipe.run()
        if kind == "list":
            return out
        if kind == "tensors":
            return [out[i] for i in range(len(out))]
        return [m.np.array(out[i]) for i in range(len(out))]

    fed = m.Pipeline(2, 1, None, exec_async=False, exec_pipelined=False)
    fed.set_outputs(m.fn.external_source(name="ext"))
    fed.build()
    first = source("XY")
    got = []
    for _ in range(3):
        fed.feed_input("ext", taken(first))
        got.append(m.plain(fed.run()))
    second, third = source("XY"), source("XY")
    called = m.Pipeline(2, 1, None)
    called.set_outputs(
        m.fn.external_source(source=lambda: taken(second)),
        m.fn.external_source(source=lambda: taken(third), layout="AB"),
    )
    called.build()
    return got + [m.attempt(called.run) for _ in range(3)]


@case
def scalars_of_a_source(m):
    pipe = m.Pipeline(4, 1, None)
    pipe.set_outputs(
        m.fn.external_source(source=lambda i: [m.np.float32(i * 10 + k) for k in range(4)])
    )
    pipe.build()
    return [m.plain(pipe.run()) for _ in range(3)]


@each("int", "batch_info", "sample")
def epochs_of_a_callable(m, kind):
    """The counts that a callable is given, over three epochs."""
    seen = []

    def source(info):
        if kind == "int":
            seen.append(["int", isinstance(info, int)])
            iteration, epoch = info, -1
        else:
            iteration, epoch = info.iteration, info.epoch_idx
        if iteration == 2:
            raise StopIteration
        if kind == "sample":
            row = [info.idx_in_epoch, info.idx_in_batch, iteration, epoch]
            return m.np.array(row, "int32")
        return [m.np.array([iteration, epoch], "int32")] * 3

    pipe = m.Pipeline(3, 1, None)
    with pipe:
        pipe.set_outputs(
            m.fn.external_source(
                source=source,
                batch=kind != "sample",
                batch_info={"int": False, "batch_info": True, "sample": None}[kind],
            )
        )
    pipe.build()
    got = []
    for _ in range(3):
        got += until_stop(m, pipe)
        pipe.reset()
    return got


DATA_CHECKS = {
    "dtype": dict(batches=["uint8"], dtype="UINT8"),
    "wrong_dtype": dict(batches=["float32"], dtype="UINT8"),
    "dtype_changes": dict(batches=["float32", "uint8"]),
    "ndim": dict(batches=["uint8"], dtype="UINT8", ndim=3),
    "layout": dict(batches=["uint8"], dtype="UINT8", layout="HWC"),
    "ndim_and_layout": dict(batches=["uint8"], ndim=3, layout="HWC"),
    "ndim_against_layout": dict(batches=["uint8"], ndim=2, layout="HWC"),
    "ndim_against_data": dict(batches=["uint8"], ndim=2),
    "layout_against_data": dict(batches=["uint8"], layout="HW"),
    "ndim_zero": dict(batches=["uint8"], ndim=0),
    "ndim_negative": dict(batches=["uint8"], ndim=-1),
    "ndim_text": dict(batches=["uint8"], ndim="three"),
    "dtype_text": dict(batches=["uint8"], dtype="'uint8"),
}


@each(**DATA_CHECKS)
def checks_of_data(m, what):
    given = dict(what)
    batches = [[m.np.ones((4, 5, 3), name)] * 2 for name in given.pop("batches")]
    if "dtype" in given:
        name = given["dtype"]
        given["dtype"] = name if name[0] == "'" else getattr(m.types, name)
    pipe = m.Pipeline(2, 1, None, prefetch_queue_depth=1)
    pipe.set_outputs(m.fn.external_source(source=batches, **given))
    pipe.build()
    return [m.attempt(lambda: pipe.run()[0].at(0).shape) for _ in batches]


@case
def layouts_that_change(m):
    pipe = m.Pipeline(1, 1, None)
    pipe.set_outputs(m.fn.external_source(name="x"))
    pipe.build()
    pipe.feed_input("x", [m.np.zeros(1)], layout="W")
    pipe.feed_input("x", [m.np.zeros(1)], layout="H")
    return [m.raises(pipe.run) for _ in range(2)]


@each("sample", "batch", "function", "generator", "iterator")
def outputs_that_nobody_reads(m, kind):
    def batch():
        return tuple(m.np.full((2, 3), i, "float32") for i in range(3))

    def forever():
        while True:
            yield batch()

    class Forever:
        def __iter__(self):
            return self

        def __next__(self):
            return batch()

    source = {
        "sample": lambda info: tuple(m.np.full(3, i, "float32") for i in range(3)),
        "batch": batch,
        "function": forever,
        "generator": forever(),
        "iterator": Forever(),
    }[kind]

    def run():
        @m.pipeline_def(batch_size=2, num_threads=1, device_id=None)
        def body():
            nodes = m.fn.external_source(source=source, num_outputs=3, batch=kind != "sample")
            return nodes[0] + 1, nodes[2] + 1

        pipe = body()
        pipe.build()
        return m.plain(pipe.run())

    return messages(run)


@case
def batches_of_changing_size(m):
    sizes = [3, 1, 4]
    batches = [[m.image(4, 5, 3, i) for i in range(count)] for count in sizes]

    def body(x):
        return (
            m.fn.flip(x),
            m.fn.resize(x, size=(3, 3), interp_type=m.types.INTERP_NN),
            m.fn.cast(x, dtype=m.types.FLOAT) + 1,
            m.fn.crop(x, crop=(2, 2)),
            m.fn.transpose(x, perm=[2, 0, 1]),
            m.fn.shapes(x),
            m.fn.reductions.max(x),
            m.fn.stack(x, x),
            m.fn.cat(x, x),
            m.fn.pad(x, fill_value=1, align=4, axes=(0,)),
            m.fn.expand_dims(x, axes=1, new_axis_names="Z"),
            m.fn.get_property(x, key="layout"),
            m.fn.constant(idata=[1, 2]),
        )

    pipe = m.Pipeline(4, 1, None)
    with pipe:
        pipe.set_outputs(*body(m.fn.external_source(source=batches, layout="HWC")))
    pipe.build()
    got = [m.plain(pipe.run()) for _ in sizes]
    return [[len(one["samples"]) for one in batch] for batch in got] + got[1:2]


@case
def batches_of_two_sizes_in_one_step(m):
    pipe = m.Pipeline(4, 1, None)
    with pipe:
        x = m.fn.external_source(source=[numbers(m, 0, 3)])
        y = m.fn.external_source(source=[numbers(m, 0, 2)])
        pipe.set_outputs(x, y)
    pipe.build()
    return m.attempt(pipe.run)


@case
def larger_than_the_batch(m):
    pipe = m.Pipeline(2, 1, None)
    with pipe:
        pipe.set_outputs(m.fn.external_source(source=[numbers(m, 0, 3)]))
    pipe.build()
    return m.attempt(pipe.run)
