"""Pipelines: every way to define one, options, running, feeding, saving."""

import sys
import types

from . import case, each


def numbers(m, start=0):
    return m.np.arange(start, start + 4, dtype="int32").reshape(2, 2)


def options(**more):
    return {"batch_size": 2, "num_threads": 1, "device_id": None, **more}


def fed(m, **more):
    """A pipeline with one input that is fed."""
    pipe = m.Pipeline(**options(**more))
    with pipe:
        pipe.set_outputs(m.fn.external_source(name="x") + 1)
    return pipe


# Subclasses.


def subclass(m, result=lambda nodes: nodes[0], count=1):
    class Mine(m.Pipeline):
        def __init__(self, batch_size, num_threads, device_id):
            super().__init__(batch_size, num_threads, device_id, seed=3)
            self.inputs = [m.ops.ExternalSource() for _ in range(count)]
            self.step = 0

        def define_graph(self):
            self.nodes = [source() for source in self.inputs]
            return result(self.nodes)

        def iter_setup(self):
            for node in self.nodes:
                self.feed_input(node, numbers(m, self.step))
            self.step += 10

    return Mine(2, 1, None)


@case
def define_graph(m):
    pipe = subclass(m)
    pipe.build()
    return [pipe.run() and m.plain(pipe.run()) for _ in range(2)]


@each(
    tuple=lambda nodes: tuple(nodes),
    list=lambda nodes: list(nodes),
    one=lambda nodes: nodes[0] * nodes[1],
    single_tuple=lambda nodes: (nodes[0] + nodes[1],),
    computed=lambda nodes: (nodes[0] + nodes[1], nodes[0] * 2),
    number=lambda nodes: (nodes[0] + nodes[1], 5),
)
def define_graph_returns(m, result):
    pipe = subclass(m, result, 2)
    pipe.build()
    return m.plain(pipe.run())


@each(
    nothing=lambda nodes: None,
    text=lambda nodes: "x",
    nested=lambda nodes: (nodes[0], (nodes[1],)),
    dict=lambda nodes: {"x": nodes[0]},
    object=lambda nodes: object(),
)
def define_graph_returns_wrong(m, result):
    pipe = subclass(m, result, 2)
    pipe.build()
    return m.plain(pipe.run())


@case
def without_define_graph(m):
    m.Pipeline(2, 1, None).build()


@case
def iter_setup_ends_an_epoch(m):
    class Mine(m.Pipeline):
        def __init__(self):
            super().__init__(2, 1, None)
            self.left = 3

        def define_graph(self):
            self.x = m.fn.external_source()
            return self.x

        def iter_setup(self):
            if self.left == 0:
                raise StopIteration
            self.left -= 1
            self.feed_input(self.x, numbers(m, self.left))

    pipe = Mine()
    pipe.build()
    got = [m.plain(pipe.run()) for _ in range(3)]
    return [got, m.raises(pipe.run)]


@case
def define_graph_by_argument(m):
    pipe = m.Pipeline(**options())
    return m.raises(lambda: pipe.serialize(define_graph=lambda: m.fn.constant(idata=[1])))


@case
def attributes_of_a_subclass(m):
    pipe = subclass(m)
    return [pipe.max_batch_size, pipe.num_threads, pipe.device_id, pipe.seed, pipe.batch_size]


# Decorated functions.


@case
def decorated(m):
    @m.pipeline_def(**options())
    def body(offset):
        return m.feed(numbers(m)) + offset

    pipe = body(5)
    pipe.build()
    return m.plain(pipe.run())


@case
def decorated_bare(m):
    @m.pipeline_def
    def body(offset=1):
        return m.feed(numbers(m)) + offset

    pipe = body(offset=7, **options())
    pipe.build()
    return [pipe.max_batch_size, m.plain(pipe.run())]


@case
def options_at_the_call_win(m):
    @m.pipeline_def(batch_size=4, num_threads=3, device_id=None)
    def body():
        return m.feed(numbers(m))

    pipe = body(batch_size=2)
    return [pipe.max_batch_size, pipe.num_threads]


@case
def decorated_method(m):
    class Holder:
        def __init__(self):
            self.offset = 100

        @m.pipeline_def(**options())
        def body(self, factor):
            return m.feed(numbers(m)) * factor + self.offset

    pipe = Holder().body(2)
    pipe.build()
    return m.plain(pipe.run())


@case
def decorated_static_method(m):
    class Holder:
        @staticmethod
        @m.pipeline_def(**options())
        def body():
            return m.feed(numbers(m))

    return m.plain(Holder.body().run())


