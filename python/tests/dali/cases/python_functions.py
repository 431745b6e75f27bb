"""Functions of Python inside a pipeline: what they see, give, and where they are called."""

from . import case, each


def numbers(m, i=0):
    return [m.np.full((2, 3), 10 * i + s, m.np.uint8) for s in range(3)]


def source(m, **options):
    return m.fn.external_source(source=lambda i: numbers(m, i), batch=True, **options)


def run(m, body, batches=1, **options):
    settings = {"batch_size": 3, "prefetch_queue_depth": 1, **options}
    return m.run(lambda: body(source(m)), batches, **settings)


def apply(m, function, batches=1, **options):
    """The outputs of one function over three arrays of 2 x 3 bytes."""

    def body(x):
        made = m.fn.python_function(x, function=function, **options)
        return tuple(made) if isinstance(made, list) else made

    return run(m, body, batches)


@each(
    itself=lambda m: lambda a: a,
    tuple_of_one=lambda m: lambda a: (a,),
    transposed=lambda m: lambda a: a.T,
    reversed=lambda m: lambda a: a[::-1, ::2],
    broadcast=lambda m: lambda a: m.np.broadcast_to(a[0], (4, 3)),
    scalar_array=lambda m: lambda a: m.np.array(a.max()),
    half=lambda m: lambda a: a.astype(m.np.float16),
    double=lambda m: lambda a: a / 3,
    boolean=lambda m: lambda a: a > 1,
    long=lambda m: lambda a: a.astype(m.np.int64) - 5,
    empty=lambda m: lambda a: a[:0],
    ragged=lambda m: lambda a: a[: 1 + a[0, 0] % 2],
)
def gives(m, make):
    return apply(m, make(m), 2)


@each(
    none=lambda m: lambda a: None,
    list=lambda m: lambda a: [a],
    number=lambda m: lambda a: 3,
    text=lambda m: lambda a: "3",
    objects=lambda m: lambda a: m.np.array([None, 1]),
    dates=lambda m: lambda a: m.np.array(["2001-01-01"], "datetime64[D]"),
    two_arguments=lambda m: lambda a, b: a,
    raises=lambda m: lambda a: a.nothing,
)
def gives_wrong(m, make):
    return apply(m, make(m))


@each(
    list=lambda a: [a, a],
    three=lambda a: (a, a, a),
    one=lambda a: a,
    none_inside=lambda a: (a, None),
)
def gives_wrong_of_two(m, function):
    return apply(m, function, num_outputs=2)


@case
def three_outputs(m):
    return apply(m, lambda a: (a, a[:1] + 1, m.np.array(a.sum())), 2, num_outputs=3)


@each(
    itself=lambda m: lambda batch: batch,
    summed=lambda m: lambda batch: [sum(batch)] * len(batch),
    turned=lambda m: lambda batch: batch[::-1],
    shorter=lambda m: lambda batch: batch[:2],
    longer=lambda m: lambda batch: batch + batch,
    nothing=lambda m: lambda batch: [],
    array=lambda m: lambda batch: m.np.stack(batch),
    mixed_types=lambda m: lambda batch: [batch[0], batch[1] / 2, batch[2]],
    mixed_ranks=lambda m: lambda batch: [batch[0], batch[1][0], batch[2]],
)
def per_batch(m, make):
    return apply(m, make(m), 2, batch_processing=True)


@case
def per_batch_two_outputs(m):
    return apply(m, lambda a: (a, [x[:1] for x in a]), 2, num_outputs=2, batch_processing=True)


@case
def per_batch_of_what(m):
    seen = []

    def look(*batches):
        seen.append([[type(b).__name__, len(b), type(b[0]).__name__] for b in batches])
        return batches[0]

    def body(x):
        return m.fn.python_function(x, x[0], function=look, batch_processing=True)

    run(m, body)
    return seen


@case
def smaller_batches(m):
    def body():
        x = m.fn.external_source(source=lambda i: numbers(m)[: 1 + i % 3], batch=True)
        return m.fn.python_function(x, function=lambda a: a + 1)

    return m.run(body, 4, batch_size=3)


@case
def types_change_between_batches(m):
    calls = iter(range(100))
    return apply(m, lambda a: a.astype("float32") if next(calls) >= 3 else a, 3)


@each(
    text="HW",
    list=["HW"],
    two_of_one=["HW", "HW"],
    too_long="HWC",
    number=3,
)
def layouts(m, given):
    return apply(m, lambda a: a, output_layouts=given)


@each(text="HW", one=["HW"], two=["HW", "AB"], three=["HW", "AB", "XY"])
def layouts_of_two(m, given):
    return apply(m, lambda a: (a, a), num_outputs=2, output_layouts=given)


@case
def layout_of_the_input_is_lost(m):
    def body():
        return m.fn.python_function(source(m, layout="HW"), function=lambda a: a)

    return m.run(body, batch_size=3)


@each(scalar=3, real=0.5, flag=True, numbers=[1, 2])
def constant_inputs(m, value):
    return m.run(lambda: m.fn.python_function(value, function=lambda a: a), batch_size=3)


