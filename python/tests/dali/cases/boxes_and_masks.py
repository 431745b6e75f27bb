"""Boxes, points, masks and pasted pictures: forms of their arguments, and what is refused."""

from . import each
from .axes_and_extents import of

BOXES = [[0.1, 0.2, 0.4, 0.6], [0.0, 0.0, 1.0, 1.0], [0.25, 0.5, 0.75, 1.0]]

FLIPS = {
    "default": {},
    "ltrb": dict(ltrb=True),
    "vertical": dict(vertical=1, horizontal=0),
    "both": dict(vertical=1, ltrb=True),
    "neither": dict(horizontal=0),
    "two": dict(horizontal=2),
    "boolean": dict(horizontal=True, vertical=False),
}


@each(**FLIPS)
def boxes_flipped(m, arguments):
    feed = [m.np.array(BOXES, "float32"), m.np.array(BOXES[:1], "float32")]
    return of(m, lambda fn, x: fn.bb_flip(x, **arguments), feed)


@each("per_sample", "one_box", "float64", "five", "nothing")
def boxes_flipped_of(m, kind):
    boxes = m.np.array(BOXES, "float32")
    feed = {
        "per_sample": [boxes, boxes],
        "one_box": [boxes[0], boxes[1]],
        "float64": [boxes.astype("float64")],
        "five": [m.np.zeros((2, 5), "float32")],
        "nothing": [m.np.zeros((0, 4), "float32"), boxes],
    }[kind]
    if kind == "per_sample":
        flags = [m.np.array(i, "int32") for i in range(2)]
        return of(m, lambda fn, x, f: fn.bb_flip(x, horizontal=f, vertical=1 - f), feed, flags)
    return of(m, lambda fn, x: fn.bb_flip(x, ltrb=True), feed)


POINTS = {
    "matrix": dict(M=(1, 2, 3, 4)),
    "matrix_and_offset": dict(M=(1, 0, 0, 2), T=(10, 20)),
    "joined": dict(MT=(1, 0, 10, 0, 1, 20)),
    "scalar": dict(M=2.0),
    "scalar_offset": dict(T=5.0),
    "offset": dict(T=(1, 2)),
    "nothing": {},
    "fewer": dict(M=(1, 2)),
    "more": dict(M=(1, 0, 0, 1, 1, 1), T=(1, 2, 3)),
    "wrong_matrix": dict(M=(1, 2, 3)),
    "wrong_offset": dict(M=(1, 2, 3, 4), T=(1, 2, 3)),
    "joined_and_matrix": dict(MT=(1, 0, 10, 0, 1, 20), M=(1, 2, 3, 4)),
    "typed": dict(M=(1, 0.5, 0, 2), dtype="INT16"),
    "saturated": dict(M=100.0, dtype="UINT8"),
}


@each(**POINTS)
def points(m, arguments):
    if "dtype" in arguments:
        arguments = {**arguments, "dtype": getattr(m.types, arguments["dtype"])}
    feed = [m.np.array([[1, 2], [3, 4]], "float32"), m.np.array([[5, 6]], "float32")]
    return of(m, lambda fn, x: fn.coord_transform(x, **arguments), feed, layout="NX")


@each("per_sample", "bytes", "row", "volume", "nothing")
def points_of(m, kind):
    np = m.np
    if kind == "per_sample":
        feed = [np.array([[1, 2], [3, 4]], "float32")] * 2
        matrices = [np.array([[1, 0], [0, 2]], "float32"), np.array([[0, 1], [1, 0]], "float32")]
        return of(m, lambda fn, x, y: fn.coord_transform(x, M=y, T=(1, 0)), feed, matrices)
    feed = {
        "bytes": [np.array([[1, 2], [3, 4]], "uint8")],
        "row": [np.array([1, 2], "float32")],
        "volume": [np.arange(12, dtype="float32").reshape(2, 3, 2)],
        "nothing": [np.zeros((0, 2), "float32")],
    }[kind]
    return of(m, lambda fn, x: fn.coord_transform(x, M=(1, 1, 0, 1)), feed)


def pictures(m, count=2):
    return [m.image(4, 5, start=20 * i) for i in range(count)]


