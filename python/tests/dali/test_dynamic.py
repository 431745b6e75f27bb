"""What holds of dynamic mode beside what DALI gives (cases/dynamic.py)."""

import subprocess
import sys
import threading

import numpy as np
import pytest

import galatea.dali.experimental.dynamic as ndd
from galatea.dali.experimental.dynamic import calls

MINUTES = 120


def test_few_pipelines_are_kept_and_results_outlive_them(monkeypatch):
    monkeypatch.setattr(calls, "_MOST", 2)
    image = ndd.tensor(np.arange(24, dtype=np.uint8).reshape(4, 3, 2), layout="HWC")
    made = [ndd.slice(image, start=[i], shape=[1], axes=[0]) for i in range(4)]
    assert len(calls._kept) <= 2
    for i, one in enumerate(made):
        assert np.array_equal(np.array(one), np.array(image)[i : i + 1])


def test_the_same_call_uses_its_pipeline_again():
    calls._kept.clear()
    for i in range(5):
        made = ndd.as_batch([np.full((2, 2), i, np.uint8)]) + 1
        assert np.array_equal(np.array(made.tensors[0]), np.full((2, 2), i + 1))
    assert len(calls._kept) == 1


def test_a_call_that_fails_names_its_line_and_the_next_one_works():
    divided = ndd.as_tensor(np.int32([4, 6]))
    with pytest.raises(RuntimeError, match="division by zero"):
        divided // ndd.as_tensor(np.int32([0, 1]))
    assert np.array(divided // ndd.as_tensor(np.int32([2, 3]))).tolist() == [2, 2]


def test_threads_call_the_same_operator():
    wrong = []

    def run(start):
        for i in range(start, start + 10):
            made = np.array(ndd.as_tensor(np.int32([i, 2 * i])) * 3)
            if made.tolist() != [3 * i, 6 * i]:
                wrong.append(made)

    threads = [threading.Thread(target=run, args=(100 * k,)) for k in range(4)]
    for one in threads:
        one.start()
    for one in threads:
        one.join(MINUTES)
    assert not wrong and not any(one.is_alive() for one in threads)


def test_draws_change_from_call_to_call_and_with_the_seed():
    first = [ndd.random.uniform(range=[0, 1], rng=ndd.random.RNG(seed=s)).item() for s in (1, 1, 2)]
    assert first[0] == first[1] != first[2]
    one = ndd.random.RNG(seed=1)
    assert len({ndd.random.uniform(range=[0, 1], rng=one).item() for _ in range(4)}) == 4


def test_values_tell_what_they_are_not():
    batch = ndd.as_batch([np.zeros((1, 2)), np.zeros((2, 2))])
    with pytest.raises(TypeError, match="no truth"):
        bool(batch == batch)
    with pytest.raises(ValueError, match="pad=True"):
        ndd.as_tensor(batch)
    with pytest.raises(TypeError, match="draws nothing"):
        ndd.flip(batch, rng=ndd.random.RNG(seed=1))
    with pytest.raises(NotImplementedError, match="experimental.dynamic.Stream"):
        ndd.Stream()
    with pytest.raises(TypeError, match="bfloat16 is only a name"):
        ndd.cast(batch, dtype=ndd.bfloat16)


def test_philox_gives_the_numbers_of_its_authors():
    """The known answers that come with Random123, of a key and a counter of zeros and of ones."""
    from galatea.dali.experimental.dynamic.random import _philox

    assert _philox(0, 0) == [0x6627E8D5, 0xE169C58D, 0xBC57AC4C, 0x9B00DBD8]
    ones = [0x408F276D, 0x41C83B0E, 0xA20BC7C6, 0x6D5451FD]
    assert _philox(2**64 - 1, 2**128 - 1) == ones


PROGRAM = """
import galatea.dali
galatea.dali.install()
import nvidia.dali.experimental.dynamic as ndd

x = ndd.tensor([1, 2, 3])
print([int(one) for one in x + 1], ndd.uint8)
"""


def test_a_program_ends_while_pipelines_are_kept():
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM], capture_output=True, text=True, timeout=MINUTES
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout == "[2, 3, 4] u8\n"
