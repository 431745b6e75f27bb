"""Cases of jpeg_compression_distortion; Pillow, another host of libjpeg, is the formula beside DALI."""
import io

import numpy as np
from PIL import Image

from recorder import Feed
from samples import images

SIZES = [(37, 45), (16, 16), (1, 1), (8, 51)]


def through_pillow(image, quality):
    file = io.BytesIO()
    Image.fromarray(image).save(file, "JPEG", quality=int(quality), subsampling=2)
    return np.array(Image.open(file))


def smooth(samples):
    """Less noise, as JPEG expects it."""
    return [(sample // 4 + np.add.outer(np.arange(sample.shape[0]), np.arange(sample.shape[1]))[..., None] * 2).astype(np.uint8) for sample in samples]


def add(group):
    feed = {"x": Feed(smooth(images(SIZES, key=900)), "HWC")}
    for quality in (1, 5, 30, 75, 95, 100):
        group.case(f"jpeg_{quality}", f"fn.jpeg_compression_distortion(x, quality={quality})", feed,
                   expect=lambda x, quality=quality: through_pillow(x, quality))
    group.case("jpeg_default", "fn.jpeg_compression_distortion(x)", feed, expect=lambda x: through_pillow(x, 50))
    for quality, nearest in ((0, 1), (-7, 1), (300, 100)):
        group.case(f"jpeg_beyond_{nearest}_{abs(quality)}", f"fn.jpeg_compression_distortion(x, quality={quality})", feed,
                   expect=lambda x, nearest=nearest: through_pillow(x, nearest))
    qualities = {**feed, "q": Feed([np.int32(q) for q in (10, 40, 70, 2)])}
    group.case("jpeg_per_sample", "fn.jpeg_compression_distortion(x, quality=q)", qualities, expect=lambda x, q: through_pillow(x, q))
    group.case("jpeg_of_a_window", "fn.jpeg_compression_distortion(fn.flip(fn.crop(x, crop=[11, 13], crop_pos_x=0.3)), quality=20)",
               {"x": Feed(smooth(images([(37, 45), (14, 29)], key=905)), "HWC")})
    frames = [np.stack(smooth(images([(9, 21)] * 3, key=910 + k))) for k in range(2)]
    group.case("jpeg_sequence", "fn.jpeg_compression_distortion(x, quality=35)", {"x": Feed(frames, "FHWC")},
               expect=lambda x: np.stack([through_pillow(frame, 35) for frame in x]))
    group.refused("jpeg_grey", "fn.jpeg_compression_distortion(x)", {"x": Feed(images([(5, 6)], channels=1, key=920), "HWC")})
    group.refused("jpeg_floats", "fn.jpeg_compression_distortion(x)", {"x": Feed([np.zeros((5, 6, 3), np.float32)], "HWC")})
