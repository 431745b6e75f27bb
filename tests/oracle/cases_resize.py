"""Cases of fn.resize and fn.random_resized_crop."""
import numpy as np

import formulas
from recorder import Feed
from samples import SIZES, SQUARES, images

INTERP = {"nn": "INTERP_NN", "linear": "INTERP_LINEAR", "cubic": "INTERP_CUBIC", "lanczos3": "INTERP_LANCZOS3",
          "triangular": "INTERP_TRIANGULAR", "gaussian": "INTERP_GAUSSIAN"}
CODE = {name: code for code, name in enumerate(INTERP)}
ONE_LEVEL = "ties and the precision of tap weights differ by at most one level"
TABLES = "DALI tabulates its window functions with linear interpolation"
ORDER = "float32 sums in another order"


def scalars(values, dtype=np.float32):
    return Feed([np.array(value, dtype) for value in values])


def vectors(values, dtype=np.float32):
    return Feed([np.array(value, dtype) for value in values])


def resize_case(group, name, arguments, feeds, reference=None, operator="resize", **overrides):
    """A u8 case within one level, or a float case relative to the sample's range."""
    dtype = feeds["x"].samples[0].dtype
    options = dict(tolerance=1, why=ONE_LEVEL, mean_tolerance=0.15)
    if dtype.kind == "f" or "types.FLOAT" in arguments:
        smooth = any(word in arguments for word in ("CUBIC", "LANCZOS3"))
        options = dict(tolerance=2e-3 if smooth else 2e-5, kind="range", why=TABLES if smooth else ORDER)
    elif dtype.itemsize == 2:
        smooth = any(word in arguments for word in ("CUBIC", "LANCZOS3"))
        options = dict(tolerance=2e-3, kind="range", why=TABLES) if smooth else dict(tolerance=1, why=ONE_LEVEL)
    options.update(overrides)
    group.case(name, f"fn.{operator}(x, {arguments})", feeds, expect=reference, **options)


def u8(**options):
    return {"x": Feed(images(**options), options.get("layout", "HWC"))}


def add_filters(group):
    for key, interp in INTERP.items():
        code = CODE[key]
        exact = dict(tolerance=0, why="", mean_tolerance=None) if key == "nn" else {}
        for direction, size in (("down", (5, 6)), ("up", (40, 29)), ("mixed", (5, 40))):
            resize_case(group, f"resize_{key}_{direction}", f"size={list(size)}, interp_type=types.{interp}", u8(),
                        lambda x, s=size, c=code: formulas.resize(x, s, min_filter=c, mag_filter=c), **exact)
        size = (6, 7)
        resize_case(group, f"resize_{key}_no_antialias",
                    f"size=[6, 7], interp_type=types.{interp}, antialias=False", u8(key=3),
                    lambda x, c=code: formulas.resize(x, size, min_filter=c, mag_filter=c, antialias=False), **exact)
        resize_case(group, f"resize_{key}_float_out",
                    f"size=[9, 20], interp_type=types.{interp}, dtype=types.FLOAT", u8(key=5, channels=1),
                    lambda x, c=code: formulas.resize(x, (9, 20), min_filter=c, mag_filter=c),
                    **({"tolerance": 0, "why": ""} if key == "nn" else {}))
    pairs = [("NN", "CUBIC"), ("LANCZOS3", "LINEAR"), ("CUBIC", "NN"), ("LINEAR", "LANCZOS3"), ("GAUSSIAN", "NN")]
    for low, high in pairs:
        a, b = CODE[low.lower()], CODE[high.lower()]
        resize_case(group, f"resize_min_{low.lower()}_mag_{high.lower()}",
                    f"size=[8, 25], min_filter=types.INTERP_{low}, mag_filter=types.INTERP_{high}", u8(key=7),
                    lambda x, a=a, b=b: formulas.resize(x, (8, 25), min_filter=a, mag_filter=b))
    resize_case(group, "resize_min_filter_overrides_interp_type",
                "size=[8, 25], interp_type=types.INTERP_CUBIC, min_filter=types.INTERP_NN", u8(key=8),
                lambda x: formulas.resize(x, (8, 25), min_filter=0, mag_filter=2))


