"""Writes the files beside it: pictures as others encode them, and what others decode from them, as PNG.

    python3 -m venv venv && venv/bin/pip install numpy pillow pillow-heif
    venv/bin/python tests/native/pictures/make_pictures.py

GIF and AVIF are Pillow's (libavif), HEIC is pillow-heif's (libheif). Chroma has the extents of luma, so that no decoder's way of making
it larger counts. Pillow blends nothing: transparent pixels keep their colour.
"""
import io
import pathlib

import numpy as np
import pillow_heif
from PIL import Image

HERE = pathlib.Path(__file__).parent


def photo(height, width, channels):
    y, x = np.mgrid[0:height, 0:width].astype(np.float64)
    planes = [127 + 90 * np.sin(x / (4 + c) + c) * np.cos(y / (5 + c)) + 30 * ((x // 7 + y // 9 + c) % 2) for c in range(channels)]
    return np.clip(np.round(np.stack(planes, -1)), 0, 255).astype(np.uint8)


def write(name, encoded, decoded):
    (HERE / name).write_bytes(encoded)
    Image.fromarray(decoded).save(HERE / (name + ".png"), optimize=True)


def encoded(picture, format, **options):
    stream = io.BytesIO()
    picture.save(stream, format, **options)
    return stream.getvalue()


def by_libheif(data, mode):
    return np.array(pillow_heif.open_heif(io.BytesIO(data)).to_pillow().convert(mode))


def gifs():
    rgb = Image.fromarray(photo(33, 46, 3))
    palette = rgb.quantize(64)
    flat = np.array(palette)
    plain = np.array(palette.convert("RGB"))
    for name, options in (("plain", dict(interlace=0)), ("interlaced", dict(interlace=1))):
        write(f"{name}.gif", encoded(palette, "GIF", **options), plain)
    # Every string of codes up to the longest: noise fills the table, and clears it.
    noise = Image.fromarray(np.random.Generator(np.random.PCG64(7)).integers(0, 256, (90, 91)).astype(np.uint8))
    write("noise.gif", encoded(noise, "GIF"), np.array(noise.convert("RGB")))
    data = encoded(palette, "GIF", transparency=int(flat[5, 5]))
    rgba = np.dstack([plain, np.where(flat == flat[5, 5], 0, 255).astype(np.uint8)])
    write("transparent.gif", data, rgba)
    animation = encoded(palette, "GIF", save_all=True, append_images=[palette.transpose(Image.Transpose.FLIP_LEFT_RIGHT)], duration=50)
    write("animation.gif", animation, plain)


def videos():
    pillow_heif.register_heif_opener()
    rgb, rgba = Image.fromarray(photo(32, 46, 3)), Image.fromarray(photo(32, 46, 4))
    grey = Image.fromarray(photo(32, 46, 1)[:, :, 0])
    for name, picture, mode in (("rgb", rgb, "RGB"), ("alpha", rgba, "RGBA"), ("grey", grey, "RGB")):
        data = encoded(picture, "AVIF", quality=90, subsampling="4:4:4")
        write(f"{name}.avif", data, np.array(Image.open(io.BytesIO(data)).convert(mode)))
    data = encoded(rgb, "HEIF", quality=90, chroma=444)
    write("rgb.heic", data, by_libheif(data, "RGB"))
    exif = Image.Exif()
    exif[0x0112] = 6
    data = encoded(rgb, "HEIF", quality=90, chroma=444, exif=exif.tobytes())
    write("turned.heic", data, by_libheif(data, "RGB"))


gifs()
videos()
