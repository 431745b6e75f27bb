"""Programs that check themselves: batches by their samples, two pipelines beside each other, errors
by class, what a pipeline says of itself."""

from . import case, each


def run(m, define, count=1, **options):
    """`count` batches of a pipeline of one function."""
    options = {"batch_size": 3, "num_threads": 2, "device_id": None, "seed": 5, **options}
    pipe = m.pipeline_def(**options)(define)()
    pipe.build()
    return [pipe.run() for _ in range(count)]


def numbers(m, dtype="float32", shape=(4, 5, 3), count=3):
    rng = m.np.random.default_rng(3)
    return [rng.integers(0, 200, shape).astype(dtype) for _ in range(count)]


def compared(m, first, second, count=2):
    """Whether two pipelines give the same, sample by sample."""
    pipes = [one() for one in (first, second)]
    for pipe in pipes:
        pipe.build()
    for _ in range(count):
        for a, b in zip(*[pipe.run() for pipe in pipes], strict=True):
            assert len(a) == len(b) and a.layout() == b.layout() and a.dtype == b.dtype
            for i in range(len(a)):
                m.np.testing.assert_array_equal(m.np.array(a[i]), m.np.array(b.at(i)))
    return "equal"


# Operators as functions and as classes.

OPERATORS = {
    "Resize": ("resize", dict(resize_x=7, resize_y=6)),
    "Crop": ("crop", dict(crop=(2, 3), crop_pos_x=0.2)),
    "CropMirrorNormalize": (
        "crop_mirror_normalize",
        dict(crop=(3, 3), mean=[1.0, 2, 3], std=[2.0], mirror=1),
    ),
    "Flip": ("flip", dict(vertical=1)),
    "Rotate": ("rotate", dict(angle=90.0, fill_value=1)),
    "Pad": ("pad", dict(fill_value=7, axes=(0, 1), shape=(6, 8))),
    "Transpose": ("transpose", dict(perm=[2, 0, 1])),
    "Brightness": ("brightness", dict(brightness=0.5)),
    "Erase": ("erase", dict(anchor=(0.1, 0.1), shape=(0.5, 0.5), normalized=True, axis_names="HW")),
    "Slice": ("slice", dict(start=[1], end=[3], axes=[0])),
    "Reshape": ("reshape", dict(shape=[-1, 3])),
    "Normalize": ("normalize", dict(axes=[0, 1])),
    "Cast": ("cast", dict(dtype="INT32")),
    "Shapes": ("shapes", {}),
    "GaussianBlur": ("gaussian_blur", dict(window_size=3, sigma=1.0)),
    "OneHot": ("one_hot", dict(num_classes=3)),
}


@each(*OPERATORS)
def function_beside_class(m, name):
    function, arguments = OPERATORS[name]
    if "dtype" in arguments:
        arguments = {"dtype": getattr(m.types, arguments["dtype"])}
    if name == "OneHot":
        data, layout = [m.np.int32([i]) for i in range(3)], None
    else:
        data = numbers(m, "uint8" if name in ("Rotate", "Brightness") else "float32")
        layout = "HWC"

    @m.pipeline_def(batch_size=3, num_threads=2, device_id=None)
    def by_function():
        fed = m.fn.external_source(lambda: data, layout=layout)
        return getattr(m.fn, function)(fed, **arguments)

    class ByClass(m.Pipeline):
        def __init__(self):
            super().__init__(3, 1, None, seed=1)
            self.input = m.ops.ExternalSource()
            self.op = getattr(m.ops, name)(device="cpu", **arguments)

        def define_graph(self):
            self.fed = self.input()
            return self.op(self.fed)

        def iter_setup(self):
            self.feed_input(self.fed, data, layout=layout)

    return compared(m, by_function, ByClass)


# Errors that a test asks for by their class.


def refused(m, define, **options):
    """Raises, and the case has the class; else says that nothing did."""
    run(m, define, **options)
    return "nothing"


