"""Nodes that are made outside of a pipeline, or in another one, and pipelines that use them."""

from collections.abc import Iterable

from . import case, each


def _ramp(m):
    """Batches of two samples: i times [1, 2, 3]."""
    return m.fn.external_source(source=lambda i: [m.np.float32([1, 2, 3]) * i] * 2)


def _pipe(m, *outputs, **options):
    pipe = m.Pipeline(2, 1, None, **options)
    pipe.set_outputs(*outputs)
    pipe.build()
    return pipe


@case
def chain_outside_of_a_pipeline(m):
    data = _ramp(m)
    first = m.math.max(data * 2 + 1, 3)[1:]
    pipe = _pipe(m, m.fn.cast(first, dtype=m.types.INT32), -first, data)
    return [m.plain(pipe.run()) for _ in range(2)]


@case
def two_pipelines_of_the_same_nodes(m):
    doubled = m.fn.cast(
        m.fn.external_source(source=[[m.np.int32([1, 2])] * 2] * 4), dtype=m.types.FLOAT
    )
    return [m.plain(_pipe(m, doubled, doubled + 1).run()) for _ in range(2)]


@case
def one_draw_used_twice(m):
    draw = m.fn.random.uniform(range=[0, 1])
    first, second = _pipe(m, draw, draw + 0).run()
    return bool((first.as_array() == second.as_array()).all())


@case
def node_of_a_pipeline_used_behind_it(m):
    pipe = m.Pipeline(2, 1, None)
    with pipe:
        data = m.fn.external_source(source=lambda: [m.np.int32([1, 2])] * 2)
    pipe.set_outputs(m.fn.cast(data, dtype=m.types.FLOAT) + data)
    pipe.build()
    return pipe.run()


@case
def nodes_given_to_a_function_with_conditionals(m):
    @m.pipeline_def(
        enable_conditionals=True,
        batch_size=2,
        num_threads=1,
        device_id=None,
        prefetch_queue_depth=1,
    )
    def choose(n, x):
        if n > 0:
            result = x + 1
        else:
            result = x - 1
        return result, n

    pipe = choose(m.fn.external_source(name="n"), m.fn.external_source(name="x"))
    pipe.build()
    given = []
    for i in range(2):
        pipe.feed_input("n", [m.np.int32(1), m.np.int32(-1)])
        pipe.feed_input("x", [m.np.int32(i), m.np.int32(5)])
        given.append(m.plain(pipe.run()))
    return given


@case
def input_fed_by_its_node_from_outside(m):
    data = m.fn.external_source()
    pipe = _pipe(m, data + 3, prefetch_queue_depth=1)
    pipe.feed_input(data, m.np.int32([1, 2]))
    return pipe.run()


@case
def large_constant_outside(m):
    return _pipe(m, m.types.Constant(m.np.arange(100, dtype=m.np.int32), device="cpu")).run()


@case
def reader_outside(m):
    encoded, label = m.fn.readers.file(file_root=m.files(4), name="R")
    pipe = _pipe(m, encoded, label)
    return [pipe.reader_meta("R"), m.plain(pipe.run())]


@case
def operator_objects_outside(m):
    images = m.ops.ExternalSource(source=lambda i: [m.image(2, 3)] * 2, layout="HWC")
    return _pipe(m, m.ops.Flip()(images(), horizontal=1)).run()


@case
def list_of_inputs_outside(m):
    pair = m.fn.external_source(
        lambda: [[m.image(2, 3)] * 2, [m.image(3, 2)] * 2], num_outputs=2, layout="HWC"
    )
    return _pipe(m, *m.fn.flip(pair, horizontal=1), m.types.ScalarConstant(90)).run()


@case
def same_name_from_outside(m):
    nodes = [m.fn.external_source(name="x", source=[[m.np.int32(1)] * 2]) for _ in range(2)]
    return _pipe(m, *nodes).run()


@each("node", "list", "text")
def is_iterable(m, what):
    values = {"node": m.fn.random.uniform(), "list": [1], "text": "a"}
    return isinstance(values[what], Iterable)


@case
def loop_over_a_node(m):
    return list(m.fn.random.uniform())


@case
def references_of_a_pipeline(m):
    import sys

    pipe = m.Pipeline(2, 1, None)
    with pipe:
        pipe.set_outputs(_ramp(m))
    before = sys.getrefcount(pipe)
    pipe.build()
    return [before, sys.getrefcount(pipe)]


@case
def unused_input_is_not_asked(m):
    asked = []

    def unused():
        asked.append(1)

    @m.pipeline_def(enable_conditionals=True, batch_size=2, num_threads=1, device_id=None)
    def body():
        data = m.fn.external_source(source=lambda: [m.np.int32(1)] * 2)
        late = m.fn.external_source(source=unused) + 1
        if data > 0:
            other = late * 2
            result = data + 1
        else:
            other = late
            result = data
        if late > 0:
            third = data
        else:
            third = other
        return result

    return [m.plain(body().run()), asked]


@case
def unused_input_cannot_be_fed(m):
    pipe = m.Pipeline(2, 1, None, prefetch_queue_depth=1)
    with pipe:
        unused = m.fn.external_source(name="unused")
        pipe.set_outputs(m.fn.external_source(name="used"))
    pipe.build()
    batch = [m.np.int32(1)] * 2
    errors = [m.raises(lambda: pipe.feed_input(one, batch)) for one in ("unused", unused)]
    pipe.feed_input("used", batch)
    return [errors, m.plain(pipe.run())]


