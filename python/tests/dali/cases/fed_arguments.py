"""Arguments that Python feeds: numbers as tensors of one element, lists of a length to be seen."""

from . import case, each


def fed(m, body, inputs, batches=2, **arguments):
    """What `body` gives for two samples: `inputs` are data with layouts, arguments a value each."""
    np = m.np

    def pipeline():
        data = [m.feed(*[samples] * batches, layout=layout) for samples, layout in inputs]
        nodes = {
            name: m.feed(*[[np.array(one, dtype) for one in values]] * batches)
            for name, (values, dtype) in arguments.items()
        }
        return body(*data, **nodes)

    return m.run(pipeline, batches)[-1]


def first(m, body):
    """The first sample of the only output."""
    return m.run(body)[0][0]["samples"][0]


def without_layout(m, matrix):
    """DALI calls the axes of a matrix `**`."""
    return m.fn.reshape(matrix, layout="RC")


def images(m):
    return [m.image(6, 7), m.image(8, 9, start=3)], "HWC"


def unnamed(m):
    return images(m)[0], None


def floats(m):
    return [one.astype("float32") for one in images(m)[0]], "HWC"


F, I = "float32", "int32"
SCALARS = {
    "brightness": lambda m, x, a: m.fn.brightness(x, brightness=a(0.5, 2), dtype=m.types.FLOAT),
    "contrast": lambda m, x, a: m.fn.contrast(x, contrast=a(0.5, 2), dtype=m.types.FLOAT),
    "contrast_center": lambda m, x, a: m.fn.contrast(x, contrast=2.0, contrast_center=a(9, 99)),
    "flip": lambda m, x, a: m.fn.flip(x, horizontal=a(0, 1, type=I)),
    "crop_h": lambda m, x, a: m.fn.crop(x, crop_w=5, crop_h=a(3, 4)),
    "crop_pos_x": lambda m, x, a: m.fn.crop(x, crop=(4, 5), crop_pos_x=a(0, 1)),
    "normalize_crop_pos": lambda m, x, a: m.fn.crop_mirror_normalize(
        x, crop=(4, 5), crop_pos_y=a(0, 1)
    ),
    "mirror": lambda m, x, a: m.fn.crop_mirror_normalize(x, mirror=a(0, 1, type=I)),
    "resize_x": lambda m, x, a: m.fn.resize(x, resize_x=a(3, 5), interp_type=m.types.INTERP_NN),
    "rotate": lambda m, x, a: m.fn.rotate(
        x, angle=a(90, 180), fill_value=0, interp_type=m.types.INTERP_NN
    ),
    "scale": lambda m, x, a: without_layout(m, m.fn.transforms.scale(scale=a(2, 3), ndim=2)),
    "one_hot": lambda m, x, a: m.fn.one_hot(a(1, 3, type=I), num_classes=4),
}


def scalar(m, name, shape):
    np = m.np

    def node(*values, type=F):
        return m.feed([np.full(shape, one, type) for one in values])

    data, layout = images(m)
    return m.run(lambda: SCALARS[name](m, m.feed(data, layout=layout), node))[0]


@each(**{name: name for name in SCALARS})
def one_element(m, name):
    return scalar(m, name, (1,))


@each(**{name: name for name in SCALARS})
def no_axis(m, name):
    return scalar(m, name, ())


@case
def two_elements_for_a_scalar(m):
    return m.raises(lambda: scalar(m, "brightness", (2,)))


