"""What batches, outputs, loaders, pipelines and errors show of themselves in notebooks.

A part of a page may be asked for at any time, also of what was closed: then it says so, and raises
nothing. None of them opens data, or takes a batch of a loader.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from galatea.errors import ClosedError, GalateaError

from . import html
from .traceback_lines import cell_name, readable
from .view import view

if TYPE_CHECKING:
    from galatea.batch import Batch, Output
    from galatea.loader import Loader
    from galatea.pipeline import Pipeline

__all__ = ["batch", "error", "loader", "output", "pipeline"]

SAMPLES = 8
OPERATORS = 8
_HEAD = ("output", "shape", "element type", "layout", "device")


def batch(shown: Batch) -> str:
    """A table of the outputs, and the first samples as pictures."""
    try:
        about = f"{shown.num_samples} samples"
        if shown.num_filled:
            about += f", {shown.num_filled} of them to fill it up"
        rows = [_row(output) for output in shown]
        head = html.title(f"Batch {shown.index} of epoch {shown.epoch}", about)
        return html.block(head, html.table(_HEAD, rows), _first(shown, shown))
    except ClosedError as closed:
        return html.block(html.title("Batch", closed.message or str(closed)))


def output(shown: Output) -> str:
    """Its name, shape, element type, layout and device, and the first samples as pictures."""
    try:
        return html.block(html.table(_HEAD, [_row(shown)]), _first(shown, shown._batch))
    except ClosedError as closed:
        return html.block(html.title("Output", closed.message or str(closed)))


def _row(output: Output) -> tuple:
    shape = " × ".join("varies" if extent is None else str(extent) for extent in output.shape)
    return output.name, shape, output.dtype, output.layout or "–", output.device


def _first(shown: Batch | Output, batch: Batch) -> str:
    sheet = view(shown, samples=SAMPLES)
    more = batch.num_samples - len(sheet)
    if any(cell.picture is not None for cells in sheet.cells for cell in cells):
        body = html.cards(sheet)
    else:
        rows = zip(sheet.rows, sheet.cells)
        words = [(label, *(cell.text for cell in cells)) for label, cells in rows]
        body = html.table(("sample", *sheet.columns), words)
    return body + (f'<div class="faint">… {more} more</div>' if more > 0 else "")


def loader(shown: Loader) -> str:
    """What it runs, its outputs, and what it did so far."""
    rows: list[tuple] = [("batches of", f"{shown.batch_size} samples"), ("seed", shown.seed)]
    session = shown._session
    if session is not None:
        size = session.epoch_size
        if size >= 0:
            rows.append(("epoch", f"{size} samples, {len(shown)} batches"))
        statistics = shown.statistics()
        if statistics["samples"]:
            rows += _so_far(statistics)
    ports = shown.ports
    parts = [
        html.title(f"Loader {shown.name}", _class(shown)),
        html.table(("", ""), rows),
        _ports_table(ports),
    ]
    if session is not None and statistics["operators"]:
        parts.append(_operators(statistics))
    elif session is None:
        parts.append('<div class="faint">not opened: no data was read yet</div>')
    return html.block(*parts)


def _class(shown: Loader) -> str:
    return f"{type(shown).__module__}.{type(shown).__qualname__}".replace(
        "galatea.loader.", "galatea."
    )


def _so_far(statistics: dict) -> list[tuple]:
    delivered = f"{statistics['samples']} samples in {statistics['batches']} batches"
    failed = statistics["num_skipped"], statistics["num_replaced"]
    if any(failed):
        delivered += f"; {failed[0]} skipped, {failed[1]} replaced"
    return [
        ("delivered", delivered),
        ("took", f"{statistics['seconds']:.3g} s"),
        ("most memory", f"{statistics['peak_memory_bytes'] / 2**20:.1f} MiB"),
    ]


def _operators(statistics: dict) -> str:
    operators = sorted(statistics["operators"], key=lambda entry: -entry["seconds"])
    total = sum(entry["seconds"] for entry in operators) or 1.0
    rows = [
        (
            entry["name"],
            entry["line"] or "–",
            entry["kind"],
            f"{100 * entry['seconds'] / total:.0f} %",
            f"{1000 * entry['seconds']:.3g} ms",
            entry["calls"],
        )
        for entry in operators[:OPERATORS]
    ]
    return html.table(("operator", "line", "kind", "share", "time of all threads", "calls"), rows)


def _ports_table(ports: dict[str, Any]) -> str:
    rows = [("input", *_port(port)) for port in ports["inputs"]]
    if ports["outputs"] is None:
        rows.append(("outputs", "known when every input was fed", "", "", "", ""))
    rows += [("output", *_port(port)) for port in ports["outputs"] or ()]
    return html.table(("", "name", "sample", "element type", "layout", "device"), rows)


def _port(port: dict[str, Any]) -> tuple:
    """Name, extents, element type, layout, device of a port of `ports`."""
    if port["ndim"] is None:
        shape = "any"
    else:
        extents = port["extents"] or [None] * port["ndim"]
        shape = " × ".join("varies" if n is None else str(n) for n in extents) or "one number"
    dtype = " ".join(port["dtypes"]) or "any"
    return port["name"], shape, dtype, " ".join(port["layouts"]) or "–", port.get("device", "")


def pipeline(shown: Pipeline) -> str:
    """Its text, and its outputs with their types, or what is wrong with it."""
    of = cell_name(shown.file) or shown.file
    head = html.title(f"Pipeline {shown.name}", f"of {of}" if of else "")
    try:
        ports = json.loads(shown.program().ports_json())
    except GalateaError as wrong:
        return html.block(head, html.source(shown.text), html.message(readable(wrong)))
    return html.block(head, html.source(shown.text), _ports_table(ports))


def error(shown: GalateaError) -> str:
    """The message with the lines that it is about, coloured."""
    return html.block(html.message(readable(shown)))
