"""Operators by what their results hold: forms of each operator's arguments, on small data."""

from . import each
from .operators import images


def rounded(m, outputs, digits=4):
    """Results to `digits` significant digits: libraries add numbers of floating point in other orders."""

    def samples(one):
        for i in range(len(one)):
            sample = m.np.array(one.at(i))
            numbers = sample.astype(m.np.float64).flatten().tolist()
            yield [list(sample.shape), [float(f"{number:.{digits}g}") for number in numbers]]

    return [[str(one.dtype), one.layout(), list(samples(one))] for one in outputs]


def values(m, body, *data, layouts=None, batches=1, **options):
    """What `body` makes of feeds of `data`, rounded."""
    layouts = layouts or [None] * len(data)

    def feed(batch, layout):
        return m.fn.external_source(source=lambda: batch, batch=True, layout=layout)

    def define():
        made = body(*map(feed, data, layouts))
        return tuple(made) if isinstance(made, list) else made

    count = len(data[0]) if data else 2
    settings = {"batch_size": count, "num_threads": 1, "device_id": None, "seed": 7, **options}
    pipe = m.pipeline_def(**settings)(define)()
    return [rounded(m, pipe.run()) for _ in range(batches)]


def ramps(m, dtype="float32"):
    """Two matrices whose sizes differ."""
    return [
        (m.np.arange(12).reshape(3, 4) * 1.5 - 4).astype(dtype),
        (m.np.arange(10).reshape(2, 5) * 0.25 + 1).astype(dtype),
    ]


def of_images(m, body, **options):
    return values(m, body, images(m, 6, 7), layouts=["HWC"], **options)


# Reductions.

REDUCTIONS = ["sum", "min", "max", "mean", "mean_square", "rms", "std_dev", "variance"]


def reduced(m, name, x, **more):
    reduce = getattr(m.fn.reductions, name)
    if name in ("std_dev", "variance"):
        return reduce(x, m.fn.reductions.mean(x, **more), **more)
    return reduce(x, **more)


@each(*REDUCTIONS)
def reduction_of_axes(m, name):
    def body(x):
        forms = [{}, {"axes": 0}, {"axes": [1]}, {"axes": [-1]}, {"axes": (0, 1)}]
        return [reduced(m, name, x, keep_dims=keep, **f) for f in forms for keep in (False, True)]

    return values(m, body, ramps(m))


@each(*REDUCTIONS)
def reduction_of_names(m, name):
    def body(x):
        return [reduced(m, name, x, axis_names=axes) for axes in ("H", "HW", "C")]

    return of_images(m, body)


@each(*["uint8", "int8", "uint16", "int16", "uint32", "int32", "int64", "float32", "float64"])
def reduction_of_types(m, dtype):
    return values(m, lambda x: [m.fn.reductions.sum(x), m.fn.reductions.max(x)], ramps(m, dtype))


@each(*["uint8", "int8", "uint16", "int16", "uint32", "int32", "int64", "float32"])
def mean_of_types(m, dtype):
    return values(
        m,
        lambda x: [m.fn.reductions.mean(x, axes=0), m.fn.reductions.rms(x)],
        [abs(one) for one in ramps(m, dtype)],
    )


@each("UINT8", "INT32", "INT64", "FLOAT", "UINT64")
def sum_as(m, dtype):
    return values(
        m,
        lambda x: m.fn.reductions.sum(x, dtype=getattr(m.types, dtype)),
        ramps(m, "uint8"),
    )


@each(0, 1, 2)
def variance_with_degrees_of_freedom(m, ddof):
    def body(x):
        mean = m.fn.reductions.mean(x, axes=1, keep_dims=True)
        return [
            m.fn.reductions.variance(x, mean, axes=1, ddof=ddof),
            m.fn.reductions.std_dev(x, mean, axes=1, ddof=ddof),
        ]

    return values(m, body, ramps(m))


@each(
    both={"axes": 0, "axis_names": "H"},
    outside={"axes": 3},
    twice={"axes": [0, 0]},
    unknown={"axis_names": "Q"},
    empty={"axes": []},
)
def wrong_reduction(m, given):
    return of_images(m, lambda x: m.fn.reductions.sum(x, **given))


