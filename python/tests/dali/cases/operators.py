"""Operators on the CPU: values, shapes, layouts, wrong arguments."""

from . import case, each


def images(m, height=4, width=5, channels=3):
    return [m.image(height, width, channels), m.image(height, width, channels, 3)]


def apply(m, body, data=None, layout="HWC"):
    data = images(m) if data is None else data
    return m.run(lambda: body(m.feed(data, layout=layout)))[0]


CALLS = {
    "flip": lambda m, x: m.fn.flip(x),
    "flip_vertical": lambda m, x: m.fn.flip(x, horizontal=0, vertical=1),
    "flip_both": lambda m, x: m.fn.flip(x, horizontal=1, vertical=1),
    "crop": lambda m, x: m.fn.crop(x, crop=(2, 3)),
    "crop_wh": lambda m, x: m.fn.crop(x, crop_w=2, crop_h=3),
    "crop_position": lambda m, x: m.fn.crop(x, crop=(2, 2), crop_pos_x=0.0, crop_pos_y=1.0),
    "crop_with_dtype": lambda m, x: m.fn.crop(x, crop=(2, 2), dtype=m.types.FLOAT),
    "crop_pad": lambda m, x: m.fn.crop(x, crop=(6, 6), out_of_bounds_policy="pad", fill_values=9),
    "slice": lambda m, x: m.fn.slice(x, start=[1, 0], shape=[2, 3], axes=[0, 1]),
    "slice_names": lambda m, x: m.fn.slice(x, start=[1], end=[4], axis_names="W"),
    "slice_relative": lambda m, x: m.fn.slice(
        x, rel_start=[0.0, 0.5], rel_end=[0.5, 1.0], axes=[0, 1]
    ),
    "slice_positional": lambda m, x: m.fn.slice(x, 1, 2, axes=[1]),
    "pad": lambda m, x: m.fn.pad(x, axes=[0, 1], shape=[6, 6], fill_value=1),
    "pad_align": lambda m, x: m.fn.pad(x, axis_names="HW", align=[4, 4]),
    "transpose": lambda m, x: m.fn.transpose(x, perm=[2, 0, 1]),
    "transpose_layout": lambda m, x: m.fn.transpose(x, perm=[2, 0, 1], output_layout="CHW"),
    "transpose_without_layout": lambda m, x: m.fn.transpose(
        x, perm=[1, 0, 2], transpose_layout=False
    ),
    "reshape": lambda m, x: m.fn.reshape(x, shape=[5, 12], layout="AB"),
    "reshape_rest": lambda m, x: m.fn.reshape(x, shape=[-1, 3]),
    "reshape_relative": lambda m, x: m.fn.reshape(x, rel_shape=[0.5, 2, 1]),
    "reinterpret": lambda m, x: m.fn.reinterpret(x, layout="XYZ"),
    "cast": lambda m, x: m.fn.cast(x, dtype=m.types.FLOAT),
    "cast_integer": lambda m, x: m.fn.cast(x, dtype=m.types.INT64),
    "cast_like": lambda m, x: m.fn.cast_like(x, m.types.Constant([1.0])),
    "shapes": lambda m, x: m.fn.shapes(x),
    "shape_method": lambda m, x: x.shape(),
    "shape_method_dtype": lambda m, x: x.shape(dtype=m.types.INT32),
    "crop_mirror_normalize": lambda m, x: m.fn.crop_mirror_normalize(
        x, crop=(2, 2), mean=[1.0, 2.0, 4.0], std=[2.0, 4.0, 8.0], mirror=1
    ),
    "crop_mirror_normalize_hwc": lambda m, x: m.fn.crop_mirror_normalize(
        x, output_layout="HWC", mean=[1.0], std=[2.0]
    ),
    "crop_mirror_normalize_scaled": lambda m, x: m.fn.crop_mirror_normalize(
        x, output_layout="CHW", scale=0.5, shift=1.0, dtype=m.types.FLOAT
    ),
    "resize_nearest": lambda m, x: m.fn.resize(
        x, size=[8, 10], interp_type=m.types.INTERP_NN, antialias=False
    ),
    "resize_x": lambda m, x: m.fn.resize(x, resize_x=10, interp_type=m.types.INTERP_NN).shape(),
    "resize_shorter": lambda m, x: m.fn.resize(x, resize_shorter=8).shape(),
    "resize_longer": lambda m, x: m.fn.resize(x, resize_longer=10).shape(),
    "resize_not_larger": lambda m, x: m.fn.resize(x, size=[8, 8], mode="not_larger").shape(),
    "resize_not_smaller": lambda m, x: m.fn.resize(x, size=[8, 8], mode="not_smaller").shape(),
    "resize_dtype": lambda m, x: m.fn.resize(
        x, size=[4, 5], dtype=m.types.FLOAT, interp_type=m.types.INTERP_NN
    ),
    "brightness": lambda m, x: m.fn.brightness(x, brightness=2.0),
    "brightness_shift": lambda m, x: m.fn.brightness(x, brightness_shift=0.25, dtype=m.types.FLOAT),
    "contrast": lambda m, x: m.fn.contrast(x, contrast=2.0, contrast_center=100.0),
    "rotate_quarter": lambda m, x: m.fn.rotate(
        x, angle=90.0, interp_type=m.types.INTERP_NN, fill_value=0
    ),
    "erase": lambda m, x: m.fn.erase(
        x, anchor=[1.0, 1.0], shape=[2.0, 2.0], axes=(0, 1), fill_value=7.0
    ),
    "to_bgr": lambda m, x: m.fn.color_space_conversion(
        x, image_type=m.types.RGB, output_type=m.types.BGR
    ),
    "sum": lambda m, x: m.fn.reductions.sum(x, axes=[0, 1]),
    "sum_all": lambda m, x: m.fn.reductions.sum(x),
    "sum_keeps_axes": lambda m, x: m.fn.reductions.sum(x, axis_names="HW", keep_dims=True),
    "sum_dtype": lambda m, x: m.fn.reductions.sum(x, dtype=m.types.FLOAT),
    "min": lambda m, x: m.fn.reductions.min(x, axes=2),
    "max": lambda m, x: m.fn.reductions.max(x, axes=[0]),
    "mean": lambda m, x: m.fn.reductions.mean(m.fn.slice(x, start=[0], end=[2], axes=[2]), axes=2),
    "cat": lambda m, x: m.fn.cat(x, m.fn.flip(x), axis=1),
    "cat_by_name": lambda m, x: m.fn.cat(x, x, axis_name="H"),
    "stack": lambda m, x: m.fn.stack(x, m.fn.flip(x), axis=0, axis_name="F"),
    "copy": lambda m, x: m.fn.copy(x),
    "gpu_free_cpu": lambda m, x: x.cpu(),
    "one_hot": lambda m, x: m.fn.one_hot(x[0, 0], num_classes=30, axis=-1),
    "lookup_table": lambda m, x: m.fn.lookup_table(
        x, keys=[0, 7, 14], values=[1.0, 2.0, 3.0], default_value=-1.0
    ),
    "nested": lambda m, x: m.fn.flip(m.fn.crop(m.fn.flip(x), crop=(3, 3))),
}


