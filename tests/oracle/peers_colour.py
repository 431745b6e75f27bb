"""Colours and histograms by Pillow (torchvision's hue of PIL images), torchvision (u8 tensors) and OpenCV."""
import cv2
import numpy as np
import torchvision.transforms.functional as old
import torchvision.transforms.v2.functional as F
from PIL import Image, ImageEnhance, ImageOps

import samples
from peers_resize import by_pil, by_torch

SIZES = [(23, 31), (7, 64), (1, 1), (2, 3)]


def colours():
    """Every kind of pixel: greys, pure colours, and both ends of the range."""
    levels = [0, 1, 64, 127, 128, 200, 254, 255]
    return np.array([[[r, g, b] for b in levels for g in levels] for r in levels], np.uint8)


def add(group):
    images = [*samples.images(SIZES, key=1), colours()]
    greys = samples.images(SIZES, channels=1, key=2)
    pil = {"brightness": ImageEnhance.Brightness, "contrast": ImageEnhance.Contrast, "saturation": ImageEnhance.Color}
    tensor = {"brightness": F.adjust_brightness, "contrast": F.adjust_contrast, "saturation": F.adjust_saturation}
    for operator in ("brightness", "contrast", "saturation"):
        for factor in (0.0, 0.3, 0.75, 1.0, 1.3, 1.6, 2.5):  # 1 - f32(1.3) is not f32(1 - 1.3)
            group.case(f"pil_{operator}_{factor}", f'fn.{operator}(x, {operator}={factor}, compat="pil")', images,
                       by_pil(lambda image, o=operator, f=factor: pil[o](image).enhance(f)))
            group.case(f"torchvision_{operator}_{factor}",
                       f'fn.{operator}(x, {operator}={factor}, compat="torchvision")', images,
                       by_torch(lambda t, o=operator, f=factor: tensor[o](t, f)))
    for degrees in (-180.0, -90.0, -18.0, 7.2, 45.0, 180.0):
        group.case(f"pil_hue_{degrees}", f'fn.hue(x, hue={degrees}, compat="pil")', images,
                   by_pil(lambda image, d=degrees: old.adjust_hue(image, d / 360)))
        group.case(f"torchvision_hue_{degrees}", f'fn.hue(x, hue={degrees}, compat="torchvision")', images,
                   by_torch(lambda t, d=degrees: F.adjust_hue(t, d / 360)))
    group.case("pil_grey", 'fn.brightness_contrast(x, contrast=1.5, brightness=0.75, compat="pil")',
               [grey.reshape(*grey.shape[:2], 1) for grey in greys],
               by_pil(lambda image: ImageEnhance.Brightness(ImageEnhance.Contrast(image).enhance(1.5)).enhance(0.75)))
    group.case("pil_twist",
               'fn.color_twist(x, hue=18.0, saturation=0.5, contrast=1.25, brightness=0.75, compat="pil")', images,
               by_pil(lambda image: ImageEnhance.Brightness(ImageEnhance.Contrast(ImageEnhance.Color(
                   old.adjust_hue(image, 0.05)).enhance(0.5)).enhance(1.25)).enhance(0.75)))
    group.case("torchvision_twist",
               'fn.color_twist(x, hue=18.0, saturation=0.5, contrast=1.25, brightness=0.75, compat="torchvision")',
               images,
               by_torch(lambda t: F.adjust_brightness(F.adjust_contrast(F.adjust_saturation(
                   F.adjust_hue(t, 0.05), 0.5), 1.25), 0.75)))
    large = [*samples.images([(31, 64), (64, 40), (40, 41)], key=4), *images]
    group.case("pil_equalize", 'fn.equalize(x, compat="pil")', large, by_pil(ImageOps.equalize))
    group.case("torchvision_equalize", 'fn.equalize(x, compat="torchvision")', large, by_torch(F.equalize))
    group.case("opencv_equalize", 'fn.equalize(x, compat="opencv")', large,
               lambda image: np.stack([cv2.equalizeHist(np.ascontiguousarray(image[..., c])) for c in range(3)], -1))
    convert = 'fn.color_space_conversion(x, image_type=types.RGB, output_type=types.GRAY, compat="{}")'
    group.case("pil_to_grey", convert.format("pil"), images,
               lambda image: np.array(Image.fromarray(image).convert("L"))[..., None])
    group.case("torchvision_to_grey", convert.format("torchvision"), images, by_torch(F.rgb_to_grayscale))
    group.case("opencv_to_grey", convert.format("opencv"), images,
               lambda image: cv2.cvtColor(np.ascontiguousarray(image), cv2.COLOR_RGB2GRAY)[..., None])