def add_modes(group):
    sizes = {"both": (9, 11), "height": (9, 0), "width": (0, 12)}
    for mode in ("default", "stretch", "not_larger", "not_smaller"):
        for key, size in sizes.items():
            resize_case(group, f"resize_mode_{mode}_{key}", f'size={list(size)}, mode="{mode}"', u8(key=11),
                        lambda x, s=size, m=mode: formulas.resize(x, s, m))
        resize_case(group, f"resize_mode_{mode}_max_size", f'size=[30, 14], mode="{mode}", max_size=17', u8(key=12),
                    lambda x, m=mode: formulas.resize(x, (30, 14), m, max_size=17))
        resize_case(group, f"resize_mode_{mode}_max_sizes", f'size=[0, 33], mode="{mode}", max_size=[19, 21]',
                    u8(key=12), lambda x, m=mode: formulas.resize(x, (0, 33), m, max_size=[19, 21]))
    resize_case(group, "resize_x", "resize_x=10", u8(key=13), lambda x: formulas.resize(x, (0, 10)))
    resize_case(group, "resize_y", "resize_y=10", u8(key=13), lambda x: formulas.resize(x, (10, 0)))
    resize_case(group, "resize_x_y", "resize_x=12, resize_y=8", u8(key=13), lambda x: formulas.resize(x, (8, 12)))
    resize_case(group, "resize_x_not_larger", 'resize_x=12, resize_y=8, mode="not_larger"', u8(key=13),
                lambda x: formulas.resize(x, (8, 12), "not_larger"))
    resize_case(group, "resize_shorter", "resize_shorter=8", u8(key=14),
                lambda x: formulas.resize(x, (8, 8), "not_smaller"))
    resize_case(group, "resize_shorter_max_size", "resize_shorter=12, max_size=14", u8(key=14),
                lambda x: formulas.resize(x, (12, 12), "not_smaller", max_size=14))
    resize_case(group, "resize_longer", "resize_longer=16", u8(key=14),
                lambda x: formulas.resize(x, (16, 16), "not_larger"))
    resize_case(group, "resize_longer_max_size", "resize_longer=20, max_size=[9, 18]", u8(key=14),
                lambda x: formulas.resize(x, (20, 20), "not_larger", max_size=[9, 18]))
    resize_case(group, "resize_scalar_size", "size=10", u8(key=15), lambda x: formulas.resize(x, (10, 10)))


def add_fractions(group):
    for subpixel in (True, False):
        for key, arguments, size, mode in (("size", "size=[9.4, 13.7]", (9.4, 13.7), "default"),
                                           ("shorter", "resize_shorter=8.5", (8.5, 8.5), "not_smaller"),
                                           ("half", "size=[6.5, 10.5]", (6.5, 10.5), "default"),
                                           ("tiny", "size=[0.3, 7]", (0.3, 7), "default")):
            resize_case(group, f"resize_fraction_{key}_subpixel_{subpixel}".lower(),
                        f"{arguments}, subpixel_scale={subpixel}", u8(key=17),
                        lambda x, s=size, m=mode, p=subpixel: formulas.resize(x, s, m, subpixel=p))
    resize_case(group, "resize_negative_size_flips", "size=[-9, 12]", u8(key=18),
                lambda x: formulas.resize(x, (-9, 12)))
    resize_case(group, "resize_negative_size_flips_both", "size=[-9.3, -30]", u8(key=18),
                lambda x: formulas.resize(x, (-9.3, -30)))


def add_regions(group):
    rois = [("inside", (2, 1), (6.5, 4.25), False), ("whole_relative", (0, 0), (1, 1), True),
            ("relative", (0.25, 0.1), (0.8, 0.95), True), ("flipped", (7, 1), (1, 5), False),
            ("flipped_relative", (0, 1), (1, 0), True), ("outside", (-3, -2), (9, 8), False),
            ("outside_left", (-3, -2), (2, 3), False), ("beyond", (-0.5, 0.5), (0.5, 1.5), True), ("empty", (1, 1), (1, 3), False)]
    for key, start, end, relative in rois:
        # Not NN past the right or lower edge: DALI 2.4 then reads outside of the row.
        for interp in ("linear", "nn") if key in ("relative", "flipped_relative", "outside_left") else ("linear",):
            extra = f", interp_type=types.{INTERP[interp]}" if interp != "linear" else ""
            resize_case(group, f"resize_roi_{key}_{interp}",
                        f"size=[8, 9], roi_start={list(start)}, roi_end={list(end)}, roi_relative={relative}{extra}",
                        u8(key=20),
                        lambda x, a=start, b=end, r=relative, c=CODE[interp]: formulas.resize(
                            x, (8, 9), roi_start=a, roi_end=b, relative=r, min_filter=c, mag_filter=c),
                        **(dict(tolerance=0, why="", mean_tolerance=None) if interp == "nn" else {}))
    resize_case(group, "resize_roi_missing_dim", "resize_x=9, roi_start=[0.1, 0.2], roi_end=[0.7, 0.9], "
                "roi_relative=True", u8(key=21),
                lambda x: formulas.resize(x, (0, 9), roi_start=(0.1, 0.2), roi_end=(0.7, 0.9), relative=True))
    resize_case(group, "resize_roi_cubic_down", "size=[3, 4], roi_start=[0.05, 0.1], roi_end=[0.9, 0.95], "
                "roi_relative=True, interp_type=types.INTERP_CUBIC", u8(key=22),
                lambda x: formulas.resize(x, (3, 4), roi_start=(0.05, 0.1), roi_end=(0.9, 0.95), relative=True,
                                          min_filter=2, mag_filter=2))
    # Where positions are counted from depends on the order of the axes.
    for key, size, start, end in (("down", (3, 13), (1, 2), (7, 9)), ("up", (17, 6), (6, 1), (1, 7)), ("same", (5, 6), (2, 1), (7, 7))):
        resize_case(group, f"resize_roi_gaussian_{key}", f"size={list(size)}, roi_start={list(start)}, roi_end={list(end)}, "
                    "interp_type=types.INTERP_GAUSSIAN, dtype=types.FLOAT", u8(key=24, sizes=[(9, 10), (12, 9), (40, 30)]))
    resize_case(group, "resize_roi_shorter", "resize_shorter=7, roi_start=[0.1, 0.2], roi_end=[0.9, 0.8], "
                "roi_relative=True", u8(key=23),
                lambda x: formulas.resize(x, (7, 7), "not_smaller", roi_start=(0.1, 0.2), roi_end=(0.9, 0.8),
                                          relative=True))


