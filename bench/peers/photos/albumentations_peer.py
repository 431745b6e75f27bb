"""Albumentations with OpenCV. Its resize does not antialias: less work than the others do, and other pixels."""

import os

os.environ["NO_ALBUMENTATIONS_UPDATE"] = "1"  # no look at the network when imported

import albumentations as A
import by_opencv
import cv2
import measure
import numpy as np
import torch
import torch_loading
from albumentations.pytorch import ToTensorV2

LINEAR = cv2.INTER_LINEAR


def finish():
    return [A.Normalize(measure.UNIT_MEAN, measure.UNIT_STD), ToTensorV2()]


def random_crop():
    return A.RandomResizedCrop(size=(measure.SIZE, measure.SIZE), scale=measure.AREA, ratio=measure.RATIO, interpolation=LINEAR)


def rotate(limit):
    return A.Rotate(limit=limit, interpolation=LINEAR, border_mode=cv2.BORDER_CONSTANT, p=1)


def random_colours():
    return A.ColorJitter(measure.TWIST, measure.TWIST, measure.TWIST, (-measure.MAX_HUE / 360, measure.MAX_HUE / 360), p=1)


def edges(image, **_):
    return by_opencv.draw_edges(image)


def saturate(image, **_):
    return cv2.transform(image, by_opencv.twist_matrix(saturation=2.0))


TRAIN = {
    "imagenet-train": lambda: [random_crop(), A.HorizontalFlip()],
    "imagenet-val": lambda: [A.SmallestMaxSize(measure.SHORTER, interpolation=LINEAR), A.CenterCrop(measure.SIZE, measure.SIZE)],
    "train-color-rotate": lambda: [random_crop(), rotate((-measure.MAX_ANGLE, measure.MAX_ANGLE)), random_colours(), A.HorizontalFlip()],
    "seed-conditional": lambda: [random_crop(), A.OneOf([A.Lambda(image=saturate, p=1), A.Lambda(image=edges, p=1)], p=1), A.HorizontalFlip()],
}


def only(value):
    return (value, value)


def fixed_colours(p):
    return A.ColorJitter(only(p["brightness"]), only(p["contrast"]), only(p["saturation"]), only(p["hue"] / 360), p=1)


def fixed_middle(bench, label, p):
    if bench == "train-color-rotate":
        return [rotate(only(p["angle"])), fixed_colours(p)]
    if bench == "detection":
        return [fixed_colours(p)]
    if bench == "seed-conditional":
        return [A.Lambda(image=saturate if label % 2 == 0 else edges, p=1)]
    return []


def size_of(bench):
    return (measure.DETECTION_SIZE, measure.DETECTION_SIZE) if bench == "detection" else (measure.SIZE, measure.SIZE)


def train_detection():
    """The crop is its own: one that keeps the boxes."""
    return A.Compose([A.RandomSizedBBoxSafeCrop(*size_of("detection"), erosion_rate=0.3, interpolation=LINEAR, p=1), random_colours(),
                      A.HorizontalFlip(), *finish()], bbox_params=A.BboxParams("albumentations", label_fields=["classes"]))


def fixed(bench, image, label, p):
    if bench == "imagenet-val":
        return A.Compose(TRAIN[bench]() + finish())(image=image)["image"]
    window = [A.Crop(p["left"], p["top"], p["left"] + p["width"], p["top"] + p["height"]),
              A.Resize(*size_of(bench), interpolation=LINEAR)]
    return A.Compose(window + fixed_middle(bench, label, p) + finish())(image=image)["image"]


def main():
    args = measure.arguments()
    if args.fixed:
        measure.compare(args, [fixed(args.bench, by_opencv.load(path), label, args.parameters) for path, label in measure.fixed_files(args)])
        return
    versions = {"albumentations": A.__version__, "opencv": cv2.__version__}
    if args.bench == "detection":
        transform = train_detection()

        def make(image, label):
            boxes = np.array(measure.boxes_of(label), dtype=np.float32)
            made = transform(image=image, bboxes=boxes, classes=np.arange(len(boxes)))
            return made["image"], torch.from_numpy(made["bboxes"]), torch.as_tensor(made["classes"])

        torch_loading.measure_boxes(make, by_opencv.load, args, versions)
        return
    transform = A.Compose(TRAIN[args.bench]() + finish())
    torch_loading.measure_folder(lambda image: transform(image=image)["image"], by_opencv.load, args, versions)


main()
