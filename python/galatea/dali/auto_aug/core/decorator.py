"""`@augmentation`."""

from __future__ import annotations

from typing import Any, Callable

from ...names import getter
from ._augmentation import Augmentation
from ._errors import AugmentationError


def augmentation(
    function: Callable | None = None,
    *,
    mag_range: Any = None,
    randomly_negate: bool | None = None,
    mag_to_param: Callable | None = None,
    param_device: str | None = None,
    name: str | None = None,
    augmentation_cls: type | None = None,
) -> Any:
    """Makes an augmentation of a function of data and a parameter, with operators.

    `mag_range`: a pair of numbers, which is divided into bins, both ends included, or an array
    with a magnitude for each bin; without it the parameter is None. `randomly_negate`: half of the
    samples get the negative magnitude. `mag_to_param`: gives the parameter of a magnitude, a number
    or an array, of one type and shape for all; it runs while the pipeline is built.
    `param_device`: accepted; parameters lie where they are needed. `name`: in place of the
    function's.
    """

    def decorate(decorated: Callable) -> Augmentation:
        if isinstance(decorated, Augmentation):
            raise AugmentationError(
                f"`{decorated.name}` is an augmentation already: "
                f"`{decorated.name}.augmentation(…)` is a changed copy"
            )
        if not callable(decorated):
            raise AugmentationError(f"an augmentation is made of a function, not {decorated!r}")
        return (augmentation_cls or Augmentation)(
            decorated,
            mag_range=mag_range,
            randomly_negate=randomly_negate,
            mag_to_param=mag_to_param,
            param_device=param_device,
            name=name,
        )

    return decorate if function is None else decorate(function)


__getattr__ = getter("auto_aug.core.decorator")
