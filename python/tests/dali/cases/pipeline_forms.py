"""Options of pipelines one by one, what a definition may return, sets of inputs, kinds of feeds."""

from . import each

OPTIONS = {
    "exec_dynamic": [True, False],
    "exec_async": [False],
    "exec_pipelined": [False],
    "set_affinity": [True],
    "max_streams": [-1, 0, 2],
    "enable_memory_stats": [True],
    "py_num_workers": [0, 2],
    "py_start_method": ["spawn", "fork"],
    "seed": [-1, 0, 2**63 - 1, -5, 1.5],
    "bytes_per_sample": [100],
    "prefetch_queue_depth": [1, 3, dict(cpu_size=2, gpu_size=1), {"cpu_size": 2}, 0, -1, "2", 2.0],
    "output_dtype": ["UINT8", ["UINT8"], "INT32", ["UINT8", "UINT8"], [None], None],
    "output_ndim": [1, [1], 2, [1, 1], [None]],
    "output_layout": ["A", "", "AB", None, ["A"]],
    "batch_size": [1, 0, -1, 2.0, "2", None],
    "num_threads": [0, -1, 2, "1", 1.5],
    "default_cuda_stream_priority": [0],
}


def source(m, **options):
    arrays = [m.np.uint8([1, 2, 3]), m.np.uint8([4, 5, 6])]
    return m.fn.external_source(source=lambda: arrays, **options)


def typed(m, value):
    if isinstance(value, list):
        return [typed(m, one) for one in value]
    return getattr(m.types, value) if isinstance(value, str) and value.isupper() else value


@each(**{f"{name}={value}": (name, value) for name in OPTIONS for value in OPTIONS[name]})
def option(m, given):
    name, value = given
    value = typed(m, value) if name == "output_dtype" else value
    return m.run(lambda: source(m), **{"batch_size": 2, name: value})


RETURNED = {
    "none": lambda m: None,
    "numbers": lambda m: (1, 2.5, True, m.np.float32([1, 2]), [1, 2]),
    "text": lambda m: "a",
    "list": lambda m: [source(m), source(m)],
    "nested": lambda m: (source(m), [source(m)]),
    "dictionary": lambda m: {"a": source(m)},
    "twice": lambda m: (source(m),) * 2,
    "sets": lambda m: tuple(m.fn.copy([source(m), source(m)])),
    "sets_of_two": lambda m: tuple(m.fn.cat([source(m), source(m)], [source(m), source(m)])),
    "set_and_node": lambda m: tuple(m.fn.cat([source(m), source(m)], source(m))),
    "sets_of_a_class": lambda m: tuple(m.ops.Cat()([source(m), source(m)], [source(m), source(m)])),
    "sets_unequal": lambda m: tuple(m.fn.cat([source(m), source(m)], [source(m)])),
    "set_of_one": lambda m: m.fn.copy([source(m)]),
    "set_of_none": lambda m: m.fn.copy([]),
    "sets_of_several_outputs": lambda m: tuple(
        one
        for pair in m.fn.nonsilent_region([m.fn.cast(source(m), dtype=m.types.FLOAT)] * 2)
        for one in pair
    ),
    "named_twice": lambda m: (m.fn.copy(source(m), name="a"), m.fn.copy(source(m), name="a")),
    "sources_named_twice": lambda m: (source(m, name="a"), source(m, name="a")),
    "class_argument_twice": lambda m: m.ops.Cast(dtype=m.types.INT16)(
        source(m), dtype=m.types.INT8
    ),
    "class_argument_none": lambda m: m.ops.Cast(dtype=m.types.INT16)(source(m), dtype=None),
    "class_without_argument": lambda m: m.ops.Cast()(source(m)),
    "class_argument_at_the_call": lambda m: m.ops.Cast()(source(m), dtype=m.types.INT8),
    "cast_like": lambda m: m.fn.cast_like(source(m), m.np.float32(3)),
    "cast_like_node": lambda m: m.fn.cast_like(
        source(m), m.fn.cast(source(m), dtype=m.types.INT64)
    ),
    "cast_like_one": lambda m: m.fn.cast_like(source(m)),
    "position": lambda m: m.fn.cast(source(m), m.types.INT16),
    "three_inputs": lambda m: m.fn.cast_like(source(m), source(m), source(m)),
    "none_input": lambda m: m.fn.copy(None),
    "text_input": lambda m: m.fn.copy("abc"),
    "device_of_another_kind": lambda m: m.fn.copy(source(m), device=3),
    "name_of_another_kind": lambda m: m.fn.copy(source(m), name=3),
    "seed_of_no_draw": lambda m: m.fn.copy(source(m), seed=3),
    "input_by_name": lambda m: m.fn.copy(input=source(m)),
}


