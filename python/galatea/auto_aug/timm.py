"""Names of `galatea.auto_aug.timm`: see docs/auto-augment.md."""

from galatea.trace.library import module_getattr as _module_getattr

__getattr__ = _module_getattr("galatea.auto_aug.timm")
