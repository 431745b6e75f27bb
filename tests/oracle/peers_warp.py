"""Rotations and affine maps by Pillow, torchvision (u8 tensors) and OpenCV (version 4)."""
import cv2
import numpy as np
import torchvision.transforms.v2.functional as F
from PIL import Image
from torchvision.transforms import InterpolationMode

import samples
from peers_resize import by_cv2, by_pil, by_torch

SIZES = [(37, 53), (20, 31), (24, 24), (1, 1), (2, 3)]
ANGLES = (10.0, 33.25, -77.0, 90.0, 145.0, 180.0, 370.5)
MATRIX = [1.125, 0.25, -3.0, -0.125, 0.875, 2.5]
SCALE = [0.75, 0.0, 1.5, 0.0, 1.25, -2.0]


def add(group):
    assert cv2.__version__.startswith("4."), "OpenCV 5 warps in another way"
    images = samples.images(SIZES, key=1)
    pil = {"NN": Image.NEAREST, "LINEAR": Image.BILINEAR, "CUBIC": Image.BICUBIC}
    tensor = {"NN": InterpolationMode.NEAREST, "LINEAR": InterpolationMode.BILINEAR}
    opencv = {"NN": cv2.INTER_NEAREST, "LINEAR": cv2.INTER_LINEAR, "CUBIC": cv2.INTER_CUBIC}
    for angle in ANGLES:
        for keep in (True, False):
            options = f"angle={angle}, keep_size={keep}"
            for ours, filter in pil.items():
                group.case(f"pil_rotate_{angle}_{ours}_{keep}",
                           f'fn.rotate(x, {options}, interp_type=types.INTERP_{ours}, compat="pil")', images,
                           by_pil(lambda image, a=angle, f=filter, k=keep: image.rotate(a, f, expand=not k)))
            for ours, mode in tensor.items():
                group.case(f"torchvision_rotate_{angle}_{ours}_{keep}",
                           f'fn.rotate(x, {options}, interp_type=types.INTERP_{ours}, compat="torchvision")', images,
                           by_torch(lambda t, a=angle, m=mode, k=keep: F.rotate(t, a, m, expand=not k)))
        for ours, mode in opencv.items():
            def turn(image, a=angle, m=mode):
                h, w = image.shape[:2]
                return cv2.warpAffine(image, cv2.getRotationMatrix2D(((w - 1) / 2, (h - 1) / 2), a, 1), (w, h), flags=m)
            group.case(f"opencv_rotate_{angle}_{ours}",
                       f'fn.rotate(x, angle={angle}, keep_size=True, interp_type=types.INTERP_{ours}, compat="opencv")',
                       images, by_cv2(turn))
    group.case("pil_rotate_fill", 'fn.rotate(x, angle=33.25, keep_size=True, fill_value=[9, 80, 200], compat="pil")',
               images, by_pil(lambda image: image.rotate(33.25, Image.BILINEAR, fillcolor=(9, 80, 200))))
    for ours, mode in tensor.items():
        group.case(f"torchvision_rotate_fill_{ours}",
                   f'fn.rotate(x, angle=33.25, keep_size=True, fill_value=[9, 80, 200], interp_type=types.INTERP_{ours}, '
                   'compat="torchvision")', images,
                   by_torch(lambda t, m=mode: F.rotate(t, 33.25, m, fill=[9.0, 80.0, 200.0])))
    # Python rounds sines to 15 digits; a product with 1e15 lies on a half here, and the middle pixel tells.
    turned = float(np.float32(216.2))
    group.case("pil_rotate_fifteen_digits",
               f'fn.rotate(x, angle={turned}, fill_value=9, interp_type=types.INTERP_CUBIC, compat="pil")',
               [samples.image(35, 43, 4, key=844146)],
               by_pil(lambda image: image.rotate(turned, Image.BICUBIC, expand=True, fillcolor=9)))
    for name, matrix in (("general", MATRIX), ("scale", SCALE)):
        for ours, filter in pil.items():
            group.case(f"pil_affine_{name}_{ours}",
                       f'fn.warp_affine(x, matrix={matrix}, size=[30, 40], interp_type=types.INTERP_{ours}, compat="pil")',
                       images, by_pil(lambda image, m=matrix, f=filter: image.transform((40, 30), Image.AFFINE, m, f)))
        # cv2 counts places from the middle of the first pixel.
        a, b, c, d, e, f = matrix
        centres = np.array([[a, b, c + (a + b) / 2 - 0.5], [d, e, f + (d + e) / 2 - 0.5]])
        for ours, mode in opencv.items():
            group.case(f"opencv_affine_{name}_{ours}",
                       f'fn.warp_affine(x, matrix={matrix}, size=[30, 40], fill_value=17, '
                       f'interp_type=types.INTERP_{ours}, compat="opencv")', images,
                       by_cv2(lambda image, m=centres, i=mode: cv2.warpAffine(
                           image, m, (40, 30), flags=i | cv2.WARP_INVERSE_MAP, borderValue=(17, 17, 17))))
    # torchvision's affine has no matrix: half a scale without rotation is one.
    for ours, mode in tensor.items():
        group.case(f"torchvision_affine_{ours}",
                   "fn.warp_affine(x, matrix=fn.transforms.scale(scale=[2.0, 2.0], center=[26.5, 18.5]), "
                   f'interp_type=types.INTERP_{ours}, compat="torchvision")', images[:1],
                   by_torch(lambda t, m=mode: F.affine(t, 0.0, [0, 0], 0.5, [0.0, 0.0], m)))