@each(**RETURNED)
def returned(m, body):
    return m.run(lambda: body(m))


class Interface:
    def __init__(self, array):
        self.array = array
        self.__array_interface__ = array.__array_interface__


class Capsule:
    def __init__(self, array):
        self.array = array

    def __dlpack__(self, **_):
        return self.array.__dlpack__()

    def __dlpack_device__(self):
        return self.array.__dlpack_device__()


FED = {
    "array": lambda m: m.np.uint8([[1], [2]]),
    "tensors": lambda m: [m.tensors.TensorCPU(m.np.int16([i])) for i in (1, 2)],
    "tensor_list": lambda m: m.tensors.TensorListCPU(m.np.int16([[1], [2]]), layout="A"),
    "tensor": lambda m: m.tensors.TensorCPU(m.np.int16([[1], [2]])),
    "too_many": lambda m: m.np.zeros((3, 1)),
    "too_few": lambda m: m.np.zeros((1, 1)),
    "none": lambda m: None,
    "text": lambda m: "ab",
    "lists": lambda m: [[1], [2]],
    "numbers": lambda m: [1, 2],
    "mixed": lambda m: [m.np.uint8([1]), m.tensors.TensorCPU(m.np.uint8([2]))],
    "types": lambda m: [m.np.uint8([1]), m.np.int8([2])],
    "ranks": lambda m: [m.np.uint8([1]), m.np.uint8([[2]])],
    "scalar": lambda m: m.np.float32(3),
    "scalars": lambda m: m.np.float32([3, 4]),
    "tuple": lambda m: (m.np.uint8([1]), m.np.uint8([2])),
    "interface": lambda m: Interface(m.np.uint8([[1], [2]])),
    "interfaces": lambda m: [Interface(m.np.uint8([i])) for i in (1, 2)],
    "capsule": lambda m: Capsule(m.np.uint8([[1], [2]])),
    "capsules": lambda m: [Capsule(m.np.uint8([i])) for i in (1, 2)],
    "bytes": lambda m: [b"ab", b"cd"],
    "memory": lambda m: [memoryview(bytearray(b"ab"))] * 2,
    "dictionary": lambda m: {0: m.np.uint8([1])},
    "generator": lambda m: (m.np.uint8([i]) for i in (1, 2)),
}
DECLARED = {
    "plain": {},
    "dtype": {"dtype": "UINT8"},
    "ndim": {"ndim": 1},
    "layout": {"layout": "A"},
    "all": {"dtype": "UINT8", "ndim": 1, "layout": "A"},
}


@each(**{f"{name}-{how}": (name, how) for name in FED for how in DECLARED})
def fed(m, which):
    name, how = which
    declared = {k: typed(m, v) if k == "dtype" else v for k, v in DECLARED[how].items()}
    options = {"batch_size": 2, "num_threads": 1, "device_id": None}
    pipe = m.pipeline_def(**options)(lambda: m.fn.external_source(name="x", **declared))()
    pipe.build()
    pipe.feed_input("x", FED[name](m))
    return m.plain(pipe.run())


@each("reader", "shard", "unknown", "no_reader", "sizes")
def meta(m, which):
    def body():
        if which == "no_reader":
            return source(m)
        options = {"num_shards": 2, "shard_id": 1, "pad_last_batch": True}
        return m.fn.readers.file(file_root=m.files(7), name="r", **options)[1]

    pipe = m.pipeline_def(batch_size=2, num_threads=1, device_id=None)(body)()
    pipe.build()
    if which == "sizes":
        return [pipe.epoch_size(), pipe.epoch_size("r")]
    if which in ("reader", "no_reader"):
        return pipe.reader_meta()
    return pipe.reader_meta("r" if which == "shard" else "x")
