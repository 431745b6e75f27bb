"""Boxes and points over the pictures of a sheet, pixel by pixel as `galatea view` draws them.

Comes in: names of outputs that are drawn on others, and a sample of each. Goes out: marks of a
picture, in fractions of it, and their pixels.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Callable, Iterator, Mapping, Sequence

import numpy as np

from .font import CELL_HEIGHT, CELL_WIDTH, mask
from .pictures import FRAMES

__all__ = ["COLORS", "Mark", "Marks", "draw"]

INK = (30, 34, 40)
# Colours that tell neighbours apart, on dark and on light pictures.
COLORS = (
    (255, 80, 60),
    (40, 200, 90),
    (70, 140, 255),
    (255, 200, 30),
    (230, 90, 230),
    (30, 210, 210),
    (255, 140, 30),
    (160, 120, 255),
)
FORMATS = ("xyxy", "xywh", "cxcywh")

Names = Mapping[str, "str | Sequence[str]"]


@dataclass(frozen=True)
class Mark:
    """A box over a picture, or a point: all in fractions of the picture."""

    x0: float
    y0: float
    x1: float = 0.0
    y1: float = 0.0
    color: int = 0
    name: str = ""
    is_point: bool = False


@dataclass(frozen=True)
class Marks:
    """What is drawn on what, by names of outputs.

    `boxes` and `points`: of a picture, one or several outputs of rows of four or two numbers.
    `labels`: of boxes, a number for each. Of a sequence, an axis more counts frames.
    """

    boxes: Names
    points: Names
    labels: Mapping[str, str]
    box_format: str = "xyxy"
    relative: bool = False

    @classmethod
    def of(cls, boxes, points, labels, box_format: str, relative: bool) -> "Marks":
        """As `galatea.view` is given them: None is nothing."""
        for name, given in (("boxes", boxes), ("points", points), ("labels", labels)):
            if given is not None and not isinstance(given, Mapping):
                example = "boxes" if name == "labels" else "image"
                raise TypeError(
                    f"{name} is {given!r}; it names outputs: {name}={{{example!r}: {name!r}}}"
                )
        if box_format not in FORMATS:
            raise ValueError(f"box_format is {box_format!r}; it is one of {', '.join(FORMATS)}")
        marks = cls(boxes or {}, points or {}, labels or {}, box_format, bool(relative))
        drawn = {name for _, name in _pairs(marks.boxes)}
        for name in marks.labels:
            if name not in drawn:
                raise ValueError(f"labels names {name!r}, which boxes= does not draw")
        return marks

    def outputs(self) -> list[str]:
        """All that are named."""
        pairs = (*_pairs(self.boxes), *_pairs(self.points), *self.labels.items())
        return [name for pair in pairs for name in pair]

    def of_picture(
        self, picture: str, array: np.ndarray, layout: str, sample: Callable[[str], np.ndarray]
    ) -> list[Mark]:
        """The marks of an output that is shown; `sample` gives the same sample of another one."""
        out: list[Mark] = []
        extents = dict(zip(layout or "HWC", array.shape))
        for name in _names(self.boxes, picture):
            rows = _rows(name, sample(name), 4)
            numbers = sample(self.labels[name]) if name in self.labels else None
            for frame, boxes in _frames(rows, extents):
                of_frame = numbers
                if numbers is not None and rows.ndim > 2 and numbers.shape[:1] == rows.shape[:1]:
                    of_frame = numbers[frame] if numbers.ndim > 1 else numbers
                out += self._boxes(boxes, of_frame, extents, frame)
        for name in _names(self.points, picture):
            for frame, points in _frames(_rows(name, sample(name), 2), extents):
                out += self._points(points, extents, frame)
        return out

    def _boxes(self, rows: np.ndarray, labels, extents: dict, frame: int) -> Iterator[Mark]:
        numbers = [] if labels is None else np.asarray(labels, np.float64).ravel().tolist()
        for place, (a, b, c, d) in enumerate(rows.reshape(-1, 4).tolist()):
            if not (a or b or c or d):
                continue  # is none: `galatea.together` has it where a frame does not show the object
            if self.box_format == "xywh":
                c, d = c + a, d + b
            elif self.box_format == "cxcywh":
                a, b, c, d = a - c / 2, b - d / 2, a + c / 2, b + d / 2
            labelled = place < len(numbers)
            yield self._placed(
                Mark(
                    a,
                    b,
                    c,
                    d,
                    color=int(numbers[place]) if labelled else place,
                    name=f"{numbers[place]:g}" if labelled else "",
                ),
                extents,
                frame,
            )

    def _points(self, rows: np.ndarray, extents: dict, frame: int) -> Iterator[Mark]:
        for place, (x, y) in enumerate(rows.reshape(-1, 2).tolist()):
            yield self._placed(Mark(x, y, color=place, is_point=True), extents, frame)

    def _placed(self, mark: Mark, extents: dict, frame: int) -> Mark:
        """In fractions of the whole picture, in which frames stand side by side."""
        width = 1.0 if self.relative else 1.0 / max(extents["W"], 1)
        height = 1.0 if self.relative else 1.0 / max(extents["H"], 1)
        x0, x1 = mark.x0 * width, mark.x1 * width
        shown = min(extents.get("F", 1), FRAMES)
        if shown > 1:
            if mark.is_point and not 0 <= x0 < 1:
                x0 = -shown  # outside
            if not mark.is_point:
                x0, x1 = min(max(x0, 0.0), 1.0), min(max(x1, 0.0), 1.0)
            x0, x1 = (x0 + frame) / shown, (x1 + frame) / shown
        return Mark(
            x0, mark.y0 * height, x1, mark.y1 * height, mark.color, mark.name, mark.is_point
        )


def _pairs(names: Names) -> Iterator[tuple[str, str]]:
    for picture, given in names.items():
        yield from ((picture, name) for name in ([given] if isinstance(given, str) else given))


def _names(names: Names, picture: str) -> list[str]:
    return [name for of, name in _pairs(names) if of == picture]


def _rows(name: str, array: np.ndarray, numbers: int) -> np.ndarray:
    if array.ndim < 2 or array.shape[-1] != numbers:
        what = (
            "boxes are rows of four numbers" if numbers == 4 else "points are rows of two numbers"
        )
        raise ValueError(f"{name!r} has the extents {array.shape}: {what}")
    return np.asarray(array, np.float64)


def _frames(rows: np.ndarray, extents: dict) -> Iterator[tuple[int, np.ndarray]]:
    """The rows of each frame that is shown. Without an axis of frames they are those of all."""
    frames = extents.get("F")
    per_frame = frames is not None and rows.ndim > 2 and rows.shape[0] == frames
    for frame in range(min(frames or 1, FRAMES)):
        yield frame, rows[frame] if per_frame else rows


# ---- pixels


def draw(canvas: np.ndarray, marks: Sequence[Mark], left: int, top: int, height: int, width: int):
    """Marks of a picture of these extents that was drawn at (left, top). Of what lies outside of it,
    points are not drawn, boxes are cut off."""
    for mark in marks:
        numbers = (mark.x0, mark.y0, mark.x1, mark.y1)
        if any(number != number for number in numbers):
            continue
        color = COLORS[(mark.color & 0xFFFFFFFF) % len(COLORS)]
        x0, y0 = _place(mark.x0, left, width), _place(mark.y0, top, height)
        if mark.is_point:
            if 0 <= mark.x0 < 1 and 0 <= mark.y0 < 1:
                _fill(canvas, x0 - 2, y0 - 2, 5, 5, INK)
                _fill(canvas, x0 - 1, y0 - 1, 3, 3, color)
            continue
        # The last pixel that a box covers: its end is exclusive.
        x1 = max(_place(mark.x1, left, width + 1) - 1, x0)
        y1 = max(_place(mark.y1, top, height + 1) - 1, y0)
        for x, y, columns, rows in (
            (x0, y0, x1 - x0 + 1, 2),
            (x0, y1 - 1, x1 - x0 + 1, 2),
            (x0, y0, 2, y1 - y0 + 1),
            (x1 - 1, y0, 2, y1 - y0 + 1),
        ):
            _fill(canvas, x, y, columns, rows, color)
        if mark.name:
            _fill(canvas, x0, y0, len(mark.name) * CELL_WIDTH + 2, CELL_HEIGHT, color)
            ink = mask(mark.name)
            area = canvas[y0 + 2 : y0 + 2 + ink.shape[0], x0 + 2 : x0 + 2 + ink.shape[1]]
            area[ink[: area.shape[0], : area.shape[1]]] = INK


def _place(fraction: float, start: int, length: int) -> int:
    return start + min(int(min(max(fraction, 0.0), 1.0) * length), length - 1)


def _fill(canvas: np.ndarray, x: int, y: int, width: int, height: int, color: tuple) -> None:
    canvas[max(y, 0) : max(y + height, 0), max(x, 0) : max(x + width, 0)] = color
