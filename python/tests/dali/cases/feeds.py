"""What inputs accept from batch to batch, and states of pipelines whose data Python makes."""

import warnings
from itertools import product

from . import case, each


def _pipe(m, *outputs, batch_size=2, **options):
    pipe = m.Pipeline(batch_size, 1, None, **options)
    pipe.set_outputs(*outputs)
    pipe.build()
    return pipe


def _results(m, pipe, count):
    """Outputs of `count` batches; the class of the error where there is one."""
    given = []
    for _ in range(count):
        try:
            given.append(m.plain(pipe.run()))
        except Exception as error:
            given.append(
                "RuntimeError" if isinstance(error, RuntimeError) else type(error).__name__
            )
    return given


@each(
    element_type=(((2, 2), "float32"), ((2, 2), "uint8")),
    rank=(((2, 2), "uint8"), ((2,), "uint8")),
    extents=(((2, 2), "uint8"), ((3, 1), "uint8")),
)
def second_batch_differs(m, batches):
    data = [[m.np.ones(shape, dtype)] * 2 for shape, dtype in batches]
    return _results(m, _pipe(m, m.fn.external_source(source=data)), 2)


@each(
    element_type={"dtype": "FLOAT"},
    rank={"ndim": 3},
    layout={"layout": "HWC"},
    negative_rank={"ndim": -1},
    all_fit={"ndim": 2, "layout": "HW", "dtype": "UINT8"},
)
def declared(m, options):
    options = dict(options)
    if "dtype" in options:
        options["dtype"] = getattr(m.types, options["dtype"])
    data = [[m.np.ones((2, 2), "uint8")] * 2]
    return m.raises(lambda: _pipe(m, m.fn.external_source(source=data, **options)).run())


@each(same="H", other="W", none="")
def layout_of_a_feed(m, layout):
    pipe = _pipe(m, m.fn.external_source(name="x", layout="H"), prefetch_queue_depth=1)

    def run():
        pipe.feed_input("x", [m.np.zeros(1)] * 2, layout=layout)
        return m.plain(pipe.run())

    return [m.raises(run), run() if layout != "W" else None]


@case
def layout_of_a_fed_list(m):
    pipe = _pipe(m, m.fn.external_source(name="x", layout="H"), prefetch_queue_depth=1)
    batch = m.tensors.TensorListCPU(m.np.zeros((2, 1)), "W")

    def run():
        pipe.feed_input("x", batch)
        pipe.run()

    return m.raises(run)


@case
def layout_of_a_sources_list(m):
    batch = m.tensors.TensorListCPU(m.np.zeros((2, 1)), "W")
    return _pipe(m, m.fn.external_source(source=[batch], layout="H")).run()


@case
def layout_that_changes(m):
    pipe = _pipe(m, m.fn.external_source(name="x"))
    for layout in "WH":
        pipe.feed_input("x", [m.np.zeros(1)] * 2, layout=layout)
    return _results(m, pipe, 2)


@case
def feed_count_of_no_input(m):
    return m.raises(lambda: _pipe(m, m.fn.external_source(name="x")).input_feed_count("y"))


@case
def feed_of_text(m):
    pipe = _pipe(m, m.fn.external_source(name="x"), prefetch_queue_depth=1)
    return m.raises(lambda: pipe.feed_input("x", m.np.array(["a", "b"])))


def _next(m, pipe):
    try:
        return m.plain(pipe.run())
    except StopIteration:
        pipe.reset()
        return m.plain(pipe.run())


@each("0-sample", "1-sample", "3-sample", "4-sample", "0-batch", "4-batch", "0-info", "7-info")
def checkpoint_goes_on(m, given):
    before, mode = given.split("-")

    def sample(info):
        if info.idx_in_epoch >= 6:
            raise StopIteration
        return m.np.int32([info.epoch_idx, info.iteration, info.idx_in_epoch, info.idx_in_batch])

    def batch(info):
        iteration = info if mode == "batch" else info.iteration
        if iteration >= 3:
            raise StopIteration
        return [m.np.int32([iteration, i]) for i in range(2)]

    @m.pipeline_def(batch_size=2, num_threads=1, device_id=None, enable_checkpointing=True)
    def body():
        is_sample = mode == "sample"
        options = {} if is_sample else {"batch_info": mode == "info"}
        source = sample if is_sample else batch
        data = m.fn.external_source(source=source, batch=not is_sample, **options)
        return data, m.fn.random.uniform(range=[0, 1])

    pipe = body()
    pipe.build()
    for _ in range(int(before)):
        _next(m, pipe)
    restored = body(checkpoint=pipe.checkpoint())
    restored.build()
    return [_next(m, pipe) == _next(m, restored) for _ in range(5)]


@each("iterator", "list", "callable", "callable with the index")
def checkpoint_of_a_source(m, kind):
    sources = {
        "iterator": iter([1, 2]),
        "list": [1, 2],
        "callable": lambda: 1,
        "callable with the index": lambda i: 1,
    }

    @m.pipeline_def(batch_size=2, num_threads=1, device_id=None, enable_checkpointing=True)
    def body():
        return m.fn.external_source(source=sources[kind])

    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        body().build()
    return [one.category for one in caught]


@each(*product((1, 2, 3), (1, 2, 4), (True, False)))
def several_batches_before_several_runs(m, what):
    depth, count, is_pipelined = what
    more = {} if is_pipelined else {"exec_async": False, "exec_pipelined": False}
    pipe = m.Pipeline(2, 1, None, prefetch_queue_depth=depth, **more)
    with pipe:
        pipe.set_outputs(m.fn.external_source(name="x", layout="X"))
    pipe.build()
    for number in range(count):
        pipe.feed_input("x", [m.np.int32([number])] * 2)
    found = [m.plain(pipe.run()) for _ in range(count)]
    return found + [m.raises(pipe.run) != "nothing"]
