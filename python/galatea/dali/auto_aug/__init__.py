"""`nvidia.dali.auto_aug`: automatic augmentation, which galatea's own library of the language does.

Policies and augmentations that are made in Python are not taken: they are data here, see
docs/auto-augment.md.
"""