@case
def decorated_with_helpers(m):
    def helper(x, factors):
        for factor in factors:
            x = x * factor
        return x

    return m.run(lambda: helper(m.feed(numbers(m)), [2, 3]))


@case
def decorated_with_variable_keywords(m):
    @m.pipeline_def(**options())
    def body(**kwargs):
        return m.feed(numbers(m))

    body()


@each(
    list=lambda x: [x, x],
    dict=lambda x: {"x": x},
    nothing=lambda x: None,
    nested=lambda x: (x, [x]),
    text=lambda x: "x",
)
def decorated_returns(m, result):
    return m.run(lambda: result(m.feed(numbers(m))))


@case
def decorator_marks_its_functions(m):
    return m.pipeline_def(lambda: 1)._is_pipeline_def


@case
def decorated_keeps_its_name(m):
    def body():
        """What it does."""

    made = m.pipeline_def(body)
    return [made.__name__, made.__doc__]


@case
def same_function_twice(m):
    @m.pipeline_def(**options())
    def body(n):
        return m.feed(numbers(m, n))

    first, second = body(0), body(50)
    return [m.plain(first.run()), m.plain(second.run())]


@case
def subclass_given_to_the_decorator(m):
    return m.raises(lambda: m.pipeline_def(batch_size=2)(3))


@case
def built_on_first_run(m):
    @m.pipeline_def(**options())
    def body():
        return m.feed(numbers(m))

    return m.plain(body().run())


# with pipe:


@case
def with_block(m):
    pipe = m.Pipeline(**options())
    with pipe:
        x = m.feed(numbers(m))
        pipe.set_outputs(x, x + 1)
    pipe.build()
    return m.plain(pipe.run())


@case
def with_block_gives_the_pipeline(m):
    with m.Pipeline(**options()) as pipe:
        pass
    return isinstance(pipe, m.Pipeline)


@case
def with_block_without_outputs(m):
    pipe = m.Pipeline(**options())
    with pipe:
        m.feed(numbers(m))
    pipe.build()


@case
def current_pipeline(m):
    pipe = m.Pipeline(**options())
    with pipe:
        inside = m.Pipeline.current() is pipe
    return [inside, m.Pipeline.current() is None]


@case
def current_pipeline_in_a_definition(m):
    seen = []

    def body():
        seen.append(m.Pipeline.current().max_batch_size)
        return m.feed(numbers(m))

    m.run(body)
    return seen


@case
def node_of_another_pipeline(m):
    first, second = m.Pipeline(**options()), m.Pipeline(**options())
    with first:
        x = m.feed(numbers(m))
    with second:
        second.set_outputs(x + 1)
    second.build()
    return m.plain(second.run())


@case
def push_and_pop(m):
    pipe = m.Pipeline(**options())
    m.Pipeline.push_current(pipe)
    x = m.feed(numbers(m))
    m.Pipeline.pop_current()
    pipe.set_outputs(x)
    return m.plain(pipe.run())


@case
def set_outputs_of_constants(m):
    pipe = m.Pipeline(**options())
    with pipe:
        pipe.set_outputs(m.feed(numbers(m)), m.types.Constant(3))
    return m.plain(pipe.run())


@case
def unused_operator(m):
    def body():
        m.fn.flip(m.feed([m.image(2, 2)] * 2, layout="HWC"))
        return m.feed(numbers(m))

    return m.run(body)


# Options and attributes.


@case
def defaults(m):
    pipe = m.Pipeline(batch_size=3, num_threads=2, device_id=None)
    names = "max_batch_size num_threads device_id exec_pipelined exec_async prefetch_queue_depth"
    names += " py_num_workers py_start_method enable_memory_stats set_affinity exec_separated"
    return [getattr(pipe, name) for name in names.split()]


@case
def seed_is_kept(m):
    return m.Pipeline(**options(seed=42)).seed


@each(
    batch_size_zero={"batch_size": 0},
    batch_size_negative={"batch_size": -1},
    queue_text={"prefetch_queue_depth": "two"},
    queue_dict={"prefetch_queue_depth": {"a": 1}},
    start_method={"py_start_method": "thread"},
    pickler={"py_callback_pickler": 3},
    output_dtype_text={"output_dtype": "float"},
    output_ndim_text={"output_ndim": "3"},
    output_ndim_negative={"output_ndim": -1},
    output_layout_number={"output_layout": 3},
    unknown={"no_such_option": 1},
)
def wrong_option(m, given):
    pipe = m.Pipeline(**options(**given))
    with pipe:
        pipe.set_outputs(m.feed(numbers(m)))
    pipe.build()


