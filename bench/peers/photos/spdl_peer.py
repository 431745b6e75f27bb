"""SPDL: FFmpeg decodes, crops, resizes and mirrors each picture in a pool of threads; whole batches are normalised by torch.

Needs FFmpeg's libraries, which its package does not bring (Debian: libavfilter8, libavdevice59). Its bilinear resize (swscale's) widens the filter
where it reduces, in integers.
"""

import glob
import os
import random

import measure
import spdl.io
import spdl.pipeline
import torch
from importlib.metadata import version

MEAN = torch.tensor(measure.MEAN).view(1, 3, 1, 1)
SCALE = 1 / torch.tensor(measure.STD).view(1, 3, 1, 1)


def random_window(width, height, chance):
    """torchvision's draw: an area and a ratio, ten times, else the whole."""
    for _ in range(10):
        area = width * height * chance.uniform(*measure.AREA)
        ratio = chance.uniform(*measure.RATIO)
        w, h = round((area * ratio) ** 0.5), round((area / ratio) ** 0.5)
        if 0 < w <= width and 0 < h <= height:
            return chance.randint(0, height - h), chance.randint(0, width - w), h, w
    return 0, 0, height, width


def decode(path, window, mirror):
    packets = spdl.io.demux_image(path)
    top, left, height, width = window(packets.width, packets.height)
    # Chroma first: cropped in 4:2:0, windows would begin at even pixels only.
    steps = ["format=pix_fmts=rgb24", f"crop={width}:{height}:{left}:{top}", f"scale={measure.SIZE}:{measure.SIZE}:flags=bilinear"]
    if mirror:
        steps.append("hflip")
    return spdl.io.decode_packets(packets, filter_desc=",".join([*steps, "format=pix_fmts=rgb24"]))


def to_batch(frames):
    pixels = spdl.io.to_torch(spdl.io.convert_frames(frames))
    return pixels.permute(0, 3, 1, 2).float().sub_(MEAN).mul_(SCALE).contiguous()


def main():
    args = measure.arguments()
    torch.set_num_threads(1)
    if args.fixed:
        p = args.parameters
        frames = [decode(path, lambda *_: (p["top"], p["left"], p["height"], p["width"]), False) for path, _ in measure.fixed_files(args)]
        measure.compare(args, to_batch(frames))
        return
    paths = sorted(glob.glob(os.path.join(args.photos, "*", "*")))
    labels = {folder: number for number, folder in enumerate(sorted({os.path.dirname(path) for path in paths}))}
    chance = random.Random(42)

    def source():
        order = paths[:]
        chance.shuffle(order)
        for path in order:
            yield path, labels[os.path.dirname(path)], chance.random(), chance.random() < 0.5

    failures = []

    def one(item):
        path, label, seed, mirror = item
        try:
            return decode(path, lambda width, height: random_window(width, height, random.Random(seed)), mirror), label
        except Exception as failure:  # SPDL writes it to its log, and leaves the picture out
            failures.append(f"{path}: {type(failure).__name__}: {failure}")
            raise

    def collate(items):
        return to_batch([frames for frames, _ in items]), torch.tensor([label for _, label in items])

    def run_epoch():
        builder = spdl.pipeline.PipelineBuilder().add_source(source()).pipe(one, concurrency=args.threads).aggregate(args.batch_size)
        pipeline = builder.pipe(collate).add_sink(3).build(num_threads=args.threads)
        with pipeline.auto_stop():
            count = sum(images.shape[0] for images, _ in pipeline)
        if count != len(paths):
            raise SystemExit(f"SPDL gave {count} of {len(paths)} pictures; " + "; ".join(failures[:1]))
        return count

    measure.report(run_epoch, args, {"spdl": version("spdl")})


main()
