"""Cases of resize_crop_mirror, of grid_mask, sphere and water, and of noise.gaussian where nothing is drawn."""
import numpy as np

from recorder import Feed
from samples import images

SIZES = [(37, 53), (48, 20), (31, 32), (9, 7)]
WEIGHTS = "ties and the precision of tap weights differ by at most one level"


def hwc(key=950, dtype="uint8", layout="HWC"):
    return {"x": Feed(images(SIZES, key=key, dtype=dtype, layout=layout), layout)}


def masked(image, tile=100, ratio=0.5, angle=0.0, shift_x=0.0, shift_y=0.0):
    f = np.float32
    y, x = np.mgrid[0:image.shape[0], 0:image.shape[1]].astype(f)
    c, s = f(np.cos(f(angle))), f(np.sin(f(angle)))
    u = (x * c - y * s - f(shift_x)) / f(tile)
    v = (x * s + y * c - f(shift_y)) / f(tile)
    out = image.copy()
    out[(u - np.floor(u) < f(ratio)) & (v - np.floor(v) < f(ratio))] = 0
    return out


def add_cropped(group):
    sizes = ["resize_x=30, resize_y=20", "resize_shorter=40", "resize_shorter=22.5", "resize_longer=35", "size=(20, 30)",
             'size=(20, 30), mode="not_smaller"', 'size=(20, 30), mode="not_larger"', "resize_x=25",
             "size=(20, 30), roi_start=(1, 2), roi_end=(7, 6)",
             "size=(20, 30), roi_start=(0.75, 0.1), roi_end=(0.25, 0.9), roi_relative=True"]
    windows = ["", ", crop=(11, 13)", ", crop=(10.7, 12.4), crop_pos_x=0.2, crop_pos_y=0.9",
               ', crop_h=9, crop_w=7, crop_pos_x=0.33, rounding="truncate"', ", crop=(45, 50), crop_pos_y=0.25"]
    number = 0
    for place, size in enumerate(sizes):
        for window, mirror in zip(windows, [(0, 1, 2, 3, 1)[(place + k) % 5] for k in range(5)]):
            group.case(f"resize_crop_mirror_{number}", f"fn.resize_crop_mirror(x, {size}{window}, mirror={mirror})", hwc(),
                       tolerance=1, mean_tolerance=0.1, why=WEIGHTS)
            number += 1
    for filter in ("NN", "TRIANGULAR", "CUBIC", "LANCZOS3"):
        exact = filter == "NN"
        group.case(f"resize_crop_mirror_{filter.lower()}",
                   f"fn.resize_crop_mirror(x, size=(24, 26), interp_type=types.INTERP_{filter}, crop=(15, 14), "
                   "crop_pos_x=0.3, mirror=1)", hwc(951),
                   **({} if exact else dict(tolerance=1, mean_tolerance=0.1, why=WEIGHTS)))
    per_sample = {"m": Feed([np.array(m, np.int32) for m in (0, 1, 2, 3)]),
                  "s": Feed([np.array(s, np.float32) for s in (20, 31.5, 14, 40)])}
    group.case("resize_crop_mirror_per_sample", "fn.resize_crop_mirror(x, resize_shorter=s, crop=(12, 12), mirror=m)",
               hwc(952) | per_sample, tolerance=1, mean_tolerance=0.1, why=WEIGHTS)
    group.case("resize_crop_mirror_float",
               "fn.resize_crop_mirror(x, size=(20, 30), crop=(11, 13), dtype=types.FLOAT, mirror=3)", hwc(953),
               tolerance=1e-3, why="float32 places and sums")
    group.case("resize_crop_mirror_chw", "fn.resize_crop_mirror(x, size=(20, 30), crop=(11, 13))",
               hwc(954, layout="CHW"), tolerance=1, mean_tolerance=0.1, why=WEIGHTS)
    group.case("fast_resize_crop_mirror", "fn.fast_resize_crop_mirror(x, size=(20, 30), crop=(11, 13), mirror=1)", hwc(955),
               tolerance=1, mean_tolerance=0.1, why=WEIGHTS)
    group.refused("refused_crop_alone", "fn.resize_crop_mirror(x, size=(20, 30), crop_w=10)", hwc())
    group.refused("refused_no_size", "fn.resize_crop_mirror(x, crop=(10, 12))", hwc())


def add_masks(group):
    for number, arguments in enumerate([dict(), dict(tile=10), dict(tile=7, ratio=0.3), dict(tile=10, angle=0.5),
                                        dict(tile=10, shift_x=3.0, shift_y=4.5), dict(tile=3, ratio=1.0),
                                        dict(tile=10, angle=-1.2, shift_x=3.0, shift_y=-7.0, ratio=0.7), dict(ratio=0.0)]):
        text = ", ".join(f"{name}={value}" for name, value in arguments.items())
        group.case(f"grid_mask_{number}", f"fn.grid_mask(x, {text})" if text else "fn.grid_mask(x)", hwc(960),
                   expect=lambda x, a=arguments: masked(x, **a))
    group.case("grid_mask_float", "fn.grid_mask(x, tile=9, angle=0.25)", hwc(961, "float32"),
               expect=lambda x: masked(x, tile=9, angle=0.25))
    per_sample = {"t": Feed([np.array(t, np.int32) for t in (4, 9, 13, 2)]),
                  "a": Feed([np.array(a, np.float32) for a in (0, 0.3, -0.7, 1.5)])}
    group.case("grid_mask_per_sample", "fn.grid_mask(x, tile=t, angle=a, ratio=0.4)", hwc(962) | per_sample,
               expect=lambda x, t, a: masked(x, tile=t, angle=a, ratio=0.4))
    group.refused("refused_grid_mask_tile", "fn.grid_mask(x, tile=0)", hwc())


def add_displaced(group):
    wave = "ampl_x=2.0, ampl_y=1.5, freq_x=0.4, freq_y=0.7, phase_x=0.3, phase_y=1.0"
    linear = dict(tolerance=1, mean_tolerance=0.1, why="float32 places; DALI rounds ties away from zero")
    for name, calls in (("sphere", ["", ", fill_value=7"]), ("water", ["", f", {wave}, fill_value=7"])):
        for number, arguments in enumerate(calls):
            group.case(f"{name}_{number}", f"fn.{name}(x{arguments})", hwc(970))
            group.case(f"{name}_{number}_linear", f"fn.{name}(x{arguments}, interp_type=types.INTERP_LINEAR)", hwc(971), **linear)
        group.case(f"{name}_float", f"fn.{name}(x, interp_type=types.INTERP_LINEAR)", hwc(972, "float32"), tolerance=2e-3,
                   why="float32 places")
        group.refused(f"refused_{name}_cubic", f"fn.{name}(x, interp_type=types.INTERP_CUBIC)", hwc())


def add_noise(group):
    group.case("noise_gaussian_none", "fn.noise.gaussian(x, stddev=0.0)", hwc(963), expect=lambda x: x)
    group.case("noise_gaussian_shift", "fn.noise.gaussian(x, mean=20.25, stddev=0.0)", hwc(963),
               expect=lambda x: np.clip(x.astype(np.int32) + 20, 0, 255))
    group.case("noise_gaussian_float", "fn.noise.gaussian(x, mean=-1.5, stddev=0.0)", hwc(964, "float32"),
               expect=lambda x: x - np.float32(1.5))


def add(group):
    add_cropped(group)
    add_masks(group)
    add_displaced(group)
    add_noise(group)