@case
def wrong_output_dtype(m):
    return m.run(lambda: m.feed(numbers(m)), output_dtype=m.types.FLOAT)


@case
def wrong_output_ndim(m):
    return m.run(lambda: m.feed(numbers(m)), output_ndim=3)


@case
def right_output_dtype(m):
    return m.run(lambda: m.feed(numbers(m)), output_dtype=m.types.INT32, output_ndim=1)


@case
def output_dtypes_of_wrong_count(m):
    return m.run(lambda: m.feed(numbers(m)), output_dtype=[m.types.INT32] * 2)


@case
def output_attributes(m):
    @m.pipeline_def(**options(output_dtype=m.types.INT32, output_ndim=1))
    def body():
        return m.feed(numbers(m))

    pipe = body()
    pipe.build()
    return [pipe.num_outputs, pipe.output_dtype(), pipe.output_ndim()]


@each(1, 2, 3)
def queue_depths_give_the_same(m, depth):
    pipe = fed(m, prefetch_queue_depth=depth)
    pipe.build()
    for i in range(depth):
        pipe.feed_input("x", numbers(m, 10 * i))
    return [m.plain(pipe.run()) if i == 0 else None for i in range(1)]


@each(
    plain={"exec_pipelined": False, "exec_async": False},
    synchronous={"exec_async": False},
    static={"exec_dynamic": False},
    dynamic={"exec_dynamic": True},
    affinity={"set_affinity": True},
    bytes={"bytes_per_sample": 100},
    stats={"enable_memory_stats": True},
)
def executors_give_the_same(m, given):
    return m.run(lambda: m.fn.external_source(source=lambda i: numbers(m, i)), 3, **given)


# Feeding.


@each("array", "list", "tensor_list")
def feed_kinds(m, kind):
    pipe = fed(m)
    pipe.build()
    data = {
        "array": numbers(m),
        "list": list(numbers(m)),
        "tensor_list": m.tensors.TensorListCPU(numbers(m)),
    }[kind]
    for _ in range(pipe.input_feed_count("x") if hasattr(pipe, "input_feed_count") else 2):
        pipe.feed_input("x", data)
    return m.plain(pipe.run())


@case
def feed_by_node(m):
    pipe = m.Pipeline(**options(prefetch_queue_depth=1))
    with pipe:
        x = m.fn.external_source()
        pipe.set_outputs(x)
    pipe.build()
    pipe.feed_input(x, numbers(m))
    return m.plain(pipe.run())


@case
def feed_smaller_batch(m):
    pipe = fed(m, prefetch_queue_depth=1)
    pipe.build()
    pipe.feed_input("x", numbers(m)[:1])
    return m.plain(pipe.run())


@case
def feed_ragged(m):
    pipe = fed(m, prefetch_queue_depth=1)
    pipe.build()
    pipe.feed_input("x", [m.np.zeros((1, 2), "uint8"), m.np.ones((2, 3), "uint8")])
    return m.plain(pipe.run())


@case
def feed_layout(m):
    pipe = m.Pipeline(**options(prefetch_queue_depth=1))
    with pipe:
        pipe.set_outputs(m.fn.external_source(name="x"))
    pipe.build()
    pipe.feed_input("x", numbers(m), layout="W")
    return m.plain(pipe.run())


FEEDS = {
    "too_many": lambda m: m.np.zeros((3, 2), "int32"),
    "none": lambda m: None,
    "text": lambda m: "data",
    "empty": lambda m: [],
    "mixed_ranks": lambda m: [m.np.zeros(2, "int32"), m.np.zeros((2, 2), "int32")],
    "mixed_dtypes": lambda m: [m.np.zeros(2, "int32"), m.np.zeros(2, "float32")],
    "objects": lambda m: [object(), object()],
}


@each(**FEEDS)
def feed_wrong(m, make):
    pipe = fed(m, prefetch_queue_depth=1)
    pipe.build()
    pipe.feed_input("x", make(m))
    return m.plain(pipe.run())


@case
def feed_wrong_layout(m):
    pipe = fed(m, prefetch_queue_depth=1)
    pipe.build()
    pipe.feed_input("x", numbers(m), layout="HWC")
    return m.plain(pipe.run())


@case
def feed_unknown_name(m):
    pipe = fed(m)
    pipe.build()
    pipe.feed_input("y", numbers(m))


@case
def feed_by_a_number(m):
    pipe = fed(m)
    pipe.build()
    pipe.feed_input(3, numbers(m))


