"""Operators on pictures and films: forms of their arguments, for each sample and for all."""

from . import each
from .axes_and_extents import of


def pictures(m, kind="uint8"):
    return [m.image(6, 8).astype(kind), m.image(5, 7, start=40).astype(kind)]


def named(m, arguments):
    """Names of types and filters as members of `types`."""
    kinds = ("dtype", "interp_type", "mag_filter", "min_filter", "image_type", "output_type")
    return {
        name: getattr(m.types, value) if name in kinds else value
        for name, value in arguments.items()
    }


def shown(values):
    """Layout, type, shape, and some of the numbers of each sample."""
    return [
        [v["layout"], [[s["dtype"], s["shape"], s["values"][:9]] for s in v["samples"]]]
        for v in values
    ]


CALLS = {
    "cmn_crop": ("crop_mirror_normalize", dict(crop=(3, 4))),
    "cmn_crop_whole": ("crop_mirror_normalize", dict(crop=(3.0, 4.0), dtype="UINT8")),
    "cmn_mean": ("crop_mirror_normalize", dict(mean=[1.0, 2.0, 3.0], std=[2.0, 4.0, 8.0])),
    "cmn_one_mean": ("crop_mirror_normalize", dict(mean=10.0, std=[2.0])),
    "cmn_two_means": ("crop_mirror_normalize", dict(mean=[1.0, 2.0])),
    "cmn_mirror": ("crop_mirror_normalize", dict(mirror=1, output_layout="HWC")),
    "cmn_pad": ("crop_mirror_normalize", dict(pad_output=True, output_layout="HWC")),
    "cmn_layout": ("crop_mirror_normalize", dict(output_layout="WHC")),
    "cmn_layout_wrong": ("crop_mirror_normalize", dict(output_layout="HWX")),
    "cmn_half": ("crop_mirror_normalize", dict(dtype="FLOAT16", mean=[3.0])),
    "cmn_bytes": ("crop_mirror_normalize", dict(dtype="INT8", mean=[100.0])),
    "cmn_double": ("crop_mirror_normalize", dict(dtype="FLOAT64")),
    "cmn_scale": ("crop_mirror_normalize", dict(scale=2.0, shift=1.0, mean=[10.0])),
    "cmn_outside": ("crop_mirror_normalize", dict(crop=(9, 9), out_of_bounds_policy="pad")),
    "cmn_filled": (
        "crop_mirror_normalize",
        dict(crop=(9, 9), out_of_bounds_policy="pad", fill_values=[1.0, 2.0, 3.0]),
    ),
    "cmn_trim": ("crop_mirror_normalize", dict(crop=(9, 3), out_of_bounds_policy="trim_to_shape")),
    "cmn_crop_w": ("crop_mirror_normalize", dict(crop_w=3, crop_h=2)),
    "cmn_crop_w_alone": ("crop_mirror_normalize", dict(crop_w=3)),
    "cmn_crop_both": ("crop_mirror_normalize", dict(crop=(2, 3), crop_h=2)),
    "cmn_position": ("crop_mirror_normalize", dict(crop=(2, 3), crop_pos_x=0.0, crop_pos_y=1.0)),
    "crop_d": ("crop", dict(crop_w=2, crop_h=2, crop_d=1)),
    "crop_three": ("crop", dict(crop=(2, 2, 2))),
    "crop_rounding": ("crop", dict(crop=(3, 3), rounding="truncate", crop_pos_x=0.5)),
    "crop_rounding_wrong": ("crop", dict(crop=(3, 3), rounding="up")),
    "crop_typed": ("crop", dict(crop=(2, 2), dtype="FLOAT")),
    "crop_zero": ("crop", dict(crop=(0, 2))),
    "flip_both": ("flip", dict(horizontal=1, vertical=1)),
    "flip_depth": ("flip", dict(depthwise=1, horizontal=0)),
    "resize_x": ("resize", dict(resize_x=4)),
    "resize_xy": ("resize", dict(resize_x=4, resize_y=3, interp_type="INTERP_NN")),
    "resize_shorter": ("resize", dict(resize_shorter=3, interp_type="INTERP_NN")),
    "resize_longer": ("resize", dict(resize_longer=4, interp_type="INTERP_NN")),
    "resize_max": ("resize", dict(resize_shorter=10, max_size=12, interp_type="INTERP_NN")),
    "resize_max_pair": ("resize", dict(size=[9, 9], max_size=[4, 5], interp_type="INTERP_NN")),
    "resize_larger": ("resize", dict(size=[3, 3], mode="not_smaller", interp_type="INTERP_NN")),
    "resize_smaller": ("resize", dict(size=[3, 3], mode="not_larger", interp_type="INTERP_NN")),
    "resize_stretch": ("resize", dict(resize_x=3, mode="stretch", interp_type="INTERP_NN")),
    "resize_zero": ("resize", dict(size=[0, 4], interp_type="INTERP_NN")),
    "resize_zeros": ("resize", dict(size=[0, 0], interp_type="INTERP_NN")),
    "resize_float": ("resize", dict(size=[3, 4], dtype="FLOAT", interp_type="INTERP_NN")),
    "resize_int16": ("resize", dict(size=[3, 4], dtype="INT16", interp_type="INTERP_NN")),
    "resize_attrs": ("resize", dict(size=[3, 4], save_attrs=True, interp_type="INTERP_NN")),
    "resize_roi": (
        "resize",
        dict(size=[2, 2], roi_start=[1, 1], roi_end=[5, 5], interp_type="INTERP_NN"),
    ),
    "resize_roi_relative": (
        "resize",
        dict(
            size=[2, 2],
            roi_start=[0.5, 0.5],
            roi_end=[1.0, 1.0],
            roi_relative=True,
            interp_type="INTERP_NN",
        ),
    ),
    "resize_roi_reversed": (
        "resize",
        dict(size=[2, 2], roi_start=[5, 5], roi_end=[1, 1], interp_type="INTERP_NN"),
    ),
    "resize_filters": ("resize", dict(size=[3, 3], min_filter="INTERP_NN", mag_filter="INTERP_NN")),
    "resize_z": ("resize", dict(resize_z=3)),
    "crop_resize": (
        "resize_crop_mirror",
        dict(resize_shorter=5, crop=(4, 4), mirror=1, interp_type="INTERP_NN"),
    ),
    "rotate_right": ("rotate", dict(angle=90.0, interp_type="INTERP_NN")),
    "rotate_kept": ("rotate", dict(angle=180.0, keep_size=True, interp_type="INTERP_NN")),
    "rotate_sized": ("rotate", dict(angle=90.0, size=[4, 4], interp_type="INTERP_NN")),
    "rotate_filled": ("rotate", dict(angle=45.0, fill_value=7.0, interp_type="INTERP_NN")),
    "rotate_axis": ("rotate", dict(angle=90.0, axis=[0.0, 0.0, 1.0])),
    "rotate_cubic": ("rotate", dict(angle=90.0, interp_type="INTERP_CUBIC")),
    "warp": ("warp_affine", dict(matrix=[1.0, 0, 1, 0, 1, 2], interp_type="INTERP_NN")),
    "warp_inverse": (
        "warp_affine",
        dict(matrix=[1.0, 0, 1, 0, 1, 2], inverse_map=False, interp_type="INTERP_NN"),
    ),
    "warp_sized": (
        "warp_affine",
        dict(matrix=[2.0, 0, 0, 0, 2, 0], size=[3, 3], fill_value=9, interp_type="INTERP_NN"),
    ),
    "warp_unfilled": (
        "warp_affine",
        dict(matrix=[1.0, 0, 3, 0, 1, 0], fill_value=None, interp_type="INTERP_NN"),
    ),
    "warp_nothing": ("warp_affine", dict(interp_type="INTERP_NN")),
    "warp_singular": (
        "warp_affine",
        dict(matrix=[0.0, 0, 0, 0, 0, 0], inverse_map=False, interp_type="INTERP_NN"),
    ),
    "paste": ("paste", dict(ratio=2.0, fill_value=(1, 2, 3))),
    "paste_placed": ("paste", dict(ratio=1.5, paste_x=0.0, paste_y=1.0, fill_value=5)),
    "paste_smaller": ("paste", dict(ratio=0.5, fill_value=0)),
    "paste_min": ("paste", dict(ratio=1.0, fill_value=0, min_canvas_size=10.0)),
    "paste_two_fills": ("paste", dict(ratio=2.0, fill_value=(1, 2))),
    "brightness": ("brightness", dict(brightness=1.5, brightness_shift=0.25)),
    "brightness_float": ("brightness", dict(brightness=1.5, dtype="FLOAT")),
    "contrast": ("contrast", dict(contrast=0.5, contrast_center=100.0)),
    "both": ("brightness_contrast", dict(brightness=2.0, contrast=0.5, dtype="INT16")),
    "saturation": ("saturation", dict(saturation=0.0)),
    "hue": ("hue", dict(hue=120.0)),
    "hsv": ("hsv", dict(value=0.5, saturation=1.0, dtype="FLOAT")),
    "twist": ("color_twist", dict(contrast=0.0)),
    "gray": ("color_space_conversion", dict(image_type="RGB", output_type="GRAY")),
    "bgr": ("color_space_conversion", dict(image_type="RGB", output_type="BGR")),
    "ycbcr": ("color_space_conversion", dict(image_type="RGB", output_type="YCbCr")),
    "from_gray": ("color_space_conversion", dict(image_type="GRAY", output_type="RGB")),
    "blur": ("gaussian_blur", dict(window_size=3)),
    "blur_sigma": ("gaussian_blur", dict(sigma=0.5, dtype="FLOAT")),
    "blur_pairs": ("gaussian_blur", dict(window_size=[3, 5], sigma=[0.5, 1.0])),
    "blur_three": ("gaussian_blur", dict(window_size=[3, 5, 7])),
    "blur_typed": ("gaussian_blur", dict(window_size=3, dtype="INT16")),
    "laplacian": ("laplacian", dict(window_size=3, dtype="FLOAT")),
    "laplacian_even": ("laplacian", dict(window_size=4)),
    "laplacian_scaled": ("laplacian", dict(window_size=3, scale=2.0, dtype="FLOAT")),
    "laplacian_both": ("laplacian", dict(window_size=3, scale=2.0, normalized_kernel=True)),
    "laplacian_smooth": ("laplacian", dict(window_size=5, smoothing_size=1, dtype="FLOAT")),
    "erase": ("erase", dict(anchor=[1, 2], shape=[2, 3], fill_value=9)),
    "erase_centred": ("erase", dict(anchor=[3, 4], shape=[2, 2], centered_anchor=True)),
    "erase_names": ("erase", dict(anchor=[1], shape=[2], axis_names="W", fill_value=9)),
    "erase_two": ("erase", dict(anchor=[0, 0, 3, 3], shape=[1, 1, 2, 2], fill_value=[1, 2, 3])),
    "erase_share": (
        "erase",
        dict(anchor=[0.0, 0.5], shape=[0.5, 0.5], normalized_anchor=True, normalized_shape=True),
    ),
    "erase_uneven": ("erase", dict(anchor=[0, 0, 3], shape=[1, 1, 2])),
    "transpose": ("transpose", dict(perm=[1, 0, 2])),
    "transpose_kept": ("transpose", dict(perm=[2, 0, 1], transpose_layout=False)),
    "transpose_named": ("transpose", dict(perm=[2, 0, 1], output_layout="ABC")),
    "transpose_nothing": ("transpose", {}),
    "transpose_negative": ("transpose", dict(perm=[0, 1, -1])),
    "reshape": ("reshape", dict(shape=[-1, 3], layout="XC")),
    "reshape_relative": ("reshape", dict(rel_shape=[1, -1], layout="HX")),
    "reshape_half": ("reshape", dict(rel_shape=[0.5, 2, 1])),
    "reshape_source": ("reshape", dict(src_dims=[1, 0, 2])),
    "reshape_source_new": ("reshape", dict(src_dims=[0, -1, 1, 2], layout="ABCD")),
    "reshape_nothing": ("reshape", {}),
    "reshape_none": ("reshape", dict(layout="")),
    "squeeze": ("squeeze", dict(axes=[5])),
    "expand": ("expand_dims", dict(axes=[0], new_axis_names="F")),
    "expand_short": ("expand_dims", dict(axes=[0, 2], new_axis_names="F")),
    "normalize": ("normalize", dict(axes=[0, 1])),
    "normalize_names": ("normalize", dict(axis_names="HW", scale=2.0, shift=5.0)),
    "normalize_bytes": ("normalize", dict(scale=50.0, shift=128.0, dtype="UINT8")),
    "normalize_ddof": ("normalize", dict(ddof=1, epsilon=1.0)),
    "normalize_batch": ("normalize", dict(batch=True, axes=[0, 1])),
    "normalize_mean": ("normalize", dict(mean=10.0)),
    "normalize_both": ("normalize", dict(mean=10.0, stddev=2.0)),
    "sphere": ("sphere", dict(interp_type="INTERP_NN")),
    "water": ("water", dict(ampl_x=1.0, ampl_y=1.0, interp_type="INTERP_NN", fill_value=3.0)),
    "grid": ("grid_mask", dict(ratio=0.5, tile=4, angle=0.0)),
    "peek": ("peek_image_shape", {}),
    "shapes_typed": ("shapes", dict(dtype="INT32")),
    "copy": ("copy", {}),
    "property": ("get_property", dict(key="layout")),
    "equalize": ("experimental.equalize", {}),
    "median": ("experimental.median_blur", dict(window_size=[3, 3])),
    "noise_none": ("noise.gaussian", dict(stddev=0.0)),
    "salt": ("noise.salt_and_pepper", dict(prob=0.0)),
    "remap_nothing": ("experimental.remap", {}),
    "compressed": ("jpeg_compression_distortion", dict(quality=50.0)),
}


