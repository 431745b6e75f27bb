"""Projective maps by Pillow, torchvision (u8 tensors) and OpenCV (version 4)."""
import cv2
import numpy as np
import torchvision.transforms.v2.functional as F
from PIL import Image
from torchvision.transforms import InterpolationMode

import samples
from peers_resize import by_cv2, by_pil, by_torch

SIZES = [(37, 53), (20, 31), (24, 24), (1, 1), (2, 3)]
MATRICES = {"far": [1.125, 0.125, -3.0, 0.0625, 0.875, 2.5, 0.001953125, 0.00390625, 1.0],
            "horizon": [1.0, 0.25, -1.0, -0.125, 1.25, 0.5, -0.03125, 0.015625, 1.0],
            "scaled": [3.0, 0.5, -4.0, 0.25, 2.5, 1.0, 0.0078125, -0.0078125, 2.0]}


def add(group):
    assert cv2.__version__.startswith("4."), "OpenCV 5 warps in another way"
    images = samples.images(SIZES, key=1)
    pil = {"NN": Image.NEAREST, "LINEAR": Image.BILINEAR, "CUBIC": Image.BICUBIC}
    tensor = {"NN": InterpolationMode.NEAREST, "LINEAR": InterpolationMode.BILINEAR}
    opencv = {"NN": cv2.INTER_NEAREST, "LINEAR": cv2.INTER_LINEAR, "CUBIC": cv2.INTER_CUBIC}
    call = "fn.experimental.warp_perspective(x, matrix={}, interp_type=types.INTERP_{}, {}compat=\"{}\")"
    for name, matrix in MATRICES.items():
        eight = [number / matrix[8] for number in matrix[:8]]
        for ours, filter in pil.items():
            group.case(f"pil_{name}_{ours}", call.format(matrix, ours, "size=[18, 24], ", "pil"), images,
                       by_pil(lambda image, c=eight, f=filter: image.transform((24, 18), Image.PERSPECTIVE, c, f)))
        for ours, mode in tensor.items():
            for fill in (None, 17.0):
                given = "" if fill is None else f"fill_value={fill}, "
                group.case(f"torchvision_{name}_{ours}_{'black' if fill is None else 'filled'}",
                           call.format(matrix, ours, given, "torchvision"), images,
                           by_torch(lambda t, c=eight, m=mode, f=fill: F.perspective(
                               t, None, None, m, f, coefficients=c)))
        for ours, mode in opencv.items():
            group.case(f"opencv_{name}_{ours}",
                       call.format(matrix, ours, 'size=[18, 24], fill_value=17, pixel_origin="center", ', "opencv"),
                       images, by_cv2(lambda image, m=np.array(matrix).reshape(3, 3), i=mode: cv2.warpPerspective(
                           image, m, (24, 18), flags=i | cv2.WARP_INVERSE_MAP, borderValue=(17, 17, 17))))
    greys = samples.images(SIZES, channels=1, key=2)
    group.case("opencv_grey", call.format(MATRICES["far"], "CUBIC", 'pixel_origin="center", ', "opencv"), greys,
               by_cv2(lambda image: cv2.warpPerspective(image, np.array(MATRICES["far"]).reshape(3, 3),
                                                        image.shape[1::-1],
                                                        flags=cv2.INTER_CUBIC | cv2.WARP_INVERSE_MAP)))
