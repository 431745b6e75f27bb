#!/usr/bin/env python3
"""Records what Albumentations makes of boxes, labels, masks and points, in the form of tests/oracle.

Out: data/albumentations.json, data/albumentations.bin. Needs: pip install albumentations (2.0.8 made what is here).
Boxes are compared for every transform, whole masks and points where no pixel is resampled: Albumentations counts
points from centres of pixels, so that they are moved by half a pixel here, which a resize would scale.
"""
import io
import json
import os

import albumentations as A
import numpy as np

HERE = os.path.dirname(os.path.abspath(__file__))
FORMATS = {"xyxy": "pascal_voc", "xywh": "coco", "cxcywh": "yolo"}
SIZES = [(40, 44), (33, 21), (17, 50)]
TEXT = """import galatea
from galatea import fn, pipeline_def, types


@pipeline_def(batch_size=3, num_threads=1)
def p():
    image = fn.external_source(name="image", dtype=types.UINT8, ndim=3, layout="HWC")
    mask = fn.external_source(name="mask", dtype=types.UINT8, ndim=2)
    boxes = fn.external_source(name="boxes", dtype=types.FLOAT, ndim=2)
    labels = fn.external_source(name="labels", dtype=types.INT32, ndim=1)
    points = fn.external_source(name="points", dtype=types.FLOAT, ndim=2)
    t = galatea.together(
        image=image,
        mask=mask,
        boxes=boxes,
        labels=labels,
        points=points,
        box_format="{format}",
        relative={relative},
        min_visible={least},
    )
{steps}
    return {results}
"""

# name: (transforms, the same here, whether pixels keep their size, formats)
CASES = {
    "flip": ([A.HorizontalFlip(p=1)], ["t = fn.flip(t)"], True),
    "flip_vertical": ([A.VerticalFlip(p=1)], ["t = fn.flip(t, horizontal=0, vertical=1)"], True),
    "crop": ([A.Crop(x_min=3, y_min=2, x_max=19, y_max=15, p=1)],
             ["t = fn.slice(t, start=[3, 2], end=[19, 15])"], True),
    "center_crop": ([A.CenterCrop(height=14, width=16, p=1)],
                    ["t = fn.crop(t, crop=[14, 16], rounding=\"truncate\")"], True),
    "pad": ([A.PadIfNeeded(min_height=50, min_width=70, position="top_left", border_mode=0, p=1)],
            ["t = fn.pad(t, axis_names=\"HW\", shape=[50, 70])"], True),
    "resize": ([A.Resize(height=50, width=31, p=1)], ["t = fn.resize(t, size=[50, 31])"], False),
    "longest": ([A.LongestMaxSize(max_size=48, p=1)], ["t = fn.resize(t, resize_longer=48, subpixel_scale=False)"], False),
    "rotate": ([A.Rotate(limit=(17, 17), p=1)], ["t = fn.rotate(t, angle=17.0, keep_size=True)"], False),
    "rotate_back": ([A.Rotate(limit=(-40, -40), p=1)], ["t = fn.rotate(t, angle=-40.0, keep_size=True)"], False),
    "chain": ([A.Resize(height=50, width=31, p=1), A.HorizontalFlip(p=1), A.Crop(x_min=4, y_min=9, x_max=29, y_max=41, p=1)],
              ["t = fn.resize(t, size=[50, 31])", "t = fn.flip(t)", "t = fn.slice(t, start=[4, 9], end=[29, 41])"], False),
}


class Blobs:
    """Equal arrays are stored once."""

    def __init__(self):
        self.data, self.places = bytearray(), {}

    def add(self, array):
        stream = io.BytesIO()
        np.lib.format.write_array(stream, np.array(array, order="C"), version=(1, 0), allow_pickle=False)
        content = stream.getvalue()
        if content not in self.places:
            self.places[content] = [len(self.data), len(content)]
            self.data += content
        return self.places[content]