# Slices and crops.

SLICES = {
    "start_end": {"start": [1, 1], "end": [3, 4], "axes": [0, 1]},
    "start_only": {"start": [2], "axes": [0]},
    "end_only": {"end": [2, 3], "axes": [0, 1]},
    "shape_only": {"shape": [2, 3], "axes": [0, 1]},
    "relative_end": {"start": [1, 2], "rel_end": [0.5, 1.0], "axes": [0, 1]},
    "relative_shape": {"rel_start": [0.25, 0.25], "rel_shape": [0.5, 0.5], "axes": [0, 1]},
    "absolute_shape_of_relative": {"rel_start": [0.5, 0.0], "shape": [2, 2], "axes": [0, 1]},
    "negative_axes": {"start": [1], "end": [2], "axes": [-1]},
    "names": {"start": [1, 2], "shape": [2, 2], "axis_names": "WH"},
    "default_axes": {"start": [1, 2], "shape": [2, 2]},
    "channels": {"start": [1], "end": [3], "axes": [2]},
    "padded": {"start": [-1, -2], "shape": [9, 9], "axes": [0, 1], "out_of_bounds_policy": "pad"},
    "padded_with": {
        "start": [4],
        "shape": [4],
        "axes": [0],
        "out_of_bounds_policy": "pad",
        "fill_values": [1, 2, 3],
    },
    "trimmed": {
        "start": [4, 4],
        "shape": [4, 5],
        "axes": [0, 1],
        "out_of_bounds_policy": "trim_to_shape",
    },
    "outside": {"start": [4, 4], "shape": [4, 5], "axes": [0, 1]},
    "unknown_policy": {"start": [0], "shape": [1], "axes": [0], "out_of_bounds_policy": "wrap"},
    "start_twice": {"start": [1], "rel_start": [0.5], "end": [3], "axes": [0]},
    "end_twice": {"start": [1], "end": [2], "shape": [1], "axes": [0]},
    "end_before_start": {"start": [3], "end": [1], "axes": [0]},
    "lengths_differ": {"start": [1, 1], "end": [3], "axes": [0, 1]},
    "axes_outside": {"start": [1], "end": [2], "axes": [5]},
    "axes_repeated": {"start": [1, 1], "end": [2, 2], "axes": [1, 1]},
    "empty": {"start": [1], "end": [1], "axes": [0]},
    "nothing": {},
}


@each(**SLICES)
def slice_by_name(m, given):
    return of_images(m, lambda x: m.fn.slice(x, **given))


@each("normalized", "absolute", "mixed", "integers", "axes", "padded")
def slice_by_position(m, form):
    def body(x):
        F = m.np.float32
        if form == "normalized":
            return m.fn.slice(x, F([0.25, 0.5]), F([0.5, 0.5]))
        if form == "absolute":
            return m.fn.slice(
                x, F([1, 2]), F([3, 2]), normalized_anchor=False, normalized_shape=False
            )
        if form == "mixed":
            return m.fn.slice(x, F([1, 2]), F([0.5, 0.5]), normalized_anchor=False)
        if form == "integers":
            return m.fn.slice(x, m.np.int32([1, 2]), m.np.int32([3, 2]))
        if form == "axes":
            return m.fn.slice(x, F([0.5]), F([0.5]), axes=[0])
        return m.fn.slice(x, F([0.5, 0.5]), F([1.0, 1.0]), out_of_bounds_policy="pad")

    return of_images(m, body)