@case
def feed_before_build(m):
    pipe = fed(m)
    return m.raises(lambda: pipe.feed_input("x", numbers(m)))


@case
def run_without_feeding(m):
    pipe = fed(m, prefetch_queue_depth=1)
    pipe.build()
    return pipe.run()


@case
def feed_into_run(m):
    pipe = fed(m, prefetch_queue_depth=1)
    pipe.build()
    return [m.plain(pipe.run(x=numbers(m, 10 * i))) for i in range(3)]


@case
def feed_into_run_with_prefetching(m):
    pipe = fed(m)
    pipe.build()
    return pipe.run(x=numbers(m))


@case
def feed_into_run_unknown(m):
    pipe = fed(m, prefetch_queue_depth=1)
    pipe.build()
    return pipe.run(y=numbers(m))


@case
def feed_what_has_a_source(m):
    pipe = m.Pipeline(**options())
    with pipe:
        x = m.feed(numbers(m), name="x")
        pipe.set_outputs(x)
    pipe.build()
    pipe.feed_input("x", numbers(m))


# Running piece by piece.


def counting(m, **more):
    pipe = m.Pipeline(**options(**more))
    with pipe:
        pipe.set_outputs(m.fn.external_source(source=lambda i: numbers(m, 10 * i)))
    pipe.build()
    return pipe


@case
def run_several(m):
    pipe = counting(m)
    return [m.plain(pipe.run()) for _ in range(4)]


@case
def schedule_share_release(m):
    pipe = counting(m)
    got = []
    for _ in range(3):
        pipe.schedule_run()
        got.append(m.plain(pipe.share_outputs()))
        pipe.release_outputs()
    return got


@case
def schedule_ahead(m):
    pipe = counting(m)
    pipe.schedule_run()
    got = []
    for _ in range(3):
        pipe.schedule_run()
        got.append(m.plain(pipe.share_outputs()))
        pipe.release_outputs()
    return got


@case
def outputs_after_schedule(m):
    pipe = counting(m)
    got = []
    for _ in range(3):
        pipe.schedule_run()
        got.append(m.plain(pipe.outputs()))
    return got


@case
def empty(m):
    pipe = counting(m)
    before = pipe.empty()
    pipe.schedule_run()
    between = pipe.empty()
    pipe.share_outputs()
    pipe.release_outputs()
    return [before, between, pipe.empty()]


@case
def run_mixed_with_schedule(m):
    pipe = counting(m)
    pipe.run()
    pipe.schedule_run()


@case
def schedule_mixed_with_run(m):
    pipe = counting(m)
    pipe.schedule_run()
    pipe.run()


@case
def share_before_schedule(m):
    return m.raises(lambda: counting(m).share_outputs())


@case
def run_before_outputs(m):
    pipe = m.Pipeline(**options())
    return m.raises(pipe.run)


@case
def build_twice(m):
    pipe = counting(m)
    pipe.build()
    return m.plain(pipe.run())


@case
def schedule_until_stop(m):
    pipe = m.Pipeline(**options())
    with pipe:
        pipe.set_outputs(m.fn.external_source(source=[numbers(m)] * 3))
    pipe.build()
    got = 0
    try:
        while True:
            pipe.run()
            got += 1
    except StopIteration:
        return [got, m.raises(pipe.run)]


# Saved pipelines.


@case
def serialize_and_back(m):
    data = fed(m, prefetch_queue_depth=1).serialize()
    pipe = m.Pipeline.deserialize(data, **options(prefetch_queue_depth=1))
    pipe.feed_input("x", numbers(m))
    return [type(data).__name__, m.plain(pipe.run())]


@case
def serialize_into_a_file(m):
    path = str(m.path("pipe.bin"))
    data = fed(m, prefetch_queue_depth=1).serialize(filename=path)
    pipe = m.Pipeline.deserialize(filename=path)
    pipe.feed_input("x", numbers(m))
    return [len(data) > 0, pipe.max_batch_size, m.plain(pipe.run())]


@case
def deserialize_with_other_options(m):
    data = fed(m).serialize()
    pipe = m.Pipeline.deserialize(data, batch_size=5, num_threads=2, device_id=None)
    return [pipe.max_batch_size, pipe.num_threads]


@case
def deserialize_and_build(m):
    data = fed(m, prefetch_queue_depth=1).serialize()
    pipe = m.Pipeline(**options(prefetch_queue_depth=1))
    pipe.deserialize_and_build(data)
    pipe.feed_input("x", numbers(m))
    return m.plain(pipe.run())


