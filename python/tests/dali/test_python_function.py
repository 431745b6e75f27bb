"""Functions of Python inside a pipeline: what the recorded cases cannot say.

The oracle of most tests is the same pipeline without the function: where the function gives what it
got, everything else must be the same, bit for bit.
"""

import os
import threading
import traceback

import numpy as np
import pytest

from galatea.dali import fn, pipeline_def, types

OPTIONS = {"batch_size": 3, "num_threads": 2, "device_id": None, "seed": 11}


@pytest.fixture
def folder(tmp_path):
    """Seven files in two classes; file i holds i + 1 bytes of value i."""
    for i in range(7):
        (tmp_path / "ab"[i % 2]).mkdir(exist_ok=True)
        (tmp_path / "ab"[i % 2] / f"{i}.jpg").write_bytes(bytes([i]) * (i + 1))
    return str(tmp_path)


def same(x):
    """The border that must not be noticed."""
    return fn.python_function(x, function=lambda array: array)


def plain(x):
    return x


def arrays(outputs):
    return [[np.array(one) for one in tensors] for tensors in outputs]


def runs(definition, count, **options):
    pipe = pipeline_def(**{**OPTIONS, **options})(definition)()
    return pipe, [arrays(pipe.run()) for _ in range(count)]


def assert_equal(ours, theirs):
    assert len(ours) == len(theirs)
    for mine, other in zip(ours, theirs):
        assert len(mine) == len(other)
        for a, b in zip(mine, other):
            assert len(a) == len(b)
            for x, y in zip(a, b):
                assert x.dtype == y.dtype and x.shape == y.shape
                assert np.array_equal(x, y)


def numbers(info):
    return np.full((2, 3), info.idx_in_epoch, np.float32)


# Draws, readers and epochs.


def draws_around(border, folder):
    """Draws of one name before, between and behind borders, some of what functions gave."""

    def define():
        data, label = fn.readers.file(file_root=folder, random_shuffle=True, name="R")
        before = fn.random.uniform(range=[0.0, 1.0])
        size = border(data.shape())
        between = fn.random.uniform(size, range=[0.0, 1.0])
        scaled = border(between * before)
        behind = fn.random.uniform(scaled, range=[5.0, 6.0])
        alone = fn.random.uniform(range=[7.0, 8.0])
        noise = fn.random.normal(scaled)
        return data, label, before, between, scaled, behind, alone, noise

    return define


@pytest.mark.parametrize("batch_size", [3, 10])
def test_draws_and_epochs_are_those_without_the_function(folder, batch_size):
    _, ours = runs(draws_around(same, folder), 8, batch_size=batch_size)
    _, theirs = runs(draws_around(plain, folder), 8, batch_size=batch_size)
    assert_equal(ours, theirs)
    values = [float(x) for batch in ours for x in batch[2]]
    assert len(set(values)) == len(values)  # the draws differ from sample to sample


def test_programs_share_the_seed_that_is_drawn_where_none_is_given():
    def define():
        first = fn.random.uniform(range=[0.0, 1.0])
        return first, fn.random.uniform(same(first), range=[0.0, 1.0])

    pipe, drawn = runs(define, 2, seed=None)
    seed = pipe._program.seed
    _, again = runs(define, 2, seed=seed if seed < 2**63 else seed - 2**64)
    _, other = runs(define, 2, seed=5)
    if seed < 2**63:  # a negative seed means none
        assert_equal(drawn, again)
    assert not np.array_equal(drawn[0][1][0], other[0][1][0])


def test_library_functions_and_large_constants_behind_a_function():
    def picture(info):
        return ((np.arange(8 * 9 * 3) * 7 + info.idx_in_epoch) % 251).reshape(8, 9, 3).astype("u1")

    def define(border):
        from galatea.dali.auto_aug.rand_augment import rand_augment

        x = fn.external_source(source=picture, batch=False, layout="HWC")
        first = rand_augment(x, n=1, m=9)
        x = fn.reshape(border(first), layout="HWC")
        table = types.Constant(np.arange(72, dtype=np.float32).reshape(8, 9), device="cpu")
        return rand_augment(x, n=2, m=9), table[x[0, 0, 0] % 8]

    _, ours = runs(lambda: define(same), 2, enable_conditionals=True)
    _, theirs = runs(lambda: define(plain), 2, enable_conditionals=True)
    assert_equal(ours, theirs)


def test_readers_say_what_they_hold(folder):
    pipe, _ = runs(draws_around(same, folder), 1)
    assert pipe.epoch_size("R") == 7
    assert pipe.reader_meta("R")["epoch_size"] == 7