CROPS = {
    "centre": {"crop": (3, 4)},
    "corner": {"crop": (3, 4), "crop_pos_x": 1.0, "crop_pos_y": 0.0},
    "rounding": {"crop": (3, 4), "crop_pos_x": 0.3, "crop_pos_y": 0.7},
    "truncating": {"crop": (3, 4), "crop_pos_x": 0.3, "crop_pos_y": 0.7, "rounding": "truncate"},
    "height_only": {"crop_h": 2},
    "width_only": {"crop_w": 2},
    "none": {},
    "depth_of_picture": {"crop_d": 2, "crop_h": 3, "crop_w": 4},
    "three_of_picture": {"crop": (2, 3, 4)},
    "too_large": {"crop": (9, 9)},
    "trimmed": {"crop": (9, 3), "out_of_bounds_policy": "trim_to_shape"},
    "padded": {"crop": (8, 9), "out_of_bounds_policy": "pad", "fill_values": [3.0, 2.0, 1.0]},
    "zero": {"crop": (0, 3)},
    "negative": {"crop": (-1, 3)},
    "both": {"crop": (2, 2), "crop_h": 3},
    "position_outside": {"crop": (2, 2), "crop_pos_x": 1.5},
    "wrong_rounding": {"crop": (2, 2), "rounding": "up"},
    "half": {"crop": (3, 4), "dtype": "FLOAT16"},
}


@each(**CROPS)
def crop_by(m, given):
    given = dict(given)
    if "dtype" in given:
        given["dtype"] = getattr(m.types, given["dtype"])
    return of_images(m, lambda x: m.fn.crop(x, **given))


@each("HWC", "CHW", "FHWC", "DHWC", "CDHW", "FCHW")
def crop_of_layout(m, layout):
    sizes = {"H": 5, "W": 6, "C": 3, "F": 2, "D": 4}
    shape = [sizes[one] for one in layout]
    data = [
        m.image(shape[0], shape[1], int(m.np.prod(shape[2:])), start).reshape(shape)
        for start in (0, 5)
    ]
    options = {"crop_d": 2} if "D" in layout else {}
    return values(
        m,
        lambda x: m.fn.crop(x, crop_h=3, crop_w=2, crop_pos_x=0.0, **options),
        data,
        layouts=[layout],
    )


CMN = {
    "plain": {},
    "mean": {"mean": [1.0, 2.0, 3.0]},
    "mean_and_std": {"mean": [1.0, 2.0, 3.0], "std": [2.0, 4.0, 8.0]},
    "one_mean": {"mean": 100.0, "std": 2.0},
    "mirrored": {"mirror": 1, "crop": (4, 3)},
    "hwc": {"output_layout": "HWC", "crop": (2, 3)},
    "padded_channels": {"output_layout": "HWC", "pad_output": True, "crop": (2, 2)},
    "half": {"dtype": "FLOAT16", "mean": [1.0], "std": [4.0]},
    "bytes": {"dtype": "UINT8", "mean": [10.0], "std": [2.0]},
    "signed": {"dtype": "INT8", "mean": [128.0], "std": [1.0]},
    "scaled": {"scale": 64.0, "shift": 100.0, "dtype": "UINT8", "std": [60.0]},
    "outside": {"crop": (9, 9)},
    "outside_padded": {"crop": (8, 8), "out_of_bounds_policy": "pad", "fill_values": [5.0]},
    "wrong_mean": {"mean": [1.0, 2.0]},
    "zero_std": {"std": [0.0]},
    "wrong_layout": {"output_layout": "HWX"},
}


@each(**CMN)
def normalized_crop(m, given):
    given = dict(given)
    if "dtype" in given:
        given["dtype"] = getattr(m.types, given["dtype"])
    return of_images(m, lambda x: m.fn.crop_mirror_normalize(x, **given))


# Normalize.

NORMALIZE = {
    "all": {},
    "axes": {"axes": [0]},
    "names": {"axis_names": "HW"},
    "batch": {"batch": True},
    "batch_axes": {"batch": True, "axes": [0, 1]},
    "mean": {"mean": 10.0},
    "deviation": {"stddev": 4.0},
    "both": {"mean": 10.0, "stddev": 4.0},
    "scale_and_shift": {"scale": 50.0, "shift": 128.0},
    "freedom": {"ddof": 1},
    "epsilon": {"epsilon": 10.0},
    "bytes": {"scale": 40.0, "shift": 100.0, "dtype": "UINT8"},
    "wrong_names": {"axis_names": "XY"},
    "wrong_axes": {"axes": [7]},
}


@each(**NORMALIZE)
def normalize(m, given):
    given = dict(given)
    if "dtype" in given:
        given["dtype"] = getattr(m.types, given["dtype"])
    return of_images(m, lambda x: m.fn.normalize(x, **given))


# Joins.