@case
def deserialize_nothing(m):
    return m.Pipeline.deserialize()


@case
def deserialize_two_things(m):
    return m.Pipeline.deserialize(b"abc", filename="x")


@case
def deserialize_garbage(m):
    return m.raises(lambda: m.Pipeline.deserialize(b"not a pipeline", **options()))


@case
def deserialize_a_missing_file(m):
    return m.Pipeline.deserialize(filename=str(m.path("none.bin")))


@case
def serialize_without_outputs(m):
    return m.Pipeline(**options()).serialize()


# Checkpoints.


def drawing(m, **more):
    pipe = m.Pipeline(**options(seed=11, enable_checkpointing=True, **more))
    with pipe:
        files, labels = m.fn.readers.file(
            file_root=m.files(9), name="R", random_shuffle=True, initial_fill=4
        )
        pipe.set_outputs(files, labels, m.fn.random.uniform(range=(0.0, 1.0)))
    pipe.build()
    return pipe


@each(0, 1, 3, 7)
def checkpoint_goes_on(m, steps):
    pipe = drawing(m)
    for _ in range(steps):
        pipe.run()
    state = pipe.checkpoint()
    wanted = [m.plain(pipe.run()) for _ in range(6)]
    other = drawing(m, checkpoint=state)
    return [other.is_restored_from_checkpoint, [m.plain(other.run()) for _ in range(6)] == wanted]


@case
def checkpoint_is_bytes(m):
    return type(drawing(m).checkpoint()).__name__


@case
def checkpoint_into_a_file(m):
    path = m.path("checkpoint")
    state = drawing(m).checkpoint(str(path))
    return path.read_bytes() == state


@case
def checkpoint_not_enabled(m):
    return counting(m).checkpoint()


@case
def checkpoint_damaged(m):
    return m.raises(lambda: drawing(m, checkpoint=b"garbage").run())


@case
def checkpoint_of_a_source(m):
    def make(**more):
        pipe = m.Pipeline(**options(enable_checkpointing=True, **more))
        with pipe:
            pipe.set_outputs(
                m.fn.external_source(
                    source=lambda info: m.np.array([info.idx_in_epoch], "int64"), batch=False
                )
            )
        pipe.build()
        return pipe

    pipe = make()
    pipe.run()
    pipe.run()
    return m.plain(make(checkpoint=pipe.checkpoint()).run())


@case
def debug_mode(m):
    seen = []

    @m.load("pipeline.experimental").pipeline_def(**options(debug=True))
    def body():
        x = m.feed(numbers(m))
        seen.append(m.plain(m.np.array(x.get().at(1))))
        return x + 1

    pipe = body()
    pipe.build()
    return [m.plain(pipe.run()), seen]


@case
def debug_mode_runs_python(m):
    @m.load("pipeline.experimental").pipeline_def(**options(debug=True))
    def body():
        x = m.fn.external_source(source=lambda i: numbers(m, i))
        return m.fn.cast(x, dtype=m.types.FLOAT)

    pipe = body()
    pipe.build()
    return [m.plain(pipe.run()), m.plain(pipe.run())]


@case
def what_a_server_serializes(m):
    """The one marked function of a module, and of those that it imports."""
    marked = m.load("plugin.triton").autoserialize
    write = m.load("_utils.autoserialize").invoke_autoserialize

    @marked
    @m.pipeline_def(**options())
    def model():
        return m.fn.external_source(name="x")

    @marked
    @m.pipeline_def(**options())
    def other():
        return m.fn.external_source(name="x")

    def module(name, **members):
        made = types.ModuleType(name)
        made.__dict__.update(members)
        return made

    path = str(m.path("served.dali"))
    write(module("outer", inner=module("inner", model=model), number=3), path)
    pipe = m.Pipeline.deserialize(filename=path)
    pipe.feed_input("x", [m.np.zeros(1)] * 2)
    return [
        m.plain(pipe.run()),
        m.raises(lambda: write(module("empty"), path)),
        m.raises(lambda: write(module("two", model=model, other=other), path)),
        m.raises(lambda: marked(lambda: 1)),
    ]


@case
def references_to_a_pipeline(m):
    """None but the caller's: it ends where the caller lets go of it."""

    class Labels(m.Pipeline):
        def __init__(self):
            super().__init__(**options(batch_size=1))
            self.input = m.ops.readers.File(file_root=m.files(4))

        def define_graph(self):
            return self.input()[1]

    pipe = Labels()
    before = sys.getrefcount(pipe)
    pipe.build()
    return [before, sys.getrefcount(pipe)]
