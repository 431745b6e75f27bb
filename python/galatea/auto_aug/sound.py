"""Names of `galatea.auto_aug.sound`: see docs/sound.md."""

from galatea.trace.library import module_getattr as _module_getattr

__getattr__ = _module_getattr("galatea.auto_aug.sound")
