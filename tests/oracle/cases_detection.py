"""Cases of what detectors are trained with: anchors that stand for boxes, boxes around objects of masks, windows of SSD that leave no choice."""
import numpy as np

from recorder import Feed

LOGARITHM = "logarithms of another library"


def rows(values, dtype=np.float32):
    return Feed([np.array(value, dtype) for value in values])


def random_boxes(rng, count, steps=None):
    """Boxes in the unit square; with steps on a grid, so that some are equally good."""
    corners = np.sort(rng.random((count, 2, 2)), axis=1)
    if steps:
        corners = np.floor(corners * steps) / steps
        corners[:, 1] = np.maximum(corners[:, 1], corners[:, 0] + 1 / steps)
    return corners.reshape(-1, 4).astype(np.float32)


def centred(boxes):
    return np.concatenate([(boxes[:, :2] + boxes[:, 2:]) / 2, boxes[:, 2:] - boxes[:, :2]], 1)


def matches(boxes, anchors, criteria):
    """For each anchor the row of its box, or -1; in float32, as overlaps that are equal depend on rounding."""
    b, a = boxes[:, None], anchors[None]
    common = np.maximum(np.minimum(b[..., 2:], a[..., 2:]) - np.maximum(b[..., :2], a[..., :2]), 0).prod(-1)
    area = [(x[..., 2] - x[..., 0]) * (x[..., 3] - x[..., 1]) for x in (b, a)]
    overlap = common / (area[0] + area[1] - common)
    for row in overlap:
        row[len(row) - 1 - row[::-1].argmax()] = 2
    if not len(boxes):
        return np.full(len(anchors), -1)
    best = len(boxes) - 1 - overlap[::-1].argmax(0)
    return np.where(overlap.max(0) > np.float32(criteria), best, -1)


def encoded(boxes, anchors, criteria=0.5, offset=False, scale=1, means=(0, 0, 0, 0), stds=(1, 1, 1, 1)):
    anchors = np.array(anchors, np.float32).reshape(-1, 4)
    match = matches(boxes, anchors, criteria)
    own, base = centred(boxes.astype(np.float64)) * scale, centred(anchors.astype(np.float64)) * scale
    if not offset:
        out = centred(anchors)
        out[match >= 0] = centred(boxes)[match[match >= 0]]
        return out
    out = np.zeros_like(base)
    for row, box in enumerate(match):
        if box >= 0:
            place = (own[box, :2] - base[row, :2]) / base[row, 2:]
            out[row] = (np.concatenate([place, np.log(own[box, 2:] / base[row, 2:])]) - means) / stds
    return out


