"""Numpy callables by fn.external_source: the same script for DALI, for our module in its place (as_dali.py), and with --loader for galatea.Loader.

Pictures are made before the clock starts, so that the callable costs next to nothing: what is timed is how they come from Python into the pipeline
and out again as one array a batch. Prints a line of JSON: samples, seconds, processor time of this process without its workers. --dump FILE writes
the first batches instead, --against FILE says how they differ from those.
"""

import argparse
import json
import sys
import time

import measure
import numpy as np

SIZES = {"224": (224, 224, 3), "1080p": (1080, 1920, 3)}
NUM_PICTURES = 24
NUM_COMPARED = 3  # batches


class PerSample:
    """A picture for each SampleInfo."""

    def __init__(self, pictures, batch_size):
        self.pictures = pictures

    def __call__(self, info):
        return self.pictures[info.idx_in_epoch % NUM_PICTURES]


class PerBatch:
    """One array of a whole batch."""

    def __init__(self, pictures, batch_size):
        self.batches = [np.resize(one, (batch_size, *pictures.shape[1:])) for one in (pictures, pictures[::-1])]

    def __call__(self, number):
        return self.batches[number % 2]


class Fresh(PerBatch):
    """An array that nobody keeps, as programs make that read or compute one."""

    def __call__(self, number):
        return self.batches[number % 2].copy()


class ListPerBatch(PerSample):
    """A list of arrays, one a sample."""

    def __init__(self, pictures, batch_size):
        super().__init__(pictures, batch_size)
        self.batch_size = batch_size

    def __call__(self, number):
        first = number * self.batch_size
        return [self.pictures[(first + i) % NUM_PICTURES] for i in range(self.batch_size)]


#: Class of the callable, and whether it gives batches.
FORMS = {"sample": (PerSample, False), "batch": (PerBatch, True), "fresh": (Fresh, True), "list": (ListPerBatch, True)}


def arguments():
    parser = argparse.ArgumentParser()
    parser.add_argument("--size", required=True, choices=SIZES)
    parser.add_argument("--form", required=True, choices=FORMS)
    parser.add_argument("--work", required=True, choices=("as-it-is", "resized"), help="returned, or resized to 224 x 224 and normalised")
    parser.add_argument("--workers", type=int, default=0, help="parallel=True with so many; 0: in process")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--batch-size", type=int, default=16)
    parser.add_argument("--seconds", type=float, default=1.0)
    parser.add_argument("--loader", metavar="FOLDER", help="by galatea.Loader of the package in this folder")
    parser.add_argument("--dump")
    parser.add_argument("--against")
    return parser.parse_args()


def modules(args):
    """pipeline_def, fn and types."""
    if args.loader:
        sys.path.insert(0, args.loader)
        import galatea
        from galatea import fn, types
        return galatea.pipeline_def, fn, types
    from nvidia.dali import fn, pipeline_def, types
    return pipeline_def, fn, types


def runner(args):
    """A function that gives the next batch as one array."""
    pipeline_def, fn, types = modules(args)
    make, is_batch = FORMS[args.form]
    source = make(np.random.default_rng(7).integers(0, 256, (NUM_PICTURES, *SIZES[args.size]), np.uint8), args.batch_size)

    def pictures():
        image = fn.external_source(source, batch=is_batch, layout="HWC", parallel=args.workers > 0)
        if args.work == "resized":
            image = fn.resize(image, size=[measure.SIZE, measure.SIZE], interp_type=types.INTERP_LINEAR, antialias=True)
            image = fn.crop_mirror_normalize(image, dtype=types.FLOAT, output_layout="CHW", mean=measure.MEAN, std=measure.STD)
        return image

    options = dict(batch_size=args.batch_size, num_threads=args.threads, seed=1)
    if args.workers:
        options.update(py_num_workers=args.workers, py_start_method="fork")
    if args.loader:
        import galatea

        loader = galatea.Loader(pipeline_def(**options)(pictures))

        def run_loader():
            output = loader.next_batch()[0]
            row = output.in_a_row()
            return np.stack(output.numpy()) if row is None else row

        return run_loader
    pipe = pipeline_def(device_id=None, **options)(pictures)()
    if args.workers:
        pipe.start_py_workers()
    pipe.build()
    return lambda: np.asarray(pipe.run()[0].as_tensor())


def main():
    args = arguments()
    run = runner(args)
    if args.dump:
        with open(args.dump, "wb") as file:
            for _ in range(NUM_COMPARED):
                run().tofile(file)
        print("{}")
        return
    if args.against:
        ours = np.concatenate([run().copy() for _ in range(NUM_COMPARED)])
        theirs = np.fromfile(args.against, ours.dtype)
        if theirs.size != ours.size:
            raise SystemExit(f"{ours.size} elements instead of {theirs.size}")
        levels = np.abs(ours.astype(np.float32) - theirs.reshape(ours.shape).astype(np.float32))
        if args.work == "resized":
            levels *= np.float32(measure.STD).reshape(1, 3, 1, 1)
        print(json.dumps({"mean": float(levels.mean(dtype=np.float64)), "largest": float(levels.max())}))
        return
    for _ in range(10):
        run()
    batches = 0
    cpu_begin, begin = time.process_time(), time.perf_counter()
    while True:
        for _ in range(10):
            run()
        batches += 10
        seconds = time.perf_counter() - begin
        if seconds >= args.seconds:
            break
    print(json.dumps({"samples": batches * args.batch_size, "seconds": seconds, "cpu_seconds": time.process_time() - cpu_begin}))


if __name__ == "__main__":
    main()