@each(
    first={"axis": 0},
    last={"axis": -1},
    named={"axis_name": "W"},
    outside={"axis": 4},
    both={"axis": 0, "axis_name": "H"},
    unknown={"axis_name": "Q"},
)
def cat(m, given):
    return of_images(m, lambda x: m.fn.cat(x, m.fn.flip(x), x, **given))


@each(
    first={"axis": 0},
    last={"axis": -1},
    end={"axis": 3},
    named={"axis": 1, "axis_name": "F"},
    outside={"axis": 5},
    used={"axis": 0, "axis_name": "H"},
    long={"axis": 0, "axis_name": "AB"},
)
def stack(m, given):
    return of_images(m, lambda x: m.fn.stack(x, m.fn.flip(x), **given))


@each("shapes", "types", "ranks", "one", "none")
def wrong_join(m, kind):
    def body(x):
        others = {
            "shapes": [m.fn.crop(x, crop=(2, 2))],
            "types": [m.fn.cast(x, dtype=m.types.FLOAT)],
            "ranks": [m.fn.reductions.sum(x, axes=0)],
            "one": [],
            "none": None,
        }[kind]
        return m.fn.cat(axis=0) if others is None else m.fn.cat(x, *others, axis=0)

    return of_images(m, body)


PADS = {
    "largest": {},
    "value": {"fill_value": -1},
    "axes": {"axes": (0,)},
    "names": {"axis_names": "W"},
    "shape": {"axes": (0, 1), "shape": (8, 8)},
    "smaller_shape": {"axes": (0, 1), "shape": (2, 2)},
    "free_shape": {"axes": (0, 1), "shape": (-1, 9)},
    "align": {"axes": (0, 1), "align": (4, 4)},
    "one_align": {"axes": (0, 1), "align": (4,)},
    "shape_and_align": {"axes": (0,), "shape": (5,), "align": (4,)},
    "zero_align": {"axes": (0,), "align": (0,)},
    "wrong_shape": {"axes": (0, 1), "shape": (8,)},
    "outside": {"axes": (4,)},
    "both": {"axes": (0,), "axis_names": "H"},
}


@each(**PADS)
def pad(m, given):
    data = [m.image(3, 4), m.image(5, 2, start=9)]
    return values(m, lambda x: m.fn.pad(x, **given), data, layouts=["HWC"])


# Forms of data.

