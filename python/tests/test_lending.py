"""Arrays that are fed: who has them decides whether they are read where they lie; nothing changes what was fed."""

import gc
import os
import weakref

import numpy as np
import pytest

import galatea
from galatea.dali import fn, pipeline_def, types
from galatea.sources import nobody_else_has

SHAPE = (64, 64, 8)  # large enough to be lent
PAGE = 4096
READ_BEHIND = 64  # GALATEA_PADDING


def pictures(source, *, count=3, depth=2, batch=True, **options):
    @pipeline_def(batch_size=count, num_threads=2, device_id=None, prefetch_queue_depth=depth)
    def made():
        image = fn.external_source(source, batch=batch, **options)
        return image, fn.cast(image, dtype=types.INT32) * 2

    return made()


def fresh(number):
    """An array that can be lent: kernels may read behind it without leaving its last page."""
    refused = []  # kept until one fits, so that each has other memory
    while True:
        array = np.full((3, *SHAPE), number % 200, np.uint8)
        behind = -(address(array) + array.nbytes) % PAGE
        if behind >= READ_BEHIND:
            return array
        refused.append(array)


def address(array):
    return array.__array_interface__["data"][0]


def test_whose_an_array_is():
    one = np.zeros(SHAPE, np.uint8)
    assert not nobody_else_has([one])
    assert nobody_else_has([np.zeros(SHAPE, np.uint8)])
    assert nobody_else_has([np.zeros(SHAPE, np.uint8), np.ones(SHAPE, np.uint8)])
    assert not nobody_else_has([np.zeros(SHAPE, np.uint8), one])
    assert not nobody_else_has([one[1:]])
    assert not nobody_else_has([np.frombuffer(bytearray(1 << 16), np.uint8)])
    box = [np.zeros(SHAPE, np.uint8)]
    looks = memoryview(box[0])
    assert not nobody_else_has(box)
    looks.release()
    assert nobody_else_has(box)
    assert not nobody_else_has([np.zeros(3, np.uint8)])  # as quickly copied


def test_a_new_array_is_not_copied_at_all():
    addresses = []

    def source(number):
        array = fresh(number)
        addresses.append(address(array))
        return array

    pipe = pictures(source)
    for number in range(6):
        whole, twice = (one.as_array() for one in pipe.run())
        assert (whole == number).all() and (twice == 2 * number).all()
        assert whole.flags.c_contiguous and address(whole) == addresses[number]
        del whole, twice


def test_an_array_that_the_source_writes_again_is_copied():
    kept = np.zeros((3, *SHAPE), np.uint8)

    def source(number):
        kept[:] = number
        return kept

    pipe = pictures(source, depth=3)
    for number in range(6):
        whole, twice = (one.as_array() for one in pipe.run())
        assert (whole == number).all() and (twice == 2 * number).all()


@pytest.mark.parametrize("keeps", ["the list", "an array", "a view", "a memoryview"])
def test_a_list_of_which_somebody_keeps_something_is_copied(keeps):
    kept = []

    def source(number):
        for one in kept:
            np.asarray(one)[:] = 99
        made = [np.full(SHAPE, number, np.uint8) for _ in range(3)]
        kept.clear()
        if keeps == "the list":
            kept.extend(made)
        else:
            kept.append(
                {"an array": lambda a: a, "a view": lambda a: a[:], "a memoryview": memoryview}[
                    keeps
                ](made[1])
            )
        return made

    pipe = pictures(source, depth=3)
    for number in range(6):
        whole, twice = (one.as_array() for one in pipe.run())
        assert (whole == number).all() and (twice == 2 * number).all()


def test_what_was_lent_ends_with_its_batch():
    alive = []

    def source(number):
        array = fresh(number)
        alive.append(weakref.ref(array))
        return array

    pipe = pictures(source)
    held = [pipe.run() for _ in range(3)]
    values = [outputs[0].as_array() for outputs in held]
    del held
    for _ in range(4):
        pipe.run()
    # Three are held, some are on the way, the others have gone.
    gc.collect()
    assert all((value == number).all() for number, value in enumerate(values))
    assert all(ref() is not None for ref in alive[:3])
    values.clear()
    # A thread of the session may hold on a moment longer; what is back is let go of with the next call.
    runs = 7
    while any(ref() is not None for ref in alive[:3]):
        pipe.run()
        runs += 1
        assert runs < 10_000
    last = pipe.run()[0].as_array()
    del pipe
    gc.collect()
    assert (last == runs % 200).all()