@each(**CALLS)
def made(m, what):
    path, arguments = what

    def body(fn, x):
        function = fn
        for part in path.split("."):
            function = getattr(function, part)
        result = function(x, **named(m, arguments))
        return tuple(result) if isinstance(result, (list, tuple)) else result

    return shown(of(m, body, pictures(m), layout="HWC"))


FED = {
    "angle": ("rotate", "angle", [90.0, 180.0], "float32"),
    "size": ("resize", "size", [[3, 4], [5, 2]], "float32"),
    "resize_x": ("resize", "resize_x", [3, 4], "float32"),
    "crop": ("crop", "crop", [[2, 3], [4, 1]], "float32"),
    "crop_w": ("crop", "crop_w", [2, 3], "float32"),
    "horizontal": ("flip", "horizontal", [0, 1], "int32"),
    "horizontal_bool": ("flip", "horizontal", [False, True], "bool"),
    "horizontal_float": ("flip", "horizontal", [0.0, 1.0], "float32"),
    "mirror": ("crop_mirror_normalize", "mirror", [1, 0], "int32"),
    "mean": ("crop_mirror_normalize", "mean", [[1, 2, 3], [4, 5, 6]], "float32"),
    "brightness": ("brightness", "brightness", [0.5, 1.5], "float32"),
    "brightness_double": ("brightness", "brightness", [0.5, 1.5], "float64"),
    "brightness_row": ("brightness", "brightness", [[0.5], [1.5]], "float32"),
    "brightness_two": ("brightness", "brightness", [[0.5, 1.0], [1.5, 2.0]], "float32"),
    "matrix": ("warp_affine", "matrix", [[[1, 0, 1], [0, 1, 0]]] * 2, "float32"),
    "matrix_flat": ("warp_affine", "matrix", [[1, 0, 1, 0, 1, 0]] * 2, "float32"),
    "sigma": ("gaussian_blur", "sigma", [0.5, 1.0], "float32"),
    "window": ("gaussian_blur", "window_size", [3, 5], "int32"),
    "window_float": ("gaussian_blur", "window_size", [3.0, 5.0], "float32"),
    "perm": ("transpose", "perm", [[1, 0, 2], [2, 0, 1]], "int32"),
    "shape": ("reshape", "shape", [[-1, 3], [-1, 1]], "int32"),
    "anchor": ("erase", "anchor", [[1, 1], [2, 2]], "float32"),
    "quality": ("jpeg_compression_distortion", "quality", [10, 90], "int32"),
    "layout": ("reshape", "layout", [1, 2], "int32"),
    "dtype": ("cast", "dtype", [1, 2], "int32"),
}