@pytest.mark.parametrize("policy", ["PARTIAL", "FILL"])
def test_iterators_end_epochs_where_readers_do(folder, policy):
    pytest.importorskip("torch", reason="the iterator gives torch tensors")
    from galatea.dali.plugin.pytorch import DALIGenericIterator, LastBatchPolicy

    def labels(border):
        pipe = pipeline_def(**OPTIONS)(lambda: draws_around(border, folder)()[1:3])()
        steps = DALIGenericIterator(
            pipe,
            ["label", "before"],
            reader_name="R",
            last_batch_policy=getattr(LastBatchPolicy, policy),
            auto_reset=True,
        )
        return [
            [(one["label"].tolist(), one["before"].tolist()) for (one,) in steps] for _ in range(2)
        ]

    assert labels(same) == labels(plain)


@pytest.mark.parametrize("taken", [2, 3])
def test_a_checkpoint_goes_on_bit_for_bit(folder, taken):
    options = {"enable_checkpointing": True}
    pipe, _ = runs(draws_around(same, folder), taken, **options)
    saved = pipe.checkpoint()
    wanted = [arrays(pipe.run()) for _ in range(4)]
    restored = pipeline_def(**OPTIONS, **options)(draws_around(same, folder))(checkpoint=saved)
    assert restored.checkpoint() == saved  # before a batch is taken, it stands where the other did
    assert_equal([arrays(restored.run()) for _ in range(4)], wanted)


def test_iterators_go_on_from_checkpoints(folder):
    pytest.importorskip("torch", reason="the iterator gives torch tensors")
    from galatea.dali.plugin.pytorch import DALIGenericIterator

    def steps(checkpoint=None):
        pipe = pipeline_def(**OPTIONS, enable_checkpointing=True)(
            lambda: draws_around(same, folder)()[1:3]
        )(checkpoint=checkpoint)
        return DALIGenericIterator(pipe, ["label", "before"], reader_name="R", auto_reset=True)

    def values(one):
        return [one[0][name].tolist() for name in ("label", "before")]

    first = steps()
    next(first)
    state = first.checkpoints()[0]
    wanted = [values(one) for one in first]
    assert [values(one) for one in steps(state)] == wanted and len(wanted) == 2


def test_sources_that_end_and_begin_again():
    def define():
        x = fn.external_source(source=lambda i: batch(i), batch=True)
        return same(x) + 1

    def batch(i):
        if i == 3:
            raise StopIteration
        return [np.full(2, i, np.int32)] * (1 + i % 2)

    pipe = pipeline_def(**OPTIONS)(define)()
    for _ in range(2):
        got = []
        with pytest.raises(StopIteration):
            while True:
                got.append([int(x[0]) for x in arrays(pipe.run())[0]])
        assert got == [[1], [2, 2], [3]]
        pipe.reset()


def test_inputs_that_are_fed():
    def define():
        return same(fn.external_source(name="x")) * 2

    pipe = pipeline_def(**OPTIONS, prefetch_queue_depth=1)(define)()
    for i in range(3):
        pipe.feed_input("x", [np.array([i], np.int32)] * 2)
        assert [int(x[0]) for x in arrays(pipe.run())[0]] == [2 * i, 2 * i]


# What functions see and give.


def test_what_was_scheduled_is_called_once_a_sample():
    calls = []

    def note(x):
        calls.append((int(x[0, 0]), threading.get_ident()))
        return x

    def define():
        x = fn.external_source(source=numbers, batch=False)
        return fn.python_function(x, function=note)

    pipe, _ = runs(define, 2)
    assert [number for number, _ in calls] == list(range(9))  # two batches ahead of one taken
    assert {thread for _, thread in calls} == {threading.get_ident()}


def test_memory_that_a_function_uses_again():
    scratch = np.zeros(1, np.int64)

    def fill(x):
        scratch[0] = int(x[0, 0])
        return scratch

    def define():
        return fn.python_function(fn.external_source(source=numbers, batch=False), function=fill)

    _, got = runs(define, 2)
    assert [[int(x[0]) for x in batch[0]] for batch in got] == [[0, 1, 2], [3, 4, 5]]


