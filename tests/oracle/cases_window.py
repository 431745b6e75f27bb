"""Cases of fn.crop, fn.slice, fn.crop_mirror_normalize and fn.flip."""
import numpy as np

import formulas
from recorder import Feed
from samples import SIZES, images

ORDER = "float32 rounding of the normalisation"
HALF = "float16 rounding"
TIES = "ties of the conversion to integers may round either way"
BIG = [(13, 17), (11, 9), (31, 22), (8, 10)]  # every sample holds a window of 7 x 8


def hwc(sizes=BIG, key=100, **options):
    layout = options.get("layout", "HWC")
    return {"x": Feed(images(sizes, key=key, **options), layout)}


def feed(values, dtype):
    return Feed([np.array(value, dtype) for value in values])


BORDERS = ("constant", "clamp", "edge", "reflect", "reflect_1001", "reflect_101", "wrap")
F32, I32, I64 = np.float32, np.int32, np.int64


def half_away(value):
    return int(np.trunc(value + np.copysign(0.5, value)))


def cut_out(x, policy, start, shape):
    rows, columns = (formulas.border_indices(policy, start[d], shape[d], x.shape[d]) for d in (0, 1))
    return x[rows][:, columns]


def add_crop(group):
    def crop(name, arguments, feeds=None, **options):
        group.case("crop_" + name, f"fn.crop(x, {arguments})", feeds or hwc(), **options)

    crop("centre", "crop=[7, 8]")
    crop("crop_h_w", "crop_h=6, crop_w=5")
    crop("fractional_size", "crop=[6.7, 5.3]")
    for x, y in ((0.0, 0.0), (1.0, 1.0), (0.0, 1.0), (0.3, 0.7), (0.5, 0.25)):
        crop(f"pos_{x}_{y}".replace(".", ""), f"crop=[5, 6], crop_pos_x={x}, crop_pos_y={y}")
    for rounding in ("round", "truncate"):
        crop(f"rounding_{rounding}", f'crop=[4, 4], crop_pos_x=0.37, crop_pos_y=0.63, rounding="{rounding}"')
        crop(f"rounding_{rounding}_half", f'crop=[4, 4], rounding="{rounding}"')
        crop(f"pad_{rounding}", f'crop=[20, 19], out_of_bounds_policy="pad", rounding="{rounding}"')
    crop("pad_fill", 'crop=[16, 15], out_of_bounds_policy="pad", fill_values=[10.0, 20.0, 255.0]')
    crop("pad_fill_fraction", 'crop=[16, 15], out_of_bounds_policy="pad", fill_values=[0.6, 20.6, 99.5]')
    crop("pad_fill_scalar", 'crop=[16, 15], crop_pos_x=0.0, out_of_bounds_policy="pad", fill_values=77.0')
    crop("pad_tiny", 'crop=[6, 7], crop_pos_x=1.0, crop_pos_y=0.0, out_of_bounds_policy="pad"', hwc(SIZES))
    crop("trim", 'crop=[16, 15], out_of_bounds_policy="trim_to_shape"')
    crop("trim_corner", 'crop=[9, 30], crop_pos_x=1.0, crop_pos_y=0.2, out_of_bounds_policy="trim_to_shape"')
    for policy in BORDERS:
        crop(f"border_{policy}", f'crop=[20, 41], crop_pos_x=0.4, out_of_bounds_policy="{policy}"', hwc(SIZES, key=101),
             expect=None if policy == "constant" else lambda x, p=policy: cut_out(
                 x, p, (half_away(0.5 * (x.shape[0] - 20)), half_away(0.4 * (x.shape[1] - 41))), (20, 41)))
    crop("border_wrap_chw", 'crop=[20, 41], out_of_bounds_policy="wrap"', hwc(SIZES, layout="CHW", key=101))
    crop("whole", "crop_pos_x=0.3")
    for dtype in ("int16", "uint16", "int32", "float32", "int8", "float16"):
        crop(dtype, "crop=[5, 6]", hwc(dtype=dtype))
    crop("u8_to_float", "crop=[5, 6], dtype=types.FLOAT")
    crop("u8_to_float16", "crop=[5, 6], dtype=types.FLOAT16")
    crop("float_to_u8", "crop=[5, 6], dtype=types.UINT8", hwc(dtype="float32"))
    crop("int16_to_u8", "crop=[5, 6], dtype=types.UINT8", hwc(dtype="int16"))
    crop("chw", "crop=[5, 6], crop_pos_x=0.1", hwc(layout="CHW"))
    crop("one_channel", "crop=[5, 6]", hwc(channels=1))
    crop("four_channels_pad", 'crop=[5, 16], out_of_bounds_policy="pad", fill_values=[1, 2, 3, 4]', hwc(channels=4))
    crop("chw_pad_fill", 'crop=[15, 16], out_of_bounds_policy="pad", fill_values=[1, 2, 3]', hwc(layout="CHW"))
    crop("per_sample_pos", "crop=[5, 6], crop_pos_x=a, crop_pos_y=b",
         hwc() | {"a": feed([0, 0.2, 0.77, 1], F32), "b": feed([1, 0.5, 0.33, 0], F32)})
    crop("per_sample_size", "crop=a", hwc() | {"a": feed([(3, 4), (11, 9), (30, 1), (5.9, 2)], F32)})
    crop("per_sample_h_w", "crop_h=a, crop_w=4", hwc() | {"a": feed([3, 11, 30, 5.9], F32)})
    group.refused("refused_crop_too_large", "fn.crop(x, crop=[100, 5])", hwc())
    group.refused("refused_crop_position", "fn.crop(x, crop=[4, 5], crop_pos_x=1.5)", hwc())
    group.refused("refused_crop_h_alone", "fn.crop(x, crop_h=4)", hwc())
    group.refused("refused_crop_and_crop_h", "fn.crop(x, crop=[4, 5], crop_h=4, crop_w=4)", hwc())
    group.refused("refused_crop_hw", "fn.crop(x, crop=[5, 6])", hwc(layout="HW"))


