"""One peer over pictures in memory: a request a line, an answer a line, JSON both (bench/memory_bench.py).

Timed are whole batches: a batch is there when all of its pictures are in one array that goes round in a ring of three, as ours do. Inputs are as many
samples as ours are fed, one behind the other in memory.
"""

import argparse
import ctypes
import importlib
import json
import os
import sys
import time
import traceback

import numpy as np

ELEMENTS = {"u8": np.uint8, "i32": np.int32, "f32": np.float32}
MODULES = {"DALI": "with_dali", "OpenCV": "with_opencv", "Albumentations": "with_albumentations", "torchvision, tensors": "with_torchvision",
           "Pillow": "with_pillow", "kornia": "with_kornia"}


#: Batches in memory at a time, as of ours.
RING = 3


class NotSpelled(Exception):
    """This peer has no way to write a case."""


class Work:
    """A request with its data."""

    def __init__(self, request):
        self.name, self.element = request["case"], request["element"]
        self.height, self.width = request["height"], request["width"]
        self.batch_size, self.batches, self.threads = request["batch_size"], request["batches"], request["threads"]
        self.seconds, self.file, self.pipeline = request["seconds"], request["file"], request["pipeline"]
        self.pictures = np.fromfile(request["pictures"], ELEMENTS[self.element]).reshape(-1, self.height, self.width, 3)
        self.parameters = {name: np.fromfile(one["path"], ELEMENTS[one["element"]]).reshape(-1, *one["extents"])
                           for name, one in request["parameters"].items()}
        self.against = request["against"]
        #: Whether ours are planes of normalised floats, rather than rows of pixels.
        self.planes = request["planes"]

    def stack(self):
        """All inputs, each with memory of its own, in one array: batches lie in a row, as ours are fed."""
        total = self.batch_size * self.batches
        return self.pictures[np.arange(total) % len(self.pictures)]

    def parameters_of(self, number):
        return {name: rows[number % len(rows)] for name, rows in self.parameters.items()}

    def samples(self, batch):
        return range(batch * self.batch_size, (batch + 1) * self.batch_size)


def timed(run_batch, work):
    """All batches in turn until the time is over, after one round of at most as long.

    A batch that run_batch() makes anew is kept while the next two are made, so that it has no less memory to go round in than one that is written into
    a ring.
    """
    kept = [None] * RING

    def some(until):
        number = 0
        while True:
            kept[number % RING] = None
            kept[number % RING] = run_batch(number % work.batches)
            number += 1
            if time.perf_counter() >= until and number >= 3:
                return number

    some(time.perf_counter() + min(work.seconds, 0.5))
    begin, cpu_begin = time.perf_counter(), time.process_time()
    batches = some(begin + work.seconds)
    return {"samples": batches * work.batch_size, "seconds": time.perf_counter() - begin, "cpu_seconds": time.process_time() - cpu_begin}


def difference(theirs, work):
    """How the first batch differs from ours, in levels of 255; None where the extents do."""
    theirs = np.ascontiguousarray(theirs)
    if os.path.getsize(work.against) != theirs.nbytes:
        raise SystemExit(f"the peer's batch has {theirs.nbytes} bytes, ours {os.path.getsize(work.against)}")
    ours = np.fromfile(work.against, theirs.dtype).reshape(theirs.shape)
    levels = np.abs(theirs.astype(np.float64) - ours.astype(np.float64)) * scale_of(work, theirs)
    return {"mean": float(levels.mean()), "largest": float(levels.max())}


def scale_of(work, theirs):
    if theirs.dtype != np.float32:
        return 1.0
    # Planes of normalised floats have a deviation of 1, floats of pictures go up to 1.
    return np.array([58.395, 57.12, 57.375]).reshape(1, 3, 1, 1) if work.planes and theirs.shape[1] == 3 else 255.0


def answer(module, request):
    work = Work(request)
    if hasattr(module, "measure"):
        result, first = module.measure(work)
    else:
        raise NotSpelled("the peer's module has no measure()")
    result["difference"] = difference(first, work)
    result["versions"] = module.VERSIONS
    return result


def keep_freed_memory():
    """Makes malloc keep what is freed: batches that a library makes anew shall not wait for fresh pages, which our recycled ones do not."""
    trim_threshold, mmap_threshold, largest = -1, -3, (1 << 31) - 1
    malloc_options = ctypes.CDLL(None).mallopt
    if not malloc_options(mmap_threshold, largest) or not malloc_options(trim_threshold, largest):
        print("malloc takes no options here: batches made anew may wait for fresh pages", file=sys.stderr)


def main():
    keep_freed_memory()
    parser = argparse.ArgumentParser()
    parser.add_argument("--peer", choices=MODULES, required=True)
    args = parser.parse_args()
    # Answers go where the requests came from; whatever a library prints goes to the errors.
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    module = None
    for line in sys.stdin:
        try:
            module = module or importlib.import_module(MODULES[args.peer])
            result = answer(module, json.loads(line))
        except NotSpelled as reason:
            result = {"failed": f"not spelled: {reason}"}
        except (Exception, SystemExit) as error:
            traceback.print_exc()
            result = {"failed": f"{type(error).__name__}: {error}"}
        answers.write(json.dumps(result) + "\n")
        answers.flush()


if __name__ == "__main__":
    # Spellings import this file by its name; run that one, so that its classes exist once.
    import serve
    serve.main()