SHAPED = {
    "reshape": lambda m, x: m.fn.reshape(x, shape=[21, 6]),
    "reshape_by_source": lambda m, x: m.fn.reshape(x, src_dims=[1, 0, 2]),
    "reshape_by_source_new": lambda m, x: m.fn.reshape(x, src_dims=[0, -1, 1, 2]),
    "reshape_relative_sources": lambda m, x: m.fn.reshape(x, rel_shape=[2, 0.5], src_dims=[0, 1]),
    "reshape_layout": lambda m, x: m.fn.reshape(x, layout="XYZ"),
    "reshape_two_free": lambda m, x: m.fn.reshape(x, shape=[-1, -1]),
    "reshape_wrong": lambda m, x: m.fn.reshape(x, shape=[5, 5]),
    "reshape_nothing": lambda m, x: m.fn.reshape(x),
    "reshape_wrong_layout": lambda m, x: m.fn.reshape(x, shape=[21, 6], layout="ABC"),
    "reshape_like": lambda m, x: m.fn.reshape(x, m.fn.shapes(m.fn.transpose(x, perm=[2, 0, 1]))),
    "reinterpret_type": lambda m, x: m.fn.reinterpret(
        m.fn.cast(x, dtype=m.types.INT32), dtype=m.types.UINT32
    ),
    "reinterpret_wider": lambda m, x: m.fn.reinterpret(x, rel_shape=[1, -1], dtype=m.types.INT32),
    "squeeze": lambda m, x: m.fn.squeeze(m.fn.slice(x, start=[0], end=[1], axes=[2]), axes=[2]),
    "squeeze_names": lambda m, x: m.fn.squeeze(
        m.fn.slice(x, start=[0], end=[1], axes=[2]), axis_names="C"
    ),
    "squeeze_large": lambda m, x: m.fn.squeeze(x, axes=[0]),
    "squeeze_nothing": lambda m, x: m.fn.squeeze(x),
    "expand": lambda m, x: m.fn.expand_dims(x, axes=[0]),
    "expand_two": lambda m, x: m.fn.expand_dims(x, axes=[0, 2], new_axis_names="AB"),
    "expand_outside": lambda m, x: m.fn.expand_dims(x, axes=[6]),
    "expand_twice": lambda m, x: m.fn.expand_dims(x, axes=[1, 1]),
    "expand_wrong_names": lambda m, x: m.fn.expand_dims(x, axes=[0, 1], new_axis_names="A"),
    "transpose": lambda m, x: m.fn.transpose(x, perm=[1, 2, 0]),
    "transpose_default": lambda m, x: m.fn.transpose(x),
    "transpose_short": lambda m, x: m.fn.transpose(x, perm=[1, 0]),
    "transpose_repeated": lambda m, x: m.fn.transpose(x, perm=[1, 1, 0]),
    "transpose_layout": lambda m, x: m.fn.transpose(x, perm=[2, 1, 0], output_layout="ABC"),
    "transpose_wrong_layout": lambda m, x: m.fn.transpose(x, perm=[2, 1, 0], output_layout="AB"),
    "element_extract": lambda m, x: m.fn.element_extract(
        m.fn.reshape(x, layout="FWC"), element_map=[0, 2]
    ),
    "element_outside": lambda m, x: m.fn.element_extract(
        m.fn.reshape(x, layout="FWC"), element_map=[9]
    ),
    "element_of_picture": lambda m, x: m.fn.element_extract(x, element_map=[0]),
    "flip_depth": lambda m, x: m.fn.flip(
        m.fn.reshape(x, shape=[2, 3, 7, 3], layout="DHWC"), horizontal=0, depthwise=1
    ),
    "flip_without_layout": lambda m, x: m.fn.flip(m.fn.reinterpret(x, layout="")),
    "grid": lambda m, x: m.fn.shapes(x, dtype=m.types.INT32),
}


@each(**SHAPED)
def shaped(m, body):
    return of_images(m, lambda x: body(m, x))


# Tables and classes.


@each(
    bytes=([0, 7, 14, 21], [10, 20, 30, 40], 5, "UINT8"),
    floats=([0, 7], [0.5, 1.5], 0.0, "FLOAT"),
    rounding=([0, 7], [1.6, 2.4], 0.0, "INT32"),
    negative_key=([-1], [2.0], 0.0, "FLOAT"),
    large_key=([70000], [2.0], 0.0, "FLOAT"),
    repeated=([7, 7], [1.0, 2.0], 0.0, "FLOAT"),
    lengths=([1, 2], [1.0], 0.0, "FLOAT"),
)
def lookup(m, given):
    keys, table, default, dtype = given
    return of_images(
        m,
        lambda x: m.fn.lookup_table(
            x, keys=keys, values=table, default_value=default, dtype=getattr(m.types, dtype)
        ),
    )


@each(
    plain={"num_classes": 4},
    first={"num_classes": 4, "axis": 0},
    last={"num_classes": 4, "axis": -1},
    values={"num_classes": 4, "on_value": 5.0, "off_value": -5.0},
    type={"num_classes": 4, "dtype": "FLOAT"},
    name={"num_classes": 4, "axis": 0, "axis_name": "C"},
    outside={"num_classes": 2},
    axis_outside={"num_classes": 4, "axis": 5},
)
def one_hot(m, given):
    given = dict(given)
    if "dtype" in given:
        given["dtype"] = getattr(m.types, given["dtype"])
    data = [m.np.int32([0, 3, 1]), m.np.int32([2])]
    return values(m, lambda x: m.fn.one_hot(x, **given), data)


@each(
    scalar=[0, 2],
    row=[[0, 1], [2, 2]],
    matrix=[[[0], [1]], [[2], [0]]],
    outside=[9, 1],
    negative=[-1, 1],
)
def one_hot_of(m, labels):
    return values(
        m, lambda x: m.fn.one_hot(x, num_classes=3), [m.np.array(one, m.np.int64) for one in labels]
    )
