"""What entry points share: translations, checks, and a choice that says what is missing."""

from __future__ import annotations

from typing import Any, Sequence

from . import augmentations as a
from .core._augmentation import Augmentation
from .core._errors import AugmentationError, MissingArgument
from .core._select import select


def translations(
    use_shape: bool,
    max_translate_abs: Any,
    max_translate_rel: Any,
    default_abs: int,
    default_rel: float,
) -> list[Augmentation]:
    """translate_x and translate_y: in parts of the image where its shape is given, else in pixels.

    A limit is a number, or a pair for height and width.
    """
    if not isinstance(use_shape, bool):
        raise AugmentationError(f"`use_shape` is True or False, not {use_shape!r}")
    if use_shape and max_translate_abs is not None:
        raise AugmentationError(
            "`max_translate_abs` is for images without `shape`; with it, write `max_translate_rel`"
        )
    if not use_shape and max_translate_rel is not None:
        raise AugmentationError(
            "`max_translate_rel` is for images with `shape`; without, write `max_translate_abs`"
        )
    limit = max_translate_rel if use_shape else max_translate_abs
    if limit is None:
        limit = default_rel if use_shape else default_abs
    height, width = limit if isinstance(limit, (list, tuple)) else (limit, limit)
    along_x, along_y = (
        (a.translate_x, a.translate_y)
        if use_shape
        else (a.translate_x_no_shape, a.translate_y_no_shape)
    )
    return [
        along_x.augmentation((0, width), True),
        along_y.augmentation((0, height), True),
    ]


def is_number(value: Any, least: int) -> bool:
    """Whether a value counts something."""
    return isinstance(value, int) and not isinstance(value, bool) and value >= least


def check_bins(num_magnitude_bins: Any) -> None:
    """Raises where a number of bins is none."""
    if not is_number(num_magnitude_bins, 1):
        raise AugmentationError(
            f"`num_magnitude_bins` is a positive number, not {num_magnitude_bins!r}"
        )


def drawn(operator: Any, seed: int | None, **options: Any) -> Any:
    """A draw, with a seed where one is given."""
    return operator(**options) if seed is None else operator(seed=seed, **options)


def chosen(
    augmentations: Sequence[Augmentation], index: Any, what: str, data: Any, **options: Any
) -> Any:
    """One of the augmentations for each sample."""
    try:
        return select(augmentations, index, data, **options)
    except MissingArgument as error:
        if error.missing_args != ["shape"]:
            raise
        raise AugmentationError(
            f"`{error.augmentation.name}` needs the extents of the images: give `shape=` to {what} "
            "(`fn.peek_image_shape` has it of encoded images), or use augmentations that move by "
            "pixels, as suites without `use_shape` do"
        ) from error
