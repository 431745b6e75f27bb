"""What Albumentations and torchvision make of pictures, beside the lines that docs/from-albumentations.md and
docs/from-torchvision.md put in their place.

The tables are the source: each row with a third column, "off by", is a case. Its first cell is evaluated with the
libraries, its second is the pipeline's expression of `image`, its third the tolerance.
"""
import os
import re
import warnings

import numpy as np

import samples
from recorder import Feed

DOCS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "docs")
ROW = re.compile(r"^\| `(.*?)` \| `(.*?)` \| ([0-9.e-]+) \|$")
SIZES = [(25, 33), (22, 27)]
WARPS = "OpenCV 5 warps in f32"
ROUNDED = "truncated there, rounded here"
FLOATS = "another order of sums, in f64 there"


def rows(page):
    with open(os.path.join(DOCS, page), encoding="utf-8") as file:
        return [match.groups() for match in map(ROW.match, file) if match]


def why(expression, tolerance):
    if float(tolerance) == 0:
        return ""
    if "rotate" in expression or "warp" in expression:
        return WARPS
    return FLOATS if float(tolerance) < 0.5 else ROUNDED


def output_of(array):
    """As ours: contiguous, with an axis for the channel, of floats FLOAT."""
    array = np.ascontiguousarray(array if array.ndim == 3 else array[:, :, None])
    return array.astype(np.float32) if array.dtype == np.float64 else array


def albumentations_peer(code):
    import albumentations as A  # noqa: F401, evaluated names
    import cv2  # noqa: F401

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        transform = eval(code)
    transform.p = 1.0
    return lambda image: output_of(transform(image=image)["image"])


def torchvision_peer(code):
    import torch
    import torchvision.transforms.v2.functional as F  # noqa: F401, evaluated names
    from torchvision.transforms import v2  # noqa: F401

    def peer(array):
        image = torch.from_numpy(np.ascontiguousarray(array.transpose(2, 0, 1)))
        names = {"image": image, "F": F, "v2": v2, "torch": torch}
        if code.startswith("F."):
            result = eval(code, names)
        else:
            transform = eval(code, names)
            transform.p = 1.0
            result = transform(image)
        return output_of(result.numpy().transpose(1, 2, 0))

    return peer


def add(group, page, peer):
    images = [samples.photo(h, w, key=k) if k % 2 else samples.image(h, w, key=k) for k, (h, w) in enumerate(SIZES)]
    for code, expression, tolerance in rows(page):
        layout = "CHW" if "perm=[2, 0, 1]" in expression else "HWC"
        tolerance = float(tolerance) if float(tolerance) % 1 else int(float(tolerance))
        group.record(code, expression, {"image": Feed(images, "HWC")}, peer(code), layout, tolerance,
                     why(expression, tolerance))
