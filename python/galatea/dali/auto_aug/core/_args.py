"""Arguments that augmentations take by name."""

from __future__ import annotations

from typing import Iterable

from ...names import getter
from ._augmentation import Augmentation
from ._errors import UnusedArgument


def forbid_unused_kwargs(
    augmentations: Iterable[Augmentation], kwargs: dict, call_name: str
) -> None:
    """Raises where an argument is taken by none of the augmentations."""
    taken = {name for one in augmentations for name in one._extras}
    unused = [name for name in kwargs if name not in taken]
    if unused:
        raise UnusedArgument(
            f"{call_name} got {', '.join(f'`{one}`' for one in unused)}, which no augmentation takes",
            unused,
        )


__getattr__ = getter("auto_aug.core._args")
