"""Automatic augmentation: RandAugment, TrivialAugment, AutoAugment, as DALI has them; sound.

The functions are the language's library (docs/auto-augment.md): calls of them stand in the text.
Augmentations of your own are Python functions below `core.augmentation`, whose source stands in the
text: they are written in the language.
"""

from galatea.auto_aug import (  # noqa: F401
    augmentations,
    auto_augment,
    core,
    rand_augment,
    sound,
    timm,
    torchvision,
    trivial_augment,
)