@each(**CALLS)
def call(m, function):
    return apply(m, lambda x: function(m, x))


@each(two_inputs=True, one=False)
def lists_of_nodes_as_inputs(m, two):
    def body(x):
        made = m.fn.flip([x, m.fn.flip(x)] if two else [x])
        return tuple(made)

    pipe = m.pipeline_def(batch_size=2, num_threads=1, device_id=None)(
        lambda: body(m.feed(images(m), layout="HWC"))
    )()
    pipe.build()
    return m.plain(pipe.run())


@case
def argument_input(m):
    def body(x):
        return m.fn.flip(x, horizontal=m.feed(m.np.array([0, 1], "int32")))

    return apply(m, body)


@case
def argument_input_of_floats(m):
    def body(x):
        return m.fn.brightness(x, brightness=m.feed(m.np.array([2, 3], "float32")))

    return apply(m, body)


@case
def argument_input_of_sizes(m):
    def body(x):
        sizes = m.feed(m.np.array([[8, 10], [4, 5]], "float32"))
        return m.fn.resize(x, size=sizes, interp_type=m.types.INTERP_NN)

    return apply(m, body)


@case
def argument_given_as_array(m):
    return apply(m, lambda x: m.fn.crop(x, crop=m.np.array([2, 3])))


@case
def argument_none_is_not_given(m):
    return apply(m, lambda x: m.fn.flip(x, horizontal=None))