@case
def array_input(m):
    array = m.np.array([3, 4], m.np.int16)
    return m.run(lambda: m.fn.python_function(array, function=lambda a: a + 1), batch_size=3)


@each(nodes=lambda x: [x, x], text=lambda x: "x", nothing=lambda x: None)
def wrong_inputs(m, make):
    return run(m, lambda x: m.fn.python_function(make(x), function=lambda a: a))


@case
def without_inputs(m):
    def body():
        return m.fn.python_function(function=lambda: m.np.array([7]))

    return m.run(body, 2, batch_size=3)


@case
def without_inputs_per_batch(m):
    def body():
        return m.fn.python_function(
            function=lambda: [m.np.array([i]) for i in range(3)], batch_processing=True
        )

    return m.run(body, 2, batch_size=3)


@case
def without_outputs_is_a_list(m):
    made = []

    def body(x):
        made.append(m.fn.python_function(x, function=lambda a: None, num_outputs=0))
        return x

    run(m, body)
    return made


@case
def unread_outputs_are_computed(m):
    seen = []

    def body(x):
        m.fn.python_function(x, function=lambda a: (seen.append(int(a[0, 0])), a)[1])
        return x

    run(m, body)
    return seen


@case
def chain(m):
    def body(x):
        a = m.fn.python_function(x, function=lambda a: a.astype("int32") * 2)
        b = m.fn.python_function(a + 1, x, function=lambda a, x: a - x)
        return x, a, b, m.fn.cat(a, b), m.fn.reductions.sum(b)

    return run(m, body, 2)


@case
def scheduled_ahead(m):
    seen = []

    def body(x):
        return m.fn.python_function(x, function=lambda a: (seen.append(int(a[0, 0])), a)[1])

    pipe = m.pipeline_def(batch_size=3, num_threads=1, device_id=None, prefetch_queue_depth=2)(
        lambda: body(source(m))
    )()
    pipe.run()
    pipe.run()
    return seen[:6]


# In arms.


def conditional(m, body, batches=1):
    return run(m, body, batches, enable_conditionals=True)


@case
def arm_per_sample(m):
    seen = []

    def note(a):
        seen.append(int(a[0, 0]))
        return a + 100

    def body(x):
        if x[0, 0] % 2 == 1:
            y = m.fn.python_function(x, function=note)
        else:
            y = x
        return y

    return [conditional(m, body, 2), sorted(seen)]


@case
def arm_per_batch(m):
    seen = []

    def note(batch):
        seen.append([int(a[0, 0]) for a in batch])
        return [a + 100 for a in batch]

    def body(x):
        if x[0, 0] % 2 == 0:
            y = m.fn.python_function(x, function=note, batch_processing=True)
        else:
            y = x + m.types.Constant(1, dtype=m.types.UINT8)
        return y

    return [conditional(m, body, 2), seen]


@case
def arm_of_no_sample(m):
    seen = []

    def body(x):
        if x[0, 0] > 200:
            y = m.fn.python_function(x, function=lambda a: (seen.append(1), a)[1])
        else:
            y = x
        return y

    return [conditional(m, body, 2), seen]


@case
def arm_for_its_effect(m):
    seen = []

    def body(x):
        if x[0, 0] % 2 == 1:
            m.fn.python_function(x, function=lambda a: seen.append(int(a[0, 0])), num_outputs=0)
        return x

    return [conditional(m, body, 2), sorted(seen)]


@case
def arm_in_an_arm(m):
    def body(x):
        if x[0, 0] % 10 < 2:
            y = m.fn.python_function(x, function=lambda a: a + 50)
            if x[0, 0] % 2 == 1:
                y = m.fn.python_function(y, function=lambda a: a * 2)
        else:
            y = x
        return y, x

    return conditional(m, body, 2)


@case
def arm_without_inputs(m):
    calls = []

    def body(x):
        if x[0, 0] % 2 == 1:
            y = m.fn.python_function(function=lambda: (calls.append(1), m.np.uint8([9]))[1])
        else:
            y = x[0, :1]
        return y

    return [conditional(m, body), len(calls)]


@case
def arm_constant(m):
    def body(x):
        if x[0, 0] == 1:
            y = m.fn.python_function(x[0, 0], function=lambda a: m.np.array(7, m.np.int32))
        else:
            y = 3
        return y

    return conditional(m, body)


@case
def arms_of_different_types(m):
    def body(x):
        if x[0, 0] == 1:
            y = m.fn.python_function(x, function=lambda a: a.astype("int16"))
        else:
            y = x
        return y

    return conditional(m, body)


@each(same="HW", other="AB", none=None)
def arms_of_layouts(m, layout):
    def body():
        x = source(m, layout="HW")
        if x[0, 0] == 1:
            y = m.fn.python_function(x, function=lambda a: a, output_layouts=layout)
        else:
            y = x
        return y

    return m.run(body, batch_size=3, prefetch_queue_depth=1, enable_conditionals=True)


# Arguments, classes, saving.


@each(
    unknown={"flag": 3},
    synchronize={"synchronize_stream": True},
    no_function={"function": 3},
    accepted={"bytes_per_sample_hint": 3, "preserve": True, "name": "named"},
)
def arguments(m, given):
    options = {"function": lambda a: a, **given}
    return run(m, lambda x: m.fn.python_function(x, **options))


