"""Writes the files beside it: pictures as others encode them, and what others decode from them, as PNG.

    python3 -m venv venv && venv/bin/pip install numpy pillow pillow-heif nvidia-dali-cuda120
    venv/bin/python tests/native/pictures/make_pictures.py

GIF and AVIF are Pillow's (libavif), HEIC is pillow-heif's (libheif). Chroma has the extents of luma, so that no decoder's way of making
it larger counts. Pillow blends nothing: transparent pixels keep their colour.
"""
import io
import pathlib
import struct

import numpy as np
import pillow_heif
from nvidia.dali import fn, pipeline_def, types
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


def matrix_profile(red, green, blue):
    """A display of linear numbers with these primaries (ICC.1:2010, 8.4.3)."""

    def fixed(values):
        return b"".join(struct.pack(">i", round(v * 65536)) for v in values)

    def xyz(values):
        return b"XYZ \0\0\0\0" + fixed(values)

    white = (0.9642, 1, 0.8249)
    gamma = b"curv\0\0\0\0" + struct.pack(">IHH", 1, 256, 0)
    name = b"desc\0\0\0\0" + struct.pack(">I", 4) + b"odd\0" + bytes(78)
    tags = dict(desc=name, cprt=b"text\0\0\0\0none\0", wtpt=xyz(white))
    tags |= dict(rXYZ=xyz(red), gXYZ=xyz(green), bXYZ=xyz(blue), rTRC=gamma, gTRC=gamma, bTRC=gamma)
    table, data = struct.pack(">I", len(tags)), b""
    for tag, value in tags.items():
        value += bytes(-len(value) % 4)
        at = 128 + 4 + 12 * len(tags) + len(data)
        table += tag.encode() + struct.pack(">II", at, len(value))
        data += value
    head = struct.pack(">I4sI", 128 + len(table) + len(data), b"lcms", 0x02400000)
    head += b"mntrRGB XYZ " + struct.pack(">6H", 2026, 1, 1, 0, 0, 0) + b"acsp" + bytes(28)
    return (head + fixed(white)).ljust(128, b"\0") + table + data


def with_profile(jp2, profile):
    """A JP2 whose colours are said by a profile (ISO/IEC 15444-1, I.5.3.3), not by a number."""

    def boxes(at, end):
        while at < end:
            length, kind = struct.unpack(">I4s", jp2[at : at + 8])
            length = length or end - at
            yield at, at + length, kind
            at += length

    def box(kind, content):
        return struct.pack(">I4s", 8 + len(content), kind) + content

    out = b""
    for at, end, kind in boxes(0, len(jp2)):
        if kind == b"jp2h":
            inner = [
                box(b"colr", b"\2\0\0" + profile) if k == b"colr" else jp2[a:e]
                for a, e, k in boxes(at + 8, end)
            ]
            out += box(kind, b"".join(inner))
        else:
            out += jp2[at:end]
    return out


def by_dali(data):
    @pipeline_def(batch_size=1, num_threads=1, device_id=None)
    def decode():
        return fn.decoders.image(fn.external_source(name="data"), output_type=types.RGB)

    pipeline = decode()
    pipeline.build()
    pipeline.feed_input("data", [np.frombuffer(data, np.uint8)])
    return np.array(pipeline.run()[0].at(0))


def profiles():
    """Red and blue change places by their profiles, which DALI 2.4 takes no notice of."""
    picture = Image.fromarray(photo(12, 17, 3))
    profile = matrix_profile(
        (0.1431, 0.0606, 0.7141), (0.3851, 0.7169, 0.0971), (0.436, 0.2225, 0.0139)
    )
    for ending, format, options in (
        ("jpg", "JPEG", dict(quality=95, subsampling=0)),
        ("png", "PNG", {}),
        ("tif", "TIFF", {}),
        ("webp", "WEBP", dict(lossless=True)),
    ):
        data = encoded(picture, format, icc_profile=profile, **options)
        write(f"profile.{ending}", data, by_dali(data))
    data = with_profile(encoded(picture, "JPEG2000", irreversible=False), profile)
    write("profile.jp2", data, by_dali(data))


gifs()
videos()
profiles()
