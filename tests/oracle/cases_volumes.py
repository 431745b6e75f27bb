"""Cases of volumes (D), of sequences in other layouts than FHWC, and of arguments per frame."""
import numpy as np

from recorder import Feed
from samples import image

ROUNDED = dict(tolerance=1, why="ties and float32 rounding")
FLOAT = dict(tolerance=0.01, why="order of summation")


def box(layout, key, **extents):
    """Pixels of photographs, one for each place along the axes that images lack."""
    sizes = {"F": 2, "D": 3, "H": 8, "W": 11, "C": 3, **extents}
    outer = [axis for axis in layout if axis not in "HWC"]
    count = int(np.prod([sizes[axis] for axis in outer]))
    shots = np.stack([image(sizes["H"], sizes["W"], key=key + n) for n in range(count)])
    shots = shots.reshape([sizes[axis] for axis in outer] + list(shots.shape[1:]))
    named = "".join(outer) + "HWC"
    return np.transpose(shots, [named.index(axis) for axis in layout])


def boxes(layout, key):
    return Feed([box(layout, key), box(layout, key + 30, D=2, H=5, W=6), box(layout, key + 60, D=1, F=3, H=7, W=4)], layout)


def numbers(*values):
    return Feed([np.float32(value) for value in values], "F" if np.ndim(values[0]) == 1 else None)


def per_frame(*samples):
    return Feed([np.array(sample, np.float32) for sample in samples])


def add_volumes(group):
    for layout in ("DHWC", "CDHW"):
        group.case(f"crop_{layout}", "fn.crop(x, crop_d=1, crop_h=3, crop_w=2, crop_pos_z=0.3, crop_pos_x=0.8)", {"x": boxes(layout, 3000)})
        group.case(f"crop_list_{layout}", "fn.crop(x, crop=(4, 3, 5), out_of_bounds_policy='pad', fill_values=7)", {"x": boxes(layout, 3000)})
        group.case(f"crop_two_{layout}", "fn.crop(x, crop=(3, 2))", {"x": boxes(layout, 3000)})
        group.case(f"flip_{layout}", "fn.flip(x, horizontal=0, depthwise=1, vertical=1)", {"x": boxes(layout, 3000)})
        group.case(f"normalize_{layout}", "fn.crop_mirror_normalize(x, crop=(3, 2), mirror=1, mean=[1, 2, 3], std=[4, 5, 6], output_layout='')",
                   {"x": boxes(layout, 3000)}, **FLOAT)
        group.case(f"blur_{layout}", "fn.gaussian_blur(x, sigma=[0.7, 1.1, 0.6], dtype=types.FLOAT)", {"x": boxes(layout, 3000)}, **FLOAT)
        group.case(f"laplacian_{layout}", "fn.laplacian(x, window_size=[3, 5, 3], dtype=types.FLOAT)", {"x": boxes(layout, 3000)}, **FLOAT)
        for name, size in {"size": "size=(2, 7, 5)", "xy": "resize_x=5, resize_y=9", "z": "resize_z=4", "shorter": "resize_shorter=4",
                           "longer": "resize_longer=9", "not_larger": "size=(4, 9, 6), mode='not_larger'",
                           "region": "size=(2, 4, 5), roi_start=(0, 0.2, 0.1), roi_end=(0.9, 0.8, 1), roi_relative=True"}.items():
            group.case(f"resize_{name}_{layout}", f"fn.resize(x, {size}, dtype=types.FLOAT)", {"x": boxes(layout, 3000)}, **FLOAT)
    group.case("resize_cubic", "fn.resize(x, size=(4, 7, 5), interp_type=types.INTERP_CUBIC)", {"x": boxes("DHWC", 3000)}, **ROUNDED)
    group.case("brightness", "fn.brightness(x, brightness=1.3)", {"x": boxes("DHWC", 3000)}, **ROUNDED)
    group.case("hue", "fn.hue(x, hue=50)", {"x": boxes("DHWC", 3000)}, **ROUNDED)


def add_layouts(group):
    group.case("resize_FCHW", "fn.resize(x, size=(4, 9))", {"x": boxes("FCHW", 3100)}, **ROUNDED)
    group.case("resize_CFHW", "fn.resize(x, size=(4, 9))", {"x": boxes("CFHW", 3100)}, **ROUNDED)
    group.case("resize_FDHWC", "fn.resize(x, size=(2, 4, 9))", {"x": boxes("FDHWC", 3100)}, **ROUNDED)
    group.case("crop_FCHW", "fn.crop(x, crop=(3, 2), crop_pos_y=0.9)", {"x": boxes("FCHW", 3100)})
    group.case("flip_FDHWC", "fn.flip(x, depthwise=1)", {"x": boxes("FDHWC", 3100)})
    group.case("normalize_FCHW", "fn.crop_mirror_normalize(x, output_layout='FCHW', mean=[1, 2, 3], std=2)", {"x": boxes("FHWC", 3100)}, **FLOAT)
    group.case("equalize_FHW", "fn.equalize(x)", {"x": Feed([box("FHWC", 3200)[..., 0], box("FHWC", 3230)[..., 1]], "FHW")})
    group.case("convert_FDHWC", "fn.color_space_conversion(x, image_type=types.RGB, output_type=types.YCbCr)", {"x": boxes("FDHWC", 3100)}, **ROUNDED)
    group.case("blur_FDHWC", "fn.gaussian_blur(x, sigma=0.8)", {"x": boxes("FDHWC", 3100)}, **ROUNDED)


def add_per_frame(group):
    frames = Feed([box("FHWC", 3300), box("FHWC", 3330, F=3, H=6, W=9)], "FHWC")
    group.case("brightness_per_frame", "fn.brightness(x, brightness=fn.per_frame(v))",
               {"x": frames, "v": per_frame([0.5, 1.5], [1, 0, 2])}, **ROUNDED)
    group.case("hsv_per_frame", "fn.hsv(x, hue=fn.per_frame(v), saturation=0.5)", {"x": frames, "v": per_frame([50, -70], [10, 180, 0])},
               **ROUNDED)
    warped = dict(tolerance=1, why="float32 rounding of places and weights", mean_tolerance=0.2)
    pairs = Feed([box("FHWC", 3300), box("FHWC", 3330, H=6, W=9)], "FHWC")
    matrices = per_frame([[[1, 0.2, -1], [0, 0.9, 1]], [[0.8, 0, 2], [0.1, 1, 0]]], [[[1, 0, k], [0, 1, 0.5 * k]] for k in range(2)])
    # What is checked for each frame needs their number.
    group.case("warp_per_frame", "fn.warp_affine(x, fn.per_frame(fn.reshape(v, shape=[2, 2, 3])), fill_value=5)", {"x": pairs, "v": matrices},
               **warped)
    group.case("rotate_per_frame", "fn.rotate(x, angle=fn.per_frame(fn.reshape(v, shape=[2])), keep_size=True, fill_value=5)",
               {"x": pairs, "v": per_frame([30, -70], [10, 180])}, **warped)
    group.case("blur_per_frame", "fn.gaussian_blur(x, sigma=fn.per_frame(fn.reshape(v, shape=[2, 2])), window_size=5)",
               {"x": pairs, "v": per_frame([[0.5, 1], [2, 0.7]], [[1, 1], [3, 2]])}, **ROUNDED)
    group.case("names", "fn.per_frame(v)", {"v": per_frame([[1, 2], [3, 4]], [[5, 6]])})


def add(group):
    add_volumes(group)
    add_layouts(group)
    add_per_frame(group)
