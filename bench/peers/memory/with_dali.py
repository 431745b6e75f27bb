"""NVIDIA DALI on the CPU runs our own text; its inputs come from arrays without a copy."""

import itertools
import pathlib

import nvidia.dali as dali
import numpy as np
import serve
from nvidia.dali import fn

VERSIONS = {"nvidia-dali": dali.__version__}
ROOT = pathlib.Path(__file__).resolve().parents[3]
real_source = fn.external_source


def load(work):
    """The pipeline functions of the file, with sources that are fed from `work`."""
    total = work.batch_size * work.batches
    pictures = list(work.stack())

    def rows(name, begin):
        numbers = range(begin, begin + work.batch_size)
        if name == "image":
            return [pictures[i] for i in numbers]
        return np.stack([work.parameters_of(i)[name] for i in numbers])

    def source(name, **options):
        batches = [rows(name, begin) for begin in range(0, total, work.batch_size)]
        return real_source(source=itertools.cycle(batches), batch=True, no_copy=True, **options)

    fn.external_source = source
    path = ROOT / work.file
    space = {"__name__": "pipelines"}
    exec(compile(path.read_text(), str(path), "exec"), space)
    return space


def measure(work):
    space = load(work)
    pipeline = space[work.pipeline or "case"](batch_size=work.batch_size, num_threads=work.threads, device_id=None, seed=42, prefetch_queue_depth=2)
    pipeline.build()

    def deliver():
        out = pipeline.run()[0]
        return out.as_tensor() if out.is_dense_tensor() else out

    first = np.array(deliver())
    return serve.timed(lambda _: deliver(), work), first
