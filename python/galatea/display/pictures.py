"""Tensors for people: as a picture, or as numbers, with a caption.

What is a picture: a layout that has H and W, at most C and F beside them; without a layout, bytes
with three axes, the last of 1 or 3 channels. How it is shown: bytes as they are; bool as black and
white; other types stretched, so that the least value of the sample is black and the greatest white.
Of sequences the first frames stand side by side; of four channels the last is left out; of other
numbers of channels the first is shown, as grey.
"""

from __future__ import annotations

from typing import Any

import numpy as np

__all__ = ["caption", "fit", "is_picture", "numbers", "picture", "short_name"]

FRAMES = 4
NUMBERS = 48
_LETTERS = {"u": "u", "i": "i", "f": "f"}


def short_name(dtype: np.dtype) -> str:
    """The element type as messages write it: "u8", "f32", "bool"."""
    return "bool" if dtype == bool else f"{_LETTERS[dtype.kind]}{8 * dtype.itemsize}"


def is_picture(shape: tuple, dtype: np.dtype, layout: str) -> bool:
    """Whether a sample of these extents can be shown as a picture."""
    if not layout:
        return len(shape) == 3 and dtype == np.uint8 and shape[2] in (1, 3) and all(shape)
    return set("HW") <= set(layout) <= set("HWCF") and len(layout) == len(shape) and all(shape)


def picture(array: np.ndarray, layout: str) -> np.ndarray | None:
    """The pixels of a sample: uint8 (height, width, 1 or 3), or None where it is no picture."""
    if not is_picture(array.shape, array.dtype, layout):
        return None
    layout = layout or "HWC"
    order = [layout.index(axis) for axis in "FHWC" if axis in layout]
    pixels = array.transpose(order)
    if "C" not in layout:
        pixels = pixels[..., np.newaxis]
    if "F" in layout:
        frames, height, _, channels = pixels[:FRAMES].shape
        pixels = pixels[:FRAMES].transpose(1, 0, 2, 3).reshape(height, -1, channels)
    channels = pixels.shape[-1]
    pixels = pixels[..., : 3 if channels in (3, 4) else 1]
    return np.ascontiguousarray(_as_bytes(pixels))


def _as_bytes(pixels: np.ndarray) -> np.ndarray:
    if pixels.dtype == np.uint8:
        return pixels
    if pixels.dtype == bool:
        return pixels * np.uint8(255)
    values = pixels.astype(np.float64)
    known = np.isfinite(values)
    least, greatest = _range(values[known])
    scale = 255 / (greatest - least) if greatest > least else 0.0
    stretched = np.where(known, values - least, 0) * scale + 0.5
    return np.clip(np.where(known, stretched, 0), 0, 255).astype(np.uint8)


def _range(values: np.ndarray) -> tuple[float, float]:
    return (float(values.min()), float(values.max())) if values.size else (0.0, 0.0)


def caption(array: np.ndarray, layout: str) -> str:
    """Element type, extents and layout: "u8 96x96x3 HWC"."""
    extents = "x".join(map(str, array.shape)) or "scalar"
    return f"{short_name(array.dtype)} {extents}{' ' if layout else ''}{layout}"


def shown_as(array: np.ndarray, layout: str) -> str:
    """What a picture does not show of itself: "-2.1 … 2.64", "frames 0 … 3"; "" if nothing."""
    said = []
    if array.dtype not in (np.uint8, np.bool_):
        values = array[np.isfinite(array)] if array.dtype.kind == "f" else array
        least, greatest = _range(values)
        said.append(f"{least:.4g} … {greatest:.4g}")
    extents = dict(zip(layout or "HWC", array.shape))
    if extents.get("F", 0) > FRAMES:
        said.append(f"frames 0 … {FRAMES - 1}")
    if extents.get("C", 1) not in (1, 3):
        said.append("channels 0 … 2" if extents["C"] == 4 else "channel 0")
    return ", ".join(said)


def numbers(array: np.ndarray) -> str:
    """The first elements as text."""
    if array.size == 0:
        return "(empty)"
    form = _number if array.dtype.kind == "f" else _integer
    text = " ".join(form(value) for value in array.ravel()[:NUMBERS].tolist())
    return text + (" ..." if array.size > NUMBERS else "")


def _number(value: float) -> str:
    return f"{value:.4g}"


def _integer(value: Any) -> str:
    return str(int(value))


def fit(pixels: np.ndarray, size: int, enlarge: bool = True) -> np.ndarray:
    """The picture in a square: averaged where it is larger, repeated by a whole factor where smaller.

    What comes out is a copy.
    """
    height, width, _ = pixels.shape
    longer = max(height, width)
    if longer <= size:
        factor = max(size // longer, 1) if enlarge else 1
        return pixels.repeat(factor, axis=0).repeat(factor, axis=1)
    to = (max(1, height * size // longer), max(1, width * size // longer))
    rows, columns = (np.arange(n) * extent // n for n, extent in zip(to, (height, width)))
    sums = np.add.reduceat(pixels, rows, axis=0, dtype=np.uint32)
    sums = np.add.reduceat(sums, columns, axis=1, dtype=np.int64)
    counts = np.outer(np.diff(rows, append=height), np.diff(columns, append=width))[..., np.newaxis]
    return ((sums + counts // 2) // counts).astype(np.uint8)
