"""Sources in Python without a pipeline: order, ends, workers and how they end."""

import os
import signal
import subprocess
import sys
import textwrap
import time

import numpy as np
import pytest

from galatea.sources import Driver, kind_of
from galatea.workers import Pool, WorkerError

MINUTES = 120


class Squares:
    """Per sample; raises at `fail`, ends its process at `die`, stops at `stop`."""

    def __init__(self, stop=None, fail=None, die=None):
        self.stop, self.fail, self.die = stop, fail, die

    def __call__(self, info):
        if info.idx_in_epoch == self.fail:
            raise KeyError("sample 3 is missing")
        if info.idx_in_epoch == self.die:
            os._exit(7)
        if self.stop is not None and info.idx_in_epoch >= self.stop:
            raise StopIteration
        return np.full((2, info.idx_in_batch + 1), info.idx_in_epoch**2, "int64")


def driver(source, workers=2, start="fork", batch_size=4, **options):
    pool = Pool(workers, start)
    made = Driver(
        source,
        names=["x"],
        batch=options.pop("batch", False),
        parallel=True,
        batch_size=batch_size,
        pool=pool,
        **options,
    )
    return made, pool


@pytest.mark.parametrize("workers", [1, 2, 3])
@pytest.mark.parametrize("start", ["fork", "spawn"])
def test_workers_give_the_same_in_the_same_order(workers, start):
    made, pool = driver(Squares(12), workers, start, prefetch_queue_depth=2)
    alone = Driver(Squares(12), names=["x"], batch=False, batch_size=4)
    try:
        for _ in range(2):
            for _ in range(3):
                (ours,), (theirs,) = made.next(0), alone.next(0)
                assert [a.tolist() for a in ours] == [a.tolist() for a in theirs]
            for one in (made, alone):
                with pytest.raises(StopIteration):
                    one.next(0)
    finally:
        pool.close()


def test_a_fork_beside_a_pool_whose_channels_are_closed():
    first, closed = driver(Squares(), workers=1)
    first.next(0)
    closed.workers[0].channel.close()  # as where a collection ends a pool amid a fork
    made, pool = driver(Squares(), workers=1)
    try:
        ((sample, *_),) = made.next(0)
        assert sample.tolist() == [[0], [0]]
    finally:
        pool.close()
        closed.close()


def test_large_arrays_grow_the_memory():
    made, pool = driver(lambda i: [np.full((2000, 10 * (i + 1)), i, "f4")], batch=True)
    try:
        for i in range(6):
            ((array,),) = made.next(0)
            assert array.shape == (2000, 10 * (i + 1)) and (array == i).all()
    finally:
        pool.close()


