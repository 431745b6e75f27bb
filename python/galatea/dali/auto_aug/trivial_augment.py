"""TrivialAugment: one random operation of a random magnitude."""

from __future__ import annotations

from typing import Any, Sequence

from .. import fn, types
from ..names import getter
from . import augmentations as a
from ._call import call
from ._suites import check_bins, chosen, drawn, translations
from .core import signed_bin as signed_bin
from .core._args import forbid_unused_kwargs
from .core._augmentation import Augmentation
from .core._errors import AugmentationError


def trivial_augment_wide(
    data: Any,
    num_magnitude_bins: int = 31,
    shape: Any = None,
    fill_value: Any = 128,
    interp_type: Any = None,
    max_translate_abs: Any = None,
    max_translate_rel: Any = None,
    seed: int | None = None,
    excluded: Any = None,
):
    """Augments images (HWC, u8) by one operation.

    `shape`: their extents, for translations that are relative to them; `num_magnitude_bins`,
    `fill_value`, `interp_type`, `max_translate_abs`, `max_translate_rel`, `excluded`, `seed`: see
    docs/auto-augment.md.
    """
    check_bins(num_magnitude_bins)
    given = {
        "num_magnitude_bins": num_magnitude_bins,
        "shape": shape,
        "fill_value": fill_value,
        "interp_type": interp_type,
        "max_translate_abs": max_translate_abs,
        "max_translate_rel": max_translate_rel,
        "seed": seed,
        "excluded": excluded,
    }
    return call("trivial_augment", trivial_augment_wide, data, given)


def apply_trivial_augment(
    augmentations: Sequence[Augmentation],
    data: Any,
    num_magnitude_bins: int = 31,
    seed: int | None = None,
    **kwargs: Any,
) -> Any:
    """Augments by one of the augmentations and one magnitude bin, both drawn uniformly.

    `seed`: of all draws. `kwargs`: for those augmentations that have parameters of these names.
    """
    check_bins(num_magnitude_bins)
    if not augmentations:
        raise AugmentationError("there are no augmentations to draw from")
    forbid_unused_kwargs(augmentations, kwargs, "apply_trivial_augment")
    numbers = list(range(num_magnitude_bins))
    bins = drawn(fn.random.uniform, seed, values=numbers, dtype=types.INT32)
    if any(one.randomly_negate for one in augmentations):
        bins = signed_bin(bins, seed=seed)
    ways = list(range(len(augmentations)))
    index = drawn(fn.random.uniform, seed, values=ways, dtype=types.INT32)
    return chosen(
        augmentations,
        index,
        "apply_trivial_augment",
        data,
        magnitude_bin=bins,
        num_magnitude_bins=num_magnitude_bins,
        **kwargs,
    )


def get_trivial_augment_wide_suite(
    use_shape: bool = False, max_translate_abs: Any = None, max_translate_rel: Any = None
) -> list[Augmentation]:
    """The suite with the wide ranges of the paper.

    `use_shape`: translations are parts of the image's extents, at most `max_translate_rel` (1),
    else pixels, at most `max_translate_abs` (32).
    """
    return [
        *translations(use_shape, max_translate_abs, max_translate_rel, 32, 1.0),
        a.shear_x.augmentation((0, 0.99)),
        a.shear_y.augmentation((0, 0.99)),
        a.rotate.augmentation((0, 135)),
        a.brightness.augmentation((0.01, 0.99)),
        a.contrast.augmentation((0.01, 0.99)),
        a.color.augmentation((0.01, 0.99)),
        a.sharpness.augmentation((0.01, 0.99)),
        a.posterize.augmentation((8, 2)),
        a.solarize,
        a.equalize,
        a.auto_contrast,
        a.identity,
    ]


__getattr__ = getter("auto_aug.trivial_augment")
