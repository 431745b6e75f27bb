"""Cases of operators that see the batch: pad to the largest, permute_batch, normalize(batch=True)."""
import numpy as np

from recorder import Feed
from samples import SIZES, images

ORDER = "float32 sums in another order"
ONE_LEVEL = "ties and float32 rounding differ by at most one level"


def hwc(key, layout="HWC", **options):
    return {"x": Feed(images(SIZES, key=key, layout=layout, **options), layout)}


def feed(values, dtype, layout=None):
    return Feed([np.array(value, dtype) for value in values], layout)


def add_pad(group):
    for name, arguments in (("", ""), ("axes", "axes=[0, 1]"), ("axis_names", 'axis_names="W"'),
                            ("none", "axes=[0, 1], shape=[-1, -1]"), ("zero", "axes=[1], shape=0"),
                            ("mixed", "axes=[0, 1], shape=[-1, 40]"), ("align", "axes=[0, 1], align=[8, 5]"),
                            ("align_mixed", "axes=[0, 1], shape=[1, -1], align=16"), ("fill", "fill_value=9.0")):
        group.case(f"batch_pad_{name}", f"fn.pad(x{', ' if arguments else ''}{arguments})", hwc(700))
    group.case("batch_pad_chw", 'fn.pad(x, axis_names="HW")', hwc(701, layout="CHW"))
    group.case("batch_pad_vectors", "fn.pad(x, fill_value=-1)", {"x": feed([(3, 1, 2), (9,), (5, 6)], np.float32)})
    group.case("batch_pad_per_sample", "fn.pad(x, axes=[0, 1], shape=a)",
               hwc(702) | {"a": feed([(14, -1), (-1, 0), (1, 50), (-1, -1)], np.int32)})
    arm = "if a:\n    y = fn.pad(x, axes=[0, 1])\nelse:\n    y = fn.pad(x, axes=[0], align=7)\nreturn y"
    group.case("batch_pad_in_arms", arm, hwc(703) | {"a": feed([True, False, True, False], bool)})
    group.case("batch_pad_one_arm", "y = x\nif a:\n    y = fn.pad(x, axes=[0, 1])\nreturn y",
               hwc(703) | {"a": feed([True, False, False, True], bool)})
    # What both arms say is not the same thing: each arm has a batch of its own, and the pipeline another.
    equal = ("z = fn.pad(x, axes=[0, 1])\nif a:\n    y = fn.pad(x, axes=[0, 1])\n"
             "else:\n    y = fn.pad(x, axes=[0, 1])\nreturn y, z")
    group.case("batch_pad_equal_arms", equal, hwc(703) | {"a": feed([True, False, False, True], bool)})


def add_permute(group):
    group.case("permute_list", "fn.permute_batch(x, indices=[2, 0, 3, 1])", hwc(710))
    group.case("permute_repeats", "fn.permute_batch(x, indices=[1, 1, 0, 1])", hwc(710))
    group.case("permute_per_sample", "fn.permute_batch(x, indices=a)", hwc(711) | {"a": feed([3, 3, 1, 0], np.int32)})
    group.case("permute_view", "fn.permute_batch(x[:, 0:1], indices=[3, 2, 1, 0])", hwc(712))
    group.case("permute_arithmetic",
               "y = fn.pad(x, axes=[0, 1])\nreturn fn.permute_batch(y * 2, indices=[3, 2, 1, 0]) - y", hwc(712))
    group.refused("refused_permute_place", "fn.permute_batch(x, indices=[0, 1, 2, 4])", hwc(710))
    group.refused("refused_permute_short", "fn.permute_batch(x, indices=[0, 1])", hwc(710))


def add_normalize(group):
    near = dict(tolerance=2e-5, kind="range", why=ORDER)
    plain = ["", 'axis_names="HW"', "axes=[0, 1], ddof=1", "scale=64.0, shift=128.0", 'axis_names="HW", epsilon=100.0',
             "mean=100.0", 'stddev=30.0, axis_names="HW"', "mean=90.0, epsilon=4.0", "ddof=100000, shift=5.0"]
    for number, arguments in enumerate(plain):
        separator = ", " if arguments else ""
        group.case(f"batch_normalize_{number}", f"fn.normalize(x, batch=True{separator}{arguments})", hwc(720), **near)
    group.case("batch_normalize_chw", 'fn.normalize(x, batch=True, axis_names="HW")', hwc(721, layout="CHW"), **near)
    group.case("batch_normalize_to_u8", "fn.normalize(x, batch=True, scale=50.0, shift=60.0, dtype=types.UINT8)",
               hwc(722), tolerance=1, why=ONE_LEVEL)
    vectors = feed([(3.5, 1, 2), (9, 4, -7), (5, 6, 0.25)], np.float32)
    group.case("batch_normalize_vectors", "fn.normalize(x, batch=True)", {"x": vectors}, **near)
    matrices = feed([[(3, 1, 2)], [(9, 4, 7), (0, 0, 1)], [(5, 6, 250)]], np.uint8)
    group.case("batch_normalize_rows", "fn.normalize(x, batch=True, axes=[0])", {"x": matrices}, **near)
    arm = "y = fn.cast(x, dtype=types.FLOAT)\nif a:\n    y = fn.normalize(x, batch=True)\nreturn y"
    group.case("batch_normalize_in_arm", arm, hwc(723) | {"a": feed([True, False, True, False], bool)}, **near)
    group.refused("refused_batch_normalize_extents", "fn.normalize(x, batch=True, axes=[0])", hwc(720))
    group.refused("refused_batch_normalize_tensor",
                  "fn.normalize(x, batch=True, mean=fn.reshape(a, shape=[1, 1, 3]))",
                  hwc(720) | {"a": feed([[[[1, 2, 3]]]] * 4, np.float32)})


def add(group):
    add_pad(group)
    add_permute(group)
    add_normalize(group)
