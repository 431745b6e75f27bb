"""A contact sheet as one picture, pixel by pixel as `galatea view` draws it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from . import marks
from .font import CELL_HEIGHT, CELL_WIDTH, mask
from .pictures import fit

if TYPE_CHECKING:
    from .sheet import Cell, Sheet

__all__ = ["draw"]

PAPER, INK, FAINT, BACK = (250, 250, 248), (30, 34, 40), (120, 124, 130), (232, 233, 235)
GAP, NARROW = 10, 96
SIDE = 208  # of the square that pictures fit into


def draw(sheet: Sheet, size: int = SIDE) -> np.ndarray:
    """The pixels, uint8 (height, width, 3)."""
    widths = _widths(sheet, size)
    left = np.cumsum([GAP, *(width + GAP for width in widths)])
    row_height = CELL_HEIGHT + 4 + size + CELL_HEIGHT + GAP  # label, cell, caption
    header = GAP + CELL_HEIGHT + 4
    canvas = np.full((header + len(sheet.rows) * row_height + GAP, left[-1], 3), PAPER, np.uint8)
    for x, width, name in zip(left, widths, sheet.columns):
        _write(canvas, x, GAP, name, width, INK)
    for row, (label, cells) in enumerate(zip(sheet.rows, sheet.cells)):
        y = header + row * row_height
        _write(canvas, GAP, y + 2, label, left[-1] - 2 * GAP, FAINT)
        for x, width, cell in zip(left, widths, cells):
            _draw_cell(canvas, cell, x, y + CELL_HEIGHT + 4, width, size)
    return canvas


def _widths(sheet: Sheet, size: int) -> list[int]:
    """Columns without a picture are narrow, unless they have much to say."""
    widths = [min(NARROW, size)] * max(len(sheet.columns), 1)
    for cells in sheet.cells:
        for place, cell in enumerate(cells):
            if cell.picture is not None or len(cell.text) > 60:
                widths[place] = size
    return widths


def _draw_cell(canvas: np.ndarray, cell: Cell, x: int, y: int, width: int, size: int) -> None:
    canvas[y : y + size, x : x + width] = BACK
    if cell.picture is not None:
        fitted = fit(cell.picture, size)
        height, columns, _ = fitted.shape
        top, first = y + (size - height) // 2, x + (size - columns) // 2
        canvas[top : top + height, first : first + columns] = fitted
        marks.draw(canvas, cell.marks, first, top, height, columns)
    else:
        room = (width - 16) // CELL_WIDTH
        lines = [cell.text[at : at + room] for at in range(0, len(cell.text), room)]
        for place, line in enumerate(lines[: (size - 16) // CELL_HEIGHT]):
            _write(canvas, x + 8, y + 8 + place * CELL_HEIGHT, line, width - 16, INK)
    _write(canvas, x, y + size + 3, cell.caption, width, FAINT)


def _write(canvas: np.ndarray, x: int, y: int, text: str, width: int, color: tuple) -> None:
    """Text in one line, cut to `width` pixels."""
    room = max(width // CELL_WIDTH, 1)
    shown = text if len(text) <= room else text[: room - 1] + "~"
    ink = mask(shown)
    area = canvas[y : y + ink.shape[0], x : x + ink.shape[1]]
    area[ink[: area.shape[0], : area.shape[1]]] = color
