"""What automatic augmentation is made of: augmentations, bins with signs, choices, policies.

An augmentation is a function of data and a parameter, with a range of magnitudes and a map from
magnitudes to parameters. A magnitude bin is the index of one of `num_magnitude_bins` magnitudes.
All parameters are computed while the pipeline is built; a sample looks its own up.
"""

from ...names import getter
from . import decorator as decorator
from . import policy as policy
from ._augmentation import Augmentation as _Augmentation  # noqa: F401
from ._augmentation import signed_bin as signed_bin
from ._select import select as select
from .decorator import augmentation as augmentation
from .policy import Policy as Policy

__all__ = ("signed_bin", "augmentation", "select", "Policy", "_Augmentation")


__getattr__ = getter("auto_aug.core")
