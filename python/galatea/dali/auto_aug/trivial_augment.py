"""TrivialAugment: one random operation of a random magnitude."""

from __future__ import annotations

from typing import Any

from ..names import getter
from ._call import call


def trivial_augment_wide(data: Any, shape: Any = None, **options: Any):
    """Augments images (HWC, u8) by one operation.

    `shape`: their extents, for translations that are relative to them; `num_magnitude_bins`,
    `fill_value`, `interp_type`, `max_translate_abs`, `max_translate_rel`, `excluded`, `seed`: see
    docs/auto-augment.md.
    """
    return call("trivial_augment", "trivial_augment_wide", (data,), {"shape": shape, **options})


__getattr__ = getter("auto_aug.trivial_augment")