def add_slice(group):
    def cut(name, arguments, feeds=None, **options):
        group.case("slice_" + name, f"fn.slice(x, {arguments})", feeds or hwc(key=110), **options)

    cut("start_shape", "start=[1, 2], shape=[5, 4]")
    cut("start_end", "start=[1, 2], end=[6, 7]")
    cut("end_only", "end=[6, 7]")
    cut("start_only", "start=[3, 2]")
    cut("shape_only", "shape=[3, 2]")
    cut("rel_start_rel_end", "rel_start=[0.1, 0.2], rel_end=[0.7, 0.9]")
    cut("rel_start_rel_shape", "rel_start=[0.15, 0.25], rel_shape=[0.5, 0.33]")
    cut("rel_start_shape", "rel_start=[0.15, 0.25], shape=[3, 4]")
    cut("start_rel_shape", "start=[1, 2], rel_shape=[0.4, 0.5]")
    cut("start_rel_end", "start=[1, 2], rel_end=[0.4, 0.5]")
    cut("rel_halves", "rel_start=[0.5, 0.5], rel_end=[1.0, 1.0]")
    cut("scalar", "start=2, shape=4")
    cut("axes_hw", "start=[1, 2], shape=[5, 4], axes=[0, 1]")
    cut("axes_negative", "start=[1, 1], shape=[5, 2], axes=[-3, -1]")
    cut("axis_names_hw", 'start=[1, 2], shape=[5, 4], axis_names="HW"')
    cut("axis_names_c", 'start=[1], shape=[2], axis_names="C"')
    cut("axis_names_hwc", 'start=[1, 2, 1], end=[5, 4, 3], axis_names="HWC"')
    cut("all_axes", "start=[1, 2, 0], end=[5, 4, 2], axes=[]")
    cut("chw", "start=[1, 2], shape=[5, 4]", hwc(layout="CHW"))
    for policy in ("pad", "trim_to_shape"):
        cut(f"{policy}", f'start=[-3, -1], shape=[20, 14], out_of_bounds_policy="{policy}"')
        cut(f"{policy}_rel", f'rel_start=[-0.2, 0.3], rel_end=[0.6, 1.4], out_of_bounds_policy="{policy}"')
        cut(f"{policy}_outside", f'start=[100, 100], shape=[3, 2], out_of_bounds_policy="{policy}"')
    for policy in BORDERS:
        cut(f"border_{policy}", f'start=[-3, -20], shape=[20, 60], out_of_bounds_policy="{policy}"',
            hwc(SIZES, key=119), expect=None if policy == "constant" else lambda x, p=policy: cut_out(
                x, p, (-20, -3), (60, 20)))
    cut("border_float", 'start=[-3, -5], shape=[20, 30], out_of_bounds_policy="reflect_101", dtype=types.FLOAT')
    cut("pad_fill", 'start=[-2, 4], shape=[9, 12], out_of_bounds_policy="pad", fill_values=[9, 8, 255]')
    cut("pad_fill_scalar", 'start=[-2, 4], shape=[9, 12], out_of_bounds_policy="pad", fill_values=33')
    cut("to_float", "start=[1, 2], shape=[5, 4], dtype=types.FLOAT")
    cut("to_float16", "start=[1, 2], shape=[5, 4], dtype=types.FLOAT16")
    cut("float_to_u8", "start=[1, 2], shape=[5, 4], dtype=types.UINT8", hwc(dtype="float32", key=111))
    for dtype in ("int8", "int16", "uint16", "int32", "uint32", "int64", "uint64", "float16", "float32"):
        cut(dtype, "start=[1, 2], shape=[3, 4]", hwc(dtype=dtype, key=112))
    flags = {"x": Feed([sample > 100 for sample in images(BIG, key=113)], "HWC")}
    group.refused("refused_slice_bool", "fn.slice(x, start=[1, 2], shape=[3, 4])", flags)
    cut("empty", "start=[1, 2], shape=[0, 4]")
    cut("per_sample_start", "start=a, shape=[2, 3]", hwc() | {"a": feed([(0, 1), (2, 3), (19, 27), (1, 5)], I32)})
    cut("per_sample_start_end", "start=a, end=b", hwc() | {
        "a": feed([(0, 1), (2, 3), (19, 27), (1, 5)], I32), "b": feed([(17, 13), (2, 4), (22, 31), (10, 6)], I32)})
    cut("per_sample_rel", "rel_start=a, rel_shape=[0.5, 0.4]", hwc() | {
        "a": feed([(0, 0.1), (0.2, 0.3), (0.5, 0.6), (0.05, 0.33)], F32)})
    for key, dtype, starts, shapes in (
            ("float", F32, [(0.1, 0.2), (0, 0), (0.33, 0.66), (0.5, 0.5)], [(0.5, 0.5), (1, 1), (0.5, 0.3), (0.5, 0.25)]),
            ("int64", I64, [(1, 2), (0, 0), (4, 20), (3, 3)], [(5, 5), (9, 11), (18, 11), (7, 1)]),
            ("int32", I32, [(1, 2), (0, 0), (4, 20), (3, 3)], [(5, 5), (9, 11), (18, 11), (7, 1)])):
        group.case(f"slice_positional_{key}", "fn.slice(x, a, b)",
                   hwc(key=115) | {"a": feed(starts, dtype), "b": feed(shapes, dtype)})
    absolute = hwc(key=116) | {"a": feed([(1.4, 2.5), (0, 0), (4.5, 19.6), (3, 3)], F32),
                               "b": feed([(5.2, 5.5), (9, 11), (11.5, 11), (7, 1)], F32)}
    group.case("slice_positional_absolute_floats",
               "fn.slice(x, a, b, normalized_anchor=False, normalized_shape=False)", absolute)
    mixed = hwc(key=117) | {"a": feed([(1, 2), (0, 0), (4, 20), (3, 3)], F32),
                            "b": feed([(0.5, 0.25), (1, 1), (0.3, 0.3), (0.5, 0.5)], F32)}
    group.case("slice_positional_absolute_anchor", "fn.slice(x, a, b, normalized_anchor=False)", mixed)
    group.case("slice_positional_axes_hw", "fn.slice(x, a, b, axes=[0, 1])", hwc(key=118) | {
        "a": feed([(0.1, 0.2), (0, 0), (0.33, 0.66), (0.5, 0.5)], F32),
        "b": feed([(0.5, 0.5), (1, 1), (0.5, 0.3), (0.5, 0.25)], F32)})
    vector = {"x": Feed([np.arange(n, dtype=np.float32) * 1.5 for n in (9, 5, 12, 4)])}
    group.case("slice_vector", "fn.slice(x, start=1, shape=3, axes=[0])", vector)
    group.case("slice_vector_rel", "fn.slice(x, rel_start=0.25, rel_end=0.75, axes=[0])", vector)
    group.refused("refused_slice_policy", 'fn.slice(x, start=[1, 2], shape=[3, 4], out_of_bounds_policy="mirror")', hwc())
    group.refused("refused_cmn_policy", 'fn.crop_mirror_normalize(x, crop=[3, 4], out_of_bounds_policy="wrap")', hwc())
    group.refused("refused_crop_rounding", 'fn.crop(x, crop=[3, 4], rounding="floor")', hwc())
    group.refused("refused_slice_outside", "fn.slice(x, start=[1, 2], shape=[100, 4])", hwc())
    group.refused("refused_slice_end_before_start", "fn.slice(x, start=[5, 2], end=[1, 4])", hwc())
    group.refused("refused_slice_two_starts", "fn.slice(x, start=[1, 2], rel_start=[0.1, 0.2], shape=[1, 1])", hwc())
    group.refused("refused_slice_end_and_shape", "fn.slice(x, start=[1, 2], end=[3, 4], shape=[1, 1])", hwc())
    group.refused("refused_slice_wrong_count", "fn.slice(x, start=[1, 2, 0], shape=[1, 1, 1])", hwc())