SHAPES = ([[2, 3], [1, 4]], I)
LISTS = {
    "zeros": lambda m: fed(m, lambda **k: m.fn.zeros(**k), [], shape=SHAPES),
    "ones": lambda m: fed(m, lambda **k: m.fn.ones(**k), [], shape=([[2], [3]], I)),
    "full": lambda m: fed(m, lambda **k: m.fn.full(3.5, **k), [], shape=SHAPES),
    "normal": lambda m: fed(
        m, lambda **k: m.fn.random.normal(mean=2.0, stddev=0.0, **k), [], shape=SHAPES
    ),
    "uniform": lambda m: fed(
        m, lambda **k: m.fn.random.uniform(values=[2.0], **k), [], shape=SHAPES
    ),
    "coin_flip": lambda m: fed(
        m, lambda **k: m.fn.random.coin_flip(probability=1.0, **k), [], shape=SHAPES
    ),
    "values": lambda m: fed(
        m, lambda **k: m.fn.random.uniform(**k), [], values=([[4, 4, 4], [5, 5, 5]], F)
    ),
    "probabilities": lambda m: fed(
        m, lambda **k: m.fn.random.choice(3, **k), [], p=([[1, 0, 0], [0, 0, 1]], F)
    ),
    "reshape": lambda m: fed(
        m, lambda x, **k: m.fn.reshape(x, **k), [unnamed(m)], shape=([[6, 21], [8, 27]], I)
    ),
    "reshape_rest": lambda m: fed(
        m, lambda x, **k: m.fn.reshape(x, **k), [unnamed(m)], shape=([[-1, 3], [2, -1]], I)
    ),
    "reshape_input": lambda m: fed(
        m, lambda x, s: m.fn.reshape(x, s), [unnamed(m)], s=([[6, 21], [8, 27]], I)
    ),
    "rel_shape": lambda m: fed(
        m, lambda x, **k: m.fn.reshape(x, **k), [images(m)], rel_shape=([[0.5, 2, 1], [1, 1, 1]], F)
    ),
    "mean": lambda m: fed(
        m,
        lambda x, **k: m.fn.crop_mirror_normalize(x, **k),
        [images(m)],
        mean=([[1, 2, 3], [4, 5, 6]], F),
    ),
    "mean_and_std": lambda m: fed(
        m,
        lambda x, **k: m.fn.crop_mirror_normalize(x, output_layout="HWC", **k),
        [images(m)],
        mean=([[1], [4]], F),
        std=([[1, 2, 4], [4, 2, 1]], F),
    ),
    "normalize": lambda m: fed(
        m,
        lambda x, **k: m.fn.normalize(x, axes=(0, 1), stddev=2.0, **k),
        [floats(m)],
        mean=([[[[1, 2, 3]]], [[[4, 5, 6]]]], F),
    ),
    "erase": lambda m: fed(
        m,
        lambda x, **k: m.fn.erase(x, **k),
        [images(m)],
        anchor=([[1, 2], [0, 3]], F),
        shape=([[3, 2], [2, 2]], F),
    ),
    "erase_two": lambda m: fed(
        m,
        lambda x, **k: m.fn.erase(x, **k),
        [images(m)],
        anchor=([[1, 2, 4, 4], [0, 3, 5, 5]], F),
        shape=([[3, 2, 1, 1], [2, 2, 2, 3]], F),
    ),
    "erase_axis": lambda m: fed(
        m,
        lambda x, **k: m.fn.erase(x, axis_names="W", **k),
        [images(m)],
        anchor=([[1], [4]], F),
        shape=([[3], [2]], F),
    ),
    "slice_inputs": lambda m: fed(
        m,
        lambda x, a, s: m.fn.slice(x, a, s),
        [images(m)],
        a=([[0.1, 0.2], [0, 0.3]], F),
        s=([[0.5, 0.5], [0.7, 0.5]], F),
    ),
    "slice_without_layout": lambda m: fed(
        m,
        lambda x, a, s: m.fn.slice(x, a, s),
        [unnamed(m)],
        a=([[0.1, 0.2], [0, 0.3]], F),
        s=([[0.5, 0.5], [0.7, 0.5]], F),
    ),
    "slice_arguments_without_layout": lambda m: fed(
        m,
        lambda x, **k: m.fn.slice(x, **k),
        [unnamed(m)],
        start=([[1, 2], [0, 3]], I),
        shape=([[3, 2], [2, 2]], I),
    ),
    "crop": lambda m: fed(
        m, lambda x, **k: m.fn.crop(x, **k), [images(m)], crop=([[3, 4], [5, 2]], F)
    ),
    "translation": lambda m: fed(
        m,
        lambda **k: without_layout(m, m.fn.transforms.translation(**k)),
        [],
        offset=([[1, 2, 3], [4, 5, 6]], F),
    ),
    "scale": lambda m: fed(
        m,
        lambda **k: without_layout(m, m.fn.transforms.scale(**k)),
        [],
        scale=([[1, 2, 3], [4, 5, 6]], F),
    ),
    "points": lambda m: fed(
        m,
        lambda x, **k: m.fn.coord_transform(x, **k),
        [([m.np.ones((2, 2), "f"), m.np.ones((1, 2), "f")], None)],
        M=([[[1, 2], [3, 4]], [[0, 1], [1, 0]]], F),
        T=([[1, 2], [3, 4]], F),
    ),
    "points_mt": lambda m: fed(
        m,
        lambda x, **k: m.fn.coord_transform(x, **k),
        [([m.np.ones((2, 2), "f"), m.np.ones((1, 2), "f")], None)],
        MT=([[[1, 2, 3]], [[0, 1, 2]]], F),
    ),
    "filter": lambda m: fed(
        m,
        lambda x, w: m.fn.experimental.filter(x, w),
        [images(m)],
        w=([[[0, 0.5], [0.5, 0]], [[1, 0], [0, 0]]], F),
    ),
    "rearrange": lambda m: fed(
        m,
        lambda x, **k: m.fn.sequence_rearrange(x, **k),
        [(images(m)[0], "FHW")],
        new_order=([[1, 0], [3, 3]], I),
    ),
}


