"""Cases of sequences, FHWC: what automatic augmentation is made of, and its augmentations at every bin and sign.

All frames of a sequence get one parameter; statistics are those of a frame.
"""
import numpy as np

from cases_auto_augment import BINS, IMPORT, PLAIN, SIGNED, UNSIGNED, bins, call, signs, tolerance_of
from recorder import Feed
from samples import image

WARP = dict(tolerance=1, why="float32 rounding of places and weights", mean_tolerance=0.2)
COLOUR = dict(tolerance=1, why="ties and float32 rounding")


def sequence(frames, height, width, key):
    """Frames that differ in their statistics."""
    return np.stack([image(height, width, key=key + f) // (1 + f % 3) + 11 * f for f in range(frames)]).astype(np.uint8)


def sequences(count, key):
    shots = [sequence(3, 9, 13, key), sequence(1, 7, 6, key + 10), sequence(4, 6, 8, key + 20)]
    return Feed([shots[i % 3] for i in range(count)], "FHWC")


def few(key):
    return sequences(4, key)


def add_operators(group):
    angles = Feed([np.float32(v) for v in (0, 17.5, -90, 200)])
    group.case("rotate", "fn.rotate(x, angle=v, keep_size=True, fill_value=9)", {"x": few(2000), "v": angles}, **WARP)
    group.case("rotate_canvas", "fn.rotate(x, angle=v, fill_value=9)", {"x": few(2000), "v": angles}, **WARP)
    group.case("rotate_quarter", "fn.rotate(x, angle=90.0, fill_value=9)", {"x": few(2000)})
    group.case("warp_affine", "fn.warp_affine(x, matrix=[1.0, 0.2, -1.5, -0.1, 0.9, 2.0], fill_value=50)", {"x": few(2010)}, **WARP)
    group.case("warp_affine_edge", "fn.warp_affine(x, matrix=[1.0, 0.2, -1.5, -0.1, 0.9, 2.0], size=[5, 17])", {"x": few(2010)}, **WARP)
    # No place lies between two pixels: DALI steps along a row, and ties would fall otherwise.
    group.case("warp_affine_nearest", "fn.warp_affine(x, matrix=[1.013, 0.217, -1.57, -0.113, 0.917, 2.03], fill_value=3, interp_type=types.INTERP_NN)",
               {"x": few(2010)})
    factors = Feed([np.float32(v) for v in (0, 0.5, 1.3, 2.2)])
    for name in ("brightness", "contrast", "saturation"):
        group.case(name, f"fn.{name}(x, {name}=v)", {"x": few(2020), "v": factors}, **COLOUR)
    group.case("hue", "fn.hue(x, hue=77)", {"x": few(2020)}, **COLOUR)
    group.case("color_twist", "fn.color_twist(x, hue=20, saturation=0.7, contrast=1.2, brightness=0.9)", {"x": few(2020)}, **COLOUR)
    group.case("equalize", "fn.experimental.equalize(x)", {"x": few(2030)})
    window = "types.Constant(np.array([[0, -0.5, 0.25], [0.5, 1, 0.125]], dtype=np.float32), device='cpu')"
    group.case("gaussian_blur", "fn.gaussian_blur(x, sigma=[1.2, 0.7])", {"x": few(2050)}, **COLOUR)
    group.case("gaussian_blur_window", "fn.gaussian_blur(x, window_size=3)", {"x": few(2050)}, **COLOUR)
    group.case("laplacian", "fn.laplacian(x, window_size=3, dtype=types.FLOAT)", {"x": few(2050)}, tolerance=0.002,
               why="order of summation")
    group.case("filter", f"import numpy as np\n---\nreturn fn.experimental.filter(x, {window})", {"x": few(2040)}, **COLOUR)


def add_output_layouts(group):
    """The frames' axis stands where output_layout says."""
    shots = few(2060).samples
    for layout in ("FHWC", "FCHW", "CFHW"):
        feeds = {"x": Feed([shot.transpose(["FHWC".index(letter) for letter in layout]) for shot in shots], layout)}
        for output in ("FHWC", "FCHW", "CFHW", "HWFC"):
            group.case(f"crop_mirror_normalize_{layout}_{output}", f'fn.crop_mirror_normalize(x, crop=[4, 5], mean=[1, 2, 3], output_layout="{output}")',
                       feeds, tolerance=1e-5, why="float32")


def add_augmentations(group):
    for k, name in enumerate(SIGNED):
        group.case(f"augmentation_{name}", call(name), {"x": sequences(2 * BINS, 2100 + 30 * k), "b": bins(), "s": signs()},
                   **tolerance_of(name))
    for k, name in enumerate(UNSIGNED):
        text = f"{IMPORT}return a.{name}(x, magnitude_bin=b, num_magnitude_bins={BINS})"
        group.case(f"augmentation_{name}", text, {"x": sequences(2 * BINS, 2400 + 30 * k), "b": bins()})
    for k, name in enumerate(PLAIN):
        group.case(f"augmentation_{name}", f"{IMPORT}return a.{name}(x)", {"x": sequences(3, 2500 + 30 * k)}, **tolerance_of(name))
    flat = Feed([np.stack([np.full((5, 6, 3), v, np.uint8) for v in (0, 137, 255)]), np.full((2, 4, 3, 3), 9, np.uint8)], "FHWC")
    for name in ("equalize", "auto_contrast", "contrast", "color", "sharpness"):
        text = f"{IMPORT}return a.{name}(x, magnitude_bin=signed_bin(7, random_sign=s), num_magnitude_bins={BINS})"
        if name in PLAIN:
            text = f"{IMPORT}return a.{name}(x)"
        group.case(f"flat_{name}", text, {"x": flat, "s": signs(2)}, **tolerance_of(name))
    for name in ("translate_x", "translate_y"):
        group.case(f"relative_{name}", call(name, "shape=[20, 30]"), {"x": sequences(2 * BINS, 2600), "b": bins(), "s": signs()},
                   **tolerance_of(name))


APPLY = """from nvidia.dali.auto_aug import augmentations as a
from nvidia.dali.auto_aug import auto_augment, rand_augment, trivial_augment
from nvidia.dali.auto_aug.core import Policy
---
"""


def add_applications(group):
    """What is drawn has no choice: one augmentation, probability 1."""
    feeds = {"x": few(2700), "c": Feed([np.array(v) for v in (True, True, False, True)])}
    texts = {
        "rand_augment": "rand_augment.apply_rand_augment([a.posterize], x, n=2, m=3)",
        "trivial_augment": "trivial_augment.apply_trivial_augment([a.auto_contrast], x)",
        "auto_augment": "auto_augment.apply_auto_augment(Policy('mine', 11, [[(a.equalize, 1.0, None), (a.solarize, 1, 5)]]), x)",
    }
    for name, text in texts.items():
        group.case("apply_" + name, f"{APPLY}if c:\n    x = {text}\nreturn x", feeds, **COLOUR)


def add(group):
    add_operators(group)
    add_output_layouts(group)
    add_augmentations(group)
    add_applications(group)
