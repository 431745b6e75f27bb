"""Automatic augmentation: RandAugment, TrivialAugment, AutoAugment, as DALI has them.

The functions are the language's library (docs/auto-augment.md): calls of them stand in the text.
Augmentations and policies of your own are written in a pipeline file.
"""

from galatea.auto_aug import (  # noqa: F401
    augmentations,
    auto_augment,
    core,
    rand_augment,
    trivial_augment,
)
