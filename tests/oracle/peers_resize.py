"""Resizing by Pillow, torchvision (u8 tensors) and OpenCV."""
import cv2
import numpy as np
import torch
import torchvision.transforms.v2.functional as F
from PIL import Image
from torchvision.transforms import InterpolationMode

import samples

SIZES = [(37, 53), (20, 31), (9, 64), (1, 1), (2, 3)]


def as_tensor(sample):
    return torch.from_numpy(np.array(sample)).permute(2, 0, 1).contiguous()


def from_tensor(tensor):
    return np.ascontiguousarray(tensor.permute(1, 2, 0).numpy())


def by_pil(function):
    """Of each channel on its own where there are one, two or more than three."""
    def apply(sample):
        if sample.shape[2] == 3:
            return np.array(function(Image.fromarray(sample)))
        return np.stack([np.array(function(Image.fromarray(plane))) for plane in np.moveaxis(sample, 2, 0)], -1)
    return apply


def by_torch(function):
    return lambda sample: from_tensor(function(as_tensor(sample)))


def by_cv2(function):
    def apply(sample):
        out = function(np.ascontiguousarray(sample))
        return out.reshape(*out.shape[:2], sample.shape[2])
    return apply


def add_cropped(group, images):
    """Resized, cut, mirrored: three calls of each library."""
    def pil(image):
        return image.resize((31, 24), Image.BILINEAR).crop((6, 4, 23, 17)).transpose(Image.FLIP_LEFT_RIGHT)

    def torchvision(image):
        resized = F.resize(image, [24, 31], InterpolationMode.BICUBIC, antialias=True)
        return F.vertical_flip(F.horizontal_flip(F.crop(resized, 4, 6, 13, 17)))

    def opencv(image):
        return cv2.flip(cv2.resize(image, (31, 24), interpolation=cv2.INTER_LINEAR)[4:17, 6:23], 0)

    # crop_pos: 4 of 11 rows, 6 of 14 columns.
    window = "size=[24, 31], crop=[13, 17], crop_pos_y=0.364, crop_pos_x=0.4286"
    for name, arguments, function in (("pil", "interp_type=types.INTERP_LINEAR, mirror=1", by_pil(pil)),
                                      ("torchvision", "interp_type=types.INTERP_CUBIC, mirror=3", by_torch(torchvision)),
                                      ("opencv", "interp_type=types.INTERP_LINEAR, mirror=2", by_cv2(opencv))):
        for operator in ("resize_crop_mirror", "fast_resize_crop_mirror")[:1 if name == "torchvision" else 2]:
            group.case(f"{name}_{operator}", f'fn.{operator}(x, {window}, {arguments}, compat="{name}")', images[3], function)