@each(**{name: name for name in LISTS})
def length_of_the_feed(m, name):
    return LISTS[name](m)


# Lists whose lengths differ within one batch.
RAGGED = {
    "pad": lambda m, x, a: m.fn.pad(x, axes=a([0], [0, 1])),
    "pad_shape": lambda m, x, a: m.fn.pad(x, axes=a([0], [1, 0]), shape=a([9], [11, 10])),
    "pad_align": lambda m, x, a: m.fn.pad(x, axes=a([0], [0, 1]), align=a([4], [4, 2])),
    "slice": lambda m, x, a: m.fn.slice(
        x, axes=a([0], [0, 1]), start=a([1], [1, 2]), shape=a([2], [3, 4])
    ),
    "slice_relative": lambda m, x, a: m.fn.slice(
        x, axes=a([1], [1, 0]), rel_start=a([0.1], [0.1, 0.2], F), rel_end=a([0.5], [0.6, 0.9], F)
    ),
    "slice_inputs": lambda m, x, a: m.fn.slice(
        x, a([0.1], [0.1, 0.2], F), a([0.5], [0.6, 0.3], F), axes=a([1], [1, 0])
    ),
    "erase": lambda m, x, a: m.fn.erase(
        x, axes=(0, 1), anchor=a([1, 1], [0, 0, 4, 4], F), shape=a([2, 2], [1, 1, 9, 2], F)
    ),
    "erase_none": lambda m, x, a: m.fn.erase(
        x, axes=(0,), anchor=a([], [0.5, 2], F), shape=a([], [1, 2], F)
    ),
    "sigma": lambda m, x, a: m.fn.gaussian_blur(x, sigma=a([1], [1, 2], F), dtype=m.types.FLOAT),
    "window": lambda m, x, a: m.fn.gaussian_blur(x, window_size=a([3], [3, 5]), dtype=m.types.FLOAT),
    "laplacian": lambda m, x, a: m.fn.laplacian(x, window_size=a([3], [3, 5]), dtype=m.types.FLOAT),
    "values": lambda m, x, a: m.fn.random.uniform(values=a([4, 4], [5, 5, 5], F)),
    "values_shape": lambda m, x, a: m.fn.random.uniform(
        x, values=a([4.4], [5.4, 5.4], F), dtype=m.types.INT32
    ),
    "probabilities": lambda m, x, a: m.fn.random.choice(a([7, 8], [1, 2, 3]), p=a([0, 1], [0, 0, 1], F)),
    "labels": lambda m, x, a: m.fn.one_hot(a([1, 2], [0, 2, 1]), num_classes=3),
    "rearrange": lambda m, x, a: m.fn.sequence_rearrange(
        m.fn.reshape(x, layout="FHW"), new_order=a([1], [1, 0, 2])
    ),
}


