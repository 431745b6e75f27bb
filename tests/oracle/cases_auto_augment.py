"""Cases of nvidia.dali.auto_aug: every augmentation at every magnitude bin and sign, parameter tables, policies.

What is drawn is fed instead (bins and signs), or left no choice (one augmentation, probability 1).
"""
import numpy as np

from recorder import Feed
from samples import image, images

BINS = 11
ROUNDING = "ties and float32 rounding differ by at most one level"
COLOUR = "the product of the colour matrices is rounded elsewhere"
IMPORT = "from nvidia.dali.auto_aug import augmentations as a\nfrom nvidia.dali.auto_aug.core import signed_bin\n---\n"

SIGNED = ["shear_x", "shear_y", "translate_x_no_shape", "translate_y_no_shape", "rotate", "brightness", "contrast", "color", "sharpness"]
UNSIGNED = ["posterize", "solarize", "solarize_add"]
PLAIN = ["invert", "equalize", "auto_contrast", "identity"]


def batch(count, key):
    """Few images again and again: equal ones are stored once."""
    pictures = [image(14, 17, key=key), image(9, 12, key=key + 1), image(16, 11, key=key + 2)]
    return Feed([pictures[i % 3] for i in range(count)], "HWC")


def bins(count=2 * BINS, most=BINS):
    return Feed([np.array(i // 2 % most, np.int32) for i in range(count)])


def signs(count=2 * BINS):
    return Feed([np.array(i % 2, np.int32) for i in range(count)])


def signed_feeds(key):
    return {"x": batch(2 * BINS, key), "b": bins(), "s": signs()}


def call(name, arguments=""):
    return (f"{IMPORT}return a.{name}(x, magnitude_bin=signed_bin(b, random_sign=s), num_magnitude_bins={BINS}"
            f"{', ' + arguments if arguments else ''})")


def tolerance_of(name):
    warp = name.startswith(("shear", "translate", "rotate"))
    return dict(tolerance=1, why=ROUNDING, mean_tolerance=0.2 if warp else 0.3)


def add_augmentations(group):
    for k, name in enumerate(SIGNED):
        group.case(f"augmentation_{name}", call(name), signed_feeds(900 + 3 * k), **tolerance_of(name))
    for k, name in enumerate(UNSIGNED):
        text = f"{IMPORT}return a.{name}(x, magnitude_bin=b, num_magnitude_bins={BINS})"
        group.case(f"augmentation_{name}", text, {"x": batch(2 * BINS, 940 + 3 * k), "b": bins()})
    for k, name in enumerate(PLAIN):
        group.case(f"augmentation_{name}", f"{IMPORT}return a.{name}(x)", {"x": batch(3, 950 + 3 * k)}, **tolerance_of(name))
    flat = Feed([np.full((5, 6, 3), v, np.uint8) for v in (0, 137, 255)] + [np.dstack([np.full((5, 6), 9, np.uint8), image(5, 6)[..., :2]])],
                "HWC")
    for name in ("equalize", "auto_contrast", "contrast", "color", "sharpness"):
        text = f"{IMPORT}return a.{name}(x, magnitude_bin=signed_bin(7, random_sign=s), num_magnitude_bins={BINS})"
        if name in PLAIN:
            text = f"{IMPORT}return a.{name}(x)"
        group.case(f"flat_{name}", text, {"x": flat, "s": signs(4)}, **tolerance_of(name))


def add_options(group):
    for k, name in enumerate(["shear_x", "translate_y_no_shape", "rotate"]):
        for option, arguments in (("fill", "fill_value=7"), ("edge", "fill_value=None"), ("nearest", "interp_type=types.INTERP_NN")):
            group.case(f"{option}_{name}", call(name, arguments), signed_feeds(960 + 3 * k), **tolerance_of(name))
    for name in ("translate_x", "translate_y"):
        group.case(f"relative_{name}", call(name, "shape=[20, 30]"), signed_feeds(970), **tolerance_of(name))
        group.case(f"per_sample_{name}", call(name, "shape=x.shape()"), signed_feeds(971), **tolerance_of(name))
    group.case("rotate_canvas", call("rotate", "rotate_keep_size=False"), signed_feeds(972), **tolerance_of("rotate"))
    group.case("other_range", f"{IMPORT}return a.brightness.augmentation((0.5, 0.1), False, None)(x, magnitude_bin=b, num_magnitude_bins={BINS})",
               {"x": batch(2 * BINS, 973), "b": bins()}, **tolerance_of("brightness"))
    group.case("static_bin", f"{IMPORT}return a.shear_y(x, magnitude_bin=signed_bin(6, random_sign=s), num_magnitude_bins={BINS})",
               {"x": batch(4, 974), "s": signs(4)}, **tolerance_of("shear_y"))


PROBE = """from nvidia.dali.auto_aug import {module} as m
from nvidia.dali.auto_aug.core import augmentation, signed_bin

def probe(aug):
    @augmentation(mag_range=aug.mag_range, randomly_negate=aug.randomly_negate, mag_to_param=aug.mag_to_param)
    def parameter(data, param):
        return param
    return parameter
---
augs = {augs}
out = [probe(aug)(x, magnitude_bin=signed_bin(b, random_sign=s), num_magnitude_bins={bins}) for aug in augs if aug.mag_range is not None]
return (x, *out)"""


def add_tables(group):
    suites = [("rand_augment", "get_rand_augment_suite", 31), ("rand_augment", "get_rand_augment_non_monotonic_suite", 31),
              ("trivial_augment", "get_trivial_augment_wide_suite", 31), ("trivial_augment", "get_trivial_augment_wide_suite", 5)]
    for module, suite, count in suites:
        for arguments in ("", "use_shape=True", "use_shape=False, max_translate_abs=(17, 40)", "use_shape=True, max_translate_rel=0.25"):
            size = 2 * count
            feeds = {"x": Feed([image(2, 2)] * size, "HWC"), "b": bins(size, count), "s": signs(size)}
            text = PROBE.format(module=module, augs=f"m.{suite}({arguments})", bins=count)
            label = arguments.replace("use_shape=", "").replace("max_translate_", "").replace(", ", "_").replace("=", "_")
            group.case(f"table_{suite[4:]}_{count}_{label or 'default'}", text, feeds, tolerance=1e-6, kind="range",
                       why="the ends of a range are divided in another order")


POLICY = """import numpy as np
from nvidia.dali.auto_aug import auto_augment as m
---
policy = m.{policy}
rows = policy.sub_policies
names = ["auto_contrast", "brightness", "color", "contrast", "equalize", "invert", "posterize", "rotate", "sharpness", "shear_x", "shear_y",
         "solarize", "solarize_add", "translate_x", "translate_y"]
operations = [[names.index(row[k][0].name) if k < len(row) else -1 for k in range(2)] for row in rows]
probabilities = [[float(row[k][1]) if k < len(row) else -1.0 for k in range(2)] for row in rows]
bins = [[-1 if k >= len(row) or row[k][2] is None else row[k][2] for k in range(2)] for row in rows]
return (fn.cast(types.Constant(np.array(operations), device="cpu"), dtype=types.INT32), fn.cast(types.Constant(np.array(probabilities), device="cpu"), dtype=types.FLOAT),
        fn.cast(types.Constant(np.array(bins), device="cpu"), dtype=types.INT32), x + policy.num_magnitude_bins)"""


def add_policies(group):
    feeds = {"x": Feed([np.array(0, np.int32)] * 2)}
    for policy in ("image_net", "reduced_image_net", "reduced_cifar10", "svhn"):
        group.case(f"policy_{policy}", POLICY.format(policy=f"get_{policy}_policy()"), feeds)
    for policy in ("image_net", "reduced_cifar10", "svhn"):
        augs = f"list(m.get_{policy}_policy(True).augmentations.values())"
        size = 2 * BINS
        named = {"x": Feed([image(2, 2)] * size, "HWC"), "b": bins(), "s": signs()}
        group.case(f"table_{policy}", PROBE.format(module="auto_augment", augs=augs, bins=BINS), named, tolerance=1e-6, kind="range",
                   why="the ends of a range are divided in another order")


CUTOUT = """from nvidia.dali.auto_aug import auto_augment, rand_augment, trivial_augment, augmentations as a
from nvidia.dali.auto_aug.core import augmentation, Policy

def window(magnitude):
    return [magnitude, 1 - magnitude]

@augmentation(mag_range=(0.2, 0.6), mag_to_param=window)
def cutout(data, size, fill_value=None):
    return fn.erase(data, anchor=[0.25, 0.25], shape=size, axis_names="HW", normalized=True, fill_value=fill_value)
---
"""


def add_applications(group):
    feeds = {"x": Feed(images(key=980), "HWC")}
    group.case("apply_rand_augment", CUTOUT + "if c:\n    x = rand_augment.apply_rand_augment([cutout], x, n=1, m=9, fill_value=60)\nreturn x",
               feeds | {"c": Feed([np.array(v) for v in (True, True, False, True)])})
    group.case("apply_rand_augment_twice", CUTOUT + "if c:\n    x = rand_augment.apply_rand_augment([a.posterize], x, n=2, m=3)\nreturn x",
               feeds | {"c": Feed([np.array(v) for v in (True, True, False, True)])})
    group.case("apply_trivial_augment", CUTOUT + "if c:\n    x = trivial_augment.apply_trivial_augment([a.invert], x)\nreturn x",
               feeds | {"c": Feed([np.array(v) for v in (True, True, False, True)])})
    group.case("apply_auto_augment",
               CUTOUT + "policy = Policy('mine', 11, [[(cutout, 1.0, 3), (a.invert, 1.0, None), (a.posterize, 1, 5)]])\n"
               "if c:\n    x = auto_augment.apply_auto_augment(policy, x, fill_value=9)\nreturn x",
               feeds | {"c": Feed([np.array(v) for v in (True, True, False, True)])})


REFUSED = {
    "bin_outside": "return a.rotate(x, magnitude_bin=11, num_magnitude_bins=11)",
    "bin_missing": "return a.rotate(x)",
    "bins_missing": "return a.rotate(x, magnitude_bin=3)",
    "shape_missing": "return a.translate_x(x, magnitude_bin=3, num_magnitude_bins=11)",
    "unknown_policy": "if c:\n    x = auto_augment.auto_augment(x, 'imagenet')\nreturn x",
    "m_outside": "if c:\n    x = rand_augment.rand_augment(x, 2, 31)\nreturn x",
    "negative_n": "if c:\n    x = rand_augment.rand_augment(x, -1, 3)\nreturn x",
    "excluded_unknown": "if c:\n    x = rand_augment.rand_augment(x, 2, 3, excluded=['rotated'])\nreturn x",
    "abs_with_shape": "if c:\n    x = rand_augment.rand_augment(x, 2, 3, shape=[9, 9], max_translate_abs=3)\nreturn x",
    "rel_without_shape": "if c:\n    x = trivial_augment.trivial_augment_wide(x, max_translate_rel=0.3)\nreturn x",
    "reduced_with_shape": "if c:\n    x = auto_augment.auto_augment(x, 'reduced_image_net', shape=[9, 9])\nreturn x",
    "unused_argument": "if c:\n    x = rand_augment.apply_rand_augment([cutout], x, n=1, m=3, fill=3)\nreturn x",
    "policy_probability": "if c:\n    x = auto_augment.apply_auto_augment(Policy('mine', 11, [[(a.invert, 1.5, None)]]), x)\nreturn x",
    "policy_bin": "if c:\n    x = auto_augment.apply_auto_augment(Policy('mine', 11, [[(cutout, 0.5, 11)]]), x)\nreturn x",
    "policy_no_bin": "if c:\n    x = auto_augment.apply_auto_augment(Policy('mine', 11, [[(cutout, 0.5, None)]]), x)\nreturn x",
    "policy_function": "if c:\n    x = auto_augment.apply_auto_augment(Policy('mine', 11, [[(window, 0.5, 3)]]), x)\nreturn x",
    "empty_suite": "if c:\n    x = rand_augment.apply_rand_augment([], x, n=1, m=3)\nreturn x",
}


def add_refused(group):
    feeds = {"x": Feed(images(key=990), "HWC"), "c": Feed([np.array(True)] * 4)}
    for name, text in REFUSED.items():
        group.refused("refused_" + name, CUTOUT + text, feeds)


def add(group):
    add_augmentations(group)
    add_options(group)
    add_tables(group)
    add_policies(group)
    add_applications(group)
    add_refused(group)
