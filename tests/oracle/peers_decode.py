"""Decoding by Pillow, torchvision and OpenCV."""
import io

import cv2
import numpy as np
import torch
from PIL import Image
from torchvision.io import ImageReadMode, decode_image

import samples


def encoded(format, mode="RGB", orientation=None, **options):
    pixels = samples.photo(37, 53, 4 if mode == "RGBA" else 3, key=3)
    image = Image.fromarray(pixels).convert(mode)
    stream = io.BytesIO()
    if orientation:
        exif = Image.Exif()
        exif[0x0112] = orientation
        options["exif"] = exif.tobytes()
    image.save(stream, format, **options)
    return np.frombuffer(stream.getvalue(), np.uint8)


def add(group):
    files = [encoded("JPEG", quality=90, subsampling=0), encoded("JPEG", quality=75, subsampling=2),
             encoded("JPEG", quality=60, subsampling=1, progressive=True), encoded("JPEG", "L", quality=80),
             encoded("JPEG", quality=85, orientation=6), encoded("JPEG", quality=85, orientation=3), encoded("PNG"),
             encoded("PNG", "RGBA")]
    jpegs = files[:3]
    as_text = "fn.decoders.image(x, output_type=types.{}, compat=\"{}\")"
    group.case("pil", as_text.format("RGB", "pil"), files,
               lambda data: np.array(Image.open(io.BytesIO(data.tobytes())).convert("RGB")), layout=None)
    tensor = lambda data: torch.from_numpy(np.array(data))  # noqa: E731
    group.case("torchvision", as_text.format("RGB", "torchvision"), files,
               lambda data: decode_image(tensor(data), ImageReadMode.RGB).permute(1, 2, 0).numpy(), layout=None)
    group.case("torchvision_grey", as_text.format("GRAY", "torchvision"), jpegs,
               lambda data: decode_image(tensor(data), ImageReadMode.GRAY).permute(1, 2, 0).numpy(), layout=None)
    group.case("torchvision_turned",
               'fn.decoders.image(x, adjust_orientation=True, compat="torchvision")', files,
               lambda data: decode_image(tensor(data), ImageReadMode.RGB, apply_exif_orientation=True)
               .permute(1, 2, 0).numpy(), layout=None)
    group.case("opencv", as_text.format("BGR", "opencv"), files, lambda data: cv2.imdecode(data, cv2.IMREAD_COLOR),
               layout=None)
    group.case("opencv_grey", as_text.format("GRAY", "opencv"), jpegs,
               lambda data: cv2.imdecode(data, cv2.IMREAD_GRAYSCALE)[..., None], layout=None)
