"""AutoAugment: policies that were found for data sets."""

from __future__ import annotations

from typing import Any

from ..names import getter
from ._call import call


def auto_augment(data: Any, policy_name: str = "image_net", shape: Any = None, **options: Any):
    """Augments by a named policy: "image_net", "reduced_image_net", "reduced_cifar10", "svhn".

    `data`: images (HWC, u8); `shape`: their extents, for translations that are relative to them;
    `fill_value`, `interp_type`, `max_translate_abs`, `max_translate_rel`, `seed`: see
    docs/auto-augment.md.
    """
    return call(
        "auto_augment",
        "auto_augment",
        (data,),
        {"policy_name": policy_name, "shape": shape, **options},
    )


def auto_augment_image_net(data: Any, shape: Any = None, **options: Any):
    """auto_augment() with the policy for ImageNet."""
    return auto_augment(data, "image_net", shape, **options)


__getattr__ = getter("auto_aug.auto_augment")