def test_outputs_are_written_to_without_harm():
    pipe = pictures(fresh)
    for number in range(6):
        image, twice = pipe.run()
        array = image.as_array()
        array[:] = 77
        assert (twice.as_array() == 2 * number).all()


def test_what_is_fed_by_hand_is_the_callers_again():
    @pipeline_def(batch_size=3, num_threads=1, device_id=None, prefetch_queue_depth=2)
    def made():
        return fn.external_source(name="x")

    pipe = made()
    array = np.zeros((3, *SHAPE), np.uint8)
    for number in range(3):
        array[:] = number
        pipe.feed_input("x", array)
    array[:] = 99
    assert [int(pipe.run()[0].as_array().max()), int(pipe.run()[0].as_array().max())] == [0, 1]


def test_samples_of_other_extents_are_stacked_only_when_equal():
    sizes = iter([4, 4, 4, 4, 5, 4])

    def source():
        return [np.full((next(sizes), 7), k, np.uint8) for k in range(3)]

    pipe = pictures(source, depth=1)
    assert pipe.run()[0].as_array().tolist() == [[[k] * 7] * 4 for k in range(3)]
    ragged = pipe.run()[0]
    assert not ragged.is_dense_tensor() and ragged.shape() == [(4, 7), (5, 7), (4, 7)]
    assert [int(ragged.at(k).max()) for k in range(3)] == [0, 1, 2]


@pytest.mark.skipif(not hasattr(os, "memfd_create"), reason="worker processes need memfd_create")
class TestWorkers:
    def test_batches_that_are_held_keep_their_memory(self):
        def source(info):
            return np.full(SHAPE, info.idx_in_epoch % 251, np.uint8)

        @pipeline_def(batch_size=4, num_threads=1, device_id=None, py_num_workers=2)
        def made():
            return fn.external_source(source, batch=False, parallel=True)

        pipe = made()
        held = [pipe.run()[0] for _ in range(12)]
        for number, one in enumerate(held):
            assert one.as_array().max(axis=(1, 2, 3)).tolist() == [
                (4 * number + k) % 251 for k in range(4)
            ]
            assert one.as_array().min(axis=(1, 2, 3)).tolist() == [
                (4 * number + k) % 251 for k in range(4)
            ]

    def test_memory_goes_round(self):
        def source(number):
            return [np.full(SHAPE, number % 251, np.uint8) for _ in range(4)]

        @pipeline_def(batch_size=4, num_threads=1, device_id=None, py_num_workers=1)
        def made():
            return fn.external_source(source, batch=True, parallel=True, prefetch_queue_depth=2)

        pipe = made()
        for number in range(40):
            assert int(pipe.run()[0].as_array().max()) == number % 251
        (worker,) = pipe._pool.workers
        assert worker.num_slots <= 8

    def test_a_loader_of_galatea(self):
        def source(info):
            return np.full((5, 3), info.idx_in_epoch, np.int32)

        @galatea.pipeline_def(batch_size=4, num_threads=1, py_num_workers=2)
        def made():
            from galatea import fn

            return fn.external_source(source, batch=False, parallel=True)

        with galatea.Loader(made()) as loader:
            for number in range(5):
                batch = loader.next_batch()
                assert [array.max() for array in batch[0].numpy()] == [
                    4 * number + k for k in range(4)
                ]


def test_a_loader_knows_its_outputs_from_the_first_batch_on():
    @galatea.pipeline_def(batch_size=2, num_threads=1)
    def made():
        from galatea import fn

        picture = fn.external_source(lambda number: np.full((2, 3), number, np.float32))
        return picture

    with galatea.Loader(made()) as loader:
        with pytest.raises(RuntimeError, match="before the first batch"):
            loader.output_names
        batch = loader.next_batch()
        assert batch.names == loader.output_names == ("picture",)
        assert batch["picture"][1].numpy().tolist() == [0.0, 0.0, 0.0]
