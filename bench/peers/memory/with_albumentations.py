"""Albumentations: transforms with fixed parameters, picture by picture."""

import os

os.environ["NO_ALBUMENTATIONS_UPDATE"] = "1"  # no look at the network when imported

import albumentations as A
import by_picture
import cv2
import numpy as np
from color_maths import MEAN, STD

VERSIONS = {"albumentations": A.__version__, "opencv": cv2.__version__}
cv2.setNumThreads(1)
spelled = by_picture.Spellings()


def measure(work):
    return by_picture.measure(work, spelled)


def of_transform(name, make, only=None, prepare=lambda image: image):
    @spelled(name, only=only)
    def _(work):
        transform = make(work)
        return lambda picture, out, p: prepare(transform(image=picture)["image"])


def planes(image):
    return np.ascontiguousarray(image.transpose(2, 0, 1))


def exactly(value):
    return (value, value)


of_transform("brightness", lambda work: A.ColorJitter(exactly(1.3), exactly(1), exactly(1), exactly(0), p=1))
of_transform("saturation", lambda work: A.ColorJitter(exactly(1), exactly(1), exactly(1.4), exactly(0), p=1))
of_transform("hue", lambda work: A.ColorJitter(exactly(1), exactly(1), exactly(1), exactly(20 / 360), p=1))
of_transform("color_twist", lambda work: A.ColorJitter(exactly(1.1), exactly(0.9), exactly(1.2), exactly(10 / 360), p=1))
of_transform("color_jitter", lambda work: A.ColorJitter((0.6, 1.4), (0.6, 1.4), (0.6, 1.4), (-0.1, 0.1), p=1))
of_transform("invert", lambda work: A.InvertImg(p=1))
of_transform("solarize", lambda work: A.Solarize(threshold_range=exactly(128 / 255), p=1), only="u8")
of_transform("posterize", lambda work: A.Posterize(num_bits=4, p=1), only="u8")
of_transform("equalize", lambda work: A.Equalize(p=1), only="u8")
of_transform("flip horizontal", lambda work: A.HorizontalFlip(p=1))
of_transform("flip vertical", lambda work: A.VerticalFlip(p=1))
of_transform("crop", lambda work: A.Crop(work.width // 4, work.height // 4, work.width // 4 + work.width // 2, work.height // 4 + work.height // 2, p=1))
of_transform("crop_mirror_normalize", lambda work: A.Normalize(MEAN / 255, STD / 255, max_pixel_value=255.0 if work.element == "u8" else 1.0, p=1),
             prepare=planes)
of_transform("resize half", lambda work: A.Resize(work.height // 2, work.width // 2, interpolation=cv2.INTER_AREA, p=1))
of_transform("resize half nearest", lambda work: A.Resize(work.height // 2, work.width // 2, interpolation=cv2.INTER_NEAREST, p=1))
of_transform("resize half cubic", lambda work: A.Resize(work.height // 2, work.width // 2, interpolation=cv2.INTER_CUBIC, p=1))
of_transform("resize 1.5", lambda work: A.Resize(work.height * 3 // 2, work.width * 3 // 2, interpolation=cv2.INTER_LINEAR, p=1))
of_transform("rotate", lambda work: A.Rotate(exactly(10), interpolation=cv2.INTER_LINEAR, border_mode=cv2.BORDER_CONSTANT, p=1))
of_transform("rotate nearest", lambda work: A.Rotate(exactly(10), interpolation=cv2.INTER_NEAREST, border_mode=cv2.BORDER_CONSTANT, p=1))
for size, sigma in ((3, 0.8), (5, 1.1), (15, 2.6)):
    of_transform(f"gaussian_blur {size}", lambda work, size=size, sigma=sigma: A.GaussianBlur(exactly(size), exactly(sigma), p=1))


def colors(picture, p):
    picture = A.ColorJitter(exactly(float(p["brightness"])), exactly(float(p["contrast"])), exactly(float(p["saturation"])),
                            exactly(float(p["hue"]) / 360), p=1)(image=picture)["image"]
    levels = np.arange(256)
    table = np.where(levels < p["threshold"], levels, 255 - levels).astype(np.uint8) & p["mask"]
    return cv2.LUT(picture, table)


@spelled("color-chain bytes")
def _(work):
    return lambda picture, out, p: colors(picture, p)


@spelled("color-chain floats")
def _(work):
    normalize = A.Normalize(MEAN / 255, STD / 255, p=1)
    return lambda picture, out, p: planes(normalize(image=colors(picture, p))["image"])
