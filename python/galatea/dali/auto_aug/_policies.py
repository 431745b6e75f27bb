"""The policies that AutoAugment's authors published, as DALI has them.

A line is a sub-policy; an operation is an augmentation, its probability, and its magnitude bin of
eleven ("-": it has none).
"""

from __future__ import annotations

from typing import Any

from . import augmentations as a
from ._suites import translations
from .core.policy import Policy

_IMAGE_NET = """
equalize 0.8 -, shear_y 0.8 4
color 0.4 9, equalize 0.6 -
color 0.4 1, rotate 0.6 8
solarize 0.8 3, equalize 0.4 -
solarize 0.4 2, solarize 0.6 2
color 0.2 0, equalize 0.8 -
equalize 0.4 -, solarize_add 0.8 3
shear_x 0.2 9, rotate 0.6 8
color 0.6 1, equalize 1.0 -
invert 0.4 -, rotate 0.6 0
equalize 1.0 -, shear_y 0.6 3
color 0.4 7, equalize 0.6 -
posterize 0.4 6, auto_contrast 0.4 -
solarize 0.6 8, color 0.6 9
solarize 0.2 4, rotate 0.8 9
rotate 1.0 7, translate_y 0.8 9
solarize 0.8 4
shear_y 0.8 0, color 0.6 4
color 1.0 0, rotate 0.6 2
equalize 0.8 -
equalize 1.0 -, auto_contrast 0.6 -
shear_y 0.4 7, solarize_add 0.6 7
posterize 0.8 2, solarize 0.6 10
solarize 0.6 8, equalize 0.6 -
color 0.8 6, rotate 0.4 5
"""

_REDUCED_IMAGE_NET = """
posterize 0.4 8, rotate 0.6 9
solarize 0.6 5, auto_contrast 0.6 -
equalize 0.8 -, equalize 0.6 -
posterize 0.6 7, posterize 0.6 6
equalize 0.4 -, solarize 0.2 4
equalize 0.4 -, rotate 0.8 8
solarize 0.6 3, equalize 0.6 -
posterize 0.8 5, equalize 1.0 -
rotate 0.2 3, solarize 0.6 8
equalize 0.6 -, posterize 0.4 6
rotate 0.8 8, color 0.4 0
rotate 0.4 9, equalize 0.6 -
equalize 0.8 -
invert 0.6 -, equalize 1.0 -
color 0.6 4, contrast 1.0 8
rotate 0.8 8, color 1.0 2
color 0.8 8, solarize 0.8 7
sharpness 0.4 7, invert 0.6 -
shear_x 0.6 5, equalize 1.0 -
color 0.4 0, equalize 0.6 -
equalize 0.4 -, solarize 0.2 4
solarize 0.6 5, auto_contrast 0.6 -
invert 0.6 -, equalize 1.0 -
color 0.6 4, contrast 1.0 8
equalize 0.8 -, equalize 0.6 -
"""

_REDUCED_CIFAR10 = """
invert 0.1 -, contrast 0.2 6
rotate 0.7 2, translate_x 0.3 9
sharpness 0.8 1, sharpness 0.9 3
shear_y 0.5 8, translate_y 0.7 9
auto_contrast 0.5 -, equalize 0.9 -
shear_y 0.2 7, posterize 0.3 7
color 0.4 3, brightness 0.6 7
sharpness 0.3 9, brightness 0.7 9
equalize 0.6 -, equalize 0.5 -
contrast 0.6 7, sharpness 0.6 5
color 0.7 7, translate_x 0.5 8
equalize 0.3 -, auto_contrast 0.4 -
translate_y 0.4 3, sharpness 0.2 6
brightness 0.9 6, color 0.2 8
solarize 0.5 2
equalize 0.2 -, auto_contrast 0.6 -
equalize 0.2 -, equalize 0.6 -
color 0.9 9, equalize 0.6 -
auto_contrast 0.8 -, solarize 0.2 8
brightness 0.1 3, color 0.7 0
solarize 0.4 5, auto_contrast 0.9 -
translate_y 0.9 9, translate_y 0.7 9
auto_contrast 0.9 -, solarize 0.8 3
equalize 0.8 -, invert 0.1 -
translate_y 0.7 9, auto_contrast 0.9 -
"""

