"""Objects that die in any order, on other threads, at exit, in forked children; Ctrl-C; memory."""

import gc
import itertools
import multiprocessing
import os
import random
import signal
import subprocess
import sys
import textwrap
import threading
import weakref

import numpy as np
import pytest

import galatea
from loader_support import FED, PHOTOS, TIMEOUT, run_python


def test_every_order_of_ends(data):
    expected = None
    for order in itertools.permutations(range(5)):
        loader = galatea.Loader(PHOTOS, data=data, num_threads=1)
        batch = loader.next_batch()
        output = batch[0]
        things = [loader, batch, output, output.numpy(), np.from_dlpack(output)]
        if expected is None:
            expected = things[3].copy()
        del loader, batch, output
        for position, which in enumerate(order):
            things[which] = None
            for array in things[3:]:
                if array is not None:
                    np.testing.assert_array_equal(array, expected)


def test_tensors_hold_their_batch_and_no_more(data):
    with galatea.Loader(PHOTOS, data=data, batch_size=1, max_held_batches=2) as loader:
        array = loader.next_batch()[0].numpy()
        first = array.copy()
        for _ in range(30):
            loader.next_batch()
        np.testing.assert_array_equal(array, first)


def test_batches_are_released_by_other_threads(data):
    with galatea.Loader(PHOTOS, data=data, batch_size=2, max_held_batches=16) as loader:
        lots, lock, failures = [], threading.Lock(), []
        done = threading.Event()

        def release():
            while True:
                is_last = done.is_set()
                with lock:
                    array = lots.pop(random.randrange(len(lots))) if lots else None
                if array is None:
                    if is_last:
                        return
                    continue
                if array.shape[1:] != (32, 48, 3):
                    failures.append(array.shape)
                del array

        threads = [threading.Thread(target=release) for _ in range(3)]
        for thread in threads:
            thread.start()
        taken = 0
        while taken < 200:
            try:
                batch = loader.next_batch()
            except galatea.BatchesHeldError:
                continue
            if batch is not None:
                taken += 1
                with lock:
                    lots.append(batch[0].numpy())
        done.set()
        for thread in threads:
            thread.join(TIMEOUT)
        assert not failures and not lots


