"""Cases of operators that keep some rows of boxes, polygons or anchors."""
import numpy as np

from recorder import Feed

F32 = "DALI computes in float32"
BOXES = [[[.1, .2, .5, .6], [.3, .3, .9, 1], [.8, 0, 1, .1]], [[0, 0, 1, 1], [.7, .7, .72, .9]], np.zeros((0, 4)), [[.25, .4, .75, .6]]]
SIZES = [[24, 31], [7, 50], [1, 1], [40, 12]]
ANGLES = [30, -17.5, 200, 90]


def rows(values, dtype=np.float32):
    return Feed([np.array(value, dtype) for value in values])


def canvas(h, w, angle):
    radians = np.float64(np.float32(angle) * np.float32(np.pi / 180))
    c, s = abs(np.cos(radians)), abs(np.sin(radians))
    height, width = int(np.ceil(c * h + s * w - 0.01)), int(np.ceil(c * w + s * h - 0.01))
    upright = s <= c
    return height + ((height ^ (h if upright else w)) & 1), width + ((width ^ (w if upright else h)) & 1)


def turned(boxes, size, angle, share=0, keep_size=False, canvas_size=None, least=0.1, normalized=True, extents=False):
    """As fn.bbox_rotate, corner by corner, in float64."""
    h, w = (int(n) for n in size[:2])
    height, width = canvas_size or ((h, w) if keep_size else canvas(h, w, angle))
    c, s = np.cos(np.deg2rad(float(angle))), np.sin(np.deg2rad(float(angle)))
    unit = np.array([w, h] if normalized else [1, 1], np.float64)
    out = []
    for box in boxes.astype(np.float64):
        lo, hi = box[:2] * unit, (box[2:] + (box[:2] if extents else 0)) * unit
        x = np.array([lo[0], hi[0], lo[0], hi[0]]) - w / 2
        y = np.array([lo[1], lo[1], hi[1], hi[1]]) - h / 2
        corners = np.stack([x * c + y * s + width / 2, y * c - x * s + height / 2])
        start, end = corners.min(1), corners.max(1)
        own = (hi - lo)[::-1] if abs(s) > abs(c) else hi - lo
        excess = (end - start - own) * share / 2
        start, end = start + excess, end - excess
        clipped = np.clip([start, end], 0, [width, height])
        area = (end - start).prod()
        if area > 0 and (clipped[1] - clipped[0]).prod() / area >= least:
            last = clipped[1] - clipped[0] if extents else clipped[1]
            out.append(np.concatenate([clipped[0], last]) / (np.tile([width, height], 2) if normalized else 1))
    return np.array(out).reshape(-1, 4)


def add_turns(group):
    feeds = {"x": rows(BOXES), "s": rows(SIZES, np.int32), "a": rows(ANGLES)}

    def case(name, arguments="", feeds=feeds, tolerance=2e-6, **formula):
        group.case("bbox_rotate_" + name, f"fn.bbox_rotate(x, angle=fn.reshape(a, shape=[]), input_shape=s{arguments})", feeds,
                   tolerance=tolerance, why=F32, expect=lambda x, s, a: turned(x, s, a[()], **formula))

    case("expanded")
    case("fixed", ', mode="fixed"', share=1)
    case("halfway", ', mode="halfway"', share=0.5)
    case("kept_size", ", keep_size=True", keep_size=True)
    case("kept_size_halfway", ', keep_size=True, mode="halfway"', keep_size=True, share=0.5)
    case("sized", ", size=[20.0, 30.0]", canvas_size=(20, 30))
    case("small", ", size=[9.0, 8.0], remove_threshold=0.4", canvas_size=(9, 8), least=0.4)
    case("nothing_removed", ", size=[5.0, 5.0], remove_threshold=0.0", canvas_size=(5, 5), least=0)
    pixels = feeds | {"x": rows([np.array(box) * np.array([w, h, w, h]) for box, (h, w) in zip(BOXES, SIZES)])}
    case("pixels", ", bbox_normalized=False", pixels, 2e-5, normalized=False)
    extents = feeds | {"x": rows([np.concatenate([b[:, :2], b[:, 2:] - b[:, :2]], 1) for b in map(np.array, BOXES)])}
    case("extents", ', bbox_layout="xyWH"', extents, extents=True)
    case("extents_cut", ', bbox_layout="xyWH", keep_size=True', extents, extents=True, keep_size=True)
    case("image_shape", ', shape_layout="HWC"', feeds | {"s": rows([size + [3] for size in SIZES], np.int32)})
    labels = [np.arange(len(b), dtype=np.int32) * 3 + 1 for b in BOXES]
    for name, feed in (("labels", labels), ("labels_column", [n[:, None] for n in labels])):
        group.case("bbox_rotate_" + name, "b, n = fn.bbox_rotate(x, l, angle=fn.reshape(a, shape=[]), input_shape=s, size=[9.0, 8.0], "
                   "remove_threshold=0.4)\nreturn b, n", feeds | {"l": Feed(feed)}, tolerance=2e-6, why=F32)
    for name, arguments in (("mode", 'mode="x"'), ("threshold", "remove_threshold=1.0"), ("both", "size=[9.0, 8.0], keep_size=True"),
                            ("layout", 'bbox_layout="xxYY"'), ("solid", 'bbox_layout="xyzXYZ"'), ("shape_layout", 'shape_layout="H"'),
                            ("short_shape", 'shape_layout="CHW"')):
        group.refused("refused_bbox_rotate_" + name, f"fn.bbox_rotate(x, angle=10.0, input_shape=[20, 30], {arguments})", {"x": rows(BOXES)})