@pytest.mark.parametrize("num_bytes", [64, 4096, 4096 - 64, 3 * 4096 // 2, 1080 * 1920 * 3])
def test_samples_of_a_worker_are_handed_on_in_a_row(num_bytes):
    """Also where the last one would end with a page, behind which nothing may be read."""
    from galatea.dali import Pipeline, fn

    def source(info):
        return np.full(num_bytes, info.idx_in_epoch, np.uint8)

    pipe = Pipeline(batch_size=2, num_threads=1, device_id=None, py_num_workers=1)
    with pipe:
        pipe.set_outputs(fn.external_source(source=source, batch=False, parallel=True))
    for first in (0, 2):
        (samples,) = pipe.run()
        whole = samples.as_array()
        assert np.shares_memory(whole, samples.at(0)) and np.shares_memory(whole, samples.at(1))
        assert whole.shape == (2, num_bytes) and (whole == [[first], [first + 1]]).all()


def test_a_worker_whose_answer_nobody_takes_ends_in_silence():
    readable, writable = os.pipe()
    made, pool = driver(lambda info: np.zeros(os.read(readable, 1)[0]), workers=1, batch_size=1)
    try:
        made.schedule(0)
        (worker,) = pool.workers
        worker.channel.close()
        os.write(writable, b"1")
        worker.process.join(MINUTES)
        assert worker.process.exitcode == 0
    finally:
        pool.close()
        os.close(readable)
        os.close(writable)


def test_an_error_has_the_workers_traceback_and_the_source():
    made, pool = driver(Squares(fail=3))
    try:
        with pytest.raises(KeyError) as caught:
            made.next(0)
        assert "sample 3 is missing" in str(caught.value)
        assert "test_sources.py" in str(caught.value) and "Traceback" in str(caught.value)
    finally:
        pool.close()


def test_a_worker_that_ends_is_told():
    made, pool = driver(Squares(die=1))
    try:
        with pytest.raises(WorkerError, match="exit code 7"):
            made.next(0)
    finally:
        pool.close()


def test_what_is_no_array_is_told():
    made, pool = driver(lambda info: "text")
    try:
        with pytest.raises(TypeError, match="not a str"):
            made.next(0)
    finally:
        pool.close()


def is_alive(pid):
    try:
        with open(f"/proc/{pid}/stat") as file:
            return file.read().rsplit(")", 1)[1].split()[0] != "Z"
    except FileNotFoundError:
        return False


@pytest.mark.parametrize("how", ["killed", "exit", "exception", "closed"])
def test_no_worker_outlives_its_parent(how, tmp_path):
    script = tmp_path / "parent.py"
    script.write_text(textwrap.dedent(f"""
            import os, sys, time
            import numpy as np
            from galatea.sources import Driver
            from galatea.workers import Pool

            def source(info):
                if info.idx_in_epoch > 1:
                    time.sleep(1000)
                return np.zeros(3)

            pool = Pool(2, "fork")
            made = Driver(source, names=["x"], batch=False, parallel=True, batch_size=2, pool=pool)
            made.next(0)
            pids = [worker.process.pid for worker in pool.workers]
            for pid in [os.getpid(), *pids]:
                with open(f"/proc/{{pid}}/maps") as file:
                    maps = file.read()
                # Memory that has a name would outlive whoever is killed.
                assert "memfd:galatea-worker" in maps and "/dev/shm/" not in maps, maps
            print(*pids, flush=True)
            if {how!r} == "killed":
                os.kill(os.getpid(), 9)
            if {how!r} == "exception":
                raise ValueError("ends")
            if {how!r} == "closed":
                pool.close()
            """))
    done = subprocess.run(
        [sys.executable, str(script)], capture_output=True, text=True, timeout=MINUTES
    )
    pids = [int(pid) for pid in done.stdout.split()]
    assert len(pids) == 2, done.stderr
    assert done.returncode == {"killed": -signal.SIGKILL, "exception": 1}.get(how, 0)
    end = time.monotonic() + MINUTES
    while any(is_alive(pid) for pid in pids):
        assert time.monotonic() < end, "a worker outlives its parent"
        os.sched_yield()


def test_kinds():
    assert kind_of([1]) == "iterable"
    assert kind_of(lambda: 1) == "callable"
    assert kind_of((i for i in range(3))) == "iterable"
    with pytest.raises(TypeError, match="test_sources.py"):
        kind_of(lambda a, b: 1)
    with pytest.raises(TypeError, match="generator function"):
        kind_of((i for i in range(3)), "quiet")
    with pytest.raises(ValueError, match="cycle"):
        kind_of(lambda: 1, "quiet")


def test_a_loader_pulls_a_source():
    import galatea
    from galatea import fn, types

    @galatea.pipeline_def(batch_size=3)
    def pipe():
        first, second = fn.external_source(
            source=lambda i: _pair(i), num_outputs=2, batch=True, dtype=types.INT32, ndim=1
        )
        return first, second

    loader = galatea.Loader(pipe())
    for _ in range(2):
        got = [tuple(np.array(one.numpy()).tolist() for one in batch) for batch in loader]
        assert got == [([[i]] * 3, [[-i]] * 3) for i in range(2)]
    loader.close()


def _pair(i):
    if i == 2:
        raise StopIteration
    return np.full((3, 1), i, "int32"), np.full((3, 1), -i, "int32")


def test_a_source_that_fails_is_named_by_the_loader():
    import galatea
    from galatea import fn, types

    def broken(info):
        raise LookupError("no such sample")

    @galatea.pipeline_def(batch_size=3)
    def pipe():
        return fn.external_source(source=broken, batch=False, dtype=types.INT32, ndim=1)

    loader = galatea.Loader(pipe())
    with pytest.raises(galatea.GalateaError, match="broken.*test_sources.py") as caught:
        next(iter(loader))
    assert "no such sample" in str(caught.value)
    loader.close()


def test_workers_start_before_the_pipeline_is_built():
    from galatea.dali import Pipeline, fn

    pipe = Pipeline(batch_size=2, num_threads=1, device_id=None, py_num_workers=1)
    with pipe:
        source = fn.external_source(source=_numbered, batch=False, parallel=True)
        pipe.set_outputs(source)
    pipe.start_py_workers()
    assert pipe._py_pool_started
    assert pipe.run()[0].as_array().tolist() == [[0], [1]]


def _numbered(info):
    return np.array([info.idx_in_epoch], np.int32)
