"""Resizing of floats by Pillow (mode F), torchvision (float tensors) and OpenCV."""
import cv2
import numpy as np
import torchvision.transforms.v2.functional as F
from PIL import Image
from torchvision.transforms import InterpolationMode

import samples
from peers_resize import by_cv2, by_torch

SIZES = [(18, 25), (5, 16), (1, 1), (2, 3)]
NEAR = dict(tolerance=3e-6, why="sums of floats in another order, weights in f32 there")


def by_planes(function):
    def apply(sample):
        planes = [Image.fromarray(np.ascontiguousarray(sample[..., c])) for c in range(sample.shape[2])]
        return np.stack([np.array(function(plane)) for plane in planes], -1)
    return apply


def add(group):
    images = [(image / np.float32(255)).astype(np.float32) for image in samples.images(SIZES, key=7)]
    shapes = {"down": (7, 11), "up": (21, 27)}
    call = "fn.resize(x, size=[{}, {}], interp_type=types.INTERP_{}, {}compat=\"{}\")"
    for kind, (h, w) in shapes.items():
        for ours, theirs in (("NN", "NEAREST"), ("BOX", "BOX"), ("LINEAR", "BILINEAR"), ("CUBIC", "BICUBIC"),
                             ("LANCZOS3", "LANCZOS")):
            group.case(f"pil_{ours}_{kind}", call.format(h, w, ours, "", "pil"), images,
                       by_planes(lambda image, f=theirs, h=h, w=w: image.resize((w, h), getattr(Image, f))),
                       **({} if ours == "NN" else NEAR))
        for ours, mode in (("NN", InterpolationMode.NEAREST), ("LINEAR", InterpolationMode.BILINEAR),
                           ("CUBIC", InterpolationMode.BICUBIC)):
            for antialias in (True, False):
                if ours == "NN" and not antialias:
                    continue
                group.case(f"torchvision_{ours}_{kind}_{'antialias' if antialias else 'plain'}",
                           call.format(h, w, ours, f"antialias={antialias}, ", "torchvision"), images,
                           by_torch(lambda t, m=mode, a=antialias, h=h, w=w: F.resize(t, [h, w], m, antialias=a)),
                           **({} if ours == "NN" else NEAR))
        for ours, mode in (("NN", cv2.INTER_NEAREST), ("LINEAR", cv2.INTER_LINEAR), ("CUBIC", cv2.INTER_CUBIC)):
            group.case(f"opencv_{ours}_{kind}", call.format(h, w, ours, "", "opencv"), images,
                       by_cv2(lambda image, m=mode, h=h, w=w: cv2.resize(image, (w, h), interpolation=m)),
                       **({} if ours == "NN" else NEAR))
    halves = [image[:16, :24] for image in images[:1]]
    for h, w in ((8, 12), (4, 6), (5, 11)):
        group.case(f"opencv_BOX_{h}_{w}", call.format(h, w, "BOX", "", "opencv"), halves,
                   by_cv2(lambda image, h=h, w=w: cv2.resize(image, (w, h), interpolation=cv2.INTER_AREA)), **NEAR)