@each(**FED)
def fed(m, what):
    path, name, values, kind = what
    more = {"shape": [1.0, 1.0]} if path == "erase" else {}
    if path in ("rotate", "warp_affine", "resize"):
        more["interp_type"] = m.types.INTERP_NN

    def body(fn, x, y):
        return getattr(fn, path)(x, **{name: y}, **more)

    feed = [m.np.array(one, kind) for one in values]
    return shown(of(m, body, pictures(m), feed, layout="HWC"))


TYPES = "bool int8 uint16 int16 uint32 int32 uint64 int64 float16 float32 float64".split()
BODIES = {
    "crop": lambda fn, x: fn.crop(x, crop=(2, 3)),
    "flip": lambda fn, x: fn.flip(x),
    "resize": lambda fn, x: fn.resize(x, size=[3, 4], interp_type=0),
    "cmn": lambda fn, x: fn.crop_mirror_normalize(x),
    "brightness": lambda fn, x: fn.brightness(x, brightness=0.5),
    "contrast": lambda fn, x: fn.contrast(x, contrast=0.5),
    "hsv": lambda fn, x: fn.hsv(x, hue=30.0),
    "rotate": lambda fn, x: fn.rotate(x, angle=90.0, interp_type=0),
    "blur": lambda fn, x: fn.gaussian_blur(x, window_size=3),
    "laplacian": lambda fn, x: fn.laplacian(x, window_size=3),
    "erase": lambda fn, x: fn.erase(x, anchor=[0, 0], shape=[2, 2]),
    "normalize": lambda fn, x: fn.normalize(x),
    "paste": lambda fn, x: fn.paste(x, ratio=1.5, fill_value=1),
    "pad": lambda fn, x: fn.pad(x, axes=[0], fill_value=1),
    "transpose": lambda fn, x: fn.transpose(x, perm=[2, 0, 1]),
    "one_hot": lambda fn, x: fn.shapes(fn.one_hot(x, num_classes=3)),
    "stack": lambda fn, x: fn.stack(x, x),
    "grid": lambda fn, x: fn.grid_mask(x, tile=4),
    "equalize": lambda fn, x: fn.experimental.equalize(x),
}