def add_types(group):
    for dtype in ("int16", "uint16", "float32"):
        for direction, size in (("down", (6, 5)), ("up", (33, 20))):
            resize_case(group, f"resize_{dtype}_{direction}", f"size={list(size)}", u8(dtype=dtype, key=30),
                        lambda x, s=size: formulas.resize(x, s))
        resize_case(group, f"resize_{dtype}_lanczos3", "size=[7, 30], interp_type=types.INTERP_LANCZOS3",
                    u8(dtype=dtype, key=31), lambda x: formulas.resize(x, (7, 30), min_filter=3, mag_filter=3))
    resize_case(group, "resize_int16_float_out", "size=[7, 8], dtype=types.FLOAT", u8(dtype="int16", key=32),
                lambda x: formulas.resize(x, (7, 8)))
    for channels in (1, 2, 4):
        resize_case(group, f"resize_{channels}_channels", "size=[11, 9]", u8(channels=channels, key=33),
                    lambda x: formulas.resize(x, (11, 9)))
    chw = {"x": Feed(images(layout="CHW", key=34), "CHW")}
    resize_case(group, "resize_chw", "size=[10, 12]", chw,
                lambda x: formulas.resize(x, (10, 12), spatial=(1, 2)))
    resize_case(group, "resize_chw_shorter_cubic", "resize_shorter=6, interp_type=types.INTERP_CUBIC", chw,
                lambda x: formulas.resize(x, (6, 6), "not_smaller", min_filter=2, mag_filter=2, spatial=(1, 2)))
    resize_case(group, "resize_large", "resize_shorter=24", u8(sizes=[(61, 47), (47, 61), (48, 48)], key=35),
                lambda x: formulas.resize(x, (24, 24), "not_smaller"))
    resize_case(group, "resize_one_pixel", "size=[4, 5]", u8(sizes=[(1, 1), (1, 6), (5, 1)], key=36),
                lambda x: formulas.resize(x, (4, 5)), tolerance=1)
    group.case("resize_save_attrs", "resized, shape = fn.resize(x, size=[6, 7], save_attrs=True)\nreturn resized, shape",
               u8(key=37), tolerance=1, why=ONE_LEVEL, mean_tolerance=0.15)


