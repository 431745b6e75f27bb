"""Sources in worker processes: how they get there, and what is asked ahead behind an epoch's end."""

from . import each

SHIFT = 7


def by_name(info):
    return _array(info.idx_in_epoch)


def _array(number):
    import numpy as np

    return np.full((2,), number + SHIFT, np.int32)


def _wanted(m, kind):
    """A source, and the pickler that takes it to the workers."""
    pickling = m.load("pickling")
    np, shift = m.np, SHIFT

    def nested(info):
        def inner():
            return [np.full((2,), one + shift) for one in [info.idx_in_epoch]][0]

        return inner()

    def by_value(info):
        return _array(info.idx_in_epoch)

    return {
        "name": (by_name, None),
        "lambda": (lambda info: np.full((1,), info.idx_in_batch * shift), None),
        "nested": (nested, None),
        "value": (pickling.pickle_by_value(by_value), None),
        "pickler": (by_name, pickling._DaliPickle),
        "no pickler": (by_name, 3),
    }[kind]


@each("name", "lambda", "nested", "value", "pickler", "no pickler")
def spawned(m, kind):
    source, pickler = _wanted(m, kind)
    pipe = m.Pipeline(
        3, 1, None, py_num_workers=1, py_start_method="spawn", py_callback_pickler=pickler
    )
    with pipe:
        pipe.set_outputs(m.fn.external_source(source, batch=False, parallel=True))
    pipe.build()
    return [m.plain(pipe.run()) for _ in range(2)]


class Batches:
    """`count` batches of three samples, each time that it is looped over."""

    def __init__(self, count):
        self.count = count

    def __iter__(self):
        self.given = 0
        return self

    def __next__(self):
        if self.given == self.count:
            raise StopIteration
        self.given += 1
        return [_array(self.given * 10 + i) for i in range(3)]


def _epochs(m, pipe, runs):
    given = []
    for _ in range(runs):
        try:
            given.append(m.plain(pipe.run()))
        except StopIteration:
            given.append("end")
            pipe.reset()
    return given


@each(*[f"{cycle}-{ahead}" for cycle in ("raise", "quiet", "no") for ahead in (1, 2, 5)])
def iterable_that_ends(m, given):
    cycle, ahead = given.split("-")
    pipe = m.Pipeline(3, 1, None, py_num_workers=2, py_start_method="fork")
    with pipe:
        options = {"cycle": cycle, "prefetch_queue_depth": int(ahead)}
        pipe.set_outputs(m.fn.external_source(Batches(3), batch=True, parallel=True, **options))
    pipe.build()
    return _epochs(m, pipe, 9)


@each("4-3-2", "2-3-4", "1-1-1")
def several_that_end(m, given):
    ends = [int(one) for one in given.split("-")]

    def samples(info):
        if info.iteration >= ends[0]:
            raise StopIteration
        return m.np.int32([info.idx_in_epoch, info.idx_in_batch, info.iteration, info.epoch_idx])

    def run(parallel):
        pipe = m.Pipeline(3, 1, None, py_num_workers=2, py_start_method="fork")
        more = {"parallel": True, "prefetch_queue_depth": 3} if parallel else {}
        with pipe:
            pipe.set_outputs(
                m.fn.external_source(samples, batch=False, **more),
                m.fn.external_source(Batches(ends[1]), batch=True, cycle="raise", **more),
                m.fn.external_source(Batches(ends[2]), batch=True, cycle="quiet", **more),
            )
        pipe.build()
        return _epochs(m, pipe, 9)

    in_workers = run(True)
    return [in_workers == run(False), in_workers]