@case
def class_by_position(m):
    return run(m, lambda x: m.ops.PythonFunction(lambda a: a * 2)(x))


@case
def class_attributes(m):
    made = m.ops.PythonFunction(function=lambda a: a, num_outputs=2)
    return [made.device, made.preserve, made.num_outputs]


@case
def class_layouts_twice(m):
    made = m.ops.PythonFunction(function=lambda a: a, output_layouts="HW")
    return run(m, lambda x: made(x, output_layouts="HW"))


@case
def class_layouts_at_the_call(m):
    return run(m, lambda x: m.ops.PythonFunction(function=lambda a: a)(x, output_layouts="HW"))


@case
def outside_of_a_pipeline(m):
    return m.fn.python_function(3, function=lambda a: a)


@case
def capsules(m):
    seen = []

    def look(batch):
        seen.append([type(batch).__name__, type(batch[0]).__name__])
        return batch

    return [run(m, lambda x: m.fn.dl_tensor_python_function(x, function=look)), seen]


@case
def capsules_two_outputs(m):
    import torch.utils.dlpack as exchange

    def split(one):
        tensor = exchange.from_dlpack(one)
        return exchange.to_dlpack(tensor[:1]), exchange.to_dlpack(tensor.sum())

    def body(x):
        made = m.ops.DLTensorPythonFunction(
            function=split, num_outputs=2, batch_processing=False, synchronize_stream=False
        )
        return tuple(made(x))

    return run(m, body)


@each(array=lambda m: m.np.zeros(3), number=lambda m: 3)
def capsules_wrong(m, make):
    return run(
        m,
        lambda x: m.fn.dl_tensor_python_function(
            x, function=lambda a: make(m), batch_processing=False
        ),
    )


@case
def serialized(m):
    body = m.pipeline_def(batch_size=3, num_threads=1, device_id=None)(
        lambda: m.fn.python_function(m.fn.external_source(name="x"), function=lambda a: a)
    )
    return len(body().serialize()) > 0


@case
def checkpoint(m):
    root = m.files(7)

    def body():
        data, label = m.fn.readers.file(file_root=root)
        return m.fn.python_function(data, function=lambda a: a * 2), label

    definition = m.pipeline_def(
        batch_size=3, num_threads=1, device_id=None, enable_checkpointing=True
    )(body)
    pipe = definition()
    pipe.run()
    restored = definition(checkpoint=pipe.checkpoint())
    return [m.plain(pipe.run()), m.plain(restored.run())]


@case
def reader_meta(m):
    root = m.files(7)

    def body():
        data, label = m.fn.readers.file(file_root=root, name="R")
        return m.fn.python_function(data, function=lambda a: a), label

    pipe = m.pipeline_def(batch_size=3, num_threads=1, device_id=None)(body)()
    pipe.build()
    return [pipe.epoch_size("R"), [m.plain(pipe.run()) for _ in range(4)]]


@case
def end_of_a_source(m):
    def give(i):
        if i == 2:
            raise StopIteration
        return numbers(m, i)

    def body():
        x = m.fn.external_source(source=give, batch=True)
        return m.fn.python_function(x, function=lambda a: a + 1)

    pipe = m.pipeline_def(batch_size=3, num_threads=1, device_id=None)(body)()
    found = []
    for _ in range(2):
        try:
            while True:
                found.append(int(pipe.run()[0].at(0)[0, 0]))
        except StopIteration:
            found.append("end")
        pipe.reset()
    return found


@case
def goes_on_behind_an_error(m):
    def fail(a):
        if a[0, 0] == 10:
            raise ValueError("ten")
        return a

    pipe = m.pipeline_def(batch_size=3, num_threads=1, device_id=None, prefetch_queue_depth=1)(
        lambda: m.fn.python_function(source(m), function=fail)
    )()
    pipe.run()
    return m.raises(pipe.run)


@case
def capsules_of_arrays(m):
    """What functions on DLPack use, and what their nodes are."""
    array = m.np.arange(20, dtype="float64").reshape(2, 10, 1)[:, 2:5, :]
    back = m.ops._dlpack_to_array(m.ops._dlpack_from_array(array))
    with m.Pipeline(1, 1, None):
        node = m.ops.PythonFunction(function=lambda: m.np.zeros(1))()
    return [back, isinstance(node, m.ops._DataNode)]


@each(
    batch=("PythonFunction", ["cpu", True], {}),
    device=("PythonFunction", ["cpu"], {}),
    too_many=("PythonFunction", ["cpu", True, 3], {}),
    twice=("PythonFunction", ["cpu"], {"device": "cpu"}),
    capsules=("DLTensorPythonFunction", ["cpu", False, False], {}),
)
def arguments_of_a_class_by_position(m, what):
    name, positions, options = what

    def function(a):
        return a

    def define():
        return getattr(m.ops, name)(function, 1, *positions, **options)(source(m))

    return m.run(define, batch_size=3, exec_pipelined=False, exec_async=False)