def add_regions(group):
    """Windows that are as large as their region begin where it does; no others are recorded."""
    starts, shapes = [[2, 5], [0, 0], [7, 1]], [[8, 2], [9, 9], [1, 4]]
    feeds = {"a": rows(starts, np.int32), "s": rows(shapes, np.int32)}

    def case(name, text, feeds=feeds):
        group.case("roi_random_crop_" + name, f"fn.roi_random_crop({text})", feeds, expect=lambda a, *_: a)

    case("by_shape", "crop_shape=s, roi_start=a, roi_shape=s")
    ends = rows(np.array(starts) + np.array(shapes), np.int32)
    group.case("roi_random_crop_by_end", "fn.roi_random_crop(crop_shape=s, roi_start=a, roi_end=e)", feeds | {"e": ends})
    group.case("roi_random_crop_of_input", "fn.roi_random_crop(x, crop_shape=s, roi_start=a, roi_shape=s)",
               feeds | {"x": Feed([np.zeros((10, 9, 2), np.uint8)] * 3)})
    case("of_extents", "crop_shape=s, roi_start=a, roi_shape=s, in_shape=[10, 9]")
    case("one_for_all", "crop_shape=4, roi_start=a, roi_shape=4", {"a": rows([[3], [0], [1]], np.int32)})
    for name, arguments in (("no_end", ""), ("both", ", roi_end=[9, 9], roi_shape=[3, 3]"), ("wide", ", roi_shape=[3, 3], in_shape=[3, 9]"),
                            ("outside", ", roi_shape=[9, 3], in_shape=[9, 9]"), ("three", ", roi_shape=[3, 3], in_shape=[9, 9, 9]")):
        group.refused("refused_roi_random_crop_" + name, f"fn.roi_random_crop(crop_shape=[4, 4], roi_start=a{arguments})", feeds)


def add_masks(group):
    """Masks of one polygon: of several DALI keeps the last, here all stay."""
    polygons = [[[0, 0, 3], [1, 3, 7], [2, 7, 12]], [[4, 1, 4], [3, 2, 5]], [[-1, 2, 2]], [[5, 0, 1]]]
    ids = [[2, 0], [3, 4], [-1], np.zeros(0)]
    vertices = [np.arange(2 * n).reshape(n, 2) * 3 % 50 for n in (12, 5, 3, 1)]
    feeds = {"i": rows(ids, np.int32), "p": rows(polygons, np.int32), "v": rows(vertices)}
    solid = rows([np.concatenate([v, v[:, :1]], 1) for v in vertices], np.float64)
    for name, arguments, kind in (("kept", "", rows(vertices)), ("reindexed", ", reindex_masks=True", rows(vertices)),
                                  ("bytes", "", rows(vertices, np.uint8)), ("solid", "", solid)):
        group.case("select_masks_" + name, f"p2, v2 = fn.segmentation.select_masks(i, p, v{arguments})\nreturn p2, v2", feeds | {"v": kind})
    for name, change in (("twice", {"i": rows([[2, 2], [3], [-1], [5]], np.int32)}), ("unknown", {"i": rows([[9], [3], [-1], [5]], np.int32)}),
                         ("past_the_end", {"p": rows([[[0, 0, 13], [2, 0, 1]]] + polygons[1:], np.int32)}),
                         ("backwards", {"p": rows([[[0, 5, 3], [2, 0, 1]]] + polygons[1:], np.int32)}),
                         ("four_columns", {"p": rows([np.zeros((2, 4))] * 4, np.int32)})):
        group.refused("refused_select_masks_" + name, "p2, v2 = fn.segmentation.select_masks(i, p, v)\nreturn p2, v2", feeds | change)


def add_pixels(group):
    """Masks of one pixel, or with one in the foreground."""
    masks = [np.zeros((4, 5)), np.zeros((1, 1)), np.full((3, 2), -1)]
    masks[0][2, 3], masks[2][1, 0] = 7, 3
    for name, dtype, arguments in (("above", np.int32, "foreground=1"), ("threshold", np.float32, "foreground=1, threshold=1.5"),
                                   ("fed", np.int64, "foreground=fn.reshape(f, shape=[])")):
        group.case("random_mask_pixel_" + name, f"fn.segmentation.random_mask_pixel(x, {arguments})",
                   {"x": rows(masks, dtype), "f": rows([[1], [-2], [9]], np.int32)})
    group.case("random_mask_pixel_value", "fn.segmentation.random_mask_pixel(x, foreground=1, value=7)", {"x": rows([masks[0], [[7]], [[7, 1]]], np.uint8)})
    group.refused("refused_random_mask_pixel_both", "fn.segmentation.random_mask_pixel(x, value=7, threshold=1.0)", {"x": rows(masks, np.int32)})
    group.refused("refused_random_mask_pixel_of_doubles", "fn.segmentation.random_mask_pixel(x)", {"x": rows(masks, np.float64)})


def add(group):
    add_turns(group)
    add_regions(group)
    add_masks(group)
    add_pixels(group)