def fed(m, dtype="float32", shape=(4, 5, 3), layout="HWC"):
    data = numbers(m, dtype, shape)
    return m.fn.external_source(lambda: data, layout=layout)


REFUSED = {
    "crop_larger": lambda m: m.fn.crop(fed(m), crop=(10, 3)),
    "crop_negative": lambda m: m.fn.crop(fed(m), crop=(-1, 3)),
    "crop_pos": lambda m: m.fn.crop(fed(m), crop=(2, 3), crop_pos_x=1.5),
    "crop_policy": lambda m: m.fn.crop(fed(m), crop=(9, 3), out_of_bounds_policy="wrap"),
    "crop_three_of_two": lambda m: m.fn.crop(fed(m), crop=(2, 3, 3, 1)),
    "crop_and_crop_w": lambda m: m.fn.crop(fed(m), crop=(2, 3), crop_w=2),
    "slice_and_axis_names": lambda m: m.fn.slice(fed(m), 0.1, 0.5, axes=[0], axis_names="H"),
    "slice_no_axis": lambda m: m.fn.slice(fed(m), start=[0], end=[1], axes=[7]),
    "slice_end_and_shape": lambda m: m.fn.slice(fed(m), start=[0], end=[1], shape=[1], axes=[0]),
    "slice_outside": lambda m: m.fn.slice(fed(m), start=[0], end=[40], axes=[0]),
    "slice_axes_twice": lambda m: m.fn.slice(fed(m), start=[0, 0], end=[1, 1], axes=[0, 0]),
    "flip_of_channels": lambda m: m.fn.flip(fed(m, layout="ABC")),
    "resize_nothing": lambda m: m.fn.resize(fed(m)),
    "resize_size_and_x": lambda m: m.fn.resize(fed(m), size=[3, 3], resize_x=4),
    "resize_longer_and_x": lambda m: m.fn.resize(fed(m), resize_longer=4, resize_x=4),
    "resize_negative": lambda m: m.fn.resize(fed(m), resize_x=-4),
    "resize_mode": lambda m: m.fn.resize(fed(m), size=[3, 3], mode="fill"),
    "resize_no_layout": lambda m: m.fn.resize(fed(m, layout=None), size=[3, 3]),
    "resize_roi_alone": lambda m: m.fn.resize(fed(m), size=[3, 3], roi_start=[0, 0]),
    "resize_of_doubles": lambda m: m.fn.resize(fed(m, "float64"), size=[3, 3]),
    "resize_as_int64": lambda m: m.fn.resize(fed(m), size=[3, 3], dtype=m.types.INT64),
    "transpose_short": lambda m: m.fn.transpose(fed(m), perm=[0, 1]),
    "transpose_twice": lambda m: m.fn.transpose(fed(m), perm=[0, 0, 1]),
    "transpose_outside": lambda m: m.fn.transpose(fed(m), perm=[0, 1, 3]),
    "transpose_layout": lambda m: m.fn.transpose(fed(m), perm=[0, 2, 1], output_layout="AB"),
    "reshape_count": lambda m: m.fn.reshape(fed(m), shape=[7, 7]),
    "reshape_two_unknown": lambda m: m.fn.reshape(fed(m), shape=[-1, -1]),
    "reshape_nothing": lambda m: m.fn.reshape(fed(m)),
    "reshape_rel_and_abs": lambda m: m.fn.reshape(fed(m), shape=[60], rel_shape=[1.0]),
    "reshape_layout": lambda m: m.fn.reshape(fed(m), shape=[60], layout="AB"),
    "reinterpret_indivisible": lambda m: m.fn.reinterpret(
        fed(m, "uint8", (3,), None), dtype=m.types.INT32
    ),
    "expand_twice": lambda m: m.fn.expand_dims(fed(m), axes=[1, 1]),
    "expand_outside": lambda m: m.fn.expand_dims(fed(m), axes=[9]),
    "squeeze_of_four": lambda m: m.fn.squeeze(fed(m), axes=[0]),
    "squeeze_both": lambda m: m.fn.squeeze(fed(m), axes=[0], axis_names="H"),
    "squeeze_name": lambda m: m.fn.squeeze(fed(m), axis_names="Z"),
    "pad_negative_align": lambda m: m.fn.pad(fed(m), align=[0], axes=[0]),
    "pad_axes": lambda m: m.fn.pad(fed(m), axes=[5]),
    "pad_shapes": lambda m: m.fn.pad(fed(m), axes=[0, 1], shape=[3]),
    "cat_of_ranks": lambda m: m.fn.cat(fed(m), fed(m, shape=(4, 5), layout="HW")),
    "cat_of_extents": lambda m: m.fn.cat(fed(m), fed(m, shape=(4, 6, 3)), axis=0),
    "cat_axis": lambda m: m.fn.cat(fed(m), fed(m), axis=3),
    "cat_axis_name": lambda m: m.fn.cat(fed(m), fed(m), axis_name="Q"),
    "cat_of_types": lambda m: m.fn.cat(fed(m), fed(m, "uint8")),
    "stack_of_shapes": lambda m: m.fn.stack(fed(m), fed(m, shape=(2, 5, 3))),
    "stack_axis": lambda m: m.fn.stack(fed(m), fed(m), axis=5),
    "normalize_mean_shape": lambda m: m.fn.normalize(fed(m), mean=fed(m, shape=(2, 2, 2))),
    "normalize_both": lambda m: m.fn.normalize(fed(m), axes=[0], axis_names="H"),
    "normalize_name": lambda m: m.fn.normalize(fed(m), axis_names="Z"),
    "cmn_mean_count": lambda m: m.fn.crop_mirror_normalize(fed(m), mean=[1.0, 2.0], std=[1.0] * 3),
    "cmn_layout": lambda m: m.fn.crop_mirror_normalize(fed(m), output_layout="CHZ"),
    "cmn_dtype": lambda m: m.fn.crop_mirror_normalize(fed(m), dtype=m.types.INT64),
    "blur_even": lambda m: m.fn.gaussian_blur(fed(m), window_size=4),
    "blur_nothing": lambda m: m.fn.gaussian_blur(fed(m)),
    "blur_sigma_count": lambda m: m.fn.gaussian_blur(fed(m), sigma=[1.0, 2.0, 3.0, 4.0]),
    "warp_matrix": lambda m: m.fn.warp_affine(fed(m), matrix=[1.0, 2.0]),
    "warp_nothing": lambda m: m.fn.warp_affine(fed(m)),
    "one_hot_classes": lambda m: m.fn.one_hot(fed(m, "int32", (1,), None), num_classes=-2),
    "lookup_keys": lambda m: m.fn.lookup_table(
        fed(m, "uint8", (2,), None), keys=[1, 2], values=[3]
    ),
    "lookup_of_floats": lambda m: m.fn.lookup_table(fed(m), keys=[1], values=[3]),
    "reduce_axis": lambda m: m.fn.reductions.sum(fed(m), axes=[4]),
    "reduce_both": lambda m: m.fn.reductions.sum(fed(m), axes=[0], axis_names="H"),
    "reduce_twice": lambda m: m.fn.reductions.max(fed(m), axes=[1, 1]),
    "uniform_range": lambda m: m.fn.random.uniform(range=[2.0, 1.0]),
    "uniform_of_three": lambda m: m.fn.random.uniform(range=[2.0, 1.0, 3.0]),
    "uniform_values_and_range": lambda m: m.fn.random.uniform(range=[0.0, 1.0], values=[1.0]),
    "normal_negative": lambda m: m.fn.random.normal(stddev=-1.0),
    "coin": lambda m: m.fn.random.coin_flip(probability=2.0),
    "unknown_argument": lambda m: m.fn.flip(fed(m), diagonal=1),
    "argument_of_text": lambda m: m.fn.flip(fed(m), horizontal="yes"),
    "device": lambda m: m.fn.flip(fed(m), device="tpu"),
    "no_input": lambda m: m.fn.flip(),
    "two_inputs": lambda m: m.fn.flip(fed(m), fed(m)),
    "input_of_text": lambda m: m.fn.flip("picture"),
    "decode_of_numbers": lambda m: m.fn.decoders.image(fed(m, "uint8", (9,), None)),
    "decode_of_floats": lambda m: m.fn.decoders.image(fed(m)),
    "peek_of_pixels": lambda m: m.fn.peek_image_shape(fed(m, "uint8", (9,), None)),
    "file_nowhere": lambda m: m.fn.readers.file(file_root="/nowhere/at/all")[0],
    "file_nothing": lambda m: m.fn.readers.file()[0],
    "file_shards": lambda m: m.fn.readers.file(files=["a"], shard_id=3, num_shards=2)[0],
    "numpy_nowhere": lambda m: m.fn.readers.numpy(file_root="/nowhere", file_filter="*.npy"),
    "output_of_text": lambda m: "three",
    "output_of_none": lambda m: None,
    "constant_of_text": lambda m: m.types.Constant("three"),
    "sequence_rearrange": lambda m: m.fn.sequence_rearrange(fed(m, layout="FHW"), new_order=[9]),
    "element_extract": lambda m: m.fn.element_extract(fed(m, layout="FHW"), element_map=[9]),
    "coord_flip": lambda m: m.fn.coord_flip(fed(m, shape=(4, 5), layout=None)),
    "bb_flip": lambda m: m.fn.bb_flip(fed(m, shape=(4, 5), layout=None)),
    "colour_space": lambda m: m.fn.color_space_conversion(
        fed(m, "uint8"), image_type=m.types.RGB, output_type=m.types.ANY_DATA
    ),
    "hsv_of_two_channels": lambda m: m.fn.hsv(fed(m, "uint8", (4, 5, 2)), hue=3.0),
    "permute_batch": lambda m: m.fn.permute_batch(fed(m), indices=7),
    "spectrogram_of_pictures": lambda m: m.fn.spectrogram(fed(m), nfft=4, window_length=4),
    "mel_of_one": lambda m: m.fn.mel_filter_bank(fed(m, shape=(4,), layout=None), nfilter=2),
    "nonsilent": lambda m: m.fn.nonsilent_region(fed(m, shape=(4, 2), layout=None))[0],
    "mfcc_axis": lambda m: m.fn.mfcc(fed(m, shape=(4, 2), layout="ft"), axis=5),
    "preemphasis_border": lambda m: m.fn.preemphasis_filter(
        fed(m, shape=(4,), layout=None), border="wrap"
    ),
    "to_decibels": lambda m: m.fn.to_decibels(fed(m), multiplier=10, reference=0.0, cutoff_db=3),
    "jitter_negative": lambda m: m.fn.jitter(fed(m, "uint8"), nDegree=-2),
    "water_nothing": lambda m: m.fn.water(fed(m, "uint8", (4,), None)),
    "paste_ratio": lambda m: m.fn.paste(fed(m, "uint8"), fill_value=[1], ratio=0.5),
    "grid_mask": lambda m: m.fn.grid_mask(fed(m, "uint8"), ratio=2.0, tile=0),
    "roi_random_crop": lambda m: m.fn.roi_random_crop(crop_shape=[3, 3], roi_start=[0, 0]),
}