IMAGENET = "mean=[123.675, 116.28, 103.53], std=[58.395, 57.12, 57.375]"
RELATIVE = dict(tolerance=2e-6, kind="range", why=ORDER)


def add_normalize(group):
    def cmn(name, arguments, feeds=None, **options):
        group.case("cmn_" + name, f"fn.crop_mirror_normalize(x, {arguments})", feeds or hwc(key=120), **options)

    cmn("defaults", "crop=[7, 8]")
    cmn("whole", "mirror=0")
    cmn("hwc_out", 'crop=[7, 8], output_layout="HWC"')
    cmn("layout_kept", 'crop=[7, 8], output_layout=""')
    cmn("layout_wch", 'crop=[7, 8], output_layout="WCH"')
    cmn("mirror", 'mirror=1, output_layout="HWC", dtype=types.UINT8')
    cmn("imagenet", f"crop=[7, 8], {IMAGENET}", **RELATIVE)
    cmn("imagenet_hwc_mirror", f'crop=[7, 8], {IMAGENET}, mirror=1, output_layout="HWC"', **RELATIVE)
    cmn("imagenet_float16", f"crop=[7, 8], {IMAGENET}, dtype=types.FLOAT16", tolerance=2e-3, kind="range", why=HALF)
    cmn("imagenet_pad_output", f"crop=[7, 8], {IMAGENET}, pad_output=True", **RELATIVE)
    cmn("imagenet_pad_output_hwc", f'crop=[7, 8], {IMAGENET}, pad_output=True, output_layout="HWC"', **RELATIVE)
    cmn("pad_output_fill", 'crop=[7, 8], pad_output=True, fill_values=[1, 2, 3, 4], dtype=types.UINT8')
    cmn("pad_output_five_channels", 'crop=[7, 8], pad_output=True, fill_values=7, dtype=types.UINT8',
        hwc(channels=5, key=121))
    cmn("mean_only", "crop=[7, 8], mean=[10, 20, 30]")
    cmn("std_only", "crop=[7, 8], std=[2, 4, 8]")
    cmn("scalar_mean_vector_std", "crop=[7, 8], mean=100.0, std=[2, 4, 8]")
    cmn("scale_shift", "crop=[7, 8], mean=[1, 2, 3], std=2.0, scale=3.0, shift=-5.5", **RELATIVE)
    cmn("uint8", "crop=[7, 8], mean=[1, 2, 3], std=[1.5, 2, 0.5], scale=1.25, shift=3.0, dtype=types.UINT8",
        tolerance=1, why=TIES)
    cmn("int8", "crop=[7, 8], mean=[128, 127, 126], std=[1, 1, 2], dtype=types.INT8", tolerance=1, why=TIES)
    for dtype in ("int16", "uint16", "int32", "float32", "float16"):
        cmn(f"from_{dtype}", f"crop=[7, 8], {IMAGENET}", hwc(dtype=dtype, key=122), **RELATIVE)
    cmn("from_chw", f"crop=[7, 8], {IMAGENET}, mirror=1", hwc(layout="CHW", key=123), **RELATIVE)
    cmn("from_chw_to_hwc", f'crop=[7, 8], {IMAGENET}, output_layout="HWC"', hwc(layout="CHW", key=123), **RELATIVE)
    cmn("one_channel", "crop=[7, 8], mean=127.5, std=63.75", hwc(channels=1, key=124), **RELATIVE)
    cmn("four_channels", "crop=[7, 8], mean=[1, 2, 3, 4], std=[2, 4, 8, 16]", hwc(channels=4, key=125), **RELATIVE)
    cmn("pad_policy", f'crop=[16, 15], {IMAGENET}, out_of_bounds_policy="pad"', **RELATIVE)
    cmn("pad_policy_fill", f'crop=[16, 15], {IMAGENET}, out_of_bounds_policy="pad", fill_values=[1, 2, 3], mirror=1',
        **RELATIVE)
    cmn("trim_policy", f'crop=[16, 15], {IMAGENET}, out_of_bounds_policy="trim_to_shape"', **RELATIVE)
    cmn("position_truncate", 'crop=[4, 5], crop_pos_x=0.83, crop_pos_y=0.29, rounding="truncate", '
        'output_layout="HWC", dtype=types.UINT8')
    cmn("position_round", 'crop=[4, 5], crop_pos_x=0.83, crop_pos_y=0.29, output_layout="HWC", dtype=types.UINT8')
    cmn("mirror_per_sample", f"crop=[7, 8], {IMAGENET}, mirror=a", hwc(key=126) | {"a": feed([1, 0, 1, 0], I32)},
        **RELATIVE)
    cmn("mirror_per_sample_uncropped", 'mirror=a, output_layout="HWC", dtype=types.UINT8',
        hwc(SIZES, key=126) | {"a": feed([1, 0, 1, 1], I32)})
    cmn("mean_per_sample", "crop=[7, 8], mean=a, std=[2.0, 4.0, 8.0]", hwc(key=127) | {
        "a": feed([(1, 2, 3), (100, 50, 25), (0, 0, 0), (-1, -2.5, 300)], F32)}, **RELATIVE)
    cmn("position_per_sample", 'crop=[5, 6], crop_pos_x=a, crop_pos_y=b, output_layout="HWC", dtype=types.UINT8',
        hwc(key=128) | {"a": feed([0, 0.25, 0.6, 1], F32), "b": feed([1, 0.9, 0.45, 0], F32)})
    group.refused("refused_cmn_hw", "fn.crop_mirror_normalize(x)", hwc(layout="HW"))
    group.refused("refused_cmn_dtype", "fn.crop_mirror_normalize(x, dtype=types.INT32)", hwc())
    group.refused("refused_cmn_layout", 'fn.crop_mirror_normalize(x, output_layout="HW")', hwc())
    group.refused("refused_cmn_mean_count", "fn.crop_mirror_normalize(x, mean=[1, 2])", hwc())
    group.refused("refused_cmn_lengths", "fn.crop_mirror_normalize(x, mean=[1, 2, 3], std=[1, 2])", hwc())


