"""Making augmentations in Python: its names stand in for themselves, and raise where used."""

from ..names import getter

__getattr__ = getter("auto_aug.core")