@case
def several_outputs(m):
    return m.run(lambda: (m.feed(images(m)), m.feed([m.np.zeros(2, "int8")] * 2)))[0]


@case
def same_output_twice(m):
    def body():
        x = m.feed(images(m), layout="HWC")
        return x, x

    return m.run(body)[0]


@case
def transforms_matrix(m):
    def body():
        moved = m.fn.transforms.translation(offset=(2.0, 3.0))
        return m.feed(m.np.zeros((2, 1), "uint8")), m.fn.transforms.scale(moved, scale=(2.0, 4.0))

    return m.run(body)[0][1]


@case
def transforms_combined(m):
    def body():
        a = m.fn.transforms.scale(scale=(2.0, 4.0))
        b = m.fn.transforms.translation(offset=(1.0, 1.0))
        return m.feed(m.np.zeros((2, 1), "uint8")), m.fn.transforms.combine(a, b)

    return m.run(body)[0][1]


# Random: shapes, ranges, and what a seed fixes; the draws themselves are each library's own.


def draws(m, make, batches=2, **options):
    out = m.run(lambda: make(), batches, seed=7, **options)
    return [one["values"] for batch in out for one in batch[0]["samples"]]


@each(
    uniform=lambda m: m.fn.random.uniform(range=(0.0, 1.0), shape=[2, 2]),
    coin=lambda m: m.fn.random.coin_flip(),
    normal=lambda m: m.fn.random.normal(shape=[3]),
    choice=lambda m: m.fn.random.choice(4),
    beta=lambda m: m.fn.random.beta(alpha=1.0, beta=2.0),
    values=lambda m: m.fn.random.uniform(values=[1.0, 5.0]),
    coin_bool=lambda m: m.fn.random.coin_flip(dtype=m.types.BOOL),
)
def draw_type(m, make):
    out = m.run(lambda: make(m), seed=1)[0][0]
    first = out["samples"][0]
    return [first["dtype"], first["shape"], out["layout"]]


@each("same", "other")
def seed_fixes_draws(m, kind):
    def once(seed):
        return m.run(lambda: m.fn.random.uniform(range=(0.0, 1.0), shape=[8]), 2, seed=seed)

    return once(5) == once(5 if kind == "same" else 6)


@case
def draws_differ_between_batches(m):
    drawn = draws(m, lambda: m.fn.random.uniform(range=(0.0, 1.0), shape=[4]))
    return len({tuple(one) for one in drawn})


@case
def draws_of_values(m):
    drawn = draws(m, lambda: m.fn.random.uniform(values=[1.0, 5.0]), 8)
    return sorted({one[0] for one in drawn})


@case
def draws_in_range(m):
    drawn = draws(m, lambda: m.fn.random.uniform(range=(2.0, 3.0), shape=[16]), 4)
    return all(2.0 <= value < 3.0 for one in drawn for value in one)


@each(0.0, 1.0)
def sure_coin(m, probability):
    return draws(m, lambda: m.fn.random.coin_flip(probability=probability))


# Wrong calls.

