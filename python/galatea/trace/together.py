"""`galatea.together`: a picture with what lies on it.

Comes in: nodes of an image and of what belongs to it. Goes out: a node that operators take as they
take an image; its attributes are what belongs to it then (docs/together.md).
"""

from __future__ import annotations

from typing import Any

from galatea.trace import place as places
from galatea.trace import recorder as recorders
from galatea.trace.expression import Call
from galatea.trace.node import Node


def together(
    image: Node,
    *,
    mask: Any = None,
    boxes: Any = None,
    labels: Any = None,
    points: Any = None,
    box_format: str = "xyxy",
    relative: bool = False,
    min_visible: float = 0.0,
    mask_fill: float = 0,
) -> Node:
    """Makes one value of an image and of a mask, boxes, labels and points that lie on it.

    `boxes`: FLOAT [n, 4]; `box_format` is "xyxy", "xywh" or "cxcywh"; in pixels, or with `relative`
    in fractions of the image. `labels`: a row for each box, or a list of such. `points`: FLOAT
    [n, 2], x before y, or [n, k, 2]. Boxes stay of which a share of `min_visible` is seen.
    `mask_fill` is what a mask has where the image is filled. Operators, branches and augmentations
    take the result as an image; `t.image`, `t.mask`, `t.boxes`, `t.labels`, `t.points`, `t.inside`
    and `t.matrix` are what is in it.
    """
    recorder = recorders.require("`galatea.together`")
    place = places.caller()
    given = {
        "image": image,
        "mask": mask,
        "boxes": boxes,
        "labels": labels,
        "points": points,
        "box_format": None if box_format == "xyxy" else box_format,
        "relative": relative or None,
        "min_visible": min_visible or None,
        "mask_fill": mask_fill or None,
    }
    arguments = [
        (name, recorder.value(value, place)) for name, value in given.items() if value is not None
    ]
    return recorder.add(Call("galatea.together", arguments), place=place)
