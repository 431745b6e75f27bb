"""Forms of operator calls that programs for DALI use: several outputs, arguments whose extents only
the run tells, one seed for several draws, members of enumerations as data, classes of refusals."""

import warnings

from . import case, each


def _batch(m, *samples, dtype="float32"):
    return [m.np.array(one, dtype) for one in samples]


def _rounded(m, outputs):
    return [[m.np.round(one.at(i), 4) for i in range(len(one))] for one in outputs]


def _run(m, body):
    pipe = m.pipeline_def(batch_size=2, num_threads=1, device_id=None)(body)()
    return pipe.run()


# Several outputs.


def _boxes(m, labels=False, **more):
    rows = [[0.1, 0.1, 0.3, 0.3], [0.4, 0.4, 0.6, 0.6]]
    inputs = [m.feed(_batch(m, rows, rows[:1]))]
    if labels:
        inputs.append(m.feed(_batch(m, [1, 2], [3], dtype="int32")))
    arguments = {"thresholds": [0.0], "scaling": [0.3, 0.5], "aspect_ratio": [0.5, 2.0]}
    return m.ops.RandomBBoxCrop(**arguments, **more)(*inputs)


def _polygons(m):
    polygons = [[0, 0, 3], [1, 3, 6]]
    return m.fn.segmentation.select_masks(
        m.feed(_batch(m, [1], [0], dtype="int32")),
        m.feed(_batch(m, polygons, polygons, dtype="int32")),
        m.feed(_batch(m, [[0, 1]] * 6, [[2, 3]] * 6)),
    )


def _rotated(m, labels):
    inputs = [m.feed(_batch(m, [[0.1, 0.1, 0.3, 0.3]], [[0.2, 0.2, 0.4, 0.4]]))]
    if labels:
        inputs.append(m.feed(_batch(m, [[1]], [[2]], dtype="int32")))
    shape = m.feed(_batch(m, [20, 30], [20, 30], dtype="int64"))
    return m.fn.bbox_rotate(*inputs, angle=90.0, input_shape=shape, bbox_layout="xyXY")


OUTPUTS = {
    "bbox_crop": _boxes,
    "bbox_crop_labels": lambda m: _boxes(m, labels=True),
    "bbox_crop_indices": lambda m: _boxes(m, output_bbox_indices=True),
    "bbox_crop_all": lambda m: _boxes(m, labels=True, output_bbox_indices=True),
    "bbox_crop_no_indices": lambda m: _boxes(m, output_bbox_indices=False),
    "crop_generator": lambda m: m.fn.random_crop_generator(
        m.feed(_batch(m, [20, 30, 3], [9, 9, 3], dtype="int64"))
    ),
    "select_masks": _polygons,
    "bbox_rotate": lambda m: _rotated(m, False),
    "bbox_rotate_labels": lambda m: _rotated(m, True),
    "element_extract": lambda m: m.fn.element_extract(
        m.feed(_batch(m, [[1, 2], [3, 4]], [[5, 6], [7, 8]]), layout="FX"), element_map=[1, 0, 1]
    ),
}


@each(**OUTPUTS)
def number_of_outputs(m, body):
    def outputs():
        made = body(m)
        assert not isinstance(made, tuple)
        return tuple(made) if isinstance(made, list) else made

    return len(_run(m, outputs))


@each(**{name: OUTPUTS[name] for name in ("select_masks", "bbox_rotate_labels", "element_extract")})
def values_of_outputs(m, body):
    return _rounded(m, _run(m, lambda: tuple(body(m))))


# Extents that only the run tells.


@each(
    rows=lambda m, x, mean, stddev: m.fn.normalize(x, axes=[1], mean=mean),
    stddev=lambda m, x, mean, stddev: m.fn.normalize(x, axes=[1], stddev=stddev),
    both=lambda m, x, mean, stddev: m.fn.normalize(x, axes=[1], mean=mean, stddev=stddev),
    regular=lambda m, x, mean, stddev: m.fn.normalize(
        x, axes=[1], mean=1, stddev=stddev, epsilon=0.5
    ),
    bytes=lambda m, x, mean, stddev: m.fn.normalize(
        x, axes=[1], mean=mean, stddev=2, shift=128, scale=64, dtype=m.types.UINT8
    ),
)
def normalize_by(m, body):
    def outputs():
        x = m.feed(_batch(m, [[1, 2, 6]], [[0, 4], [3, 3]]))
        mean = m.fn.reductions.mean(x, axes=[1], keep_dims=True)
        stddev = m.feed(_batch(m, [[2]], [[0], [4]]))
        return body(m, x, mean, stddev)

    return _rounded(m, _run(m, outputs))


@each(scalar=False, rows=True)
def choice_by_probabilities(m, are_rows):
    def outputs():
        rows = _batch(m, [[1, 2], [3, 4]], [[5, 6]]) if are_rows else _batch(m, 2, 1, dtype="int64")
        return m.fn.random.choice(m.feed(rows), p=m.feed(_batch(m, [0, 1], [1])), shape=[3])

    return m.plain(_run(m, outputs))