@each(**REFUSED)
def refused_by_class(m, define):
    return refused(m, lambda: define(m))


# What a pipeline and its parts say of themselves.


def plain_pipe(m, **options):
    options = {"batch_size": 2, "num_threads": 3, "device_id": None, **options}

    @m.pipeline_def(**options)
    def pipe():
        x = m.fn.external_source(lambda: [m.np.float32([1, 2])] * 2, name="x")
        return x, m.fn.random.uniform(range=[0, 1], shape=[2]), m.types.Constant(3)

    return pipe()


SAID = {
    "sizes": lambda p: [p.max_batch_size, p.batch_size, p.num_threads, p.device_id, p.seed],
    "options": lambda p: [p.exec_pipelined, p.exec_async, p.prefetch_queue_depth, p.num_outputs],
    "set_affinity": lambda p: [p.set_affinity, p.exec_separated, p.cpu_queue_size],
    "gpu_queue": lambda p: p.gpu_queue_size,
    "py_options": lambda p: [p.py_num_workers, p.py_start_method],
    "exec_dynamic": lambda p: p.exec_dynamic,
    "is_restored": lambda p: p.is_restored_from_checkpoint,
    "conditionals": lambda p: [p._conditionals_enabled],
    "outputs": lambda p: [p.output_dtype(), p.output_ndim()] if p.build() is None else None,
    "epoch_size": lambda p: [p.build(), p.epoch_size()],
    "epoch_size_of": lambda p: [p.build(), p.epoch_size("nobody")],
    "reader_meta": lambda p: [p.build(), p.reader_meta()],
    "reader_meta_of": lambda p: [p.build(), p.reader_meta("nobody")],
    "statistics": lambda p: [p.build(), p.run(), sorted(p.executor_statistics())][2:],
    "shm": lambda p: [p.build(), p.external_source_shm_statistics()],
    "empty": lambda p: [p.build(), p.empty(), p.schedule_run(), p.empty()],
    "current": lambda p: [type(p).current() is None, entered(p)],
    "double_build": lambda p: [p.build(), p.build()],
    "outputs_twice": lambda p: [len(p.run()), len(p.run())],
    "run_of_unbuilt": lambda p: [o.layout() for o in p.run()],
    "share_without_schedule": lambda p: [p.build(), p.share_outputs()],
    "release_without_share": lambda p: [p.build(), p.release_outputs()],
    "mixed": lambda p: [p.build(), p.run(), p.schedule_run()],
    "feed_count": lambda p: [p.build(), p.input_feed_count("x")],
    "feed_nobody": lambda p: [p.build(), p.feed_input("nobody", [])],
    "add_sink": lambda p: callable(p.add_sink),
    "save_graph": lambda p: [p.build(), callable(p.save_graph_to_dot_file)],
    "serialized": lambda p: isinstance(p.serialize(), bytes),
    "checkpoint_off": lambda p: [p.build(), p.run(), p.checkpoint()],
    "set_outputs_late": lambda p: [p.build(), p.set_outputs(1)],
    "memory": lambda p: p.enable_memory_stats,
    "reset": lambda p: [p.build(), p.reset()],
    "iterate": lambda p: len(next(iter(p))),
    "length": len,
    "truth": bool,
    "context": lambda p: p.__enter__() is p and p.__exit__(None, None, None) is None,
}


