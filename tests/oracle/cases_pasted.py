"""Cases of multi_paste: regions of other samples, and of several inputs."""
import numpy as np

from recorder import Feed
from samples import SIZES, images


def hwc(key=990, **options):
    return {"x": Feed(images(SIZES, key=key, **options), "HWC")}


def rows(values, dtype=np.int32):
    """The same rows (y, x) for all samples."""
    return Feed([np.array(values, dtype)] * len(SIZES))


def canvas(size, *regions):
    """`regions`: a picture and where it stands."""
    out = np.zeros((*size, 3), np.uint8)
    for picture, (y, x) in regions:
        out[y:y + picture.shape[0], x:x + picture.shape[1]] = picture
    return out


def add(group):
    size = (2 + 2 * max(h for h, _ in SIZES), 3 + 2 * max(w for _, w in SIZES))
    wide = f"output_size=[{size[0]}, {size[1]}]"
    h, w = size[0] // 2, size[1] // 2
    group.case("multi_paste_one", f"fn.multi_paste(x, {wide})", hwc(), expect=lambda x: canvas(size, (x, (0, 0))))
    two = hwc() | {"y": Feed(images(SIZES[::-1], key=991), "HWC"), "a": rows([[0, 0], [1, 2]])}
    group.case("multi_paste_two", f"fn.multi_paste(x, y, {wide}, out_anchors=fn.reshape(a, shape=[2, 2]))", two,
               expect=lambda x, y, a: canvas(size, (x, (0, 0)), (y, (1, 2))))
    equal = {name: Feed(images([(6, 7)] * len(SIZES), key=key), "HWC") for name, key in (("x", 992), ("y", 993))}
    group.case("multi_paste_equal", "fn.multi_paste(x, y, shapes=fn.reshape(s, shape=[2, 2]))", equal | {"s": rows([[6, 7], [2, 3]])})
    four = hwc() | {"a": rows([[0, 0], [0, w], [h, 0], [h, w]])}
    group.case("multi_paste_mosaic", f"fn.multi_paste(x, in_ids=[0, 3, 2, 1], {wide}, out_anchors=fn.reshape(a, shape=[4, 2]))", four)
    ids = Feed([np.array(v, np.int32) for v in ([1, 0], [0, 0], [3, 2], [2, 1], [1, 1])[:len(SIZES)]])
    group.case("multi_paste_ids_per_sample", f"fn.multi_paste(x, in_ids=fn.reshape(i, shape=[2]), {wide}, out_anchors=fn.reshape(a, shape=[2, 2]))",
               hwc() | {"i": ids, "a": rows([[0, 0], [1, 1]])})
    part = rows([[.3, .35]], np.float32)
    group.case("multi_paste_fractions", f"fn.multi_paste(x, {wide}, in_anchors_rel=fn.reshape(p, shape=[1, 2]), shapes_rel=fn.reshape(s, shape=[1, 2]), out_anchors_rel=fn.reshape(p, shape=[1, 2]))",
               hwc() | {"p": part, "s": rows([[.25, .1]], np.float32)})
    group.case("multi_paste_rest", f"fn.multi_paste(x, {wide}, in_anchors_rel=fn.reshape(p, shape=[1, 2]))", hwc() | {"p": part})
    group.case("multi_paste_size_per_sample", "fn.multi_paste(x, output_size=n, shapes=fn.reshape(s, shape=[1, 2]))",
               hwc() | {"n": Feed([np.array((3 + k, 9 - k), np.int32) for k in range(len(SIZES))]), "s": rows([[1, 1]])})
    group.case("multi_paste_float", f"fn.multi_paste(x, {wide}, dtype=types.FLOAT)", hwc())
    for name, call in (("sizes", "fn.multi_paste(x, y)"), ("outside", "fn.multi_paste(x, output_size=[1, 1])"),
                       ("rows", f"fn.multi_paste(x, {wide}, out_anchors=a)"),
                       ("ids", f"fn.multi_paste(x, y, in_ids=[0], {wide})")):
        group.refused("refused_multi_paste_" + name, call, two)
