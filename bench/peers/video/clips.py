"""Clips of 16 frames, every second one, by a library of Python: resized to 224 by torch and normalised. Prints a line of JSON.

The same clips as bench/benches/video.dali-dsl: one begins at every 40th frame of a film; they come in a random order.
"""

import argparse
import concurrent.futures
import importlib
import json
import random
import time
from pathlib import Path

import torch

LENGTH, STRIDE, STEP = 16, 2, 40
MEAN = torch.tensor([123.7, 116.3, 103.5]).view(3, 1, 1)
STD = torch.tensor([58.4, 57.1, 57.4]).view(3, 1, 1)


def by_pyav(path, frames):
    import av

    with av.open(str(path)) as film:
        stream = film.streams.video[0]
        stream.thread_count = 1
        ticks = float(1 / stream.average_rate / stream.time_base)
        film.seek(round(frames[0] * ticks), stream=stream)
        wanted, found = set(frames), {}
        for picture in film.decode(stream):
            number = round(picture.pts / ticks)
            if number in wanted:
                found[number] = torch.from_numpy(picture.to_ndarray(format="rgb24"))
            if number >= frames[-1]:
                break
    return torch.stack([found[number] for number in frames]).permute(0, 3, 1, 2)


def by_torchcodec(path, frames):
    from torchcodec.decoders import VideoDecoder

    return VideoDecoder(str(path), num_ffmpeg_threads=1).get_frames_at(indices=frames).data


def by_decord(path, frames):
    import decord

    return torch.from_numpy(decord.VideoReader(str(path), num_threads=1).get_batch(frames).asnumpy()).permute(0, 3, 1, 2)


def by_dali(path, frames):
    import numpy
    from nvidia.dali import fn, pipeline_def

    @pipeline_def(batch_size=1, num_threads=1, device_id=None)
    def clip():
        encoded = fn.external_source(source=[[numpy.fromfile(path, numpy.uint8)]], batch=True)
        return fn.experimental.decoders.video(encoded, frames=frames)

    try:
        (pictures,) = clip().run()
    except RuntimeError as error:  # what was wrong stands in the midst of a trace
        reasons = [line for line in str(error).splitlines() if "Failed" in line]
        raise SystemExit(f"DALI's CPU decodes no such film: {reasons[0] if reasons else error}") from None
    return torch.from_numpy(numpy.array(pictures.at(0))).permute(0, 3, 1, 2)


LIBRARIES = {"dali": ("nvidia.dali", by_dali), "pyav": ("av", by_pyav), "torchcodec": ("torchcodec", by_torchcodec), "decord": ("decord", by_decord)}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--library", choices=LIBRARIES, required=True)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--frames", type=int, default=300, help="of each film")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--epochs", type=int, default=3)
    args = parser.parse_args()
    torch.set_num_threads(1)
    module, read = LIBRARIES[args.library]
    version = importlib.import_module(module).__version__
    starts = range(0, args.frames - LENGTH * STRIDE + 1, STEP)
    clips = [(path, list(range(start, start + LENGTH * STRIDE, STRIDE))) for path in sorted(args.data.glob("*/*.mp4")) for start in starts]

    def make(clip):
        frames = read(*clip).float()
        small = torch.nn.functional.interpolate(frames, (224, 224), mode="bilinear", antialias=True, align_corners=False)
        return ((small - MEAN) / STD).shape[0]

    def run_epoch():
        random.shuffle(clips)
        with concurrent.futures.ThreadPoolExecutor(args.threads) as pool:
            return sum(count == LENGTH for count in pool.map(make, clips))

    run_epoch()
    begin, cpu_begin = time.perf_counter(), time.process_time()
    samples = sum(run_epoch() for _ in range(args.epochs))
    print(json.dumps({"samples": samples, "seconds": time.perf_counter() - begin, "cpu_seconds": time.process_time() - cpu_begin,
                      "versions": {args.library: version}}))


main()
