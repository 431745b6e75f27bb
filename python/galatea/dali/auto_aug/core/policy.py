"""Policies of AutoAugment."""

from __future__ import annotations

import warnings
from typing import Any, Sequence

from ...names import getter
from ._augmentation import Augmentation
from ._errors import AugmentationError


class Policy:
    """Sub-policies, one of which each sample follows.

    `sub_policies`: lists of (augmentation, probability, magnitude bin), with None for the bin of
    an augmentation without magnitudes. `augmentations`: all of them, by name.
    """

    def __init__(self, name: str, num_magnitude_bins: int, sub_policies: Sequence[Sequence[tuple]]):
        if not isinstance(num_magnitude_bins, int) or num_magnitude_bins < 1:
            raise AugmentationError(
                f"`num_magnitude_bins` is a positive number, not {num_magnitude_bins!r}"
            )
        if not isinstance(sub_policies, (list, tuple)):
            raise AugmentationError(
                f"`sub_policies` is a list of sub-policies, not a {type(sub_policies).__name__}"
            )
        self.name = name
        self.num_magnitude_bins = num_magnitude_bins
        for number, sub_policy in enumerate(sub_policies):
            if not isinstance(sub_policy, (list, tuple)):
                raise AugmentationError(
                    f"sub-policy {number} of {name!r} is a list of operations, not {sub_policy!r}"
                )
            for entry in sub_policy:
                self._check(entry, f"sub-policy {number} of {name!r}")
        self.sub_policies = _with_own_names(sub_policies)

    def _check(self, entry: Any, where: str) -> None:
        if not isinstance(entry, (list, tuple)) or len(entry) != 3:
            raise AugmentationError(
                f"an operation is (augmentation, probability, magnitude bin); {where} has {entry!r}"
            )
        augmentation, probability, bin = entry
        if not isinstance(augmentation, Augmentation):
            raise AugmentationError(
                f"{where} has {augmentation!r}, which is no augmentation: decorate the function "
                "with `@augmentation`"
            )
        shown = f"`{augmentation.name}` in {where}"
        if not isinstance(probability, (int, float)) or not 0 <= probability <= 1:
            raise AugmentationError(
                f"the probability of {shown} is {probability!r}; it is a number from 0 to 1"
            )
        if probability == 0:
            warnings.warn(f"{shown} has the probability 0 and never runs", stacklevel=4)
        if bin is None and augmentation.mag_range is not None:
            raise AugmentationError(f"{shown} has magnitudes, and its bin is None")
        if bin is not None and augmentation.mag_range is None:
            warnings.warn(
                f"{shown} has no magnitudes: its bin {bin} is ignored; write None", stacklevel=4
            )
        if bin is not None and (not isinstance(bin, int) or not 0 <= bin < self.num_magnitude_bins):
            raise AugmentationError(
                f"the magnitude bin of {shown} is {bin!r}; bins are numbers from 0 to "
                f"{self.num_magnitude_bins - 1}"
            )

    @property
    def augmentations(self) -> dict[str, Augmentation]:
        """The augmentations by name, sorted."""
        every = {one.name: one for row in self.sub_policies for one, _, _ in row}
        return {name: every[name] for name in sorted(every)}

    def __repr__(self) -> str:
        def lines(items: list[str]) -> str:
            return ",".join(f"\n\t{one}" for one in items)

        rows = lines(
            [repr([(one.name, p, bin) for one, p, bin in row]) for row in self.sub_policies]
        )
        used = lines([f"{name!r}: {one!r}" for name, one in self.augmentations.items()])
        return (
            f"Policy(name={self.name!r}, num_magnitude_bins={self.num_magnitude_bins}, "
            f"sub_policies=[{rows}], augmentations={{{used}}})"
        )


def _with_own_names(sub_policies: Sequence[Sequence[tuple]]) -> tuple:
    """Where different augmentations have one name, all get numbers before their names."""
    distinct = list(dict.fromkeys(one for row in sub_policies for one, _, _ in row))
    renamed = {one: one for one in distinct}
    if len({one.name for one in distinct}) < len(distinct):
        digits = len(str(len(distinct) - 1))
        renamed = {
            one: one.augmentation(name=f"{number:0{digits}}__{one.name}")
            for number, one in enumerate(distinct)
        }
    return tuple(tuple((renamed[one], p, bin) for one, p, bin in row) for row in sub_policies)


__getattr__ = getter("auto_aug.core.policy")
