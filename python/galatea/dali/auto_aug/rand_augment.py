"""RandAugment: `n` random operations of magnitude `m`."""

from __future__ import annotations

from typing import Any

from ..names import getter
from ._call import call


def rand_augment(data: Any, n: int, m: int, shape: Any = None, **options: Any):
    """Augments images (HWC, u8) by `n` operations of magnitude `m` (of 0 … 30).

    `shape`: their extents, for translations that are relative to them; `num_magnitude_bins`,
    `fill_value`, `interp_type`, `max_translate_abs`, `max_translate_rel`, `monotonic_mag`,
    `excluded`, `seed`: see docs/auto-augment.md.
    """
    return call(
        "rand_augment", "rand_augment", (data,), {"n": n, "m": m, "shape": shape, **options}
    )


__getattr__ = getter("auto_aug.rand_augment")