def add(group):
    images = {c: samples.images(SIZES, channels=c, key=c) for c in (1, 3, 4)}
    shapes = {"down": (11, 17), "up": (41, 70), "mixed": (40, 7)}

    pil = {"NN": "NEAREST", "BOX": "BOX", "LINEAR": "BILINEAR", "TRIANGULAR": "BILINEAR", "HAMMING": "HAMMING",
           "CUBIC": "BICUBIC", "LANCZOS3": "LANCZOS"}
    for ours, theirs in pil.items():
        for kind, (h, w) in shapes.items():
            for channels in (3,) if kind != "down" else (3, 4):
                group.case(
                    f"pil_{ours}_{kind}_{channels}",
                    f'fn.resize(x, size=[{h}, {w}], interp_type=types.INTERP_{ours}, compat="pil")',
                    images[channels],
                    by_pil(lambda image, f=theirs, h=h, w=w: image.resize((w, h), getattr(Image, f))))
    for ours, theirs in (("LINEAR", "BILINEAR"), ("NN", "NEAREST"), ("CUBIC", "BICUBIC")):
        group.case(f"pil_{ours}_box",
                   f'fn.resize(x, size=[9, 14], interp_type=types.INTERP_{ours}, roi_start=[1.5, 3.25], '
                   'roi_end=[8.0, 20.0], compat="pil")',
                   images[3][:3],
                   by_pil(lambda image, f=theirs: image.resize((14, 9), getattr(Image, f), (3.25, 1.5, 20.0, 8.0))))

    # Pillow begins with rows where more than twice as many rows go as columns.
    high = samples.images([(58, 22), (40, 22), (37, 53), (30, 18), (64, 16)], key=6)
    for ours, theirs in (("LINEAR", "BILINEAR"), ("CUBIC", "BICUBIC"), ("LANCZOS3", "LANCZOS")):
        for h, w in ((12, 19), (24, 40)):
            group.case(f"pil_{ours}_rows_first_{h}", f'fn.resize(x, size=[{h}, {w}], interp_type=types.INTERP_{ours}, compat="pil")',
                       high, by_pil(lambda image, f=theirs, h=h, w=w: image.resize((w, h), getattr(Image, f))))
        # Ends that are no halves and quarters, in f32 on both sides.
        top, left, bottom, right = (float(np.float32(place)) for place in (0.852267, 4.829209, 8.288, 10.2))
        group.case(f"pil_{ours}_box_rows_first",
                   f'fn.resize(x, size=[35, 23], interp_type=types.INTERP_{ours}, roi_start=[{top}, {left}], '
                   f'roi_end=[{bottom}, {right}], compat="pil")', high,
                   by_pil(lambda image, f=theirs: image.resize((23, 35), getattr(Image, f), (left, top, right, bottom))))

    torch_modes = {"NN": InterpolationMode.NEAREST, "LINEAR": InterpolationMode.BILINEAR,
                   "TRIANGULAR": InterpolationMode.BILINEAR, "CUBIC": InterpolationMode.BICUBIC}
    for ours, mode in torch_modes.items():
        for kind, (h, w) in shapes.items():
            for antialias in (True, False):
                if ours == "NN" and not antialias:
                    continue
                group.case(
                    f"torchvision_{ours}_{kind}_{'antialias' if antialias else 'plain'}",
                    f"fn.resize(x, size=[{h}, {w}], interp_type=types.INTERP_{ours}, antialias={antialias}, "
                    'compat="torchvision")',
                    images[3],
                    by_torch(lambda t, m=mode, a=antialias, h=h, w=w: F.resize(t, [h, w], m, antialias=a)))
    group.case("torchvision_grey", 'fn.resize(x, size=[11, 17], compat="torchvision")', images[1],
               by_torch(lambda t: F.resize(t, [11, 17])))
    group.case("torchvision_four", 'fn.resize(x, size=[11, 17], compat="torchvision")', images[4],
               by_torch(lambda t: F.resize(t, [11, 17])))
    for size in (13, 24):
        group.case(f"torchvision_shorter_{size}", f'fn.resize(x, resize_shorter={size}, compat="torchvision")',
                   images[3], by_torch(lambda t, s=size: F.resize(t, [s])))
        group.case(f"torchvision_longer_{size}", f'fn.resize(x, resize_longer={size}, compat="torchvision")',
                   [image for image in images[3] if max(image.shape[:2]) / min(image.shape[:2]) < 4],
                   by_torch(lambda t, s=size: F.resize(t, None, max_size=s)))
    group.case("torchvision_shorter_at_most",
               'fn.resize(x, resize_shorter=24, max_size=40, compat="torchvision")', images[3],
               by_torch(lambda t: F.resize(t, [24], max_size=40)))

    cv2_modes = {"NN": cv2.INTER_NEAREST, "LINEAR": cv2.INTER_LINEAR, "CUBIC": cv2.INTER_CUBIC}
    near = dict(tolerance=1, mean_tolerance=0.08,
                why="OpenCV's bicubic has another rounding in its vector loops than in its scalar one")
    for ours, mode in cv2_modes.items():
        for kind, (h, w) in shapes.items():
            for channels in (1, 3, 4) if kind == "down" else (3,):
                group.case(
                    f"opencv_{ours}_{kind}_{channels}",
                    f'fn.resize(x, size=[{h}, {w}], interp_type=types.INTERP_{ours}, compat="opencv")',
                    images[channels],
                    by_cv2(lambda image, m=mode, h=h, w=w: cv2.resize(image, (w, h), interpolation=m)),
                    **(near if ours == "CUBIC" else {}))
    halves = samples.images([(32, 32), (32, 64), (96, 128)], key=5)
    for ours, mode in (("LINEAR", cv2.INTER_LINEAR), ("BOX", cv2.INTER_AREA)):
        for h, w in ((16, 16), (16, 32), (32, 16), (8, 8)):
            group.case(f"opencv_{ours}_whole_{h}_{w}",
                       f'fn.resize(x, size=[{h}, {w}], interp_type=types.INTERP_{ours}, compat="opencv")', halves,
                       by_cv2(lambda image, m=mode, h=h, w=w: cv2.resize(image, (w, h), interpolation=m)))
    for h, w in ((7, 11), (9, 20), (3, 31)):
        group.case(f"opencv_BOX_{h}_{w}",
                   f'fn.resize(x, size=[{h}, {w}], interp_type=types.INTERP_BOX, compat="opencv")', images[3][:2],
                   by_cv2(lambda image, h=h, w=w: cv2.resize(image, (w, h), interpolation=cv2.INTER_AREA)),
                   tolerance=1, mean_tolerance=0.02, why="sums of f32: products are not rounded before they are added")
    group.case("opencv_columns", 'fn.resize(x, resize_x=16, mode="stretch", compat="opencv")', images[3],
               by_cv2(lambda image: cv2.resize(image, (16, image.shape[0]))))
    add_cropped(group, images)
