"""Gaussian blurs by Pillow, torchvision (u8 tensors) and OpenCV."""
import cv2
import torchvision.transforms.v2.functional as F
from PIL import ImageFilter

import samples
from peers_resize import by_cv2, by_pil, by_torch

SIZES = [(37, 53), (9, 64), (1, 1), (2, 3)]


def add(group):
    images = samples.images(SIZES, key=1)
    for sigma in (0.0, 0.3, 1.0, 2.0, 3.75, 20.0):
        group.case(f"pil_{sigma}", f'fn.gaussian_blur(x, sigma={sigma}, window_size=None, compat="pil")', images,
                   by_pil(lambda image, s=sigma: image.filter(ImageFilter.GaussianBlur(s))))
    group.case("pil_two", 'fn.gaussian_blur(x, sigma=[0.75, 2.5], compat="pil")', images,
               by_pil(lambda image: image.filter(ImageFilter.GaussianBlur((2.5, 0.75)))))
    for window, sigma in ((1, 0.0), (3, 0.0), (5, 0.0), (7, 0.0), (9, 0.0), (11, 0.0), (5, 1.25), (15, 3.5), (31, 8.0)):
        group.case(f"opencv_{window}_{sigma}",
                   f'fn.gaussian_blur(x, window_size={window}, sigma={sigma}, compat="opencv")', images,
                   by_cv2(lambda image, w=window, s=sigma: cv2.GaussianBlur(image, (w, w), s)))
    for sigma in (0.5, 1.0, 2.0, 5.0):
        group.case(f"opencv_auto_{sigma}", f'fn.gaussian_blur(x, sigma={sigma}, compat="opencv")', images,
                   by_cv2(lambda image, s=sigma: cv2.GaussianBlur(image, (0, 0), s)))
    large = samples.images([(37, 53), (20, 64), (16, 17)], key=2)
    for window, sigma in ((3, 0.75), (5, 0.0), (9, 2.0), (23, 6.0)):
        group.case(f"torchvision_{window}_{sigma}",
                   f'fn.gaussian_blur(x, window_size={window}, sigma={sigma}, compat="torchvision")', large,
                   by_torch(lambda t, w=window, s=sigma: F.gaussian_blur(t, [w, w], [s, s] if s else None)))
    group.case("torchvision_two",
               'fn.gaussian_blur(x, window_size=[3, 7], sigma=[0.75, 2.0], compat="torchvision")', large,
               by_torch(lambda t: F.gaussian_blur(t, [7, 3], [2.0, 0.75])))
