"""`nvidia.dali.auto_aug`: automatic augmentation.

The entry points (`rand_augment`, …) are those of the language's own library, which become one
branch; augmentations, suites and policies made in Python (`core`, `apply_…`) are traced.
"""

from ..names import getter

__getattr__ = getter("auto_aug")
