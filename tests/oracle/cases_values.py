"""Cases of colour spaces, pad, erase, normalize, one_hot and the reductions of squares."""
import numpy as np

from recorder import Feed
from samples import SIZES, images, integers

ORDER = "float32 sums in another order"
ONE_LEVEL = "ties and float32 rounding differ by at most one level"
NAMES = {"uint8": "UINT8", "uint16": "UINT16", "uint32": "UINT32", "int8": "INT8", "int16": "INT16",
         "int32": "INT32", "float32": "FLOAT"}


def hwc(key=600, layout="HWC", **options):
    return {"x": Feed(images(SIZES, key=key, layout=layout, **options), layout)}


def feed(values, dtype, layout=None):
    return Feed([np.array(value, dtype) for value in values], layout)


def small(dtype, key=0):
    """Samples whose float32 sums stay exact enough, of any type."""
    dtype = np.dtype(dtype)
    low, high = (-100, 100) if dtype.kind != "u" else (0, 200)
    return {"x": Feed([integers((h, w, 3), np.int16, low, high, key=key + i).astype(dtype)
                       for i, (h, w) in enumerate(SIZES)], "HWC")}


# ---- colour spaces: ITU-R BT.601 in float64
def luma(rgb):
    return rgb @ np.array([0.299, 0.587, 0.114])


def to_rgb(x, space):
    x = x.astype(np.float64)
    if space == "BGR":
        return x[..., ::-1]
    if space == "GRAY":
        return np.repeat(x, 3, -1)
    if space == "YCbCr":
        y, cb, cr = (x[..., 0] - 16) * 255 / 219, (x[..., 1] - 128) * 255 / 112, (x[..., 2] - 128) * 255 / 112
        red, blue = y + 0.701 * cr, y + 0.886 * cb
        return np.stack([red, (y - 0.299 * red - 0.114 * blue) / 0.587, blue], -1)
    return x


def from_rgb(x, space):
    if space == "BGR":
        return x[..., ::-1]
    if space == "GRAY":
        return luma(x)[..., None]
    if space == "YCbCr":
        y = luma(x)
        return np.stack([16 + y * 219 / 255, 128 + (x[..., 2] - y) / 0.886 * 112 / 255,
                         128 + (x[..., 0] - y) / 0.701 * 112 / 255], -1)
    return x


def add_colour_spaces(group):
    spaces = ("RGB", "BGR", "GRAY", "YCbCr")
    for source in spaces:
        feeds = hwc(key=610, channels=1 if source == "GRAY" else 3)
        for target in spaces:
            text = f"fn.color_space_conversion(x, image_type=types.{source}, output_type=types.{target})"
            if source == target:
                group.refused(f"refused_color_space_{source}_to_itself", text, feeds)
                continue
            exact = "YCbCr" not in (source, target) and target != "GRAY"
            group.case(f"color_space_{source}_to_{target}", text, feeds,
                       expect=lambda x, s=source, t=target: from_rgb(to_rgb(x, s), t),
                       **({} if exact else dict(tolerance=1, why=ONE_LEVEL)))
    group.refused("refused_color_space_channels",
                  "fn.color_space_conversion(x, image_type=types.GRAY, output_type=types.RGB)", hwc())
    group.refused("refused_color_space_float",
                  "fn.color_space_conversion(x, image_type=types.RGB, output_type=types.GRAY)", hwc(dtype="float32"))
    group.refused("refused_color_space_chw",
                  "fn.color_space_conversion(x, image_type=types.RGB, output_type=types.GRAY)", hwc(layout="CHW"))
    group.refused("refused_color_space_target", "fn.color_space_conversion(x, image_type=types.RGB)", hwc())


# ---- pad
def padded(x, shape, fill=0):
    out = np.full([max(a, b) for a, b in zip(x.shape, shape)], fill, np.float64)
    out[tuple(slice(0, extent) for extent in x.shape)] = x
    return out


