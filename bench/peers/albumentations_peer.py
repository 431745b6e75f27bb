"""Albumentations with OpenCV. Its resize does not antialias: less work than the others do, and other pixels."""

import os

os.environ["NO_ALBUMENTATIONS_UPDATE"] = "1"  # no look at the network when imported

import albumentations as A
import cv2
import measure
import numpy as np
import torch_loading
import torchvision.datasets
from albumentations.pytorch import ToTensorV2


def load(path):
    data = np.fromfile(path, dtype=np.uint8)
    return cv2.imdecode(data, cv2.IMREAD_COLOR_RGB)


def finish():
    return [A.Normalize([m / 255 for m in measure.MEAN], [s / 255 for s in measure.STD]), ToTensorV2()]


def main():
    args = measure.arguments()
    if args.fixed:
        paths, top, left, height, width = measure.fixed_window(args)
        transform = A.Compose([A.Crop(left, top, left + width, top + height),
                               A.Resize(measure.SIZE, measure.SIZE, interpolation=cv2.INTER_LINEAR), *finish()])
        measure.save(args, [transform(image=load(path))["image"] for path in paths])
        return
    transform = A.Compose([
        A.RandomResizedCrop(size=(measure.SIZE, measure.SIZE), scale=measure.AREA, ratio=measure.RATIO,
                            interpolation=cv2.INTER_LINEAR),
        A.HorizontalFlip(), *finish()])
    dataset = torchvision.datasets.ImageFolder(args.photos, lambda image: transform(image=image)["image"], loader=load)
    torch_loading.measure_dataset(dataset, args, {"albumentations": A.__version__, "opencv": cv2.__version__})


main()
