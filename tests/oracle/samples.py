"""Deterministic input batches: ragged images of every element type, and encoded files drawn with Pillow."""
import io

import numpy as np

SIZES = [(13, 17), (7, 5), (31, 22), (2, 3)]  # height, width; the last is the odd tiny one
SQUARES = [(16, 16), (9, 9), (24, 24), (1, 1)]


def rng(*key):
    return np.random.Generator(np.random.PCG64([20240, *key]))


def image(height, width, channels=3, dtype="uint8", key=0):
    """Half gradient, half noise, over the whole range of the type (floats: 0..255)."""
    random = rng(key, height, width, channels)
    y, x = np.mgrid[0:height, 0:width]
    wave = 0.5 + 0.25 * np.sin(0.35 * x + key) + 0.25 * np.cos(0.27 * y - key)
    noise = random.random((height, width, channels))
    amount = 0.15 if key % 2 else 0.6
    unit = np.clip((1 - amount) * wave[..., None] + amount * noise, 0, 1)
    dtype = np.dtype(dtype)
    if dtype.kind == "f":
        return (unit * 255).astype(dtype)
    info = np.iinfo(dtype)
    return np.round(info.min + unit * (int(info.max) - int(info.min))).astype(dtype)


def images(sizes=SIZES, channels=3, dtype="uint8", layout="HWC", key=0):
    """The samples of one batch, in the layout asked for."""
    batch = [image(h, w, channels, dtype, key + i) for i, (h, w) in enumerate(sizes)]
    if layout == "CHW":
        batch = [np.ascontiguousarray(sample.transpose(2, 0, 1)) for sample in batch]
    elif layout == "HW":
        batch = [sample[:, :, 0].copy() for sample in batch]
    return batch


def integers(shape, dtype, low=None, high=None, key=0):
    random = rng(1000 + key, *shape, np.dtype(dtype).num)
    info = np.iinfo(dtype)
    return random.integers(info.min if low is None else low, info.max if high is None else high, shape, dtype,
                           endpoint=True)


def photo(height, width, channels=3, key=0):
    """A scene with edges, gradients and a little noise, so that codecs have something to do."""
    random = rng(2000 + key)
    y, x = np.mgrid[0:height, 0:width].astype(np.float64)
    planes = []
    for c in range(channels):
        plane = 120 + 80 * np.sin(x / (3.0 + c + key % 3) + c) * np.cos(y / (4.0 + c))
        disc = (x - width * (0.3 + 0.2 * c)) ** 2 + (y - height * 0.5) ** 2 < (min(height, width) * 0.3) ** 2
        plane = np.where(disc, 255 - plane, plane) + random.normal(0, 6, plane.shape)
        planes.append(plane)
    return np.clip(np.round(np.stack(planes, -1)), 0, 255).astype(np.uint8)


def encode(pixels, format, mode=None, **options):
    """Bytes of a file as a 1-D u8 array."""
    from PIL import Image

    pixels = pixels[:, :, 0] if pixels.ndim == 3 and pixels.shape[2] == 1 else pixels
    picture = Image.fromarray(pixels)
    if mode:
        picture = picture.convert(mode)
    stream = io.BytesIO()
    picture.save(stream, format, **options)
    return np.frombuffer(stream.getvalue(), np.uint8).copy()


def decode(data, mode=None):
    from PIL import Image

    picture = Image.open(io.BytesIO(data.tobytes()))
    return np.array(picture.convert(mode) if mode else picture)


def oriented(pixels, orientation, **options):
    """A JPEG whose EXIF data state an orientation."""
    from PIL import Image

    exif = Image.Exif()
    exif[0x0112] = orientation
    return encode(pixels, "JPEG", exif=exif.tobytes(), **options)
