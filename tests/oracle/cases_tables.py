"""Cases of equalize and lookup_table, and of salt_and_pepper where nothing is drawn."""
import numpy as np

from recorder import Feed
from samples import SIZES, images

TIES = "DALI rounds ties away from zero"


def dim(samples, low, high):
    """A part of the range, so that equalising does something."""
    return [(low + s.astype(np.int64) * (high - low) // 255).astype(np.uint8) for s in samples]


def equalized_channel(channel):
    counts = np.bincount(channel.ravel(), minlength=256)
    first = int(np.flatnonzero(counts)[0])
    if counts[first] == channel.size:
        return channel
    scale = np.float32(255) / np.float32(channel.size - counts[first])
    above = np.cumsum(counts) - counts[first]
    table = np.rint(above.astype(np.float32) * scale)
    table[: first + 1] = 0
    return np.clip(table, 0, 255).astype(np.uint8)[channel]


def equalized(image, axis):
    if axis is None:
        return equalized_channel(image)
    planes = [equalized_channel(plane) for plane in np.moveaxis(image, axis, 0)]
    return np.moveaxis(np.stack(planes), 0, axis)


def looked_up(x, keys, values, default, dtype):
    out = np.full(x.shape, default, np.float64)
    for key, value in zip(keys, values):
        out[x == key] = value
    return out.astype(dtype) if np.dtype(dtype).kind == "f" else np.clip(np.rint(out), 0, 255).astype(dtype)


def add_equalize(group):
    for number, (low, high) in enumerate([(0, 255), (60, 140), (100, 101)]):
        feeds = {"x": Feed(dim(images(SIZES, key=300 + number), low, high), "HWC")}
        group.case(f"equalize_{number}", "fn.equalize(x)", feeds, expect=lambda x: equalized(x, 2))
    feeds = {"x": Feed(dim(images(SIZES, key=310, layout="CHW"), 30, 180), "CHW")}
    group.case("equalize_chw", "fn.equalize(x)", feeds, expect=lambda x: equalized(x, 0))
    feeds = {"x": Feed([s[..., 0] for s in dim(images(SIZES, key=311), 10, 90)], "HW")}
    group.case("equalize_grey", "fn.equalize(x)", feeds, expect=lambda x: equalized(x, None))
    flat = [np.full((5, 7, 3), value, np.uint8) for value in (0, 9, 255)]
    group.case("equalize_one_value", "fn.experimental.equalize(x)", {"x": Feed(flat, "HWC")}, expect=lambda x: x)


def add_lookup(group):
    keys, values = [3, 0, 100, 3, 255], [1.25, 2.5, 300.0, 7.25, 9.0]
    arguments = f"keys={keys}, values={values}, default_value=11.25"
    for source in ("uint8", "int8", "uint16", "int16", "int32", "int64"):
        samples = [s.astype(source) for s in images(SIZES, key=320)]
        for target, name in (("float32", "FLOAT"), ("uint8", "UINT8")):
            group.case(f"lookup_{source}_to_{target}", f"fn.lookup_table(x, {arguments}, dtype=types.{name})",
                       {"x": Feed(samples, "HWC")}, tolerance=0 if target == "float32" else 1,
                       why="" if target == "float32" else TIES,
                       expect=lambda x, t=target: looked_up(x, keys, values, 11.25, t))
    group.case("lookup_default_dtype", "fn.lookup_table(x, keys=[1, 2], values=[0.5, 8])",
               {"x": Feed(images(SIZES, key=321), "HWC")},
               expect=lambda x: looked_up(x, [1, 2], [0.5, 8], 0, "float32"))
    x = {"x": Feed(images(SIZES, key=322), "HWC")}
    group.refused("refused_lookup_key", "fn.lookup_table(x, keys=[65536], values=[1.0])", x)
    group.refused("refused_lookup_negative_key", "fn.lookup_table(x, keys=[-1], values=[1.0])", x)
    group.refused("refused_lookup_uneven", "fn.lookup_table(x, keys=[1, 2], values=[1.0])", x)


def add_salt_and_pepper(group):
    x = {"x": Feed(images(SIZES, key=330), "HWC")}
    group.case("salt_and_pepper_never", "fn.noise.salt_and_pepper(x, prob=0.0)", x, expect=lambda x: x)
    group.case("salt_always", "fn.noise.salt_and_pepper(x, prob=1.0, salt_vs_pepper=1.0)", x,
               expect=lambda x: np.full_like(x, 255))
    group.case("pepper_always", "fn.noise.salt_and_pepper(x, prob=1.0, salt_vs_pepper=0.0, pepper_val=7.0)", x,
               expect=lambda x: np.full_like(x, 7))


def add(group):
    add_equalize(group)
    add_lookup(group)
    add_salt_and_pepper(group)