@each(**{name: name for name in RAGGED})
def lengths_differ(m, name):
    def lists(*values, type=I):
        *values, type = values if isinstance(values[-1], str) else (*values, type)
        return m.feed([m.np.array(one, type) for one in values])

    def rounded(one):
        values = [round(value, 1) for value in one["values"]]
        return {**one, "values": values[:: max(1, len(values) // 40)]}

    data, layout = images(m)
    [result] = m.run(lambda: RAGGED[name](m, m.feed(data, layout=layout), lists))[0]
    return result["layout"], [rounded(one) for one in result["samples"]]


@each("sin", "cos", "tan")
def of_large_integers(m, name):
    x = m.np.array([2**31, 2**32 + 1, 2**53, 10**18, 2**63 - 1], "int64")
    return [
        round(one, 5) for one in first(m, lambda: getattr(m.math, name)(m.feed([x, x])))["values"]
    ]


@each(unnamed=None, first="X", middle="C")
def stack_of_layouts(m, name):
    a, b = m.np.ones((2, 3), "f"), m.np.zeros((2, 3), "f")
    more = {} if name is None else {"axis_name": name, "axis": 1 if name == "C" else 0}
    return m.run(
        lambda: m.fn.stack(m.feed([a, a], layout="AB"), m.feed([b, b], layout="DE"), **more)
    )[0]


@each(none=None, one=[4], two=[4, 2])
def layout_of_choice(m, shape):
    a = m.np.ones((2, 3), "f")
    more = {} if shape is None else {"shape": shape}
    return m.run(lambda: m.fn.random.choice(m.feed([a, a], layout="AB"), **more))[0]


@each("coin_flip", "uniform", "normal", "beta", "choice")
def layout_of_draws(m, name):
    data, layout = images(m)
    first = (5,) if name == "choice" else ()
    drawn = m.run(lambda: getattr(m.fn.random, name)(*first, m.feed(data, layout=layout)))[0][0]
    return drawn["layout"], [(one["dtype"], one["shape"]) for one in drawn["samples"]]


@case
def one_hot_without_classes(m):
    return m.run(lambda: m.fn.one_hot(m.feed([m.np.int32(1), m.np.int32(2)])))[0]


@each(same={}, single={"dtype": "FLOAT"})
def blur_of_doubles(m, options):
    x = m.np.arange(12, dtype="float64").reshape(3, 4)
    options = {name: getattr(m.types, value) for name, value in options.items()}
    result = first(
        m,
        lambda: m.fn.gaussian_blur(
            m.feed([x, x], layout="HW"), window_size=3, sigma=1.0, **options
        ),
    )
    return result["dtype"], [round(one, 4) for one in result["values"]]


PER_FRAME = {
    "warp": ("warp_affine", {"fill_value": 0}, "matrix", (2, 3)),
    "turn": ("rotate", {"fill_value": 0, "size": (9, 9)}, "angle", ()),
    "blur": ("gaussian_blur", {"window_size": 5}, "sigma", ()),
}


@each(**{name: name for name in PER_FRAME})
def number_of_frames_of_the_feed(m, name):
    operator, arguments, fed_name, shape = PER_FRAME[name]
    np = m.np
    data, values = [], []
    for frames in (2, 4):
        data.append(m.image(5 * frames, 6).reshape(frames, 5, 6, 3))
        count = frames * int(np.prod(shape, dtype=int))
        values.append((np.arange(count, dtype="f") % 7 / 4 + 0.5).reshape(frames, *shape))

    def body():
        argument = m.fn.per_frame(m.feed(values))
        return getattr(m.fn, operator)(
            m.feed(data, layout="FHWC"), dtype=m.types.FLOAT, **arguments, **{fed_name: argument}
        )

    [result] = m.run(body)[0]
    return result["layout"], [
        (one["shape"], [round(value, 1) for value in one["values"][::7]])
        for one in result["samples"]
    ]


# Regions of other samples, whose numbers differ from sample to sample.
PASTES = {
    "anchors": {"out_anchors": ([[0, 1]], [[1, 0], [4, 5], [2, 2]], I)},
    "regions": {
        "in_anchors": ([[2, 1]], [[0, 0], [1, 2], [3, 3]], I),
        "shapes": ([[3, 4]], [[2, 2], [4, 3], [1, 1]], I),
        "out_anchors": ([[5, 6]], [[0, 0], [1, 1], [2, 2]], I),
    },
    "fractions": {
        "in_anchors_rel": ([[0.25, 0.5]], [[0.0, 0.0], [0.5, 0.5], [0.1, 0.9]], "float32"),
        "shapes_rel": ([[0.5, 0.25]], [[0.5, 0.5], [0.25, 0.5], [0.3, 0.1]], "float32"),
        "out_anchors_rel": ([[0.25, 0.25]], [[0.0, 0.0], [0.5, 0.25], [0.1, 0.2]], "float32"),
    },
    "too_few": {"out_anchors": ([[0, 1]], [[1, 0], [4, 5]], I)},
}


def pasted(m, ids, rows):
    def body():
        data, layout = images(m)
        lists = {
            name: m.feed([m.np.array(one, type) for one in samples])
            for name, (*samples, type) in rows.items()
        }
        places = m.feed([m.np.array(one, I) for one in ids])
        return m.fn.multi_paste(
            m.feed(data, layout=layout), in_ids=places, output_size=[24, 26], **lists
        )

    [result] = m.run(body)[0]
    return [(one["shape"], one["values"][::7]) for one in result["samples"]]


@each(**{name: name for name in PASTES})
def regions_differ(m, name):
    return pasted(m, [[1], [0, 1, 0]], PASTES[name])


@case
def no_region(m):
    return pasted(m, [[], [1]], {"out_anchors": (m.np.zeros((0, 2)), [[2, 3]], I)})


@case
def one_region_each(m):
    return pasted(m, [[1], [0]], {"out_anchors": ([[2, 3]], [[1, 0]], I)})