PASTES = {
    "one": dict(in_ids=[0], output_size=[4, 5]),
    "two": dict(in_ids=[0, 1], output_size=[6, 8], out_anchors=[[0, 0], [2, 3]]),
    "regions": dict(
        in_ids=[0, 1],
        output_size=[4, 5],
        in_anchors=[[0, 1], [1, 0]],
        shapes=[[2, 2], [2, 3]],
        out_anchors=[[0, 0], [2, 2]],
    ),
    "overlapping": dict(
        in_ids=[0, 1], output_size=[4, 5], shapes=[[3, 3], [3, 3]], out_anchors=[[0, 0], [1, 1]]
    ),
    "typed": dict(in_ids=[0], output_size=[5, 6], dtype="FLOAT"),
    "signed": dict(in_ids=[1], output_size=[4, 5], dtype="INT16"),
    "without_size": dict(in_ids=[0]),
    "without_ids": dict(output_size=[4, 5]),
    "id_outside": dict(in_ids=[7], output_size=[4, 5]),
    "negative_id": dict(in_ids=[-1], output_size=[4, 5]),
    "too_large": dict(in_ids=[0], output_size=[2, 2]),
    "anchor_outside": dict(in_ids=[0], output_size=[4, 5], out_anchors=[[3, 3]]),
    "region_outside": dict(in_ids=[0], output_size=[9, 9], in_anchors=[[2, 2]], shapes=[[4, 4]]),
    "anchor_count": dict(in_ids=[0, 1], output_size=[9, 9], out_anchors=[[3, 3]]),
    "relative": dict(in_ids=[0, 1], output_size=[8, 10], out_anchors_rel=[[0.0, 0.0], [0.5, 0.5]]),
    "relative_regions": dict(
        in_ids=[1], output_size=[4, 5], in_anchors_rel=[[0.25, 0.2]], shapes_rel=[[0.5, 0.6]]
    ),
    "both_anchors": dict(
        in_ids=[0], output_size=[8, 10], out_anchors=[[0, 0]], out_anchors_rel=[[0.0, 0.0]]
    ),
}


@each(**PASTES)
def pasted(m, arguments):
    arguments = dict(arguments)
    if "dtype" in arguments:
        arguments["dtype"] = getattr(m.types, arguments["dtype"])
    for name, kind in (
        ("in_anchors", "int32"),
        ("out_anchors", "int32"),
        ("shapes", "int32"),
        ("in_anchors_rel", "float32"),
        ("out_anchors_rel", "float32"),
        ("shapes_rel", "float32"),
    ):
        if name in arguments:
            array = m.np.array(arguments[name], kind)
            arguments[name] = m.types.Constant(array)
    return of(m, lambda fn, x: fn.multi_paste(x, **arguments), pictures(m), layout="HWC")


@each("one_for_each", "inputs", "inputs_of_types")
def pasted_forms(m, kind):
    np = m.np
    if kind == "one_for_each":
        ids = [np.array([1], "int32"), np.array([0, 1, 0], "int32")]
        places = [np.array([[1, 1]], "int32"), np.array([[0, 0], [2, 2], [4, 4]], "int32")]
        return of(
            m,
            lambda fn, x, i, p: fn.multi_paste(x, in_ids=i, out_anchors=p, output_size=[8, 9]),
            pictures(m),
            ids,
            places,
            layout="HWC",
        )
    second = [one[:3, :2] for one in pictures(m)]
    if kind == "inputs_of_types":
        second = [one.astype("float32") for one in second]
    anchors = m.types.Constant(np.array([[0, 0]], "int32"))
    return of(
        m,
        lambda fn, x, y: fn.multi_paste(x, y, out_anchors=anchors, output_size=[6, 6]),
        pictures(m),
        second,
        layout="HWC",
    )


def masks(m, kind="int32"):
    first = m.np.zeros((5, 6), kind)
    first[1:3, 2:5] = 1
    second = m.np.zeros((4, 4), kind)
    second[0, 0] = second[2:4, 2] = 2
    return [first, second]


REGIONS = {
    "boxes": dict(ignore_class=True, foreground_prob=1.0, format="box"),
    "corners": dict(ignore_class=True, foreground_prob=1.0, format="start_end"),
    "default": dict(ignore_class=True, foreground_prob=1.0),
    "wrong_format": dict(format="xywh"),
    "largest": dict(ignore_class=True, foreground_prob=1.0, k_largest=1),
    "classes": dict(classes=[1, 2], foreground_prob=1.0, output_class=True),
    "weights": dict(classes=[1], class_weights=[1.0, 2.0], foreground_prob=1.0),
    "negative_weight": dict(classes=[1], class_weights=[-1.0], foreground_prob=1.0),
    "background": dict(foreground_prob=0.0, format="box"),
    "background_class": dict(
        background=2, classes=[0], foreground_prob=1.0, output_class=True, format="box"
    ),
    "background_as_class": dict(background=1, classes=[1], foreground_prob=1.0),
    "threshold": dict(threshold=[3, 3], ignore_class=True, foreground_prob=1.0, format="box"),
    "threshold_lengths": dict(threshold=[1, 1, 1], ignore_class=True, foreground_prob=1.0),
    "ignored_and_output": dict(ignore_class=True, output_class=True, foreground_prob=1.0),
    "largest_zero": dict(ignore_class=True, k_largest=0),
    "probability": dict(foreground_prob=1.5),
}