@each(longer=[[2, 0, 1], [1]], same=[[1, 0], [0, 0]], outside=[[3], [0]], empty=[[0], []])
def rearranged(m, orders):
    def outputs():
        frames = [[1, 2], [3, 4], [5, 6]]
        x = m.feed(_batch(m, frames, frames), layout="FX")
        return m.fn.sequence_rearrange(x, new_order=m.feed(_batch(m, *orders, dtype="int32")))

    return m.plain(_run(m, outputs))


@each(
    shear=lambda m: m.fn.transforms.shear(shear=m.feed(_batch(m, [[1], [2]], [[3], [4]]))),
    pad=lambda m: m.fn.pad(m.feed(_batch(m, [[1]], [[1, 2], [3, 4]]), layout="HW"), axis_names=""),
    squeeze=lambda m: m.fn.squeeze(
        m.feed(_batch(m, m.np.zeros((3, 0, 0)), m.np.zeros((2, 0, 5)))), axes=[2]
    ),
    squeeze_one=lambda m: m.fn.squeeze(m.feed(_batch(m, [[1]], [[1], [2]])), axes=[0]),
    wildcard=lambda m: m.fn.reshape(
        m.feed(_batch(m, m.np.zeros((3, 0)), [[1]])), rel_shape=[-1, 1]
    ),
    border=lambda m: m.fn.filter(
        m.feed(_batch(m, [[1, 2, 3]], [[4, 5, 6]]), layout="HW"),
        m.feed(_batch(m, [[0, 0, 1]], [[0, 0, 1]])),
        border="101",
    ),
)
def form(m, body):
    return _rounded(m, _run(m, lambda: body(m)))


@each(
    function=lambda m: m.fn.transform_translation, operator=lambda m: m.ops.TransformTranslation()
)
def old_name(m, translation):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        outputs = _run(m, lambda: translation(m)(offset=[1, 2]))
    classes = {one.category.__name__ for one in caught}
    return m.plain(outputs[0].as_array()), "DeprecationWarning" in classes


# Seeds.


@case
def one_seed_for_several_draws(m):
    def first():
        x = m.fn.random.uniform(seed=5)
        return x, m.fn.random.uniform(seed=5), m.fn.random.uniform(seed=6)

    def second():
        y = m.fn.random.uniform(seed=6)
        return m.fn.random.uniform(seed=5), y

    a, b, c = (one.as_array() for one in _run(m, first))
    d, e = (one.as_array() for one in _run(m, second))
    pairs = [(a, b), (a, c), (a, d), (c, e)]
    return [bool(m.np.array_equal(*pair)) for pair in pairs]


# Members of enumerations.

MEMBERS = {
    "member": lambda m: m.types.Constant(m.types.INT16),
    "list": lambda m: m.types.Constant([m.types.INTERP_NN, m.types.INTERP_CUBIC]),
    "number": lambda m: m.types.Constant(3, dtype=m.types.DALIDataType.INTERP_TYPE),
    "input": lambda m: m.fn.copy([m.types.RGB, m.types.GRAY]),
    "element": lambda m: m.fn.copy([m.types.RGB, m.types.GRAY])[1],
    "choice": lambda m: m.fn.random.choice([m.types.INTERP_CUBIC, m.types.INTERP_CUBIC]),
    "cast": lambda m: m.fn.cast(m.fn.copy(4), dtype=m.types.DALIDataType.IMAGE_TYPE),
}


@each(**MEMBERS)
def member_of_an_enumeration(m, body):
    def outputs():
        node = body(m)
        return node, m.fn.cast(node, dtype=m.types.INT32)

    members, numbers = _run(m, outputs)
    return str(members.dtype), members.shape(), numbers, m.raises(members.as_array)


@each(
    to_float=lambda m: m.fn.cast(m.types.Constant(m.types.RGB), dtype=m.types.FLOAT),
    of_float=lambda m: m.fn.cast(1.0, dtype=m.types.DALIDataType.DATA_TYPE),
    below=lambda m: m.fn.random.choice(m.types.INTERP_CUBIC),
    scalar=lambda m: m.types.ScalarConstant(m.types.INT16),
)
def wrong_member(m, body):
    return _run(m, lambda: body(m))


# Classes of refusals.


@each(
    layout=lambda m, x: m.fn.crop(m.fn.reshape(x, layout="ABC"), crop=[1, 1]),
    axis=lambda m, x: m.fn.reductions.sum(x, axes=[5]),
    negative_axis=lambda m, x: m.fn.reductions.sum(x, axes=[-9]),
    mask=lambda m, x: x & 1.5,
    window=lambda m, x: m.fn.crop(x, crop=[90, 90]),
    inputs=lambda m, x: m.fn.zeros(x),
    axis_name=lambda m, x: m.fn.one_hot(x, axis_name="AB"),
    alignment=lambda m, x: m.fn.pad(x, align=0),
)
def refused(m, body):
    image = [m.image(4, 5), m.image(4, 5)]
    return _run(m, lambda: body(m, m.feed(image, layout="HWC")))