def refused_or(m, function):
    """What `function` gives; "refused" where it raises: more may be accepted here."""
    value = m.attempt(function)
    return "refused" if str(value).startswith("raises") else value


@each(*BODIES)
def of_types(m, name):
    """The type that comes out for every type that goes in."""
    return {
        kind: refused_or(
            m,
            lambda kind=kind: [
                [s["dtype"], s["shape"]]
                for s in of(m, BODIES[name], pictures(m, kind), layout="HWC")[0]["samples"]
            ],
        )
        for kind in TYPES
    }


@each(*BODIES)
def of_layouts(m, name):
    """Layout and shape that come out for layouts of pictures, films and volumes."""
    got = {}
    for layout in ("HWC", "CHW", "HW", "FHWC", "DHWC", "FCHW", "WHC", ""):
        shape = tuple(
            {"F": 2, "D": 2, "H": 4, "W": 5, "C": 3}[letter] for letter in layout or "HWC"
        )
        feed = [m.np.arange(m.np.prod(shape), dtype="uint8").reshape(shape)] * 2

        def run(layout=layout, feed=feed):
            made = of(m, BODIES[name], feed, layout=layout)[0]
            return [made["layout"], made["samples"][0]["shape"]]

        got[layout] = refused_or(m, run)
    return got