def test_several_threads_take_from_one_loader(data):
    with galatea.Loader(PHOTOS, data=data, batch_size=1, max_held_batches=16) as loader:
        seen, lock = [], threading.Lock()

        def take():
            for _ in range(18):
                batch = loader.next_batch()
                with lock:
                    seen.append(None if batch is None else (batch.epoch, batch.index))
                loader.statistics()

        threads = [threading.Thread(target=take) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(TIMEOUT)
        places = [place for place in seen if place is not None]
        assert len(seen) == 72 and len(set(places)) == len(places)


def test_a_cycle_through_a_callable_is_collected():
    class Owner:
        def make(self, epoch, batch, first, count):
            return [np.array([first], np.int32)]

    owner = Owner()
    owner.loader = galatea.Loader(FED)
    owner.loader.pull("x", owner.make)
    owner.loader.next_batch()
    gone = weakref.ref(owner)
    del owner
    gc.collect()
    assert gone() is None


def test_closing_from_a_callable_ends_the_session():
    closed = threading.Event()

    def make(epoch, batch, first, count):
        loader.close()
        closed.set()
        return [np.array([first], np.int32)]

    loader = galatea.Loader(FED)
    loader.pull("x", make)
    with pytest.raises(galatea.GalateaError):
        loader.next_batch()
    assert closed.wait(TIMEOUT)


def test_memory_is_flat(data):
    out = run_python(
        """
        import resource, sys, galatea
        sys.path.insert(0, sys.argv[2])
        from loader_support import FED
        import numpy as np
        from galatea import Loader
        def make(epoch, batch, first, count):
            return np.full((count, 1000), batch, np.int32)
        loader = Loader(FED, max_held_batches=4)
        loader.pull("x", make, per_batch=True)
        def take(count):
            for _ in range(count):
                batch = loader.next_batch()
                (x,) = batch
                assert x[3].numpy()[0] == batch.index + 1
                np.from_dlpack(x[0]); x[1].__dlpack__(); x.numpy()
        take(1000)
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        take(10000)
        print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)
        """,
        data,
        os.path.dirname(__file__),
    )
    # Kilobytes; a leak of a batch, or of a tensor object a batch, is more.
    assert int(out) < 1500


@pytest.mark.parametrize("where", ["global", "thread", "pulled", "iterating", "cycle"])
def test_exit_with_a_live_loader(data, where):
    out = run_python(
        """
        import sys, threading
        sys.path.insert(0, sys.argv[2])
        import numpy as np
        from loader_support import FED, PHOTOS
        import galatea
        where = sys.argv[3]
        def make(epoch, batch, first, count):
            return [np.array([first], np.int32)]
        if where == "pulled":
            loader = galatea.Loader(FED)
            loader.pull("x", make)
        else:
            loader = galatea.Loader(PHOTOS, data=sys.argv[1])
        iterator = iter(loader)
        batch = next(iterator)
        array = batch[0].numpy()
        if where == "cycle":
            loop = [loader]
            loop.append(loop)
        if where == "thread":
            def forever():
                while True:
                    loader.next_batch()
            threading.Thread(target=forever, daemon=True).start()
        print("end", flush=True)
        """,
        data,
        os.path.dirname(__file__),
        where,
    )
    assert out == "end\n"


def test_ctrl_c_while_waiting():
    text = textwrap.dedent("""
        import sys
        sys.path.insert(0, sys.argv[1])
        import galatea
        from loader_support import FED
        loader = galatea.Loader(FED, wait_for_feed=True)
        loader.open()
        try:
            print("waiting", flush=True)
            loader.next_batch()
        except KeyboardInterrupt:
            loader.feed("x", [__import__("numpy").zeros(1, "int32")])
            print("interrupted", len(loader.next_batch()[0]), flush=True)
        """)
    child = subprocess.Popen(
        [sys.executable, "-c", text, os.path.dirname(__file__)], stdout=subprocess.PIPE, text=True
    )
    try:
        assert child.stdout.readline() == "waiting\n"
        child.send_signal(signal.SIGINT)
        out, _ = child.communicate(timeout=TIMEOUT)
        assert out == "interrupted 1\n" and child.returncode == 0
    finally:
        child.kill()


def _in_a_forked_child(loader, batch, results):
    messages = []
    for use in (loader.next_batch, loader.statistics, lambda: batch[0].numpy()):
        try:
            use()
            messages.append("worked")
        except galatea.ForkError as error:
            messages.append(str(error))
    # A new one works, and the old ones go without a hang.
    with galatea.Loader(PHOTOS, data=results[1]) as fresh:
        messages.append(fresh.next_batch()[0].shape)
    del loader, batch
    gc.collect()
    results[0].put(messages)


def test_a_forked_child_is_told(data):
    context = multiprocessing.get_context("fork")
    with galatea.Loader(PHOTOS, data=data) as loader:
        batch = loader.next_batch()
        queue = context.SimpleQueue()
        child = context.Process(target=_in_a_forked_child, args=(loader, batch, (queue, data)))
        child.start()
        child.join(TIMEOUT)
        assert child.exitcode == 0
        *refused, shape = queue.get()
        assert all("before this process was forked" in text for text in refused)
        assert shape == (4, 32, 48, 3)
        assert loader.next_batch().index == 1


def _in_a_spawned_child(loader, queue):
    with loader:
        batch = loader.next_batch()
        queue.put((batch.index, batch[0].numpy()[0, 0].tolist()))


def test_a_spawned_child_goes_on(data):
    context = multiprocessing.get_context("spawn")
    with galatea.Loader(PHOTOS, data=data) as loader:
        loader.next_batch()
        queue = context.SimpleQueue()
        child = context.Process(target=_in_a_spawned_child, args=(loader, queue))
        child.start()
        # SimpleQueue: what was put is in the pipe once the child has ended.
        child.join(TIMEOUT)
        assert child.exitcode == 0
        index, values = queue.get()
        batch = loader.next_batch()
        assert index == batch.index == 1 and values == batch[0].numpy()[0, 0].tolist()


def test_memory_is_flat_where_pictures_are_read(data):
    """10,000 batches of a reader over many epochs; arrays outlive their batches, a few at a time."""
    out = run_python(
        """
        import collections, gc, sys
        sys.path.insert(0, sys.argv[2])
        import numpy as np
        from galatea import Loader
        from loader_support import RAGGED
        TEXT = RAGGED.replace("fn.decoders.image(encoded, output_type=types.RGB)", "fn.shapes(encoded)")
        TEXT = TEXT.replace("return image, label", "return image, label, encoded")
        def resident():
            with open("/proc/self/statm") as file:
                return int(file.read().split()[1]) * 4
        kept = collections.deque(maxlen=4)
        def take(loader, count):
            taken = 0
            while taken < count:
                for batch in loader:
                    shapes, label, encoded = batch
                    kept.append((np.from_dlpack(label), encoded[0].numpy()))
                    assert encoded[0].shape == (shapes.numpy()[0, 0],)
                    taken += 1
            gc.collect()
            return resident()
        with Loader(TEXT, batch_size=2, data=sys.argv[1]) as loader:
            before = take(loader, 1000)
            print(take(loader, 10000) - before)
        """,
        data,
        os.path.dirname(__file__),
    )
    # Kilobytes: less than a tenth of one a batch. The allocator's own may move by some hundreds.
    assert int(out) < 1000


def test_memory_is_flat_over_many_loaders(data):
    out = run_python(
        """
        import gc, sys
        sys.path.insert(0, sys.argv[2])
        from galatea import Loader
        from loader_support import FED
        import numpy as np
        def resident():
            with open("/proc/self/statm") as file:
                return int(file.read().split()[1]) * 4
        def make(count):
            for number in range(count):
                loader = Loader(FED, num_threads=1)
                loader.feed("x", np.full((2, 100), number, np.int32))
                array = loader.next_batch()[0][0].numpy()
                if number % 2:
                    loader.close()
                del loader
                assert array[0] == number + 1
            gc.collect()
            return resident()
        before = make(50)
        print(make(150) - before)
        """,
        data,
        os.path.dirname(__file__),
    )
    # Kilobytes: the loaders of a leak would keep their threads' stacks and their pools.
    assert int(out) < 3000


def test_samples_are_kept_and_dropped_in_any_order(data):
    """Samples, outputs, arrays and capsules of many batches; each is what it was until it goes."""
    generator = random.Random(5)
    with galatea.Loader(PHOTOS, data=data, batch_size=3, max_held_batches=64) as loader:
        kept = []
        for _ in range(40):
            batch = loader.next_batch()
            if batch is None:
                continue
            output = batch[0]
            made = [
                output.numpy(),
                output[1].numpy(),
                np.from_dlpack(output),
                np.from_dlpack(output[0]),
                np.asarray(output[2]),
            ]
            kept += [(array, int(array.sum())) for array in made]
            del batch, output, made
            generator.shuffle(kept)
            while len(kept) > 20:
                array, total = kept.pop()
                assert int(array.sum()) == total
                del array
        # The loader is gone before what it made.
        loader.close()
        del loader
    gc.collect()
    while kept:
        array, total = kept.pop()
        assert int(array.sum()) == total


def test_capsules_that_nobody_takes_let_go(data):
    with galatea.Loader(PHOTOS, data=data, batch_size=1, max_held_batches=2) as loader:
        for _ in range(12):
            batch = loader.next_batch()
            if batch is not None:
                batch[0].__dlpack__()
                batch[0].__dlpack__(max_version=(1, 0))


def test_a_child_that_only_inherits_a_loader_ends(data):
    """A forked child that never touches the loader, as a DataLoader's workers are, exits cleanly."""
    out = run_python(
        """
        import os, sys
        sys.path.insert(0, sys.argv[2])
        from galatea import Loader
        from loader_support import PHOTOS
        loader = Loader(PHOTOS, data=sys.argv[1])
        held = loader.next_batch()[0].numpy()
        child = os.fork()
        if child == 0:
            del held
            sys.exit(0)
        _, status = os.waitpid(child, 0)
        print(os.waitstatus_to_exitcode(status), loader.next_batch().index)
        """,
        data,
        os.path.dirname(__file__),
    )
    assert out == "0 1\n"


@pytest.mark.parametrize("what", ["array", "capsule", "loader of a thread"])
def test_exit_in_the_middle(data, what):
    """What is alive at the end of the interpreter: an array alone, a capsule, a thread that takes."""
    out = run_python(
        """
        import sys, threading
        sys.path.insert(0, sys.argv[2])
        from galatea import Loader
        from loader_support import PHOTOS
        what = sys.argv[3]
        loader = Loader(PHOTOS, data=sys.argv[1])
        batch = loader.next_batch()
        kept = batch[0].__dlpack__() if what == "capsule" else batch[0].numpy()
        del batch
        if what == "loader of a thread":
            ready = threading.Event()
            def take(loader):
                while True:
                    loader.next_batch()
                    ready.set()
            threading.Thread(target=take, args=(loader,), daemon=True).start()
            ready.wait()
        del loader
        print("end", flush=True)
        """,
        data,
        os.path.dirname(__file__),
        what,
    )
    assert out == "end\n"