WRONG = {
    "unknown_argument": lambda m, x: m.fn.flip(x, no_such_argument=1),
    "no_input": lambda m, x: m.fn.flip(),
    "too_many_inputs": lambda m, x: m.fn.flip(x, x, x),
    "missing_argument": lambda m, x: m.fn.cast(x),
    "wrong_argument_type": lambda m, x: m.fn.crop(x, crop="large"),
    "text_for_dtype": lambda m, x: m.fn.cast(x, dtype="float"),
    "wrong_axis": lambda m, x: m.fn.transpose(x, perm=[0, 1, 5]),
    "short_permutation": lambda m, x: m.fn.transpose(x, perm=[0, 1]),
    "crop_too_large": lambda m, x: m.fn.crop(x, crop=(40, 40)),
    "wrong_mode": lambda m, x: m.fn.resize(x, size=[4, 4], mode="sideways"),
    "wrong_layout": lambda m, x: m.fn.reshape(x, layout="HWCN"),
    "wrong_volume": lambda m, x: m.fn.reshape(x, shape=[7, 7]),
    "wrong_device": lambda m, x: m.fn.flip(x, device="tpu"),
    "text_input": lambda m, x: m.fn.flip("image"),
    "object_input": lambda m, x: m.fn.flip(object()),
    "node_for_a_static_argument": lambda m, x: m.fn.cast(x, dtype=x),
    "cat_of_other_shapes": lambda m, x: m.fn.cat(x, m.fn.crop(x, crop=(2, 2)), axis=1),
    "stack_of_other_shapes": lambda m, x: m.fn.stack(x, m.fn.crop(x, crop=(2, 2))),
    "lists_of_other_lengths": lambda m, x: m.fn.cat([x, x], [x])[0],
    "reduction_axis": lambda m, x: m.fn.reductions.sum(x, axes=[9]),
    "axes_and_names": lambda m, x: m.fn.reductions.sum(x, axes=[0], axis_names="H"),
}


@each(**WRONG)
def wrong(m, function):
    return apply(m, lambda x: function(m, x))


# Conditionals.


def conditional(m, body, values=(0, 1)):
    data = m.np.array(values, "bool")
    numbers = m.np.array([[1, 2], [3, 4]], "int32")
    definition = m.pipeline_def(
        batch_size=2, num_threads=1, device_id=None, enable_conditionals=True
    )(body)
    pipe = definition(data, numbers, m)
    pipe.build()
    return m.plain(pipe.run())


def _if_else(data, numbers, m):
    flag = m.fn.external_source(source=[data])
    x = m.fn.external_source(source=[numbers])
    if flag:
        y = x + 10
    else:
        y = x * 2
    return y


def _if_only(data, numbers, m):
    flag = m.fn.external_source(source=[data])
    x = m.fn.external_source(source=[numbers])
    if flag:
        x = -x
    return x


def _and_or_not(data, numbers, m):
    flag = m.fn.external_source(source=[data])
    other = m.fn.external_source(source=[~data])
    return flag and other, flag or other, not flag


def _nested(data, numbers, m):
    flag = m.fn.external_source(source=[data])
    x = m.fn.external_source(source=[numbers])
    if flag:
        if flag:
            x = x + 1
        else:
            x = x + 2
    elif flag:
        x = x + 3
    else:
        x = x + 4
    return x


def _one_arm_only(data, numbers, m):
    flag = m.fn.external_source(source=[data])
    x = m.fn.external_source(source=[numbers])
    if flag:
        y = x
    return y


def _static(data, numbers, m):
    x = m.fn.external_source(source=[numbers])
    if m is not None:
        x = x + 1
    return x


def _condition_of_numbers(data, numbers, m):
    x = m.fn.external_source(source=[numbers])
    if x:
        x = x + 1
    return x


@each(
    if_else=_if_else,
    if_only=_if_only,
    and_or_not=_and_or_not,
    nested=_nested,
    one_arm_only=_one_arm_only,
    static=_static,
    condition_of_numbers=_condition_of_numbers,
)
def if_statement(m, body):
    return conditional(m, body)


@case
def if_without_conditionals(m):
    def body():
        flag = m.feed(m.np.array([0, 1], "bool"))
        x = m.feed(m.np.array([1, 2], "int32"))
        if flag:
            x = x + 1
        return x

    return m.run(body)


@each([1], [])
def number_given_as_array(m, shape):
    """An array of one element is a number."""
    np = m.np

    def body():
        x = m.feed([m.image(4, 5)] * 2, layout="HWC")
        return (
            m.fn.crop(x, crop_w=np.full(shape, 3), crop_h=np.full(shape, 2.0)),
            m.fn.flip(x, horizontal=np.full(shape, 1)),
            m.fn.random.coin_flip(probability=np.full(shape, 1.0)),
        )

    return m.run(body)


