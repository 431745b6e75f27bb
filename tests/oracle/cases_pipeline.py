"""Whole pipelines: what training and evaluation do, on encoded photographs drawn by samples.py."""
import numpy as np

from recorder import Feed
from samples import encode, images, oriented, photo

LEVEL = "one level of the u8 resize, after normalisation"
ONE_LEVEL = "one level of u8 rounding"
NORMALISE = "mean=[123.675, 116.28, 103.53], std=[58.395, 57.12, 57.375]"
SIZES = [(40, 57), (61, 47), (33, 33), (48, 35)]


def encoded(key=900):
    kinds = [("JPEG", dict(quality=90, subsampling=2)), ("JPEG", dict(quality=85, subsampling=1)), ("PNG", {}),
             ("WEBP", dict(quality=90))]
    samples = [encode(photo(h, w, key=key + i), *kinds[i][:1], **kinds[i][1]) for i, (h, w) in enumerate(SIZES)]
    return Feed(samples + [oriented(photo(30, 52, key=key + 4), 6, quality=90, subsampling=2)])


def scalars(values, dtype):
    return Feed([np.array(v, dtype) for v in values])


def add_training(group):
    feeds = {"x": encoded()}
    normalised = dict(tolerance=0.02, why=LEVEL, mean_tolerance=0.002)
    group.case("imagenet_evaluation", f"""image = fn.decoders.image(x)
image = fn.resize(image, resize_shorter=28)
return fn.crop_mirror_normalize(image, crop=[24, 24], dtype=types.FLOAT, output_layout="CHW", {NORMALISE})""", feeds,
               **normalised)
    group.case("imagenet_evaluation_float_resize", f"""image = fn.decoders.image(x)
image = fn.resize(image, resize_shorter=28, dtype=types.FLOAT)
return fn.crop_mirror_normalize(image, crop=[24, 24], {NORMALISE})""", feeds, tolerance=1e-5, kind="range",
               why="float32 sums in another order")
    group.case("training_fixed_window", f"""image = fn.decoders.image_crop(x, crop=[30, 33], crop_pos_x=0.3)
image = fn.resize(image, size=[20, 22])
return fn.crop_mirror_normalize(image, dtype=types.FLOAT, output_layout="CHW", {NORMALISE}, mirror=m)""",
               {"x": Feed(encoded().samples[:4])} | {"m": scalars([1, 0, 1, 0], np.int32)}, **normalised)
    group.case("training_half_nhwc", f"""image = fn.decoders.image_slice(x, rel_start=[0.1, 0.2], rel_end=[0.8, 0.9])
image = fn.resize(image, size=[18, 18], interp_type=types.INTERP_CUBIC)
return fn.crop_mirror_normalize(image, dtype=types.FLOAT16, output_layout="HWC", pad_output=True, {NORMALISE})""",
               feeds, **normalised)
    group.case("two_views", """image = fn.decoders.image(x)
first = fn.flip(fn.resize(image, size=[20, 20]))
second = fn.brightness_contrast(fn.resize(image, size=[12, 12]), brightness=1.2, contrast=0.9)
return first, second, image.shape()""", feeds, tolerance=2, why="one level of each u8 rounding", mean_tolerance=0.3)
    group.case("crop_by_arithmetic", """image = fn.decoders.image(x)
shape = fn.cast(image.shape()[:2], dtype=types.FLOAT)
side = fn.reductions.min(shape)
return fn.crop(image, crop_h=side, crop_w=side, crop_pos_x=0.25)""", feeds)


def add_conditional(group):
    pictures = {"x": Feed(images([(20, 31), (13, 9), (24, 24), (3, 4)], key=910), "HWC")}
    coin = {"c": scalars([True, False, False, True], bool)}
    group.case("saturation_or_edges", """if c:
    image = fn.saturation(x, saturation=2.0)
else:
    edges = fn.laplacian(x, window_size=5)
    image = fn.cast_like(0.5 * x + 0.5 * edges, x)
return image""", pictures | coin, tolerance=1, why=ONE_LEVEL)
    group.case("one_of_five", """def effect(image, which):
    if which == 0:
        return fn.flip(image)
    if which == 1:
        return fn.brightness(image, brightness=0.6)
    if which == 2:
        return fn.hue(image, hue=90.0)
    if which == 3:
        return fn.gaussian_blur(image, window_size=5)
    return fn.contrast(image, contrast=1.5)
---
return effect(x, w)""", {"x": Feed(images([(9, 8)] * 5, key=920), "HWC"), "w": scalars([4, 0, 3, 1, 2], np.int32)},
               tolerance=1, why=ONE_LEVEL)
    group.case("blur_by_brightness", """mean = fn.reductions.mean(x)
steps = fn.cast(math.clamp(math.floor(mean / 60.0), 0.0, 3.0), dtype=types.INT32)
return fn.gaussian_blur(x, window_size=steps * 2 + 3), steps""", pictures, tolerance=1, why=ONE_LEVEL)
    group.case("auto_contrast", """lo = fn.reductions.min(x, axis_names="HW", keep_dims=True)
hi = fn.reductions.max(x, axis_names="HW", keep_dims=True)
scale = 255.0 / math.max(fn.cast(hi - lo, dtype=types.FLOAT), 1.0)
return fn.cast((x - lo) * scale, dtype=types.UINT8)""", pictures, tolerance=1, why=ONE_LEVEL)
    group.case("grey_by_arithmetic", """weights = types.Constant([0.299, 0.587, 0.114], dtype=types.FLOAT)
grey = fn.reductions.sum(x * weights, axes=[2], keep_dims=True)
mixed = 0.3 * x + 0.7 * grey
return fn.cast(mixed, dtype=types.UINT8)""", pictures, tolerance=1, why=ONE_LEVEL)
    group.case("solarize", """inverted = types.Constant(255, dtype=types.UINT8) - x
keep = x < 128
return keep * x + (keep ^ True) * inverted""", pictures)
    group.case("skipped_samples_keep_order", """if c:
    image = fn.resize(x, size=[4, 6], interp_type=types.INTERP_NN)
    mark = 1
else:
    image = x
    mark = 0
return image, mark, fn.stack(c, c)""", pictures | coin)


def add(group):
    add_training(group)
    add_conditional(group)