_SVHN = """
shear_x 0.9 4, invert 0.2 -
shear_y 0.9 8, invert 0.7 -
equalize 0.6 -, solarize 0.6 6
invert 0.9 -, equalize 0.6 -
equalize 0.6 -, rotate 0.9 3
shear_x 0.9 4, auto_contrast 0.8 -
shear_y 0.9 8, invert 0.4 -
shear_y 0.9 5, solarize 0.2 6
invert 0.9 -, auto_contrast 0.8 -
equalize 0.6 -, rotate 0.9 3
shear_x 0.9 4, solarize 0.3 3
shear_y 0.8 8, invert 0.7 -
equalize 0.9 -, translate_y 0.6 6
invert 0.9 -, equalize 0.6 -
contrast 0.3 3, rotate 0.8 4
invert 0.8 -
shear_y 0.7 6, solarize 0.4 8
invert 0.6 -, rotate 0.8 4
shear_y 0.3 7, translate_x 0.9 3
shear_x 0.1 6, invert 0.6 -
solarize 0.7 2, translate_y 0.6 7
shear_y 0.8 4, invert 0.8 -
shear_x 0.7 9, translate_y 0.8 3
shear_y 0.8 5, auto_contrast 0.7 -
shear_x 0.7 2, invert 0.1 -
"""


def _policy(name: str, table: str, use_shape: bool, in_pixels: Any, in_parts: Any) -> Policy:
    along_x, along_y = translations(use_shape, in_pixels, in_parts, 250, 1.0)
    operations = {
        "translate_x": along_x,
        "translate_y": along_y,
        "shear_x": a.shear_x,
        "shear_y": a.shear_y,
        "rotate": a.rotate,
        "brightness": a.brightness.augmentation((0.1, 1.9), False, None),
        "contrast": a.contrast.augmentation((0.1, 1.9), False, None),
        "color": a.color.augmentation((0.1, 1.9), False, None),
        "sharpness": a.sharpness.augmentation((0.1, 1.9), False, a.sharpness_kernel_shifted),
        "posterize": a.posterize,
        "solarize": a.solarize.augmentation((0, 256)),
        "solarize_add": a.solarize_add,
        "invert": a.invert,
        "equalize": a.equalize,
        "auto_contrast": a.auto_contrast,
    }
    rows = []
    for line in table.strip().splitlines():
        row = []
        for entry in line.split(", "):
            operation, probability, bin = entry.split()
            row.append(
                (operations[operation], float(probability), None if bin == "-" else int(bin))
            )
        rows.append(row)
    return Policy(name, 11, rows)


def get_image_net_policy(
    use_shape: bool = False, max_translate_abs: Any = None, max_translate_rel: Any = None
) -> Policy:
    """The policy for ImageNet. `use_shape`: translations are parts of the image's extents."""
    return _policy("ImageNetPolicy", _IMAGE_NET, use_shape, max_translate_abs, max_translate_rel)


def get_reduced_cifar10_policy(
    use_shape: bool = False, max_translate_abs: Any = None, max_translate_rel: Any = None
) -> Policy:
    """The policy for CIFAR-10. `use_shape`: translations are parts of the image's extents."""
    return _policy(
        "ReducedCifar10Policy", _REDUCED_CIFAR10, use_shape, max_translate_abs, max_translate_rel
    )


def get_svhn_policy(
    use_shape: bool = False, max_translate_abs: Any = None, max_translate_rel: Any = None
) -> Policy:
    """The policy for SVHN. `use_shape`: translations are parts of the image's extents."""
    return _policy("SvhnPolicy", _SVHN, use_shape, max_translate_abs, max_translate_rel)


def get_reduced_image_net_policy() -> Policy:
    """The policy that was found on a part of ImageNet; it has no translations."""
    return _policy("ReducedImageNetPolicy", _REDUCED_IMAGE_NET, False, None, None)
