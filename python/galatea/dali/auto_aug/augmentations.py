"""The augmentations by name: those of DALI stand in for themselves, and raise where used."""

from ..names import getter

__getattr__ = getter("auto_aug.augmentations")
