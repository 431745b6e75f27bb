"""Contact sheets: samples in rows, outputs in columns, as an object that shows itself."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Sequence

import numpy as np

from . import html, pictures, png, sheet_picture, shell
from .marks import Mark

__all__ = ["Cell", "Sheet"]


@dataclass(frozen=True)
class Cell:
    """One sample of one output: pixels, uint8 (height, width, 1 or 3), or numbers as text.

    `picture` has at most 208 pixels a side, as sheets draw it, and `thumbnail` at most 160, as pages
    show it: larger ones are averaged down, so that a sheet of photographs stays small. `marks` lie
    over both.
    """

    picture: np.ndarray | None
    thumbnail: np.ndarray | None
    text: str
    caption: str
    shown_as: str = ""
    marks: tuple[Mark, ...] = ()

    @classmethod
    def of(cls, array: np.ndarray, layout: str, over: Sequence[Mark] = ()) -> "Cell":
        """The cell of a sample: a copy, which holds no batch."""
        caption = pictures.caption(array, layout)
        pixels = pictures.picture(array, layout)
        if pixels is None:
            return cls(None, None, pictures.numbers(array), caption)
        drawn = pictures.fit(pixels, sheet_picture.SIDE, enlarge=False)
        shown = pictures.fit(pixels, html.SIDE, enlarge=False)
        return cls(drawn, shown, "", caption, pictures.shown_as(array, layout), tuple(over))


class Sheet:
    """Samples in rows, outputs in columns: what `galatea.view` gives.

    A notebook shows it as a table of pictures; `save("sheet.png")` and `save("sheet.html")` write
    files, `numpy()` gives the pixels. `columns` names the outputs, `rows` the samples, and
    `cells[row][column]` has `picture` (uint8, height, width, channels; or None), `text` and
    `caption`. Bytes are shown as they are, other element types from the least value of the sample
    (black) to its greatest (white): galatea.display.pictures says the rest.
    """

    def __init__(self, title: str, columns, rows, cells):
        self.title = title
        self.columns = tuple(columns)
        self.rows = tuple(rows)
        self.cells = tuple(tuple(row) for row in cells)

    def __len__(self) -> int:
        return len(self.rows)

    def numpy(self) -> np.ndarray:
        """The sheet as one picture: uint8 (height, width, 3)."""
        return sheet_picture.draw(self)

    def _repr_png_(self) -> bytes:
        return png.encoded(self.numpy())

    def _repr_html_(self) -> str:
        return html.sheet(self)

    def _repr_mimebundle_(self, include=None, exclude=None) -> dict[str, str]:
        # Without the PNG: the table holds the same pictures, and notebooks keep all that they get.
        return {"text/html": self._repr_html_(), "text/plain": repr(self)}

    def save(self, path) -> None:
        """Writes the sheet: a picture where the path ends in ".png", a page where in ".html"."""
        path = os.fspath(path)
        ending = os.path.splitext(path)[1].lower()
        if ending == ".png":
            data = self._repr_png_()
        elif ending in (".html", ".htm"):
            data = html.page(self.title, self._repr_html_()).encode()
        else:
            raise ValueError(f"a sheet is written as .png or .html, not as {path!r}")
        with open(path, "wb") as file:
            file.write(data)

    def show(self) -> None:
        """Shows the sheet: in the notebook, or as a page in the browser of this machine."""
        if shell.in_notebook():
            from IPython.display import display

            display(self)
            return
        import tempfile
        import webbrowser

        with tempfile.NamedTemporaryFile(prefix="galatea-", suffix=".html", delete=False) as file:
            file.write(html.page(self.title, self._repr_html_()).encode())
        if not webbrowser.open(f"file://{file.name}"):
            print(f"no browser was found; the sheet is {file.name}")

    def __repr__(self) -> str:
        lines = [f"<galatea sheet of {self.title}; .save() writes a picture>"]
        width = max((len(name) for name in self.columns), default=0)
        for label, cells in zip(self.rows, self.cells):
            lines.append(label)
            for name, cell in zip(self.columns, cells):
                said = cell.text if cell.picture is None else cell.shown_as
                if len(said) > 48:
                    said = said[:47] + "…"
                lines.append(f"    {name:<{width}}  {cell.caption}  {said}".rstrip())
        return "\n".join(lines)
