"""Boxes by torchvision: suppression of overlaps, and RoIAlign. Pictures turned upright by Pillow."""
import io

import numpy as np
import torch
from PIL import Image, ImageOps
from torchvision.ops import nms, roi_align

import samples
from peers_decode import encoded
from recorder import Feed

SIZES = [(17, 23), (12, 9), (10, 10), (1, 1)]


def tensor(array):
    return torch.from_numpy(np.ascontiguousarray(array))


def drawn(generator, n, cell):
    """Boxes on a grid of `cell`: overlaps that are equal to a threshold, equal boxes, some without an area."""
    corner = generator.integers(0, 12, (n, 2))
    return np.concatenate([corner, corner + generator.integers(0, 9, (n, 2))], 1).astype(np.float32) * np.float32(cell)


def rows(samples):
    return Feed([np.asarray(sample, np.float32) for sample in samples])


def add_suppressions(group):
    generator = np.random.Generator(np.random.PCG64(21))
    boxes = [drawn(generator, n, cell) for n, cell in ((60, 1), (200, 0.3), (1, 1), (7, 1e-4))]
    boxes += [np.zeros((0, 4), np.float32), generator.uniform(0, 50, (80, 4)).astype(np.float32)]  # some inverted
    scores = [(generator.integers(0, 9, len(b)) / 8).astype(np.float32) for b in boxes]  # ties
    classes = [generator.integers(-1, 3, len(b)).astype(np.int32) for b in boxes]
    feeds = {"b": rows(boxes), "s": rows(scores)}
    for threshold in (0.0, 0.25, 0.3, 0.5, 0.7, 1.0):
        group.record(f"nms_{threshold}", f"fn.galatea.nms(b, s, iou_threshold={threshold})", feeds,
                     lambda b, s, t=threshold: nms(tensor(b), tensor(s), t).numpy())

        def by_class(b, s, c, t=threshold):
            kept = np.concatenate([np.flatnonzero(c == k)[nms(tensor(b[c == k]), tensor(s[c == k]), t).numpy()]
                                   for k in np.unique(c)] or [np.zeros(0, np.int64)])
            return kept[np.lexsort((kept, -s[kept]))].astype(np.int64)
        group.record(f"batched_nms_{threshold}", f"fn.galatea.batched_nms(b, s, c, iou_threshold={threshold})",
                     feeds | {"c": Feed(classes)}, by_class)
    group.record("nms_of_the_best", "fn.galatea.nms(b, s, iou_threshold=0.5, score_threshold=0.375, max_boxes=5)", feeds,
                 lambda b, s: np.flatnonzero(s > 0.375)[nms(tensor(b[s > 0.375]), tensor(s[s > 0.375]), 0.5).numpy()][:5])
    group.record("taken", "fn.galatea.take(b, fn.galatea.nms(b, s, iou_threshold=0.5))", feeds,
                 lambda b, s: b[nms(tensor(b), tensor(s), 0.5).numpy()])


def add_regions(group):
    generator = np.random.Generator(np.random.PCG64(22))
    inside = [[3, 4, 14, 9], [0, 0, 23, 17], [10.25, 3.5, 11, 3.75], [7, 7, 7, 7], [12, 8, 5, 2]]
    # torchvision refuses boxes that end before their start along one axis alone.
    anywhere = np.sort(generator.uniform(-8, 20, (6, 2, 2)), 1).reshape(6, 4)
    boxes = rows([inside, anywhere, np.zeros((0, 4)), [[-1, -1, 2, 2], [0, 0, 1, 1], [1, 1, 9, 9]]])
    floats = [(sample / np.float32(255)).astype(np.float32) for sample in samples.images(SIZES, key=5)]
    planes = [np.ascontiguousarray(sample.transpose(2, 0, 1)) for sample in floats]

    def by_torch(image, b, channels_first=False, **options):
        image = tensor(image if channels_first else image.transpose(2, 0, 1))[None]
        out = roi_align(image, [tensor(b)], **options).numpy()
        return out if channels_first else np.ascontiguousarray(out.transpose(0, 2, 3, 1))

    for size, ratios in (([3, 5], (-1, 2)), ([1, 1], (-1, 4)), ([2, 2], (1, 3, 5))):
        for aligned in (False, True):
            for ratio in ratios:
                group.record(f"roi_align_{size[0]}x{size[1]}_{aligned}_{ratio}",
                             f"fn.galatea.roi_align(x, b, output_size={size}, sampling_ratio={ratio}, aligned={aligned})",
                             {"x": Feed(floats, "HWC"), "b": boxes},
                             lambda x, b, s=size, r=ratio, a=aligned: by_torch(x, b, output_size=s, sampling_ratio=r, aligned=a),
                             "NHWC")
    for ratio in (-1, 2):
        group.record(f"roi_align_planes_{ratio}",
                     f"fn.galatea.roi_align(x, b, output_size=4, sampling_ratio={ratio}, spatial_scale=0.37)",
                     {"x": Feed(planes, "CHW"), "b": boxes},
                     lambda x, b, r=ratio: by_torch(x, b, True, output_size=4, sampling_ratio=r, spatial_scale=0.37),
                     "NCHW")


def add_turned(group):
    files = [encoded("PNG", orientation=orientation) for orientation in range(1, 9)] + [encoded("PNG")]
    group.record("auto_orient",
                 "fn.galatea.auto_orient(fn.decoders.image(x, adjust_orientation=False),"
                 " orientation=fn.galatea.peek_image_orientation(x))", {"x": Feed(files)},
                 lambda data: np.array(ImageOps.exif_transpose(Image.open(io.BytesIO(data.tobytes())))), "HWC")


def add(group):
    add_turned(group)
    add_suppressions(group)
    add_regions(group)
