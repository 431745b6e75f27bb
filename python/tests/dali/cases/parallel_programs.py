"""Programs with sources in worker processes: the same as without, whatever is asked ahead."""

from . import case, each
from .source_programs import until_stop


class Rows:
    """Sample i of an epoch: where it stands, and the epoch."""

    def __init__(self, samples):
        self.samples = samples

    def __call__(self, info):
        import numpy as np

        if info.idx_in_epoch >= self.samples:
            raise StopIteration
        row = [info.idx_in_epoch, info.idx_in_batch, info.iteration, info.epoch_idx]
        return np.array(row, np.int32)


class Batched:
    """Batch i of an epoch, as `Rows` has it."""

    def __init__(self, batches, batch, with_info):
        self.batches, self.batch, self.with_info = batches, batch, with_info

    def __call__(self, info):
        import numpy as np

        i, epoch = (info.iteration, info.epoch_idx) if self.with_info else (info, -1)
        if i >= self.batches:
            raise StopIteration
        return [np.array([i * self.batch + k, k, i, epoch], np.int32) for k in range(self.batch)]


class Looped:
    """An iterable of batches; each `iter` begins anew, or goes on."""

    def __init__(self, batches, batch, anew=True):
        self.batches, self.batch, self.anew, self.i = batches, batch, anew, 0

    def __iter__(self):
        if self.anew:
            self.i = 0
        return self

    def __next__(self):
        import numpy as np

        if self.i >= self.batches:
            raise StopIteration
        self.i += 1
        return [np.full((2,), 10 * self.i + k, np.int16) for k in range(self.batch)]


def generator():
    import numpy as np

    for i in range(3):
        yield [np.full((2, 2), i + k, np.uint8) for k in range(3)]


def pipeline(m, *sources, batch=3, **options):
    pipe = m.Pipeline(batch, 2, None, py_num_workers=2, py_start_method="fork", **options)
    with pipe:
        pipe.set_outputs(*[m.fn.external_source(one, **more) for one, more in sources])
    pipe.build()
    return pipe


def epochs(m, pipe, count=3, limit=5):
    got = []
    for _ in range(count):
        got += until_stop(m, pipe, limit)
        pipe.reset()
    return got


@each(1, 2, 5)
def kinds_beside_each_other(m, ahead):
    pipe = pipeline(
        m,
        (Rows(10), dict(parallel=True, batch=False, prefetch_queue_depth=ahead)),
        (Batched(4, 3, True), dict(parallel=True, batch=True, batch_info=True)),
        (Batched(4, 3, False), dict(parallel=True, batch=True, prefetch_queue_depth=ahead)),
        (Looped(3, 3), dict(parallel=True, batch=True, cycle="raise", prefetch_queue_depth=ahead)),
        (generator, dict(parallel=True, batch=True, cycle="raise")),
        (Rows(9), dict(parallel=False, batch=False)),
    )
    return epochs(m, pipe)


@each("raise-1", "quiet-4", "none-1")
def cycles_of_workers(m, what):
    cycle, ahead = what.split("-")
    options = dict(parallel=True, batch=True, prefetch_queue_depth=int(ahead))
    options["cycle"] = None if cycle == "none" else cycle
    return [
        epochs(m, pipeline(m, (source, options)), 2, 5)
        for source in (Looped(3, 3), generator, Looped(1, 3))
    ]


@case
def one_that_does_not_begin_anew(m):
    options = dict(parallel=True, batch=True, cycle="quiet")
    return epochs(m, pipeline(m, (Looped(3, 3, False), options)), 3, 5)


@each("raise-quiet", "quiet-raise", "raise-raise", "quiet-quiet")
def lengths_that_differ(m, policies):
    first, second = policies.split("-")
    seen = []
    for parallel in (True, False):
        pipe = pipeline(
            m,
            (Rows(12), dict(parallel=parallel, batch=False)),
            (Looped(3, 3), dict(parallel=parallel, batch=True, cycle=first)),
            (Looped(2, 3), dict(parallel=parallel, batch=True, cycle=second)),
        )
        seen.append(epochs(m, pipe, 3, 6))
    return [seen[0] == seen[1], seen[0]]


