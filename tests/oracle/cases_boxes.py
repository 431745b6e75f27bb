"""Cases of boxes that follow what becomes of their image; of windows by chance those that leave no choice."""
import numpy as np

from recorder import Feed

ORDER = "float32 products in another order"
BOXES = [[[.1, .2, .5, .6], [.3, .3, .9, 1]], [[0, 0, 1, 1]], np.zeros((0, 4)), [[.25, .5, .25, .5]] * 3]


def vectors(values):
    return Feed([np.array(value, np.float32) for value in values])


def pasted(x, ratio, place_x=0.5, place_y=0.5, corners=False):
    """As fn.bbox_paste, in float64; margins end where the image would leave the canvas."""
    margin = np.minimum(np.array([place_x, place_y], np.float64) * (ratio - 1) / ratio, 1 - 1 / ratio)
    x = x.astype(np.float64) / ratio
    x[..., :2] += margin
    if corners:
        x[..., 2:] += margin
    return x


def add_crops(group):
    """Windows that can be but one."""
    boxes = {"x": vectors(BOXES)}
    labels = [np.arange(len(b), dtype=np.int32) * 3 + 1 for b in BOXES]
    rows = {"n": Feed(labels), "column": Feed([n[:, None] for n in labels]), "pairs": Feed([np.stack([n, -n], 1) for n in labels])}

    def case(name, arguments, feeds=boxes, outputs=("a", "s", "b"), inputs="x"):
        names = ", ".join(outputs)
        group.case("random_bbox_crop_" + name, f"{names} = fn.random_bbox_crop({inputs}{arguments})\nreturn {names}", feeds,
                   tolerance=2e-7, why=ORDER)

    case("whole", "")
    case("window_of_everything", ", allow_no_crop=False, total_num_attempts=5")
    for name, feed in rows.items():
        case("labels_" + name, "", boxes | {"l": feed}, ("a", "s", "b", "k"), "x, l")
    case("numbers", ", output_bbox_indices=True", boxes, ("a", "s", "b", "i"))
    case("labels_and_numbers", ", output_bbox_indices=True", boxes | {"l": rows["n"]}, ("a", "s", "b", "k", "i"), "x, l")
    extents = {"x": vectors([[[.1, .2, .3, .4], [0, 0, 1, 1]], [[.5, .5, .5, .25]], np.zeros((0, 4))])}
    for name, arguments in (("extents", ', bbox_layout="xyWH"'), ("extents_by_ltrb", ", ltrb=False"), ("turned", ', bbox_layout="yxHW"')):
        case(name, arguments + ", allow_no_crop=False, total_num_attempts=5", extents)
    solid = {"x": vectors([[[.1, .2, .3, .4, .5, .6]], np.zeros((0, 6)), [[0, 0, 0, 1, 1, 1]] * 2])}
    case("solid", ', bbox_layout="xyzXYZ", allow_no_crop=False, total_num_attempts=5', solid)
    case("fixed", ", crop_shape=[30, 20], input_shape=[30, 20], total_num_attempts=5", boxes)
    case("fixed_turned", ', crop_shape=[30, 20], input_shape=[30, 20], shape_layout="HW", total_num_attempts=5', boxes)
    for name, arguments in (("thresholds", "thresholds=[1.5]"), ("no_threshold", "thresholds=[]"), ("type", 'threshold_type="x"'),
                            ("scaling", "scaling=[0.5, 0.1]"), ("one_scaling", "scaling=[0.5]"), ("ratio", "aspect_ratio=[0.5]"),
                            ("three_ratios", "aspect_ratio=[0.5, 2.0, 1.0]"), ("attempts", "num_attempts=0"),
                            ("total", "total_num_attempts=0"), ("no_picture", "crop_shape=[3, 4]"),
                            ("both", "crop_shape=[3, 4], input_shape=[9, 9], scaling=[0.4, 1.0]"),
                            ("fixed_whole", "crop_shape=[3, 4], input_shape=[9, 9], allow_no_crop=True"),
                            ("layout", 'bbox_layout="xxXY"'), ("layout_of_five", 'bbox_layout="xyXYz"')):
        group.refused("refused_random_bbox_crop_" + name, f"a, s, b = fn.random_bbox_crop(x, {arguments})\nreturn a, s, b", boxes)
    group.refused("refused_random_bbox_crop_outside", "a, s, b = fn.random_bbox_crop(x)\nreturn a, s, b",
                  {"x": vectors([[[.1, .2, 1.3, .3]]] * 3)})


def add(group):
    add_crops(group)
    boxes = {"x": vectors(BOXES)}

    def case(name, arguments, *values, feeds=boxes, **more):
        """`values` as `arguments` says them; none: those that are fed, as ratio, paste_x, paste_y."""
        group.case("bbox_paste_" + name, f"fn.bbox_paste(x, {arguments})", feeds, tolerance=3e-7, why=ORDER,
                   expect=lambda x, *fed: pasted(x, *(values or [float(v[0]) for v in fed]), **more))

    case("centred", "ratio=2.0", 2)
    case("placed", "ratio=1.7, paste_x=1.0, paste_y=0.25", 1.7, 1, 0.25)
    case("corners", "ratio=3.3, paste_x=0.0, paste_y=0.9, ltrb=True", 3.3, 0, 0.9, corners=True)
    case("whole", "ratio=1.0, paste_x=0.7", 1, 0.7)
    case("smaller_canvas", "ratio=0.5", 0.5)
    case("past_the_edge", "ratio=2.0, paste_x=2.0, paste_y=-1.0", 2, 2, -1)
    case("per_sample", "ratio=fn.reshape(r, shape=[]), paste_x=fn.reshape(a, shape=[]), paste_y=fn.reshape(b, shape=[])", feeds=boxes | {
        "r": vectors([[1.5], [2.25], [7], [1.01]]), "a": vectors([[0], [1], [.5], [.3]]),
        "b": vectors([[.25], [.5], [.75], [1]])})
    flat = {"x": Feed([np.array(b, np.float32).reshape(-1) for b in (BOXES[0], BOXES[1], BOXES[3])])}
    group.case("bbox_paste_in_one_axis", "fn.bbox_paste(x, ratio=1.3)", flat, tolerance=3e-7, why=ORDER,
               expect=lambda x: pasted(x.reshape(-1, 4), 1.3).reshape(-1))
    group.refused("refused_bbox_paste_of_five", "fn.bbox_paste(x, ratio=2.0)",
                  {"x": vectors([np.zeros((3, 5))] * 3)})
    group.refused("refused_bbox_paste_without_ratio", "fn.bbox_paste(x)", boxes)
