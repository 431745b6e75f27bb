"""How tensors and lists of them are shown: fields on lines of their own, as in DALI 2.4."""

from __future__ import annotations

import textwrap
from typing import Any, Sequence

import numpy as np

_INDENT = "    "
_EDGE = 2  # elements at each end of what is shortened
# What is shown whole: shapes of a list, their extents together, and elements.
_MOST_SHAPES, _MOST_EXTENTS, _MOST_ELEMENTS = 16, 100, 1000


def of_tensor(kind: str, array: np.ndarray, dtype: Any, layout: str, with_data: bool) -> str:
    """The text of one tensor."""
    fields = [f"dtype={dtype}", *_layout(layout), 'device="cpu"', f"shape={tuple(array.shape)}"]
    return _joined(kind, [_text(array), *fields] if with_data else fields)


def of_list(
    kind: str, samples: Sequence[np.ndarray], dtype: Any, layout: str, with_data: bool
) -> str:
    """The text of a list of samples."""
    count, ndim = len(samples), samples[0].ndim if samples else 1
    is_long = count > 2 * _EDGE + 1
    shortens = count > _MOST_SHAPES or (is_long and count * ndim > _MOST_EXTENTS)
    shapes = _lines(_shortened([str(tuple(one.shape)) for one in samples], shortens))
    fields = [f"dtype={dtype}", *_layout(layout), 'device="cpu"']
    fields += [f"num_samples={len(samples)}", f"shape=[{shapes}]"]
    if not with_data:
        return _joined(kind, fields)
    shortens = is_long and sum(one.size for one in samples) > _MOST_ELEMENTS
    separator = "," + ("\n" * ndim or " ")
    data = separator.join(_shortened(list(samples), shortens, _text))
    return _joined(kind, [f"[{data}]", *fields])


def _lines(shapes: Sequence[str]) -> str:
    """Shapes on one line, or below each other where that is wider than numpy's arrays may be."""
    text = ", ".join(shapes)
    if len(text) <= np.get_printoptions()["linewidth"]:
        return text
    return f", \n{' ' * len('shape=[')}".join(shapes)


def _text(array: np.ndarray) -> str:
    width = np.get_printoptions()["linewidth"] - len(_INDENT)
    return np.array2string(array, edgeitems=_EDGE, max_line_width=width)


def _layout(layout: str) -> list[str]:
    return [f'layout="{layout}"'] if layout else []


def _shortened(items: list, shortens: bool, text=str) -> list[str]:
    if not shortens:
        return [text(one) for one in items]
    return [*map(text, items[:_EDGE]), "...", *map(text, items[-_EDGE:])]


def _joined(kind: str, fields: list[str]) -> str:
    return f"{kind}(\n" + textwrap.indent(",\n".join(fields), _INDENT) + ")"