def add_encoder(group):
    rng = np.random.default_rng(11)
    # Anchors on a grid, and some of them twice: several are equally good, and the last is taken.
    anchors = np.concatenate([random_boxes(rng, 30), random_boxes(rng, 20, 4), random_boxes(rng, 6, 2)])
    anchors = np.concatenate([anchors, anchors[:5]])
    text = "[" + ", ".join(f"{value:.9g}" for value in anchors.reshape(-1)) + "]"
    boxes = [random_boxes(rng, 6), random_boxes(rng, 9, 4), np.zeros((0, 4)), np.concatenate([anchors[31:34], anchors[31:33]])]
    labels = [rng.integers(1, 90, len(b)) for b in boxes]
    feeds = {"x": rows(boxes), "l": rows(labels, np.int32)}

    def case(name, arguments="", feeds=feeds, tolerance=0, expect_tolerance=0, **formula):
        both = f"e, c = fn.box_encoder(x, l, anchors={text}{arguments})\n"
        group.case("box_encoder_" + name, both + "return e", feeds, tolerance=tolerance, why=LOGARITHM if tolerance else "",
                   expect=lambda x, *_: encoded(x, anchors, **formula), expect_tolerance=expect_tolerance)
        group.case(f"box_encoder_{name}_labels", both + "return c", feeds)

    case("plain")
    case("strict", ", criteria=1.0", criteria=1)
    case("everything", ", criteria=0.0", criteria=0)
    case("scaled_in_vain", ", scale=300.0, means=[0.1, 0.2, 0.3, 0.4], stds=[0.1, 0.1, 0.2, 0.2]")
    case("column", feeds=feeds | {"l": rows([n[:, None] for n in labels], np.int32)})
    case("offset", ", offset=True", tolerance=5e-7, expect_tolerance=3e-6, offset=True)
    ssd = {"offset": True, "scale": 300, "means": [0.1, -0.2, 0, 0.4], "stds": [0.1, 0.1, 0.2, 0.2]}
    case("offset_scaled", ", offset=True, scale=300.0, means=[0.1, -0.2, 0.0, 0.4], stds=[0.1, 0.1, 0.2, 0.2]", tolerance=5e-6, expect_tolerance=1e-3, **ssd)
    odd = {"x": rows([[[.5, .5, .1, .2]], [[.5, .5, .5, .5]], [[-1, 0, 2, 3]], [[0, 0, 300, 200]]]), "l": rows([[1], [2], [3], [4]], np.int32)}
    group.case("box_encoder_odd_boxes", "e, c = fn.box_encoder(x, l, anchors=[0.0, 0.0, 0.5, 0.5, 0.5, 0.5, 1.0, 1.0, 0.0, 0.0, 1.0, 1.0])\nreturn e, c", odd)
    for name, arguments in (("criteria", "anchors=[0.0, 0.0, 1.0, 1.0], criteria=1.5"), ("negative", "anchors=[0.0, 0.0, 1.0, 1.0], criteria=-0.5"),
                            ("three", "anchors=[0.0, 0.0, 1.0]"), ("means", "anchors=[0.0, 0.0, 1.0, 1.0], means=[0.0]"),
                            ("stds", "anchors=[0.0, 0.0, 1.0, 1.0], stds=[1.0, 1.0]"), ("zero", "anchors=[0.0, 0.0, 1.0, 1.0], stds=[0.0, 1.0, 1.0, 1.0]")):
        group.refused("refused_box_encoder_" + name, f"e, c = fn.box_encoder(x, l, {arguments})\nreturn e, c", feeds)