def aligned(extent, align):
    return -(-extent // align) * align


def add_pad(group):
    group.case("pad_shape", "fn.pad(x, axes=[0, 1], shape=[20, 30])", hwc(key=620),
               expect=lambda x: padded(x, (20, 30, 3)))
    group.case("pad_one_for_all", "fn.pad(x, axes=[0, 1], shape=9, fill_value=77)", hwc(key=621),
               expect=lambda x: padded(x, (9, 9, 3), 77))
    group.case("pad_names", 'fn.pad(x, axis_names="WC", shape=[20, 4], fill_value=9)', hwc(key=622),
               expect=lambda x: padded(x, (1, 20, 4), 9))
    group.case("pad_negative_axis", "fn.pad(x, axes=[-1], shape=[4])", hwc(key=623),
               expect=lambda x: padded(x, (1, 1, 4)))
    group.case("pad_align", "fn.pad(x, axes=[0, 1], shape=[1, 1], align=[8, 5])", hwc(key=624),
               expect=lambda x: padded(x, (aligned(x.shape[0], 8), aligned(x.shape[1], 5), 3)))
    group.case("pad_shape_and_align", "fn.pad(x, axes=[0, 1], shape=[10, 10], align=16)", hwc(key=625),
               expect=lambda x: padded(x, (aligned(max(x.shape[0], 10), 16), aligned(max(x.shape[1], 10), 16), 3)))
    group.case("pad_all_axes", "fn.pad(x, shape=[12, 12, 5])", hwc(key=626), expect=lambda x: padded(x, (12, 12, 5)))
    group.case("pad_no_axes", "fn.pad(x, axes=[], shape=[12, 12, 5])", hwc(key=626),
               expect=lambda x: padded(x, (12, 12, 5)))
    group.case("pad_chw", 'fn.pad(x, axis_names="HW", shape=[20, 20])', hwc(key=627, layout="CHW"),
               expect=lambda x: padded(x, (3, 20, 20)))
    group.case("pad_per_sample", "fn.pad(x, axes=[0, 1], shape=a, fill_value=3)",
               hwc(key=628) | {"a": feed([(14, 2), (9, 9), (1, 1), (4, 40)], np.int32)},
               expect=lambda x, a: padded(x, (*a, 3), 3))
    group.case("pad_align_per_sample", "fn.pad(x, axes=[0, 1], shape=[1, 1], align=a)",
               hwc(key=628) | {"a": feed([(4, 2), (9, 9), (1, 1), (4, 40)], np.int32)},
               expect=lambda x, a: padded(x, (aligned(x.shape[0], a[0]), aligned(x.shape[1], a[1]), 3)))
    vectors = [(3, 1, 2), (9,), (5, 6)]
    for dtype in ("int8", "uint16", "int16", "int32", "uint32", "int64", "uint64", "float32", "float16"):
        group.case(f"pad_{dtype}", "fn.pad(x, shape=[4], fill_value=7)", {"x": feed(vectors, dtype)},
                   expect=lambda x: padded(x, (4,), 7))
    group.case("pad_bool", "fn.pad(x, shape=[4])", {"x": feed([(True, False), (True,)], bool)},
               expect=lambda x: padded(x, (4,)))
    group.refused("refused_pad_align", "fn.pad(x, shape=[4, 4, 4], align=0)", hwc())
    group.refused("refused_pad_axes_twice", "fn.pad(x, axes=[0, 0], shape=[4, 4])", hwc())
    group.refused("refused_pad_shape_length", "fn.pad(x, axes=[0, 1], shape=[4, 4, 4])", hwc())
    group.refused("refused_pad_both_axes", 'fn.pad(x, axes=[0], axis_names="H", shape=[4])', hwc())


# ---- erase
def erased(x, boxes, axes=(0, 1), fill=0):
    """Boxes as (anchor, shape) in elements, one number per axis."""
    out = x.astype(np.float64)
    for anchor, shape in boxes:
        box = [slice(None)] * x.ndim
        for axis, a, s in zip(axes, anchor, shape):
            start, end = (int(np.trunc(np.float32(v))) for v in (a, np.float32(a) + np.float32(s)))
            box[axis] = slice(max(start, 0), max(end, 0))
        out[tuple(box)] = fill
    return out


def add_erase(group):
    plain = [("anchor=[1, 2], shape=[3, 1]", [((1, 2), (3, 1))], {}),
             ("anchor=[0.9, 1.2], shape=[1.3, 2.9]", [((0.9, 1.2), (1.3, 2.9))], {}),
             ("anchor=[-2, 1], shape=[4, 100]", [((-2, 1), (4, 100))], {}),
             ("shape=[2, 2]", [((0, 0), (2, 2))], {}),
             ("anchor=[0, 0, 3, 3, 1, 2], shape=[1, 1, 4, 4, 2, 2]",
              [((0, 0), (1, 1)), ((3, 3), (4, 4)), ((1, 2), (2, 2))], {}),
             ("anchor=[1], shape=[2], axes=[1]", [((1,), (2,))], dict(axes=(1,))),
             ("anchor=[1, 2], shape=[2, 1], axes=[1, 0]", [((1, 2), (2, 1))], dict(axes=(1, 0))),
             ('anchor=[1, 1], shape=[2, 1], axis_names="WC"', [((1, 1), (2, 1))], dict(axes=(1, 2))),
             ("anchor=[1, 1], shape=[4, 4], fill_value=77", [((1, 1), (4, 4))], dict(fill=77)),
             ("anchor=[1, 1], shape=[4, 4], fill_value=[1, 20, 255]", [((1, 1), (4, 4))], dict(fill=(1, 20, 255))),
             ("anchor=[3, 3], shape=[4, 2], centered_anchor=True", [((1, 2), (4, 2))], {}),
             ("anchor=[1, 1], shape=[-1, 2]", [], {}), ("", [], {})]
    for number, (arguments, boxes, options) in enumerate(plain):
        separator = ", " if arguments else ""
        group.case(f"erase_{number}", f"fn.erase(x{separator}{arguments})", hwc(key=650),
                   expect=lambda x, b=boxes, o=options: erased(x, b, **o))
    def scaled(values, x):
        return tuple(np.float32(v) * np.float32(n) for v, n in zip(values, x.shape))
    group.case("erase_normalized", "fn.erase(x, anchor=[0.3, 0.2], shape=[0.5, 0.6], normalized=True)", hwc(key=651),
               expect=lambda x: erased(x, [(scaled((0.3, 0.2), x), scaled((0.5, 0.6), x))]))
    group.case("erase_normalized_anchor", "fn.erase(x, anchor=[0.3, 0.2], shape=[3, 2], normalized_anchor=True)",
               hwc(key=651), expect=lambda x: erased(x, [(scaled((0.3, 0.2), x), (3, 2))]))
    group.case("erase_normalized_shape", "fn.erase(x, anchor=[1, 2], shape=[0.5, 0.6], normalized_shape=True)",
               hwc(key=651), expect=lambda x: erased(x, [((1, 2), scaled((0.5, 0.6), x))]))
    group.case("erase_chw", "fn.erase(x, anchor=[1, 2], shape=[3, 2], fill_value=9)", hwc(key=652, layout="CHW"),
               expect=lambda x: erased(x, [((1, 2), (3, 2))], (1, 2), 9))
    group.case("erase_per_sample",
               "fn.erase(x, anchor=fn.reshape(a, shape=[2]), shape=fn.reshape(b, shape=[2]), fill_value=5)",
               hwc(key=653) | {"a": feed([(1, 2), (0, 0), (30, 3), (1, 1)], np.float32),
                               "b": feed([(4, 3), (9, 1), (4, 4), (1, 9)], np.float32)},
               expect=lambda x, a, b: erased(x, [(a, b)], fill=5))
    for dtype in list(NAMES) + ["int64", "uint64", "float16"]:
        group.case(f"erase_{dtype}", "fn.erase(x, anchor=[1], shape=[2], axes=[0], fill_value=7)",
                   {"x": feed([(3, 1, 2, 8), (9,), (5, 6)], dtype)},
                   expect=lambda x: erased(x, [((1,), (2,))], (0,), 7))
    group.refused("refused_erase_lengths", "fn.erase(x, anchor=[1, 1], shape=[1, 1, 1, 1])", hwc())
    group.refused("refused_erase_no_shape", "fn.erase(x, anchor=[1, 1])", hwc())
    group.refused("refused_erase_fill", "fn.erase(x, anchor=[1, 1], shape=[1, 1], fill_value=[1, 2])", hwc())
    group.refused("refused_erase_normalized",
                  "fn.erase(x, anchor=[0, 0], shape=[1, 1], normalized=True, normalized_anchor=True)", hwc())
    group.refused("refused_erase_bool", "fn.erase(x, anchor=[0], shape=[1], axes=[0])",
                  {"x": feed([(True, False), (True, True)], bool)})


# ---- normalize
def normalized(x, axes=None, mean=None, stddev=None, scale=1, shift=0, epsilon=0, ddof=0):
    x = x.astype(np.float64)
    axes = tuple(range(x.ndim)) if axes is None else axes
    mean = x.mean(axes, keepdims=True) if mean is None else mean
    if stddev is None:
        count = np.prod([x.shape[axis] for axis in axes]) - ddof
        square = ((x - mean) ** 2).sum(axes, keepdims=True)
        variance = (square / count if count > 0 else 0 * square) + epsilon
        inverse = np.where(variance > 0, scale / np.sqrt(np.where(variance > 0, variance, 1)), 0)
    else:
        inverse = scale / (np.sqrt(np.square(stddev) + epsilon) if epsilon else stddev)
    return (x - mean) * inverse + shift


def add_normalize(group):
    # The tiny sample's axes hold few elements, whose float32 variance is the least exact.
    near = dict(tolerance=2e-5, kind="range", why=ORDER)
    plain = [("", {}), ("axes=[0, 1]", dict(axes=(0, 1))), ("axes=[2]", dict(axes=(2,))), ("axes=0", dict(axes=(0,))),
             ('axis_names="HW"', dict(axes=(0, 1))), ('axis_names="HW", ddof=1', dict(axes=(0, 1), ddof=1)),
             ("scale=64.0, shift=128.0", dict(scale=64, shift=128)), ("epsilon=100.0", dict(epsilon=100)),
             ("mean=100.0, stddev=50.0", dict(mean=100, stddev=50)), ("mean=100.0", dict(mean=100)),
             ("stddev=50.0", dict(stddev=50)), ('mean=90.0, axis_names="HW"', dict(mean=90, axes=(0, 1))),
             ('stddev=30.0, axis_names="HW"', dict(stddev=30, axes=(0, 1))),
             ("mean=100.0, stddev=3.0, epsilon=16.0", dict(mean=100, stddev=3, epsilon=16)),
             ("ddof=100000, shift=5.0", dict(ddof=100000, shift=5)),
             ("ddof=100000, epsilon=4.0", dict(ddof=100000, epsilon=4)),
             ("mean=10.0, stddev=-4.0", dict(mean=10, stddev=-4))]
    for number, (arguments, options) in enumerate(plain):
        separator = ", " if arguments else ""
        group.case(f"normalize_{number}", f"fn.normalize(x{separator}{arguments})", hwc(key=630),
                   expect=lambda x, o=options: normalized(x, **o), **near)
    group.case("normalize_constant_image", "fn.normalize(x, shift=3.0)",
               {"x": Feed([np.full((h, w, 3), 40 + h, np.uint8) for h, w in SIZES], "HWC")}, expect=normalized_flat)
    group.case("normalize_chw", 'fn.normalize(x, axis_names="HW")', hwc(key=631, layout="CHW"),
               expect=lambda x: normalized(x, (1, 2)), **near)
    for dtype in NAMES:
        group.case(f"normalize_of_{dtype}", 'fn.normalize(x, axis_names="HW")', small(dtype),
                   expect=lambda x: normalized(x, (0, 1)), **near)
        if dtype != "float32":
            group.case(f"normalize_to_{dtype}", f"fn.normalize(x, scale=50.0, shift=60.0, dtype=types.{NAMES[dtype]})",
                       hwc(key=632), tolerance=1, why=ONE_LEVEL,
                       expect=lambda x: normalized(x, scale=50, shift=60))
    mean = feed([[[[10, 20, 30]]], [[[1, 2, 3]]], [[[100, 110, 120]]], [[[0, 0, 0]]]], np.float32)
    stddev = feed([[[[2, 3, 4]]], [[[10, 20, 30]]], [[[55, 65, 75]]], [[[1, 2, 4]]]], np.float32)
    declared = "fn.reshape({}, shape=[1, 1, 3])"
    group.case("normalize_by_tensors", f"fn.normalize(x, mean={declared.format('a')}, stddev={declared.format('b')})",
               hwc(key=633) | {"a": mean, "b": stddev}, expect=lambda x, a, b: normalized(x, mean=a, stddev=b), **near)
    group.case("normalize_by_mean_tensor", f"fn.normalize(x, mean={declared.format('a')})",
               hwc(key=634) | {"a": mean}, expect=lambda x, a: normalized(x, (0, 1), mean=a), **near)
    group.case("normalize_by_stddev_tensor", f"fn.normalize(x, stddev={declared.format('b')}, scale=2.0)",
               hwc(key=635) | {"b": stddev}, expect=lambda x, b: normalized(x, (0, 1), stddev=b, scale=2), **near)
    group.refused("refused_normalize_axes", "fn.normalize(x, axes=[3])", hwc())
    group.refused("refused_normalize_no_axes", "fn.normalize(x, axes=[])", hwc())
    group.refused("refused_normalize_axes_and_numbers", "fn.normalize(x, axes=[0], mean=1.0, stddev=2.0)", hwc())
    group.refused("refused_normalize_rank", "fn.normalize(x, mean=fn.reshape(a, shape=[3]), stddev=1.0)",
                  hwc(key=633) | {"a": mean})
    group.refused("refused_normalize_float64", "fn.normalize(x)", {"x": feed([(1, 2), (3, 4)], np.float64)})
    group.refused("refused_normalize_to_float16", "fn.normalize(x, dtype=types.FLOAT16)", hwc())


def normalized_flat(x):
    return np.full(x.shape, 3.0)


# ---- one_hot
def hot(x, classes, on=1, off=0, axis=-1):
    at = np.trunc(x.astype(np.float64))[..., None] == np.arange(classes)
    return np.moveaxis(np.where(at, on, off), -1, axis)


def add_one_hot(group):
    labels = [3, 0, 7, -1, 20]
    group.case("one_hot_scalar", "fn.one_hot(x, num_classes=8)", {"x": feed(labels, np.int32)},
               expect=lambda x: hot(x, 8))
    group.case("one_hot_many_classes", "fn.one_hot(x, num_classes=100, dtype=types.UINT8)",
               {"x": feed(labels, np.int32)}, expect=lambda x: hot(x, 100))
    group.case("one_hot_one_element", "fn.one_hot(fn.reshape(x, shape=[1]), num_classes=20)",
               {"x": feed(labels, np.int32)}, expect=lambda x: hot(x, 20))
    group.case("one_hot_one_element_axis", "fn.one_hot(fn.reshape(x, shape=[1]), num_classes=5, axis=0)",
               {"x": feed(labels, np.int32)}, expect=lambda x: hot(x.reshape(1), 5, axis=0))
    group.case("one_hot_values", "fn.one_hot(x, num_classes=8, on_value=2.5, off_value=-1.5)",
               {"x": feed(labels, np.int32)}, expect=lambda x: hot(x, 8, 2.5, -1.5))
    masks = {"x": Feed([integers((h, w), "uint8", 0, 5, key=i) for i, (h, w) in enumerate(SIZES)], "HW")}
    for axis in (-1, 0, 1, 2):
        group.case(f"one_hot_axis_{axis}".replace("-", "minus_"), f"fn.one_hot(x, num_classes=4, axis={axis})", masks,
                   expect=lambda x, a=axis: hot(x, 4, axis=a))
    group.case("one_hot_axis_name", 'fn.one_hot(x, num_classes=4, axis_name="C")', masks, expect=lambda x: hot(x, 4))
    group.case("one_hot_axis_name_first", 'fn.one_hot(x, num_classes=4, axis=0, axis_name="C")', masks,
               expect=lambda x: hot(x, 4, axis=0))
    group.case("one_hot_axis_name_scalar", 'fn.one_hot(x, num_classes=4, axis_name="C")',
               {"x": feed(labels, np.int32)}, expect=lambda x: hot(x, 4))
    for dtype in ("uint8", "uint16", "uint32", "uint64", "int8", "int16", "int32", "int64", "float32", "float64"):
        group.case(f"one_hot_of_{dtype}", "fn.one_hot(x, num_classes=9)",
                   {"x": feed([(1, 2, 0), (8, 9), (77, 3)], dtype)}, expect=lambda x: hot(x, 9))
        name = {"float64": "FLOAT64", "uint64": "UINT64", "int64": "INT64"}.get(dtype) or NAMES[dtype]
        group.case(f"one_hot_to_{dtype}", f"fn.one_hot(x, num_classes=9, on_value=5, off_value=2, dtype=types.{name})",
                   {"x": feed([(1, 2, 0), (8, 9), (77, 3)], np.int32)}, expect=lambda x: hot(x, 9, 5, 2))
    group.case("one_hot_of_fractions", "fn.one_hot(x, num_classes=4)",
               {"x": feed([(0.2, 1.7), (-0.5, 3.9), (-1.2, 4.0)], np.float32)}, expect=lambda x: hot(x, 4))
    group.refused("refused_one_hot_axis", "fn.one_hot(x, num_classes=4, axis=3)", masks)
    group.refused("refused_one_hot_axis_low", "fn.one_hot(x, num_classes=4, axis=-2)", masks)
    group.refused("refused_one_hot_axis_name", 'fn.one_hot(x, num_classes=4, axis_name="CD")', masks)
    group.refused("refused_one_hot_bool", "fn.one_hot(x, num_classes=4)", {"x": feed([(True,), (False,)], bool)})


# ---- reductions of squares
def add_squares(group):
    plain = [("axes=[0, 1]", (0, 1), False), ("axes=0", (0,), False), ("axes=[2]", (2,), False),
             ("", (0, 1, 2), False), ("axes=[-3, 1], keep_dims=True", (0, 1), True),
             ('axis_names="HW"', (0, 1), False), ('axis_names="C", keep_dims=True', (2,), True)]
    near = dict(tolerance=2e-5, kind="range", why=ORDER)
    for number, (arguments, axes, keep) in enumerate(plain):
        separator = ", " if arguments else ""
        group.case(f"mean_square_{number}", f"fn.reductions.mean_square(x{separator}{arguments})", hwc(key=640),
                   expect=lambda x, a=axes, k=keep: (x.astype(np.float64) ** 2).mean(a, keepdims=k), **near)
        group.case(f"rms_{number}", f"fn.reductions.rms(x{separator}{arguments})", hwc(key=640),
                   expect=lambda x, a=axes, k=keep: np.sqrt((x.astype(np.float64) ** 2).mean(a, keepdims=k)), **near)
        axes_only = arguments.replace(", keep_dims=True", "")
        mean = f"fn.reductions.mean(x{', ' if axes_only else ''}{axes_only}"
        for operator, root in (("variance", False), ("std_dev", True)):
            for kind, text in (("", mean + ")"), ("_kept", mean + ", keep_dims=True)")):
                group.case(f"{operator}{kind}_{number}", f"fn.reductions.{operator}(x, {text}{separator}{arguments})",
                           hwc(key=641), expect=lambda x, a=axes, k=keep, r=root: spread(x, a, k, r), **near)
    for dtype in NAMES:
        feeds = small(dtype, key=9)
        group.case(f"mean_square_{dtype}", "fn.reductions.mean_square(x, axes=[0, 1])", feeds,
                   expect=lambda x: (x.astype(np.float64) ** 2).mean((0, 1)), **near)
        group.case(f"rms_{dtype}", "fn.reductions.rms(x, axes=[0, 1])", feeds,
                   expect=lambda x: np.sqrt((x.astype(np.float64) ** 2).mean((0, 1))), **near)
        group.case(f"variance_{dtype}", "fn.reductions.variance(x, fn.reductions.mean(x, axes=[0, 1]), axes=[0, 1])",
                   feeds, expect=lambda x: spread(x, (0, 1), False, False), **near)
    group.case("variance_ddof", "fn.reductions.variance(x, fn.reductions.mean(x), ddof=1)", hwc(key=642),
               expect=lambda x: spread(x, (0, 1, 2), False, False, 1), **near)
    group.case("std_dev_ddof", "fn.reductions.std_dev(x, fn.reductions.mean(x, axes=0), axes=0, ddof=1)",
               hwc(key=642), expect=lambda x: spread(x, (0,), False, True, 1), **near)
    group.case("variance_no_axes", "fn.reductions.variance(x, fn.cast(x, dtype=types.FLOAT), axes=[])", hwc(key=643),
               expect=lambda x: 0.0 * x)
    group.case("rms_no_axes", "fn.reductions.rms(x, axes=[])", hwc(key=643), expect=lambda x: 1.0 * x, **near)
    group.refused("refused_variance_without_mean", "fn.reductions.variance(x)", hwc())
    group.refused("refused_variance_dtype", "fn.reductions.variance(x, fn.reductions.mean(x), dtype=types.FLOAT)",
                  hwc())
    group.refused("refused_mean_square_bool", "fn.reductions.mean_square(x)", {"x": feed([(True,), (False,)], bool)})


def spread(x, axes, keep, root, ddof=0):
    x = x.astype(np.float64)
    count = np.prod([x.shape[axis] for axis in axes]) - ddof
    variance = ((x - x.mean(axes, keepdims=True)) ** 2).sum(axes, keepdims=keep) / count
    return np.sqrt(variance) if root else variance


def add(group):
    for part in (add_colour_spaces, add_pad, add_erase, add_normalize, add_one_hot, add_squares):
        part(group)