def add_per_sample(group):
    sizes = [(5, 6), (20, 3), (0, 9), (7, 0)]
    resize_case(group, "resize_size_per_sample", "size=a", u8(key=40) | {"a": vectors(sizes)},
                lambda x, a: formulas.resize(x, a))
    resize_case(group, "resize_size_per_sample_not_larger", 'size=a, mode="not_larger"',
                u8(key=40) | {"a": vectors([(5, 6), (20, 3), (9.5, 9.25), (7, 8)])},
                lambda x, a: formulas.resize(x, a, "not_larger"))
    resize_case(group, "resize_x_per_sample", "resize_x=a, resize_y=6", u8(key=41) | {"a": scalars([4, 9.5, 17, 3])},
                lambda x, a: formulas.resize(x, (6, a)))
    resize_case(group, "resize_shorter_per_sample", "resize_shorter=a", u8(key=42) | {"a": scalars([4, 9, 7.25, 3])},
                lambda x, a: formulas.resize(x, (a, a), "not_smaller"))
    resize_case(group, "resize_roi_per_sample", "size=[6, 7], roi_start=a, roi_end=b", u8(key=43) | {
        "a": vectors([(1, 2), (0.5, 0), (20, 3), (0, 0)]), "b": vectors([(9, 9.5), (6, 4), (4, 20), (2, 3)])},
        lambda x, a, b: formulas.resize(x, (6, 7), roi_start=a, roi_end=b))
    resize_case(group, "resize_filter_per_sample",
                "size=[9, 8], interp_type=fn.cast(a, dtype=types.INTERP_TYPE)",
                u8(key=45) | {"a": scalars([0, 1, 2, 3], np.int32)},
                lambda x, a: formulas.resize(x, (9, 8), min_filter=int(a), mag_filter=int(a)))
    resize_case(group, "resize_size_from_shape",
                "size=x.shape(dtype=types.FLOAT)[:2] * 0.5", u8(key=44),
                lambda x: formulas.resize(x, (x.shape[0] * 0.5, x.shape[1] * 0.5)),
                tolerance=1, kind="abs", why=ONE_LEVEL)


def add_random_resized_crop(group):
    """Ranges that leave one window only: the whole image."""
    squares = {"x": Feed(images(SQUARES, key=50), "HWC")}

    def expect(size, code=1, spatial=(0, 1), antialias=True):
        return lambda x: formulas.resize(x, size, min_filter=code, mag_filter=code, spatial=spatial,
                                         antialias=antialias)

    u8_options = dict(tolerance=1, why=ONE_LEVEL, mean_tolerance=0.15)
    fixed = "random_area=[1.0, 1.0], random_aspect_ratio=[1.0, 1.0]"
    for key in ("nn", "linear", "cubic", "lanczos3"):
        options = dict(tolerance=0) if key == "nn" else u8_options
        group.case(f"random_resized_crop_square_{key}",
                   f"fn.random_resized_crop(x, size=[8, 12], {fixed}, interp_type=types.{INTERP[key]})", squares,
                   expect=expect((8, 12), CODE[key]), **options)
    group.case("random_resized_crop_scalar_size", f"fn.random_resized_crop(x, size=10, {fixed})", squares,
               expect=expect((10, 10)), **u8_options)
    group.case("random_resized_crop_no_antialias",
               f"fn.random_resized_crop(x, size=[6, 5], {fixed}, antialias=False)", squares,
               expect=expect((6, 5), antialias=False), **u8_options)
    group.case("random_resized_crop_float", f"fn.random_resized_crop(x, size=[9, 9], {fixed}, dtype=types.FLOAT)",
               squares, tolerance=2e-5, kind="range", why=ORDER, expect=expect((9, 9)))
    group.case("random_resized_crop_filters", f"fn.random_resized_crop(x, size=[12, 12], {fixed}, "
               "min_filter=types.INTERP_CUBIC, mag_filter=types.INTERP_NN)", squares, **u8_options,
               expect=lambda x: formulas.resize(x, (12, 12), min_filter=2, mag_filter=0))
    chw = {"x": Feed(images(SQUARES, layout="CHW", key=52), "CHW")}
    group.case("random_resized_crop_chw", f"fn.random_resized_crop(x, size=[7, 9], {fixed})", chw,
               expect=expect((7, 9), spatial=(1, 2)), **u8_options)


def add_refusals(group):
    group.refused("refused_resize_int32", "fn.resize(x, size=[4, 4])", {"x": Feed(images(dtype="int32"), "HWC")})
    group.refused("refused_resize_hw", "fn.resize(x, size=[4, 4])", {"x": Feed(images(layout="HW"), "HW")})
    group.refused("refused_resize_two_sizes", "fn.resize(x, size=[4, 4], resize_x=4)", u8())
    group.refused("refused_resize_no_size", "fn.resize(x)", u8())
    group.refused("refused_resize_mode_and_shorter", 'fn.resize(x, resize_shorter=4, mode="stretch")', u8())
    group.refused("refused_resize_roi_start_only", "fn.resize(x, size=[4, 4], roi_start=[0, 0])", u8())
    group.refused("refused_resize_dtype", "fn.resize(x, size=[4, 4], dtype=types.INT16)", u8())
    group.refused("refused_resize_mode_unknown", 'fn.resize(x, size=[4, 4], mode="larger")', u8())


def add(group):
    for part in (add_filters, add_modes, add_fractions, add_regions, add_types, add_per_sample,
                 add_random_resized_crop, add_refusals):
        part(group)