def entered(pipe):
    with pipe:
        return type(pipe).current() is pipe


@each(**SAID)
def said_of_itself(m, ask):
    return ask(plain_pipe(m))


OPTIONS = {
    "checkpointing": dict(enable_checkpointing=True),
    "dynamic": dict(exec_dynamic=True),
    "not_dynamic": dict(exec_dynamic=False),
    "not_async": dict(exec_async=False, exec_pipelined=False),
    "not_pipelined": dict(exec_pipelined=False),
    "depths": dict(prefetch_queue_depth={"cpu_size": 2, "gpu_size": 1}, exec_dynamic=False),
    "depth": dict(prefetch_queue_depth=5),
    "depth_zero": dict(prefetch_queue_depth=0),
    "depth_text": dict(prefetch_queue_depth="two"),
    "bytes": dict(bytes_per_sample=100),
    "streams": dict(max_streams=1, default_cuda_stream_priority=0),
    "affinity": dict(set_affinity=True),
    "dtype": dict(output_dtype="FLOAT"),
    "dtypes": dict(output_dtype=["FLOAT", "FLOAT", "INT32"]),
    "dtypes_wrong": dict(output_dtype=["FLOAT", "FLOAT", "FLOAT"]),
    "dtypes_few": dict(output_dtype=["FLOAT", "FLOAT"]),
    "ndims": dict(output_ndim=[1, 1, 0]),
    "ndims_wrong": dict(output_ndim=[1, 1, 1]),
    "ndim_negative": dict(output_ndim=-1),
    "memory": dict(enable_memory_stats=True),
    "unknown": dict(number_of_threads=3),
    "batch_zero": dict(batch_size=0),
    "batch_negative": dict(batch_size=-3),
    "threads_zero": dict(num_threads=0),
    "seed_negative": dict(seed=-1),
    "seed_text": dict(seed="one"),
    "start": dict(py_start_method="spawn", py_num_workers=2),
}


