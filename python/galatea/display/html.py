"""Parts of pages: pictures, tables, messages, contact sheets. Each is whole by itself."""

from __future__ import annotations

import base64
from html import escape
from typing import TYPE_CHECKING, Iterable, Sequence

import numpy as np

from . import marked, marks, pictures, png

if TYPE_CHECKING:
    from .sheet import Cell, Sheet

__all__ = ["block", "message", "page", "sheet", "source", "table"]

SIDE = 160  # of the square that a picture fits into, in CSS pixels; the style has it, too

# Colours are the page's own, or work on light and dark ones.
_STYLE = """<style>
.galatea{line-height:1.35;font-size:13px}
.galatea .title{font-weight:600;margin:.2em 0}
.galatea .cards{display:flex;flex-wrap:wrap;gap:12px 20px}
.galatea .card{max-width:100%}
.galatea .cells{display:flex;gap:8px;overflow-x:auto}
.galatea .label,.galatea figcaption,.galatea .faint{color:#7d8590;font-size:11px}
.galatea .faint{font-weight:400}.galatea .label{margin:4px 0 2px;overflow-wrap:anywhere}
.galatea figure{margin:0;padding:0;overflow-wrap:anywhere}
.galatea figure img{display:block;margin:0;max-width:none;object-fit:contain;
 object-position:0 0;width:160px;height:160px}
.galatea figure .name{font-weight:600;white-space:nowrap;overflow:hidden;text-overflow:ellipsis}
.galatea figure .name{line-height:1.25;margin-bottom:3px}
.galatea figure .numbers{font-family:monospace;font-size:12px;max-height:160px;overflow-y:auto}
.galatea table{border-collapse:collapse;margin:.3em 0;font-size:inherit}
.galatea th,.galatea td,.galatea tr{text-align:left!important;background:none!important}
.galatea th,.galatea td{padding:2px 14px 2px 0;border-bottom:1px solid #80808040;vertical-align:top}
.galatea pre{margin:.3em 0;padding:.6em .8em;border:1px solid #80808040;border-radius:4px;
 overflow-x:auto;line-height:1.35;background:none;color:inherit}
.galatea .error{color:#d1242f;font-weight:600}.galatea .warning{color:#bf8700;font-weight:600}
.galatea .note{color:#1a7f37;font-weight:600}.galatea .margin{color:#4078c0;font-weight:600}
.galatea .strong{font-weight:600}.galatea .help{color:#138a8a;font-weight:600}
.galatea .keyword{color:#4078c0}.galatea .string{color:#1a7f37}
.galatea .comment{color:#7d8590}.galatea .number{color:#138a8a}.galatea .decorator{color:#8250df}
</style>"""


def block(*parts: str) -> str:
    """Parts as one piece of a page."""
    return f'<div class="galatea">{_STYLE}{"".join(parts)}</div>'


def page(title: str, body: str) -> str:
    """A page of its own."""
    return (
        '<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8">'
        f"<title>{escape(title)}</title>"
        "<style>body{font-family:system-ui,sans-serif;margin:24px}</style></head>\n"
        f"<body>{body}</body></html>\n"
    )


def title(text: str, more: str = "") -> str:
    """A line above a part."""
    faint = f' <span class="faint">{escape(more)}</span>' if more else ""
    return f'<div class="title">{escape(text)}{faint}</div>'


def table(head: Iterable[str], rows: Iterable[Iterable[object]]) -> str:
    """A table of words; without a head where there are no words in it."""
    head = tuple(head)
    top = "<thead><tr>" + "".join(f"<th>{escape(word)}</th>" for word in head) + "</tr></thead>"
    body = "".join(
        "<tr>" + "".join(f"<td>{escape(str(word))}</td>" for word in row) + "</tr>" for row in rows
    )
    return f"<table>{top if any(head) else ''}<tbody>{body}</tbody></table>"


def message(text: str) -> str:
    """What an error says, coloured."""
    return f"<pre>{marked.html(marked.of_message(text))}</pre>"


def source(text: str) -> str:
    """A pipeline's text, coloured."""
    return f"<pre>{marked.html(marked.of_source(text.rstrip()))}</pre>"


def image(pixels: np.ndarray, alt: str) -> str:
    """A picture in a square of SIDE; what is much smaller has hard edges."""
    data = base64.b64encode(png.encoded(pixels)).decode()
    sharp = ' style="image-rendering:pixelated"' if 2 * max(pixels.shape) <= SIDE else ""
    return f'<img alt="{escape(alt)}" src="data:image/png;base64,{data}"{sharp}>'


def _marked(thumbnail: np.ndarray, over: Sequence[marks.Mark]) -> np.ndarray:
    """With marks over it, the thumbnail is as large as the page shows it."""
    if not over:
        return thumbnail
    pixels = pictures.fit(thumbnail, SIDE)
    pixels = np.broadcast_to(pixels, (*pixels.shape[:2], 3)).copy()
    height, width, _ = pixels.shape
    marks.draw(pixels, over, 0, 0, height, width)
    return pixels


def _figure(name: str, cell: Cell, two_lines: bool) -> str:
    if cell.thumbnail is None:
        shown = f'<div class="numbers">{escape(cell.text)}</div>'
        width = SIDE if len(cell.text) > 60 else 96
    else:
        shown = image(_marked(cell.thumbnail, cell.marks), name)
        width = SIDE
    said = f"<br>{escape(cell.shown_as)}" if cell.shown_as else ""
    variable, _, made_by = name.partition(" = ")
    head = f'<div class="name" title="{escape(name)}">{escape(variable)}'
    if two_lines:
        head += f'<br><span class="faint">{escape(made_by) or "&nbsp;"}</span>'
    return (
        f'<figure style="width:{width}px;flex:none">{head}</div>{shown}'
        f"<figcaption>{escape(cell.caption)}{said}</figcaption></figure>"
    )


def cards(sheet: Sheet) -> str:
    """The samples of a sheet side by side, each with its outputs."""
    out = []
    two_lines = any(" = " in name for name in sheet.columns)
    for label, cells in zip(sheet.rows, sheet.cells):
        figures = "".join(
            _figure(name, cell, two_lines) for name, cell in zip(sheet.columns, cells)
        )
        out.append(
            f'<div class="card"><div class="label">{escape(label)}</div>'
            f'<div class="cells">{figures}</div></div>'
        )
    return f'<div class="cards">{"".join(out)}</div>'


def sheet(sheet: Sheet) -> str:
    """A contact sheet."""
    return block(title(sheet.title), cards(sheet))
