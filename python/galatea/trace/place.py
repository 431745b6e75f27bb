"""Where in the user's Python something was done."""

from __future__ import annotations

import itertools
import linecache
import os
import sys
from typing import NamedTuple

_PACKAGE = os.path.dirname(os.path.dirname(os.path.abspath(__file__))) + os.sep


class Place(NamedTuple):
    """A range of a Python file; lines and columns from 1, columns in characters, ends exclusive.

    `column` is 0 where only the line is known.
    """

    file: str
    line: int
    column: int = 0
    end_line: int = 0
    end_column: int = 0

    def __str__(self) -> str:
        column = f":{self.column}" if self.column else ""
        return f"{self.file}:{self.line}{column}"

    def source_line(self) -> str:
        """The line's text without its line break; "" where the file cannot be read."""
        return linecache.getline(self.file, self.line).rstrip("\r\n")


def is_ours(file: str) -> bool:
    """Whether a file belongs to this package."""
    return file.startswith(_PACKAGE)


def _characters(line: str, byte: int) -> int:
    return len(line.encode()[:byte].decode(errors="replace"))


def _columns(frame) -> tuple[int, int, int, int] | None:
    positions = getattr(frame.f_code, "co_positions", None)
    if positions is None or frame.f_lasti < 0:
        return None
    position = next(itertools.islice(positions(), frame.f_lasti // 2, None), None)
    return position if position is not None and None not in position else None


def frame():
    """The innermost frame that is not this package's; None where there is none."""
    found = sys._getframe(1)
    while found is not None and is_ours(found.f_code.co_filename):
        found = found.f_back
    return found


def caller() -> Place | None:
    """The innermost line that is not this package's; None where there is none."""
    return place_of(frame())


def place_of(frame) -> Place | None:
    """Where a frame stands."""
    if frame is None:
        return None
    file = frame.f_code.co_filename
    found = _columns(frame)
    if found is None:
        return Place(file, frame.f_lineno)
    line, end_line, column, end_column = found
    first, last = linecache.getline(file, line), linecache.getline(file, end_line)
    if not first:
        return Place(file, frame.f_lineno)
    return Place(
        file, line, _characters(first, column) + 1, end_line, _characters(last, end_column) + 1
    )