def add_objects(group):
    """Masks of one object, or of which one can be taken."""
    plane = np.zeros((5, 7), np.int32)
    plane[1:4, 2:5], plane[4, 6], plane[0, 0] = 3, 3, 5
    solid = np.zeros((3, 4, 5), np.int32)
    solid[0:2, 1:3, 2], solid[2, 3, 4] = 2, 2
    planes = [plane, np.full((1, 2), 3),  # DALI gives an empty box of a mask of one pixel
              np.zeros((2, 6)), np.array([[3, 0, 3, 3], [0, 3, 0, 0]])]

    def case(name, arguments, samples=planes, dtype=np.int32, outputs=("a", "s", "c"), more=None):
        names = ", ".join(outputs)
        shows = ", output_class=True" if "c" in outputs else ""
        group.case("random_object_bbox_" + name, f"{names} = fn.segmentation.random_object_bbox(x{arguments}{shows})\nreturn {names}",
                   {"x": rows(samples, dtype)} | (more or {}))

    largest = ", classes=[3], k_largest=1"
    for dtype in (np.uint8, np.int8, np.uint16, np.int16, np.uint32, np.int32):
        case("of_" + np.dtype(dtype).name, largest, dtype=dtype)
    case("of_bool", ", k_largest=1", [plane == 3, np.ones((2, 2)), np.zeros((3, 1))], bool)
    case("solid", ", k_largest=1", [solid, np.full((1, 2, 1), 9), np.zeros((2, 1, 3))])
    case("row", ", k_largest=1", [[0, 4, 4, 0, 4], [1, 1], [0]])
    case("start_end", largest + ', format="start_end"')
    case("one_box", largest + ', format="box"', outputs=("a", "c"))
    case("no_class", largest, outputs=("a", "s"))
    case("threshold", ", threshold=2")
    case("threshold_of_axes", ", threshold=[1, 2], classes=[3], k_largest=1")
    case("class_by_threshold", ", threshold=[3, 3]")
    case("nothing_is_large", ", threshold=9")
    case("weights", ", class_weights=[0.0, 0.0, 1.0], k_largest=1")
    case("weights_past_the_background", ", class_weights=[0.0, 1.0, 0.0], background=1, k_largest=1", [[[0, 2, 2, 3]], [[1]], [[2, 1, 0]]])
    case("weights_of_nothing", ", class_weights=[0.0, 0.0]")
    case("weights_of_classes", ", classes=[5, 3], class_weights=[0.0, 2.0], k_largest=1")
    case("class_twice", ", classes=[3, 3], k_largest=1")
    case("class_that_is_not_there", ", classes=[9]")
    case("no_class_at_all", ", classes=[]")
    case("zero_is_a_class", ", classes=[0], k_largest=1", [[[0, 0, 1]], [[1]], [[0, 0]]])
    case("background_below_classes", ", classes=[0, -1], foreground_prob=0.0")
    case("no_foreground", ", foreground_prob=0.0")
    case("other_background", ", background=3, foreground_prob=0.0")
    case("without_classes", ", ignore_class=True, k_largest=1", outputs=("a", "s"))
    case("remembered", largest + ", cache_objects=True")
    fed = {"k": rows([[3], [5, 3], [], [3, 4, 5]], np.int32), "w": rows([[1], [0, 1], [], [.5, 0, 0]]), "t": rows([[1, 2]] * 4, np.int32),
           "p": rows([1, 1, 0, 1]), "b": rows([7, 0, 9, -1], np.int32)}
    case("fed_classes", ", classes=k, class_weights=w, k_largest=1", more={name: fed[name] for name in "kw"})
    case("fed_weights", ", class_weights=w, k_largest=1", [[[0, 1, 1]], [[2, 2]], [[1]], [[1, 0, 1, 1]]], more={"w": fed["w"]})
    case("fed_rest", ", classes=[3], k_largest=1, threshold=t, foreground_prob=p, background=b", more={name: fed[name] for name in "tpb"})
    for name, arguments in (("format", 'format="corners"'), ("k_largest", "k_largest=0"), ("threshold", "threshold=[1, 2, 3]"),
                            ("background", "classes=[1, 2], background=2"), ("weights", "classes=[1, 2], class_weights=[1.0]"),
                            ("ignored_classes", "ignore_class=True, classes=[1]"), ("ignored_weights", "ignore_class=True, class_weights=[1.0]"),
                            ("ignored_output", "ignore_class=True, output_class=True")):
        group.refused("refused_random_object_bbox_" + name, f"a, s, *c = fn.segmentation.random_object_bbox(x, {arguments})\nreturn a, s",
                      {"x": rows(planes, np.int32)})
    group.refused("refused_random_object_bbox_of_floats", "a, s = fn.segmentation.random_object_bbox(x)\nreturn a, s", {"x": rows(planes)})


def add_windows(group):
    """Whole images: of those without boxes, and of no attempts."""
    rng = np.random.default_rng(5)
    images = Feed([rng.integers(0, 256, shape, np.uint8) for shape in ((7, 9, 3), (1, 1, 3), (12, 5, 3))], layout="HWC")
    boxes = [[[.1, .2, .5, .6], [.3, .3, .9, 1]], [[0, 0, 1, 1]], [[.25, .5, .25, .5]]]
    labels = [np.arange(len(b)) + 4 for b in boxes]
    body = "i, b, l = fn.ssd_random_crop(x, y, z{})\nreturn i, b, l"
    group.case("ssd_random_crop_of_no_attempts", body.format(", num_attempts=0"), {"x": images, "y": rows(boxes), "z": rows(labels, np.int32)})
    group.case("ssd_random_crop_without_boxes", body.format(""), {"x": images, "y": rows([np.zeros((0, 4))] * 3), "z": rows([[]] * 3, np.int32)})


def add(group):
    add_encoder(group)
    add_objects(group)
    add_windows(group)