@case
def unused_output_of_a_source_warns(m):
    import warnings

    pipe = m.Pipeline(2, 1, None)
    with pipe:
        pair = m.fn.external_source(
            source=lambda: ([m.np.int32(1)] * 2, [m.np.int32(2)] * 2), num_outputs=2
        )
        pipe.set_outputs(pair[1])
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        pipe.build()
    return [[one.category for one in caught], m.plain(pipe.run())]


@case
def names_and_devices(m):
    def body():
        data = m.fn.external_source(source=lambda: [m.np.int32([1])] * 2, name="data")
        negated = m.fn.reshape(data, shape=[1, 1], name="negated")
        given.extend([data.name, negated.name, negated.device, data.gpu().device])
        given.extend([(data.gpu() + 1).device, data.layout, data.ndim])
        return negated

    given = []
    m.run(body)
    return given


@each(
    list=lambda m, x: x + [x],
    nested=lambda m, x: m.math.max([x, x], 5),
    text=lambda m, x: m.math.max(x, "a"),
    half_a_set=lambda m, x: m.fn.cast([x, 3], dtype=m.types.FLOAT),
    list_for_a_number=lambda m, x: m.fn.random.coin_flip(probability=[0.5, 0.5]),
    text_in_a_list=lambda m, x: m.fn.reductions.sum(x, axes=[0, "a"]),
    class_for_a_type=lambda m, x: m.fn.cast(x, dtype=m.np.uint8),
    number_for_a_type=lambda m, x: m.fn.cast(x, dtype=7),
    name_that_is_a_number=lambda m, x: m.fn.cast(x, dtype=m.types.FLOAT, name=3),
    name_twice=lambda m, x: m.ops.Cast(dtype=m.types.FLOAT, name="a")(x, name="b"),
    old_and_new_name=lambda m, x: m.fn.lookup_table(
        x, keys=[1], values=[2.0], output_dtype=m.types.FLOAT, dtype=m.types.FLOAT
    ),
)
def checked_where_it_is_written(m, call):
    def body():
        data = m.fn.external_source(source=lambda: [m.np.int32([1])] * 2)
        given.append(m.raises(lambda: call(m, data)))
        return data

    given = []
    m.run(body)
    return given


@each(
    argument=lambda m, x: m.fn.lookup_table(x, keys=[1], values=[2.0], output_dtype=m.types.FLOAT),
    no_effect=lambda m, x: m.fn.cast(x, dtype=m.types.FLOAT, seed=3),
    operator=lambda m, x: m.fn.coin_flip(),
    of_today=lambda m, x: m.fn.random.coin_flip(seed=3),
)
def old_names_warn(m, call):
    import warnings

    def body():
        data = m.fn.external_source(source=lambda: [m.np.uint8([1])] * 2)
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            result = call(m, data)
        given.extend(one.category for one in caught)
        return result

    given = []
    return [given, m.run(body)[0][0]["samples"][0]["dtype"]]


@case
def serialized_pipeline_keeps_its_readers_and_checks(m):
    pipe = m.Pipeline(3, 1, None, output_dtype=m.types.INT32, output_ndim=[1])
    with pipe:
        pipe.set_outputs(m.fn.readers.file(file_root=m.files(4), name="R")[1])
    made = m.Pipeline.deserialize(pipe.serialize())
    sizes = [len(made.run()[0]) for _ in range(4)]
    return [sizes, made.reader_meta("R"), made.output_dtype(), made.output_ndim()]


@case
def deserialized_into_an_empty_pipeline(m):
    pipe = m.Pipeline(4, 2, None, seed=12)
    with pipe:
        pipe.set_outputs(m.fn.random.uniform(range=[0, 1]))
    given = []
    for _ in range(2):
        made = m.Pipeline()
        made.deserialize_and_build(pipe.serialize())
        given.append(m.plain(made.run()))
    return [given[0] == given[1], made.max_batch_size]


@case
def mixed_ways_to_run(m):
    pipe = _pipe(m, _ramp(m))
    pipe.run()
    ways = (pipe.schedule_run, pipe.share_outputs, pipe.release_outputs, pipe.outputs)
    refused = [m.raises(way) for way in ways]
    pipe.enable_api_check(False)
    return [refused, [m.raises(way) for way in ways]]


@case
def negative_device_id(m):
    pipe = m.Pipeline(batch_size=1, num_threads=1, device_id=-123)
    with pipe:
        pipe.set_outputs(m.np.int32([1, 2, 3]))
    pipe.build()
    return pipe.run()


@each(plain={}, tensors={"show_tensors": True}, colors={"use_colors": True}, ids={"show_ids": True})
def drawn_graph(m, options):
    """Operators, and what one hands to the next: their names are each library's own."""
    pipe = m.Pipeline(batch_size=2, num_threads=1, device_id=None)
    with pipe:
        data, label = m.fn.readers.file(file_root=m.files(4))
        pipe.set_outputs(m.fn.cast(data, dtype=m.types.FLOAT), label)
    pipe.build()
    path = m.path("graph.dot")
    pipe.save_graph_to_dot_file(str(path), **options)
    text = path.read_text()
    begins = text.startswith("digraph ") and text.rstrip().endswith("}")
    colors = [one for one in ("blue", "#76b900") if one in text]
    return [begins, text.count("Cast") > 1, text.count("File_0") > 1, "->" in text, colors]


@case
def drawn_graph_by_position(m):
    pipe = m.Pipeline(batch_size=2, num_threads=1, device_id=None)
    with pipe:
        pipe.set_outputs(m.fn.constant(idata=[1]))
    return m.raises(lambda: pipe.save_graph_to_dot_file(str(m.path("graph.dot")), True))