@case
def asked_ahead_for_nothing(m):
    """Another source ends the epoch: what workers made for later is thrown away."""
    batches = [[m.np.float32(i) for i in range(3)]] * 2
    pipe = pipeline(
        m,
        (batches, dict(cycle="raise")),
        (Rows(100), dict(parallel=True, batch=False, prefetch_queue_depth=4)),
        (Rows(100), dict(parallel=False, batch=False)),
    )
    return epochs(m, pipe)


@case
def layouts_and_several_outputs(m):
    def source(info):
        return m.np.full((2, 3), info.idx_in_epoch), m.np.float32([info.idx_in_batch])

    pipe = m.Pipeline(3, 1, None, py_num_workers=1)
    with pipe:
        out = m.fn.external_source(
            source, num_outputs=2, layout=["AB", "C"], parallel=True, batch=False
        )
        pipe.set_outputs(*out)
    pipe.build()
    return [m.plain(pipe.run()) for _ in range(2)]


@case
def tensors_of_workers(m):
    def source(info):
        return m.tensors.TensorCPU(m.np.full((2,), info.idx_in_epoch, "int16"), "X")

    return until_stop(m, pipeline(m, (source, dict(parallel=True, batch=False))), 2)


@case
def large_samples(m):
    def source(info):
        return m.np.full((700, 1000), info.idx_in_epoch, "int32")

    pipe = pipeline(m, (source, dict(parallel=True, batch=False)))
    return [[int(one.sum()) for one in map(m.np.array, pipe.run()[0])] for _ in range(3)]


@case
def samples_that_grow(m):
    def source(info):
        return m.np.full((10 ** (info.iteration + 1),), info.idx_in_batch, "int32")

    pipe = pipeline(m, (source, dict(parallel=True, batch=False)))
    return [[m.np.array(one).shape for one in pipe.run()[0]] for _ in range(5)]


@each("value", "key", "memory", "exit")
def what_workers_raise(m, kind):
    def source(info):
        if info.iteration == 2:
            if kind == "exit":
                raise SystemExit(3)
            raise {"value": ValueError, "key": KeyError, "memory": MemoryError}[kind]("mine")
        return m.np.zeros(2)

    pipe = pipeline(m, (source, dict(parallel=True, batch=False, prefetch_queue_depth=1)))
    return m.raises(lambda: [pipe.run() for _ in range(4)])


@each(
    no_arguments=lambda: 1,
    several=lambda a, b, c: 1,
)
def wrong_callables(m, source):
    return pipeline(m, (source, dict(parallel=True, batch=False)))


@each(iterable=Looped(3, 3), function=generator, generator=(x for x in ()))
def iterables_of_samples(m, source):
    return pipeline(m, (source, dict(parallel=True, batch=False)))


@case
def pool(m):
    none = m.Pipeline(3, 1, None, py_num_workers=0)
    with none:
        none.set_outputs(m.fn.external_source(Rows(3), batch=False, parallel=True))
    made = pipeline(m, (Rows(9), dict(parallel=True, batch=False)))
    return [
        m.raises(none.build),
        none._py_pool is None,
        none._py_pool_started,
        made._py_pool is not None,
        made._py_pool_started,
    ]


def started(m):
    pipe = m.Pipeline(3, 1, None, py_num_workers=1, py_start_method="fork")
    with pipe:
        pipe.set_outputs(m.fn.external_source(Rows(9), batch=False, parallel=True))
    return pipe


@case
def workers_started_before_the_build(m):
    pipe = started(m)
    pipe.start_py_workers()
    before = pipe._py_pool_started
    pipe.build()
    return [before, m.plain(pipe.run())]
