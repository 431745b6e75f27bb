"""Albumentations with OpenCV. Its resize does not antialias: less work than the others do, and other pixels."""

import os

os.environ["NO_ALBUMENTATIONS_UPDATE"] = "1"  # no look at the network when imported

import albumentations as A
import by_opencv
import cv2
import measure
import torch_loading
from albumentations.pytorch import ToTensorV2

LINEAR = cv2.INTER_LINEAR


def finish():
    return [A.Normalize(measure.UNIT_MEAN, measure.UNIT_STD), ToTensorV2()]


def random_crop():
    return A.RandomResizedCrop(size=(measure.SIZE, measure.SIZE), scale=measure.AREA, ratio=measure.RATIO, interpolation=LINEAR)


def rotate(limit):
    return A.Rotate(limit=limit, interpolation=LINEAR, border_mode=cv2.BORDER_CONSTANT, p=1)


def edges(image, **_):
    return by_opencv.draw_edges(image)


def saturate(image, **_):
    return cv2.transform(image, by_opencv.twist_matrix(saturation=2.0))


TRAIN = {
    "imagenet-train": lambda: [random_crop(), A.HorizontalFlip()],
    "imagenet-val": lambda: [A.SmallestMaxSize(measure.SHORTER, interpolation=LINEAR), A.CenterCrop(measure.SIZE, measure.SIZE)],
    "train-color-rotate": lambda: [
        random_crop(), rotate((-measure.MAX_ANGLE, measure.MAX_ANGLE)),
        A.ColorJitter(measure.TWIST, measure.TWIST, measure.TWIST, (-measure.MAX_HUE / 360, measure.MAX_HUE / 360), p=1), A.HorizontalFlip()],
    "seed-conditional": lambda: [random_crop(), A.OneOf([A.Lambda(image=saturate, p=1), A.Lambda(image=edges, p=1)], p=1), A.HorizontalFlip()],
}


def fixed_middle(bench, label, p):
    if bench == "train-color-rotate":
        def only(value):
            return (value, value)

        return [rotate(only(p["angle"])), A.ColorJitter(only(p["brightness"]), only(p["contrast"]), only(p["saturation"]), only(p["hue"] / 360), p=1)]
    if bench == "seed-conditional":
        return [A.Lambda(image=saturate if label % 2 == 0 else edges, p=1)]
    return []


def fixed(bench, image, label, p):
    if bench == "imagenet-val":
        return A.Compose(TRAIN[bench]() + finish())(image=image)["image"]
    window = [A.Crop(p["left"], p["top"], p["left"] + p["width"], p["top"] + p["height"]),
              A.Resize(measure.SIZE, measure.SIZE, interpolation=LINEAR)]
    return A.Compose(window + fixed_middle(bench, label, p) + finish())(image=image)["image"]


def main():
    args = measure.arguments()
    if args.fixed:
        measure.compare(args, [fixed(args.bench, by_opencv.load(path), label, args.parameters) for path, label in measure.fixed_files(args)])
        return
    transform = A.Compose(TRAIN[args.bench]() + finish())
    torch_loading.measure_folder(lambda image: transform(image=image)["image"], by_opencv.load, args,
                                 {"albumentations": A.__version__, "opencv": cv2.__version__})


main()
