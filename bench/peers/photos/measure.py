"""What every peer over photographs shares: its arguments, the clock, the line of JSON that bench/run.py reads.

A peer is called with --bench NAME, --photos (a folder with one sub-folder per class), --threads, --batch-size and --epochs and times whole
epochs after one that is not timed; or with --bench NAME --fixed LIST --parameters JSON --against FILE, and says how what it makes of the listed
files differs from the floats in FILE.
"""

import argparse
import json
import time

import numpy as np

MEAN = [123.675, 116.28, 103.53]
STD = [58.395, 57.12, 57.375]
UNIT_MEAN = [m / 255 for m in MEAN]
UNIT_STD = [s / 255 for s in STD]
SIZE = 224
SHORTER = 256
AREA = (0.08, 1.0)
RATIO = (0.75, 4 / 3)
MAX_ANGLE = 15.0
TWIST = (0.8, 1.2)  # brightness, contrast, saturation
MAX_HUE = 18.0  # degrees
DETECTION_SIZE = 300
#: Made-up boxes of `detection`: left, top, right, bottom as fractions. A photograph of class n has the first 1 + n % 8 of them.
BOXES = [
    [0.468, 0.499, 0.879, 0.97],
    [0.015, 0.204, 0.485, 0.765],
    [0.386, 0.065, 0.958, 0.49],
    [0.362, 0.446, 0.696, 0.669],
    [0.25, 0.725, 0.356, 0.934],
    [0.412, 0.114, 0.895, 0.294],
    [0.001, 0.729, 0.41, 0.892],
    [0.781, 0.691, 0.986, 0.899],
]


def arguments():
    parser = argparse.ArgumentParser()
    parser.add_argument("--bench", required=True)
    parser.add_argument("--photos")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--batch-size", type=int, default=64)
    parser.add_argument("--epochs", type=int, default=3)
    parser.add_argument("--fixed")
    parser.add_argument("--parameters", type=json.loads, default={})
    parser.add_argument("--against")
    parser.add_argument("--form", default="")
    parser.add_argument("--workers", type=int, help="of torch's DataLoader (default: 0 for one thread, else as many as threads)")
    return parser.parse_args()


def boxes_of(label):
    return BOXES[:1 + label % len(BOXES)]


def fixed_files(args):
    """(path, label) of each file to be compared."""
    with open(args.fixed) as file:
        return [(path, int(label)) for path, label in (line.rsplit(" ", 1) for line in file if line.strip())]


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


def compare(args, pictures):
    """Prints how normalised planes of floats differ from ours, in levels of 8-bit colour."""
    theirs = np.stack([np.asarray(p, dtype=np.float32) for p in pictures])
    ours = np.fromfile(args.against, dtype=np.float32)
    if ours.size != theirs.size:
        raise SystemExit(f"{theirs.size} numbers instead of {ours.size}")
    levels = np.abs(theirs - ours.reshape(theirs.shape)) * np.float32(STD).reshape(1, 3, 1, 1)
    print(json.dumps({"mean": float(levels.mean(dtype=np.float64)), "largest": float(levels.max())}))
