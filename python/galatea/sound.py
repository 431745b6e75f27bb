"""Augmentations of waveforms, short for `galatea.auto_aug.sound`: see docs/sound.md."""

from galatea.auto_aug.sound import __getattr__ as __getattr__