def add_flip(group):
    for horizontal in (0, 1):
        for vertical in (0, 1):
            group.case(f"flip_{horizontal}{vertical}", f"fn.flip(x, horizontal={horizontal}, vertical={vertical})",
                       hwc(SIZES, key=130))
    group.case("flip_default", "fn.flip(x)", hwc(SIZES, key=131))
    group.case("flip_chw", "fn.flip(x, vertical=1)", hwc(SIZES, layout="CHW", key=132))
    for dtype in ("int16", "uint16", "int32", "float32", "int64"):
        group.case(f"flip_{dtype}", "fn.flip(x, vertical=1)", hwc(SIZES, dtype=dtype, key=133))
    group.case("flip_one_channel", "fn.flip(x, horizontal=0, vertical=1)", hwc(SIZES, channels=1, key=134))
    group.case("flip_per_sample", "fn.flip(x, horizontal=a, vertical=b)", hwc(SIZES, key=135) | {
        "a": feed([1, 0, 1, 0], I32), "b": feed([1, 1, 0, 0], I32)})
    group.refused("refused_flip_hw", "fn.flip(x)", hwc(layout="HW"))


EMPTY = {"resize": "fn.resize(x, size=[4, 4])", "flip": "fn.flip(x)", "cmn": "fn.crop_mirror_normalize(x)",
         "brightness": "fn.brightness(x, brightness=2.0)", "arithmetic": "x + 1", "shape": "x.shape()",
         "transpose": "fn.transpose(x, perm=[2, 0, 1])", "sum": "fn.reductions.sum(x, axes=[0, 1])"}


def add_empty(group):
    """Samples without a row among others."""
    samples = images([(0, 4), (3, 5), (4, 0)], key=140)
    for name, expression in EMPTY.items():
        options = dict(tolerance=1, why=TIES, mean_tolerance=0.15) if name in ("resize", "brightness") else {}
        group.case("empty_" + name, expression, {"x": Feed(samples, "HWC")}, **options)


def add(group):
    for part in (add_empty, add_crop, add_slice, add_normalize, add_flip):
        part(group)