@each(*OPTIONS)
def options(m, name):
    given = dict(OPTIONS[name])
    if "output_dtype" in given:
        named = given["output_dtype"]
        of = m.types.DALIDataType
        is_list = isinstance(named, list)
        given["output_dtype"] = [getattr(of, n) for n in named] if is_list else getattr(of, named)
    pipe = plain_pipe(m, **given)
    pipe.build()
    return [(o.shape(), o.dtype) for o in pipe.run()]


# Whole programs.


@case
def batches_checked_against_numpy(m):
    data = numbers(m, "int16", (3, 4), 6)

    def source(i):
        if i == 2:
            raise StopIteration
        return data[3 * i : 3 * i + 3]

    pipe = m.pipeline_def(batch_size=3, num_threads=1, device_id=None)(
        lambda: (lambda x: (x + 1, x * 2.0, -x, x // 2, x > 50, x & 3))(
            m.fn.external_source(source)
        )
    )()
    pipe.build()
    seen = 0
    for _ in range(2):
        for i in range(2):
            outputs = pipe.run()
            for k in range(3):
                x = data[3 * i + k]
                wanted = (x + 1, x * 2.0, -x, x // 2, x > 50, x & 3)
                for output, expected in zip(outputs, wanted):
                    m.np.testing.assert_array_equal(output.at(k), expected)
                    seen += 1
        try:
            pipe.run()
        except StopIteration:
            pipe.reset()
    return [seen, [o.dtype for o in outputs]]


@each(False, True)
def python_function_batches(m, batched):
    def double(x, y):
        if batched:
            return [a * 2 for a in x], [b + 1 for b in y]
        return x * 2, y + 1

    def define():
        x = fed(m, "float32", (2, 2), None)
        return tuple(
            m.fn.python_function(x, x, function=double, num_outputs=2, batch_processing=batched)
        )

    return [
        [o.as_array() for o in b] for b in run(m, define, exec_async=False, exec_pipelined=False)
    ]


@each("raises", "nothing", "text", "count")
def python_function_wrong(m, how):
    def function(x):
        if how == "raises":
            raise ValueError("on purpose")
        return {"nothing": None, "text": "text", "count": (x, x)}[how]

    def define():
        return m.fn.python_function(fed(m), function=function)

    return refused(m, define, exec_async=False, exec_pipelined=False)


@each("lambda", "list", "generator", "iterator", "partial", "object")
def sources_of_many_kinds(m, kind):
    import functools

    batches = [[m.np.int32([i, k]) for k in range(2)] for i in range(3)]

    def generator():
        yield from batches

    class Source:
        def __iter__(self):
            self.i = 0
            return self

        def __next__(self):
            self.i += 1
            if self.i > 3:
                raise StopIteration
            return batches[self.i - 1]

    made = {
        "lambda": lambda i: batches[i % 3],
        "list": batches,
        "generator": generator,
        "iterator": iter(batches),
        "partial": functools.partial(lambda n, i: batches[i % n], 3),
        "object": Source(),
    }[kind]
    out = []
    pipe = m.pipeline_def(batch_size=2, num_threads=1, device_id=None)(
        lambda: m.fn.external_source(made)
    )()
    for _ in range(5):
        try:
            out.append(pipe.run()[0].as_array())
        except Exception as error:
            out.append(type(error).__name__)
            pipe.reset()
    return out


@case
def subclass_with_arguments(m):
    class Augment(m.Pipeline):
        def __init__(self, batch_size, scale, **options):
            super().__init__(batch_size=batch_size, num_threads=1, device_id=None, **options)
            self.scale = scale

        def define_graph(self):
            x = m.fn.external_source(name="x", layout="H")
            return x * self.scale, m.fn.shapes(x)

    pipe = Augment(2, 3, prefetch_queue_depth=1)
    pipe.build()
    out = []
    for i in range(2):
        pipe.feed_input("x", [m.np.arange(k + 1, dtype="int32") for k in range(2)])
        out.append([[o.at(k) for k in range(2)] for o in pipe.run()])
    out.append([o.as_array() for o in pipe.run(x=m.np.ones((2, 2), "uint8"))])
    return out


@case
def serialized_and_back(m):
    def define():
        return m.fn.random.uniform(range=[0.0, 1.0], shape=[3], seed=8)

    pipe = m.pipeline_def(batch_size=2, num_threads=1, device_id=None, seed=4)(define)()
    text = pipe.serialize()
    other = m.Pipeline.deserialize(text, batch_size=2, num_threads=1, device_id=None)
    other.build()
    return bool(m.np.array_equal(pipe.run()[0].as_array(), other.run()[0].as_array()))


@case
def checkpoint_goes_on(m):
    def make(checkpoint=None):
        @m.pipeline_def(
            batch_size=2,
            num_threads=1,
            device_id=None,
            seed=4,
            enable_checkpointing=True,
            checkpoint=checkpoint,
        )
        def pipe():
            data, label = m.fn.readers.file(
                file_root=m.files(7), random_shuffle=True, name="R", pad_last_batch=True
            )
            return data, label, m.fn.random.normal()

        made = pipe()
        made.build()
        return made

    pipe = make()
    for _ in range(3):
        pipe.run()
    again = make(pipe.checkpoint())
    same = []
    for _ in range(6):
        for a, b in zip(pipe.run(), again.run()):
            same.append(bool(m.np.array_equal(a.as_array(), b.as_array())))
    return [all(same), len(same), again.is_restored_from_checkpoint]


@each(
    ("FILL", True),
    ("FILL", False),
    ("PARTIAL", True),
    ("PARTIAL", False),
    ("DROP", True),
    ("DROP", False),
)
def iterator_over_epochs(m, how):
    policy, padded = how
    torch = m.load("plugin.pytorch")

    @m.pipeline_def(batch_size=3, num_threads=1, device_id=None)
    def pipe():
        return tuple(m.fn.readers.file(file_root=m.files(8), name="R", pad_last_batch=padded))

    loader = torch.DALIGenericIterator(
        [pipe()],
        ["data", "label"],
        reader_name="R",
        last_batch_policy=getattr(torch.LastBatchPolicy, policy),
        auto_reset=True,
    )
    return [len(loader), [[len(b[0]["data"]) for b in loader] for _ in range(3)]]


@each("list", "tuple", "nested", "one")
def outputs_returned(m, how):
    def define():
        two = m.fn.readers.file(file_root=m.files(4))
        return {
            "list": two,
            "tuple": tuple(two),
            "nested": (two, two[0]),
            "one": [two[0]],
        }[how]

    return [o.as_array() for o in run(m, define)[0]]


@case
def names_of_outputs_and_nodes(m):
    out = []

    @m.pipeline_def(batch_size=1, num_threads=1, device_id=None)
    def pipe():
        x = m.fn.external_source(lambda: [m.np.ones(1)], name="Input")
        y = m.fn.cast(x, dtype=m.types.INT32, name="Cast")
        out.extend([x.name, x.device, y.name, y.device, str(y).partition("(")[0]])
        return y

    pipe()
    return out


@case
def current_within_the_function(m):
    out = []

    @m.pipeline_def
    def pipe(n):
        now = m.Pipeline.current()
        out.extend([now is not None, now.max_batch_size, now.num_threads])
        return m.types.Constant(n)

    made = pipe(3, batch_size=4, num_threads=2, device_id=None)
    return [out, made.run()[0].as_array(), m.Pipeline.current() is None]
