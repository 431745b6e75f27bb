"""What every peer shares: its arguments, the clock, the line of JSON that bench/run.py reads.

A peer is called with --photos (a folder with one sub-folder per class), --threads, --batch-size and --epochs and times whole epochs after
one that is not timed; or with --fixed LIST TOP LEFT HEIGHT WIDTH --out FILE, and writes what it makes of one window of the listed files.
"""

import argparse
import json
import time

import numpy as np

MEAN = [123.675, 116.28, 103.53]
STD = [58.395, 57.12, 57.375]
SIZE = 224
AREA = (0.08, 1.0)
RATIO = (0.75, 4 / 3)


def arguments():
    parser = argparse.ArgumentParser()
    parser.add_argument("--photos")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--batch-size", type=int, default=64)
    parser.add_argument("--epochs", type=int, default=3)
    parser.add_argument("--fixed", nargs=5)
    parser.add_argument("--out")
    parser.add_argument("--form", default="")
    return parser.parse_args()


def fixed_window(args):
    """(paths, top, left, height, width)"""
    with open(args.fixed[0]) as file:
        paths = [line.rsplit(" ", 1)[0] for line in file if line.strip()]
    return (paths, *map(int, args.fixed[1:]))


def report(run_epoch, args, versions, cpu_is_here=True):
    """run_epoch() runs one epoch and returns how many samples it delivered. cpu_is_here: no other process does work."""
    run_epoch()
    begin, cpu_begin = time.perf_counter(), time.process_time()
    samples = sum(run_epoch() for _ in range(args.epochs))
    seconds = time.perf_counter() - begin
    result = {"samples": samples, "seconds": seconds, "versions": versions}
    if cpu_is_here:
        result["cpu_seconds"] = time.process_time() - cpu_begin
    print(json.dumps(result))


def save(args, pictures):
    """Planes of floats, one picture after the other."""
    np.stack([np.asarray(p, dtype=np.float32) for p in pictures]).tofile(args.out)