VOLUMES = {
    "axis": lambda m, x: m.fn.rotate(x, angle=33.0, axis=(0, 1, 2), fill_value=7),
    "axis_as_array": lambda m, x: m.fn.rotate(x, angle=33.0, axis=m.np.float32([1, 0, 0])),
    "keep_size": lambda m, x: m.fn.rotate(x, angle=-50, axis=(1, 1, 1), keep_size=True),
    "size": lambda m, x: m.fn.rotate(x, angle=45.0, axis=(1, 0, 0), size=(5, 3, 2)),
    "of_sample": lambda m, x: m.fn.rotate(
        x, angle=m.feed(m.np.float32([10, 200])), axis=m.feed(m.np.float32([[1, 0, 2], [0, 1, 1]]))
    ),
    "no_axis": lambda m, x: m.fn.rotate(m.fn.reshape(x[0], layout="HWC"), angle=10, axis=(1, 0, 0)),
    "short_axis": lambda m, x: m.fn.rotate(x, angle=10.0, axis=(0, 1)),
    "short_size": lambda m, x: m.fn.rotate(x, angle=10.0, axis=(0, 1, 0), size=(3, 3)),
    "matrix": lambda m, x: m.fn.warp_affine(
        x,
        matrix=[0.913, 0.107, 0.0, 0.311, 0.0, 0.797, 0.211, -0.103, 0.293, 0.0, 1.109, 0.223],
        fill_value=3,
    ),
    "matrix_size": lambda m, x: m.fn.warp_affine(
        x, matrix=m.np.eye(3, 4, dtype="float32"), size=(2, 3, 7), inverse_map=False
    ),
    "matrix_input": lambda m, x: m.fn.warp_affine(
        x, m.feed([m.np.eye(3, 4, k, dtype="float32") for k in (0, 1)]), fill_value=3
    ),
    "transform": lambda m, x: m.fn.warp_affine(
        x,
        m.fn.transforms.combine(
            m.fn.transforms.rotation(angle=40.0, axis=(0, 1, 1), center=(2, 2, 1)),
            m.fn.transforms.scale(scale=(1.2, 0.7, 1.1)),
        ),
        inverse_map=False,
        fill_value=3,
    ),
    "matrix_of_image": lambda m, x: m.fn.warp_affine(
        m.fn.reshape(x[0], layout="HWC"), matrix=m.np.eye(3, 4, dtype="float32")
    ),
}


@each(**{name: name for name in VOLUMES})
def volume(m, name):
    np = m.np
    data = [
        (np.arange(d * 4 * 5 * 2) * 7 % 101).reshape(d, 4, 5, 2).astype("float32") for d in (3, 2)
    ]
    result = apply(m, lambda x: VOLUMES[name](m, x), data, "DHWC")
    return [
        (one["layout"], sample["shape"], [round(value, 1) for value in sample["values"][::5]])
        for one in result
        for sample in one["samples"]
    ]


@each("angle", "angle_and_axis")
def canvas_of_frames(m, name):
    """Frames turn by angles of their own, as many as each sample has."""
    np = m.np

    def body():
        angle = m.feed([np.float32([10, 80]), np.float32([30, 40, 90])])
        axis = m.feed([np.eye(3, dtype="float32")[:n] for n in (2, 3)])
        depth = () if name == "angle" else (3,)
        more = {} if name == "angle" else {"axis": m.fn.per_frame(axis)}
        frames = m.feed([np.ones((n, *depth, 4, 5, 1), "float32") for n in (2, 3)])
        layout = "FHWC" if name == "angle" else "FDHWC"
        frames = m.fn.reshape(frames, layout=layout)
        return m.fn.rotate(frames, angle=m.fn.per_frame(angle), fill_value=0, **more)

    [result] = m.run(body)[0]
    return result["layout"], [
        (one["shape"], round(sum(one["values"]) / len(one["values"]), 2))
        for one in result["samples"]
    ]