def sample(random, height, width):
    image = np.zeros((height, width, 1), np.uint8)  # of which the extents count
    mask = random.integers(0, 4, (height, width), dtype=np.uint8)
    first = random.uniform(0, 0.8, (7, 2))
    last = np.minimum(first + random.uniform(0.08, 0.7, (7, 2)), 1)
    boxes = (np.hstack([first, last]) * [width, height, width, height]).astype(np.float32)
    points = (random.integers(0, 64, (5, 2)) % [width, height]).astype(np.float32)
    return image, mask, boxes, np.arange(7, dtype=np.int32) + 10, points


def in_format(boxes, name, width, height):
    boxes = boxes.astype(np.float64)
    size = boxes[:, 2:] - boxes[:, :2]
    if name == "xywh":
        boxes = np.hstack([boxes[:, :2], size])
    if name == "cxcywh":
        boxes = np.hstack([boxes[:, :2] + size / 2, size]) / [width, height, width, height]
    return boxes.astype(np.float32)


def main():
    random = np.random.Generator(np.random.PCG64(21))
    samples = [sample(random, *size) for size in SIZES]
    blobs, cases = Blobs(), []
    for name, (transforms, steps, keeps_pixels) in CASES.items():
        for number, (own, theirs) in enumerate(FORMATS.items()):
            least = [0.05, 0.3, 0.6][number]
            compose = A.Compose(
                transforms,
                bbox_params=A.BboxParams(format=theirs, label_fields=["labels"], min_visibility=least,
                                         check_each_transform=False),
                keypoint_params=A.KeypointParams(format="xy", remove_invisible=False),
            )
            results = ["t.boxes", "t.labels"] + (["t.mask", "t.points"] if keeps_pixels else [])
            inputs = {key: [] for key in ("image", "mask", "boxes", "labels", "points")}
            outputs = [[] for _ in results]
            for image, mask, boxes, labels, points in samples:
                given = in_format(boxes, own, image.shape[1], image.shape[0])
                relative = own == "cxcywh"
                unit = np.float32([image.shape[1], image.shape[0]] if relative else [1, 1])
                fed = (image, mask, given, labels, (points + np.float32(0.5)) / unit)
                for key, value in zip(inputs, fed):
                    inputs[key].append(blobs.add(value))
                made = compose(image=image, mask=mask, bboxes=given.astype(np.float64), labels=labels, keypoints=points)
                kept = np.array(made["bboxes"], np.float32).reshape(-1, 4)
                outputs[0].append(blobs.add(kept))
                outputs[1].append(blobs.add(np.array(made["labels"]).astype(np.int32)))
                if keeps_pixels:
                    outputs[2].append(blobs.add(made["mask"]))
                    unit = np.float32(made["image"].shape[1::-1] if relative else [1, 1])
                    outputs[3].append(blobs.add((np.array(made["keypoints"], np.float32) + np.float32(0.5)) / unit))
            cases.append({
                "name": f"{name}_{own}",
                "text": TEXT.format(format=own, relative=own == "cxcywh", least=least,
                                    steps="\n".join("    " + step for step in steps), results=", ".join(results)),
                "inputs": inputs,
                "outputs": outputs,
                "layouts": ["", "", "HW", ""][: len(results)],
                "tolerance": 1e-5 if own == "cxcywh" else 1e-4,
                "tolerance_kind": "abs",
                "why": "Albumentations computes with fractions of the picture, in float32",
            })
    with open(os.path.join(HERE, "data", "albumentations.json"), "w", encoding="utf-8") as file:
        file.write('{"dali": "none: Albumentations %s", "numpy": "%s", "cases": [\n' % (A.__version__, np.__version__))
        file.write(",\n".join(json.dumps(case) for case in cases))
        file.write("\n]}\n")
    with open(os.path.join(HERE, "data", "albumentations.bin"), "wb") as file:
        file.write(blobs.data)


if __name__ == "__main__":
    main()
