"""Pillow. Its pictures have three bytes a pixel; floats it knows only as one plane, so they are left out."""

import by_picture
import geometry_maths
import numpy as np
import PIL
import serve
from PIL import Image, ImageEnhance, ImageFilter, ImageOps

VERSIONS = {"pillow": PIL.__version__}
spelled = by_picture.Spellings()
SIZE = geometry_maths.SIZE
MEAN, STD = np.float32([123.675, 116.28, 103.53]), np.float32([58.395, 57.12, 57.375])


def measure(work):
    if work.element != "u8":
        raise serve.NotSpelled("it has no pictures of floats")
    return by_picture.measure(work, spelled, load=lambda picture: Image.fromarray(picture.copy()), store=store)


def store(result, out):
    np.copyto(out, np.asarray(result))


def colors(picture, p):
    before = [min(255, max(0, round(v * float(p["brightness"])))) for v in range(256)]
    contrast = float(p["contrast"])
    before = [min(255, max(0, round(contrast * (v - 128) + 128))) for v in before]
    picture = picture.point(before * 3)
    picture = ImageEnhance.Color(picture).enhance(float(p["saturation"]))
    hue, saturation, value = picture.convert("HSV").split()
    turn = round(float(p["hue"]) / 360 * 256)
    picture = Image.merge("HSV", (hue.point([(v + turn) % 256 for v in range(256)]), saturation, value)).convert("RGB")
    threshold, mask = int(p["threshold"]), int(p["mask"])
    return picture.point([(v if v < threshold else 255 - v) & mask for v in range(256)] * 3)


@spelled("color-chain bytes")
def _(work):
    return lambda picture, out, p: colors(picture, p)


def normalized(picture):
    return ((np.asarray(picture, np.float32) - MEAN) / STD).transpose(2, 0, 1)


@spelled("color-chain floats")
def _(work):
    return lambda picture, out, p: normalized(colors(picture, p))


def in_corners(matrix):
    """Pillow asks with corners of pixels, too: its maps are ours."""
    return tuple(matrix[:2].ravel())


@spelled("geometry-chain chain", "geometry-chain composed")
def _(work):
    composed = work.name.endswith("composed")

    def call(picture, out, p):
        crop, flip, shift, shear, turn = geometry_maths.matrices(p, work.height, work.width)
        steps = [turn @ shear @ shift @ flip @ crop] if composed else [turn, shear, shift @ flip @ crop]
        for matrix in steps:
            size = (SIZE, SIZE) if matrix is steps[-1] else picture.size
            picture = picture.transform(size, Image.Transform.AFFINE, in_corners(matrix), Image.Resampling.BILINEAR)
        return normalized(picture)
    return call


def of_picture(name, call):
    spelled(name)(lambda work: lambda picture, out, p: call(picture))


of_picture("brightness", lambda picture: picture.point([min(255, round(1.3 * v)) for v in range(256)] * 3))
of_picture("contrast", lambda picture: picture.point([min(255, max(0, round(1.3 * (v - 128) + 128))) for v in range(256)] * 3))
of_picture("flip horizontal", lambda picture: picture.transpose(Image.Transpose.FLIP_LEFT_RIGHT))
of_picture("flip vertical", lambda picture: picture.transpose(Image.Transpose.FLIP_TOP_BOTTOM))
of_picture("solarize", lambda picture: ImageOps.solarize(picture, 128))
of_picture("posterize", lambda picture: ImageOps.posterize(picture, 4))
of_picture("invert", ImageOps.invert)
of_picture("equalize", ImageOps.equalize)
of_picture("gray", lambda picture: np.asarray(picture.convert("L"))[:, :, None])
of_picture("ycbcr", lambda picture: picture.convert("YCbCr"))
of_picture("gaussian_blur 3", lambda picture: picture.filter(ImageFilter.GaussianBlur(0.8)))
of_picture("gaussian_blur 5", lambda picture: picture.filter(ImageFilter.GaussianBlur(1.1)))
of_picture("gaussian_blur 15", lambda picture: picture.filter(ImageFilter.GaussianBlur(2.6)))
of_picture("rotate", lambda picture: picture.rotate(10, Image.Resampling.BILINEAR))
of_picture("rotate nearest", lambda picture: picture.rotate(10, Image.Resampling.NEAREST))


@spelled("crop")
def _(work):
    box = (work.width // 4, work.height // 4, work.width // 4 + work.width // 2, work.height // 4 + work.height // 2)
    return lambda picture, out, p: picture.crop(box)


def resized(factor, how):
    def make(work):
        size = (int(work.width * factor), int(work.height * factor))
        return lambda picture, out, p: picture.resize(size, how)
    return make


spelled("resize half")(resized(0.5, Image.Resampling.BILINEAR))
spelled("resize half nearest")(resized(0.5, Image.Resampling.NEAREST))
spelled("resize 1.5")(resized(1.5, Image.Resampling.BILINEAR))
