"""AutoAugment: policies that were found for data sets."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np

from galatea.trace import control

from .. import fn, types
from ..names import getter
from . import augmentations as a
from ._call import call
from ._policies import get_image_net_policy as get_image_net_policy
from ._policies import get_reduced_cifar10_policy as get_reduced_cifar10_policy
from ._policies import get_reduced_image_net_policy as get_reduced_image_net_policy
from ._policies import get_svhn_policy as get_svhn_policy
from ._suites import chosen, drawn
from .core import Policy as Policy
from .core import signed_bin as signed_bin
from .core._args import forbid_unused_kwargs
from .core._augmentation import Augmentation
from .core._errors import AugmentationError

_NAMES = ("image_net", "reduced_image_net", "svhn", "reduced_cifar10")


def auto_augment(
    data: Any,
    policy_name: str = "image_net",
    shape: Any = None,
    fill_value: Any = 128,
    interp_type: Any = None,
    max_translate_abs: Any = None,
    max_translate_rel: Any = None,
    seed: int | None = None,
):
    """Augments by a named policy: "image_net", "reduced_image_net", "reduced_cifar10", "svhn".

    `data`: images (HWC, u8); `shape`: their extents, for translations that are relative to them;
    `fill_value`, `interp_type`, `max_translate_abs`, `max_translate_rel`, `seed`: see
    docs/auto-augment.md.
    """
    if policy_name not in _NAMES:
        raise AugmentationError(
            f"there is no policy {policy_name!r}; there are {', '.join(map(repr, _NAMES))}"
        )
    given = {
        "shape": shape,
        "fill_value": fill_value,
        "interp_type": interp_type,
        "max_translate_abs": max_translate_abs,
        "max_translate_rel": max_translate_rel,
        "seed": seed,
    }
    if policy_name == "reduced_image_net":
        for name in ("shape", "max_translate_abs", "max_translate_rel"):
            if given.get(name) is not None:
                raise AugmentationError(
                    f"the policy 'reduced_image_net' has no translations: leave `{name}` out"
                )
    return call("auto_augment", auto_augment, data, {"policy_name": policy_name, **given})


def auto_augment_image_net(
    data: Any,
    shape: Any = None,
    fill_value: Any = 128,
    interp_type: Any = None,
    max_translate_abs: Any = None,
    max_translate_rel: Any = None,
    seed: int | None = None,
):
    """auto_augment() with the policy for ImageNet."""
    limits = (max_translate_abs, max_translate_rel)
    return auto_augment(data, "image_net", shape, fill_value, interp_type, *limits, seed)


def apply_auto_augment(policy: Policy, data: Any, seed: int | None = None, **kwargs: Any) -> Any:
    """Augments by a policy: each sample follows one sub-policy, drawn uniformly.

    Each of its operations runs with its probability. `seed`: of all draws. `kwargs`: for those
    augmentations that have parameters of these names (`shape`, `fill_value`, …).
    """
    rows = policy.sub_policies
    if not rows:
        raise AugmentationError(f"the policy {policy.name!r} has no sub-policies")
    length = max(len(row) for row in rows)
    used = policy.augmentations.values()
    forbid_unused_kwargs(used, kwargs, "apply_auto_augment")
    if not length:
        return data
    probabilities = np.zeros((len(rows), length), np.float32)
    bins = np.zeros((len(rows), length), np.int32)
    ways = np.zeros((len(rows), length), np.int32)
    arms: list[dict[Augmentation, int]] = [{} for _ in range(length)]
    for number, row in enumerate(rows):
        for stage, (augmentation, probability, bin) in enumerate(row):
            probabilities[number, stage] = probability
            bins[number, stage] = 0 if bin is None else bin
            ways[number, stage] = arms[stage].setdefault(augmentation, len(arms[stage]))
    index = drawn(fn.random.uniform, seed, values=list(range(len(rows))), dtype=types.INT32)
    runs = drawn(fn.random.uniform, seed, range=[0.0, 1.0], shape=[length], dtype=types.FLOAT)
    wanted, bin_of, way = (
        types.Constant(table, device="cpu")[index] for table in (probabilities, bins, ways)
    )
    signed = bin_of
    if any(augmentation.randomly_negate for augmentation in used):
        signed = signed_bin(bin_of, seed=seed, shape=(length,))

    def step(stage: int, before: Any) -> Any:
        return chosen(
            list(arms[stage]),
            way[stage],
            "apply_auto_augment",
            before,
            magnitude_bin=signed[stage],
            num_magnitude_bins=policy.num_magnitude_bins,
            **kwargs,
        )

    for stage in range(length):
        data = control.conditional(
            runs[stage] < wanted[stage],
            functools.partial(step, stage, data),
            functools.partial(a.identity, data),
        )
    return data


__getattr__ = getter("auto_aug.auto_augment")
