"""Peers that work on one picture at a time: threads of one process share a batch."""

import concurrent.futures

import numpy as np
import serve


class Spellings:
    """Case name → make(work) → call(picture, out, parameters), which writes into `out` or returns the result."""

    def __init__(self):
        self.makers = {}

    def __call__(self, *names, only=None):
        def keep(make):
            for name in names:
                self.makers[name] = (make, only)
            return make
        return keep

    def find(self, work):
        if work.name not in self.makers:
            raise serve.NotSpelled(work.name)
        make, only = self.makers[work.name]
        if only and work.element != only:
            raise serve.NotSpelled(f"{work.name} of {work.element}")
        return make(work)


def measure(work, spellings, load=lambda picture: picture, store=None):
    """load: from an array to what the peer works on (not timed). store: from the peer's result into a picture of the batch."""
    call = spellings.find(work)
    total = work.batch_size * work.batches
    pictures = [load(picture) for picture in work.stack()]
    parameters = [work.parameters_of(i) for i in range(total)]
    shape, dtype = shape_of_output(call, pictures[0], parameters[0], store)
    ring = [np.zeros((work.batch_size, *shape), dtype) for _ in range(serve.RING)]

    def run_some(batch, number, begin, end):
        first = number * work.batch_size
        for i in range(begin, end):
            out = batch[i, ...]  # a view where a picture is a single number, too
            result = call(pictures[first + i], out, parameters[first + i])
            if store:
                store(result, out)
            elif result is not None and result is not out and not np.may_share_memory(result, out):
                np.copyto(out, result)

    with concurrent.futures.ThreadPoolExecutor(work.threads) as pool:
        def run_batch(number):
            batch = ring[number % serve.RING]
            if work.threads == 1:
                run_some(batch, number, 0, work.batch_size)
                return
            edges = [work.batch_size * t // work.threads for t in range(work.threads + 1)]
            list(pool.map(lambda t: run_some(batch, number, edges[t], edges[t + 1]), range(work.threads)))

        run_batch(0)
        first = ring[0].copy()
        return serve.timed(run_batch, work), first


def shape_of_output(call, picture, parameters, store):
    if hasattr(call, "output"):
        return call.output
    result = call(picture, None, parameters)
    array = np.asarray(result)
    return array.shape, array.dtype