def test_types_that_change_between_batches_reach_later_operators():
    calls = iter(range(100))

    def change(x):
        return x.astype(np.float32 if next(calls) // 3 % 2 else np.uint8)

    def define():
        x = fn.external_source(source=numbers, batch=False)
        return fn.python_function(x, function=change) + 1

    _, got = runs(define, 4)
    for i, batch in enumerate(got):
        assert [int(x[0, 0]) for x in batch[0]] == [3 * i + 1, 3 * i + 2, 3 * i + 3]
        assert {x.dtype.name for x in batch[0]} == {"float32" if i % 2 else "int32"}


def test_torch_tensors():
    torch = pytest.importorskip("torch", reason="the function takes torch tensors")
    from galatea.dali.plugin.pytorch import TorchPythonFunction
    from galatea.dali.plugin.pytorch import fn as torch_fn

    def define():
        x = fn.external_source(source=numbers, batch=False)
        a, b = torch_fn.torch_python_function(
            x, function=lambda t: (torch.sin(t), t.sum()), num_outputs=2
        )
        double = TorchPythonFunction(lambda ts: [t * 2 for t in ts], batch_processing=True)
        return a, b, double(x)

    _, ((a, b, c),) = runs(define, 1)
    for i in range(3):
        x = torch.full((2, 3), float(i))
        assert np.array_equal(a[i], torch.sin(x).numpy())
        assert float(b[i]) == 6.0 * i
        assert np.array_equal(c[i], 2 * x.numpy())


def test_functions_of_functions():
    order = []

    def step(name, add):
        def function(x):
            order.append(name)
            return x + add

        return lambda x: fn.python_function(x, function=function)

    def define():
        x = fn.external_source(source=numbers, batch=False)
        a = step("a", 1)(x)
        b = step("b", 10)(a + x)
        c = step("c", 100)(fn.cast(b, dtype=types.INT32) - a)
        return x, a, b, c, fn.cat(a, b)

    _, ((x, a, b, c, both),) = runs(define, 1, prefetch_queue_depth=1)
    for i in range(3):
        assert (x[i][0, 0], a[i][0, 0], b[i][0, 0]) == (i, i + 1, 2 * i + 11)
        assert c[i][0, 0] == i + 110 and c[i].dtype == np.float32
        assert both[i].shape == (4, 3)
    assert order == ["a"] * 3 + ["b"] * 3 + ["c"] * 3


# In arms.


def conditional(definition, count=2, **options):
    return runs(definition, count, enable_conditionals=True, **options)


def arms(border, seen):
    def note(x):
        seen.append(int(x.ravel()[0]))
        return x

    def call(x):
        return fn.python_function(x, function=note) if border is same else x

    def define():
        x = fn.external_source(source=numbers, batch=False)
        noise = fn.random.uniform(range=[0.0, 1.0])
        first = fn.reductions.max(x)
        if first % 3 == 0:
            inside = fn.random.uniform(range=[0.0, 1.0])
            y = call(x + inside)
            if first % 2 == 0:
                z = call(y * 2)
            else:
                z = y - fn.random.uniform(y, range=[0.0, 1.0])
        elif first % 3 == 1:
            y = x + 0.5
            z = fn.random.normal(y)
        else:
            y, z = x, x
        behind = fn.random.uniform(y, range=[0.0, 1.0])
        return x, y, z, noise, behind

    return define


def test_an_arm_calls_with_its_own_samples_only():
    seen, none = [], []
    _, ours = conditional(arms(same, seen), 4, prefetch_queue_depth=1)
    _, theirs = conditional(arms(plain, none), 4, prefetch_queue_depth=1)
    assert_equal(ours, theirs)
    assert none == []
    # Samples 0, 3, 6, 9 take the first arm; twice of them the even ones (of x + a draw below 1).
    assert [number for number in seen if number in (3, 9)] == [3, 9]
    assert len(seen) == 4 + 2


def test_lazy_operators_call_where_they_are_asked():
    seen = []

    def positive(x):
        seen.append(int(x))
        return np.array(x > 1)

    def define():
        x = fn.reductions.max(fn.external_source(source=numbers, batch=False))
        odd = x % 2 == 1
        both = odd and fn.python_function(x, function=positive)
        either = odd or fn.python_function(x, function=positive)
        return both, either

    _, (first, second) = conditional(define, 2, prefetch_queue_depth=1)
    assert [bool(one) for one in first[0] + second[0]] == [False, False, False, True, False, True]
    assert [bool(one) for one in first[1] + second[1]] == [False, True, True, True, True, True]
    assert seen == [1, 0, 2, 3, 5, 4]


def test_constants_merge_with_what_functions_give():
    def define():
        x = fn.reductions.max(fn.external_source(source=numbers, batch=False))
        if x == 1:
            y = fn.python_function(x, function=lambda a: (a * 7).astype(np.int32))
            z = fn.python_function(x, function=lambda a: a.astype(np.int16))
        else:
            y = 3
            z = types.Constant(-4, dtype=types.INT16)
        return y, z

    _, ((y, z),) = conditional(define, 1)
    assert [int(one) for one in y] == [3, 7, 3]
    assert [int(one) for one in z] == [-4, 1, -4] and z[0].dtype == np.int16


def test_arms_of_different_types_are_an_error_that_names_the_line():
    def define():
        x = fn.reductions.max(fn.external_source(source=numbers, batch=False))
        if x == 1:
            y = fn.python_function(x, function=lambda a: a.astype(np.int16))
        else:
            y = x
        return y

    with pytest.raises(RuntimeError, match="`int16` and `float32`") as caught:
        conditional(define, 1)
    assert os.path.basename(__file__) in str(caught.value)


def test_a_condition_that_is_no_scalar():
    def define():
        x = fn.external_source(source=numbers, batch=False)
        if x > 1:
            x = fn.python_function(x, function=lambda a: a)
        return x

    with pytest.raises(RuntimeError, match="a condition is a scalar"):
        conditional(define, 1)


# What goes wrong.


def line_of(text):
    """The line of this file that holds a text."""
    with open(__file__, encoding="utf-8") as file:
        return next(i for i, line in enumerate(file, 1) if text in line and "line_of" not in line)


def test_what_a_function_raises_names_its_line_and_goes_on():
    def fail(x):
        if x[0, 0] == 4:
            raise KeyError("inside")  # the line that fails
        return x

    def define():
        x = fn.external_source(source=numbers, batch=False)
        return fn.python_function(x, function=fail) + 1

    pipe = pipeline_def(**OPTIONS)(define)()
    assert [int(x[0, 0]) for x in arrays(pipe.run())[0]] == [1, 2, 3]
    with pytest.raises(RuntimeError, match="KeyError: 'inside'") as caught:
        pipe.run()
    assert f"{__file__}:{line_of('# the line that fails')}" in str(caught.value)
    assert "fn.python_function" in str(caught.value)
    cause = caught.value.__cause__
    assert isinstance(cause, KeyError)
    assert traceback.extract_tb(cause.__traceback__)[-1].name == "fail"
    # The next batch is not that of the one that failed.
    assert [int(x[0, 0]) for x in arrays(pipe.run())[0]] == [7, 8, 9]


def test_stop_iteration_of_a_function_ends_no_epoch():
    def stop(x):
        raise StopIteration

    def define():
        return fn.python_function(fn.external_source(source=numbers, batch=False), function=stop)

    with pytest.raises(RuntimeError, match="StopIteration"):
        runs(define, 1)


def test_an_interrupt_in_a_function_gets_through():
    def interrupt(x):
        raise KeyboardInterrupt

    def define():
        x = fn.external_source(source=numbers, batch=False)
        return fn.python_function(x, function=interrupt)

    with pytest.raises(KeyboardInterrupt):
        runs(define, 1)


def test_an_error_behind_a_function_names_the_line():
    def define():
        x = fn.external_source(source=numbers, batch=False)
        y = fn.python_function(x, function=lambda a: a.astype(np.int32))
        return fn.hue(y, hue=3.0)  # no image

    with pytest.raises(RuntimeError) as caught:
        runs(define, 1)
    assert f"{__file__}:{line_of('# no image')}" in str(caught.value)


def test_more_outputs_than_wanted_are_refused():
    def define():
        x = fn.external_source(source=numbers, batch=False)
        return fn.python_function(x, function=lambda a: (a, a))

    with pytest.raises(RuntimeError, match="gave 2 outputs"):
        runs(define, 1)


def test_a_layout_that_does_not_fit():
    def define():
        x = fn.external_source(source=numbers, batch=False)
        return fn.python_function(x, function=lambda a: a, output_layouts="HWC")

    with pytest.raises(ValueError, match="'HWC' has 3 letters"):
        runs(define, 1)


def test_functions_cannot_be_serialized(tmp_path):
    def define():
        return same(fn.external_source(name="x"))

    with pytest.raises(RuntimeError, match="cannot be serialized"):
        pipeline_def(**OPTIONS)(define)().serialize()


def test_the_text_shows_each_program(folder):
    pipe, _ = runs(draws_around(same, folder), 0)
    texts = pipe.text.split("\n\n\n# Made from")
    assert len(texts) == 3
    assert "fn.readers.file" in texts[0] and "fn.readers.file" not in texts[1]


def test_sessions_end_with_the_pipeline(folder):
    import gc
    import weakref

    pipe, _ = runs(draws_around(same, folder), 2)
    threads = threading.active_count()
    gone = weakref.ref(pipe)
    del pipe
    gc.collect()
    assert gone() is None
    assert threading.active_count() <= threads
