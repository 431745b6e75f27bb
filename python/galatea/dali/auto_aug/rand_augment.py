"""RandAugment: `n` random operations of magnitude `m`."""

from __future__ import annotations

import warnings
from typing import Any, Sequence

from .. import fn, types
from ..names import getter
from . import augmentations as a
from ._call import call
from ._suites import check_bins, chosen, drawn, is_number, translations
from .core import signed_bin as signed_bin
from .core._args import forbid_unused_kwargs
from .core._augmentation import Augmentation
from .core._errors import AugmentationError


def rand_augment(
    data: Any,
    n: int,
    m: int,
    num_magnitude_bins: int = 31,
    shape: Any = None,
    fill_value: Any = 128,
    interp_type: Any = None,
    max_translate_abs: Any = None,
    max_translate_rel: Any = None,
    seed: int | None = None,
    monotonic_mag: bool = True,
    excluded: Any = None,
):
    """Augments images (HWC, u8) by `n` operations of magnitude `m` (of 0 … 30).

    `shape`: their extents, for translations that are relative to them; `num_magnitude_bins`,
    `fill_value`, `interp_type`, `max_translate_abs`, `max_translate_rel`, `monotonic_mag`,
    `excluded`, `seed`: see docs/auto-augment.md.
    """
    _check(n, m, num_magnitude_bins)
    given = {
        "num_magnitude_bins": num_magnitude_bins,
        "shape": shape,
        "fill_value": fill_value,
        "interp_type": interp_type,
        "max_translate_abs": max_translate_abs,
        "max_translate_rel": max_translate_rel,
        "seed": seed,
        "monotonic_mag": monotonic_mag,
        "excluded": excluded,
    }
    return call("rand_augment", rand_augment, data, {"n": n, "m": m, **given})


def _check(n: Any, m: Any, num_magnitude_bins: Any) -> None:
    if not is_number(n, 0):
        raise AugmentationError(f"`n` is the number of operations, not {n!r}")
    check_bins(num_magnitude_bins)
    if not is_number(m, 0) or m >= num_magnitude_bins:
        raise AugmentationError(
            f"`m` is a magnitude bin from 0 to {num_magnitude_bins - 1}, not {m!r}"
        )


def apply_rand_augment(
    augmentations: Sequence[Augmentation],
    data: Any,
    n: int,
    m: int,
    num_magnitude_bins: int = 31,
    seed: int | None = None,
    **kwargs: Any,
) -> Any:
    """Augments by `n` of the augmentations, drawn uniformly with replacement, of magnitude bin `m`.

    `seed`: of all draws. `kwargs`: for those augmentations that have parameters of these names.
    """
    _check(n, m, num_magnitude_bins)
    if n == 0:
        warnings.warn("`n` is 0: no augmentation is applied", stacklevel=2)
        return data
    if not augmentations:
        raise AugmentationError("there are no augmentations to draw from")
    forbid_unused_kwargs(augmentations, kwargs, "apply_rand_augment")
    shape = {} if n == 1 else {"shape": [n]}
    ways = list(range(len(augmentations)))
    index = drawn(fn.random.uniform, seed, values=ways, dtype=types.INT32, **shape)
    bins: Any = m
    if any(one.randomly_negate for one in augmentations):
        bins = signed_bin(m, seed=seed, shape=() if n == 1 else (n,))
    for level in range(n):
        data = chosen(
            augmentations,
            index if n == 1 else index[level],
            "apply_rand_augment",
            data,
            magnitude_bin=bins if n == 1 or bins is m else bins[level],
            num_magnitude_bins=num_magnitude_bins,
            **kwargs,
        )
    return data


def get_rand_augment_suite(
    use_shape: bool = False, max_translate_abs: Any = None, max_translate_rel: Any = None
) -> list[Augmentation]:
    """The suite in which a larger magnitude always means a stronger change.

    `use_shape`: translations are parts of the image's extents, at most `max_translate_rel`
    (100/224), else pixels, at most `max_translate_abs` (100).
    """
    return [
        *translations(use_shape, max_translate_abs, max_translate_rel, 100, 100 / 224),
        a.shear_x,
        a.shear_y,
        a.rotate,
        a.brightness,
        a.contrast,
        a.color,
        a.sharpness,
        a.posterize.augmentation((8, 4)),
        a.solarize,
        a.equalize,
        a.auto_contrast,
        a.identity,
    ]


def get_rand_augment_non_monotonic_suite(
    use_shape: bool = False, max_translate_abs: Any = None, max_translate_rel: Any = None
) -> list[Augmentation]:
    """The suite with AutoAugment's ranges, in which a middle magnitude of some means no change."""
    return [
        *translations(use_shape, max_translate_abs, max_translate_rel, 100, 100 / 224),
        a.shear_x,
        a.shear_y,
        a.rotate,
        a.brightness.augmentation((0.1, 1.9), False, None),
        a.contrast.augmentation((0.1, 1.9), False, None),
        a.color.augmentation((0.1, 1.9), False, None),
        a.sharpness.augmentation((0.1, 1.9), False, a.sharpness_kernel_shifted),
        a.posterize,
        a.solarize.augmentation((0, 256)),
        a.equalize,
        a.auto_contrast,
        a.identity,
    ]


__getattr__ = getter("auto_aug.rand_augment")