@each(**REGIONS)
def region(m, arguments):
    """Of two objects of the second mask either may be drawn: only the first is looked at."""
    made = of(m, lambda fn, x: _tuple(fn.segmentation.random_object_bbox(x, **arguments)), masks(m))
    return [one["samples"][0] for one in made]


def _tuple(nodes):
    return tuple(nodes) if isinstance(nodes, (list, tuple)) else nodes


@each("uint8", "int64", "float32", "bool")
def region_of(m, kind):
    made = of(
        m,
        lambda fn, x: _tuple(
            fn.segmentation.random_object_bbox(
                x, ignore_class=True, foreground_prob=1.0, format="box"
            )
        ),
        masks(m, kind),
    )
    return made[0]["samples"][0]


SELECTED = {
    "one": dict(mask_ids=[1]),
    "reversed": dict(mask_ids=[1, 0]),
    "same_ids": dict(mask_ids=[1], reindex_masks=True),
    "twice": dict(mask_ids=[0, 0]),
    "unknown": dict(mask_ids=[5]),
    "nothing": dict(mask_ids=[]),
    "fractions": {},
}


@each(**SELECTED)
def selected(m, arguments):
    np = m.np
    ids = np.array(arguments.get("mask_ids", [0.5]), "int32" if "mask_ids" in arguments else None)
    kept = {name: value for name, value in arguments.items() if name != "mask_ids"}
    polygons = [np.array([[0, 0, 3], [1, 3, 5], [2, 5, 7]], "int32")]
    vertices = [np.arange(14, dtype="float32").reshape(7, 2)]
    return of(
        m,
        lambda fn, p, v: tuple(fn.segmentation.select_masks(ids, p, v, **kept)),
        polygons,
        vertices,
    )


PIXELS = {
    "foreground": dict(foreground=1),
    "value": dict(foreground=1, value=1),
    "threshold": dict(foreground=1, threshold=0),
    "missing_value": dict(foreground=1, value=9),
}


@each(**PIXELS)
def pixel(m, arguments):
    """A drawn pixel is one of the mask's own."""
    mask = masks(m)[:1]
    made = of(m, lambda fn, x: fn.segmentation.random_mask_pixel(x, **arguments), mask)[0]
    y, x = made["samples"][0]["values"]
    found = mask[0][y, x] > 0
    return [made["samples"][0]["dtype"], found if arguments.get("value") != 9 else True]


ROIS = {
    "inside": dict(crop_shape=[2, 3], roi_start=[1, 1], roi_end=[4, 5]),
    "equal": dict(crop_shape=[3, 4], roi_start=[1, 1], roi_shape=[3, 4]),
    "with_shape": dict(crop_shape=[2, 3], roi_start=[1, 1], roi_end=[4, 5], in_shape=[6, 7]),
    "crop_larger": dict(crop_shape=[5, 5], roi_start=[1, 1], roi_end=[3, 3], in_shape=[6, 7]),
    "outside": dict(crop_shape=[2, 2], roi_start=[4, 4], roi_end=[9, 9], in_shape=[6, 7]),
    "without_end": dict(crop_shape=[2, 2], roi_start=[0, 0]),
    "end_and_shape": dict(crop_shape=[2, 2], roi_start=[0, 0], roi_end=[4, 4], roi_shape=[4, 4]),
    "lengths": dict(crop_shape=[2, 2], roi_start=[0], roi_end=[4]),
    "without_crop": dict(roi_start=[0, 0], roi_end=[4, 4]),
    "three": dict(crop_shape=[2, 2, 2], roi_start=[0, 0, 0], roi_end=[2, 2, 2]),
    "fractions": dict(crop_shape=[2, 2], roi_start=[0.5, 0.5], roi_end=[4, 4]),
    "negative_crop": dict(crop_shape=[-2, 2], roi_start=[0, 0], roi_end=[4, 4]),
}


@each(**ROIS)
def roi(m, arguments):
    """Where only one place is possible it is shown; else whether it is within bounds."""
    made = of(m, lambda fn, x: fn.roi_random_crop(**arguments), [m.np.zeros(1)] * 3)[0]
    samples = made["samples"]
    start, end = arguments["roi_start"], arguments.get("roi_end")
    crop = arguments["crop_shape"]
    if end is None:
        return made
    for one in samples:
        for at, low, high, extent in zip(one["values"], start, end, crop):
            first, last = sorted((low, high - extent))
            assert first <= at <= last, (one, start, end, crop)
    return [made["layout"], samples[0]["dtype"], samples[0]["shape"], len(samples)]


@each("input", "input_and_in_shape", "input_of_words")
def roi_of(m, kind):
    arguments = dict(crop_shape=[4, 6], roi_start=[0, 0], roi_end=[4, 6])
    if kind == "input_and_in_shape":
        arguments["in_shape"] = [4, 6]
    feed = [m.np.zeros((4, 6), "uint8")] * 2
    return of(m, lambda fn, x: fn.roi_random_crop(x, **arguments), feed)
