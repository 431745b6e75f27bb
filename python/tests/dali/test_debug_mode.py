"""Debug mode gives what the same pipeline gives without it, bit for bit.

DALI's own debug mode needs a CUDA driver, also for pipelines on the CPU, so that nothing of it can
be recorded here; what it refuses was read in its Python files.
"""

import numpy as np
import pytest

from galatea.dali import fn, math, ops, pipeline_def, types
from galatea.dali.data_node import DataNode
from galatea.dali.tensors import TensorListCPU

OPTIONS = {"batch_size": 3, "num_threads": 2, "device_id": None, "seed": 5}


@pytest.fixture
def folder(tmp_path):
    """Seven files in two classes; file i holds i + 1 bytes of value i."""
    for i in range(7):
        (tmp_path / "ab"[i % 2]).mkdir(exist_ok=True)
        (tmp_path / "ab"[i % 2] / f"{i}.jpg").write_bytes(bytes([i]) * (i + 1))
    return str(tmp_path)


def plain(outputs):
    return [
        (tensors.layout(), [(str(np.array(x).dtype), np.array(x).tolist()) for x in tensors])
        for tensors in outputs
    ]


def debugged(definition, **options):
    return pipeline_def(**{**OPTIONS, **options}, debug=True)(definition)()


def assert_same(definition, batches=5, **options):
    settings = {**OPTIONS, **options}
    ours, theirs = debugged(definition, **options), pipeline_def(**settings)(definition)()
    for _ in range(batches):
        assert plain(ours.run()) == plain(theirs.run())


def images(info):
    start = info.idx_in_epoch
    return ((np.arange(60) * 7 + start) % 251).reshape(4, 5, 3).astype(np.uint8)


def source():
    return fn.external_source(source=images, batch=False, layout="HWC")


def small(info):
    return np.array([info.idx_in_epoch, 1, 2], np.float32)


@pytest.mark.parametrize("batch_size", [3, 10])
def test_readers_and_draws(folder, batch_size):
    def define():
        before = fn.random.uniform(range=[0.0, 1.0])
        data, label = fn.readers.file(file_root=folder, random_shuffle=True, name="R")
        between = fn.random.uniform(range=[0.0, 1.0])
        noise = fn.random.normal(between)
        flip = fn.random.coin_flip(probability=0.5)
        more = fn.random.uniform(before, range=[3.0, 4.0])
        return data, label, before, between, noise, flip, more

    assert_same(define, batch_size=batch_size)


def test_operators_arithmetic_and_indices():
    def define():
        x = source()
        resized = fn.resize(x, size=[3, 4])
        turned = fn.rotate(x, angle=fn.random.uniform(range=[-10.0, 10.0]), keep_size=True)
        a, b = fn.reductions.std_dev(x, fn.reductions.mean(x)), fn.reductions.max(x)
        z = (x[1:, :, 0] * 2 - 3) // 2 + (5 - a) / b
        compared = (x > 100) & (x < 200) | ~(x == 3)
        listed = fn.flip([x, resized], horizontal=1)
        number = types.Constant(np.float32(2.5)) * fn.cast(x, dtype=types.FLOAT)
        return (
            resized,
            turned,
            z,
            compared,
            *listed,
            number,
            -a,
            math.sqrt(fn.cast(b, dtype=types.FLOAT)),
            ops.Crop(crop=[2, 2])(x),
            fn.cat(x, x, axis=0),
        )

    assert_same(define, 2)


def test_conditionals():
    def define():
        x = fn.external_source(source=small, batch=False)
        first = x[0]
        noise = fn.random.uniform(range=[0.0, 1.0])
        if first % 3 == 0:
            y = x + fn.random.uniform(range=[0.0, 1.0])
            if first > 4:
                z = y * 2
            else:
                z = y - noise
        elif first == 1 or first == 7:
            y, z = x, x * 3
        else:
            y, z = fn.random.normal(x), x
        count = 3 if first > 5 else 4
        both = first > 2 and not first > 6
        for limit in (2.0, 7.0):
            if y[0] > limit:
                y = y - limit
        return x, y, z, noise, both, fn.random.uniform(y, range=[0.0, 1.0]), z * count

    assert_same(define, 4, enable_conditionals=True)


def test_functions_of_python():
    def define():
        x = fn.external_source(source=small, batch=False)
        y = fn.python_function(x, function=lambda a: a.astype(np.int32))
        if x[0] % 2 == 0:
            y = fn.python_function(y, function=lambda a: a * 10)
        return y, y + 1

    assert_same(define, 3, enable_conditionals=True)


def test_values_are_at_hand():
    seen = []

    def define():
        x = fn.external_source(source=small, batch=False, name="x")
        assert isinstance(x, DataNode) and isinstance(x.get(), TensorListCPU)
        seen.append([float(one[0]) for one in x.get().as_array()])
        assert x.shape() == [(3,)] * 3
        y = x + 1
        assert np.array_equal(y.get().as_array(), x.get().as_array() + 1)
        assert x.cpu() is x
        assert "[3. 1. 2.]" in repr(x) or len(seen) == 1
        factor = 100 if x.get().as_array().max() > 4 else 1  # Python's own `if`, on values
        return y, x.get().as_array()[0] * factor, factor

    pipe = debugged(define)
    _, plain_array, number = pipe.run()
    assert np.array_equal(plain_array.as_array(), [[0, 1, 2]] * 3)
    assert number.as_array().tolist() == [1, 1, 1]
    _, plain_array, number = pipe.run()
    assert np.array_equal(plain_array.as_array(), [[300, 100, 200]] * 3)
    assert number.as_array().tolist() == [100] * 3
    assert seen == [[0, 1, 2], [3, 4, 5]]


def test_what_numpy_made_goes_on():
    def define():
        x = fn.external_source(source=small, batch=False)
        mine = [np.sin(np.array(one)) for one in x.get()]
        taken = fn.python_function(x.get(), function=lambda array: array * 2)
        return fn.cast(mine, dtype=types.FLOAT64), fn.cat(x, x.get()), x + fn.copy(x), taken

    a, b, c, d = debugged(define).run()
    x = np.array([[0, 1, 2], [1, 1, 2], [2, 1, 2]], np.float32)
    assert np.array_equal(a.as_array(), np.sin(x).astype(np.float64))
    assert np.array_equal(b.as_array(), np.concatenate([x, x], 1))
    assert np.array_equal(c.as_array(), x + x) and np.array_equal(d.as_array(), x + x)


def test_sources_that_end():
    def define():
        x = fn.external_source(source=iter_batches, batch=True, cycle="raise")
        return x + 1

    def iter_batches():
        for i in range(2):
            yield [np.array([i], np.int32)] * (i + 1)

    ours, theirs = debugged(define), pipeline_def(**OPTIONS)(define)()
    for pipe in (ours, theirs):
        for _ in range(2):
            assert [len(pipe.run()[0]), len(pipe.run()[0])] == [1, 2]
            with pytest.raises(StopIteration):
                pipe.run()
            pipe.reset()


def test_inputs_that_are_fed():
    def define():
        x = fn.external_source(name="x", layout="AB")
        return x * 2, fn.external_source(source=small, batch=False)

    pipe = debugged(define)
    array = np.ones((3, 2, 2), np.int32)
    pipe.feed_input("x", array)
    array[:] = 9  # what was fed is not what the caller does later
    out, _ = pipe.run()
    assert out.as_array().tolist() == [[[2, 2], [2, 2]]] * 3 and out.layout() == "AB"
    with pytest.raises(RuntimeError, match="'x' has no batch"):
        pipe.run()


def test_inputs_that_are_fed_by_their_node():
    nodes = []

    def define():
        nodes.append(fn.external_source(name="x"))
        return nodes[-1] + 1

    pipe = debugged(define)
    pipe.feed_input("x", np.zeros((3, 1), np.int32))
    pipe.run()
    pipe.feed_input(nodes[0], np.ones((2, 1), np.int32))
    assert pipe.run()[0].as_array().tolist() == [[2], [2]]
    with pytest.raises(TypeError, match="external source or its name"):
        pipe.feed_input(3, np.ones((2, 1), np.int32))


def test_several_outputs_of_a_source():
    def define():
        a, b = fn.external_source(
            source=lambda info: (small(info), np.array(info.idx_in_batch)),
            num_outputs=2,
            batch=False,
        )
        return a, b

    assert_same(define, 2)


def test_iterators():
    pytest.importorskip("torch", reason="the iterator gives torch tensors")
    from galatea.dali.plugin.pytorch import DALIGenericIterator

    def define():
        x = fn.external_source(source=lambda i: batches[i] if i < 2 else stop(), batch=True)
        return x + 1

    def stop():
        raise StopIteration

    batches = [np.arange(3).reshape(3, 1), np.arange(3, 6).reshape(3, 1)]
    steps = DALIGenericIterator(debugged(define), ["x"], auto_reset=True)
    for _ in range(2):
        assert [one["x"].flatten().tolist() for (one,) in steps] == [[1, 2, 3], [4, 5, 6]]


def test_a_reader_says_what_it_holds(folder):
    def define():
        data, label = fn.readers.file(file_root=folder, name="R")
        return data, label

    pipe = debugged(define)
    pipe.run()
    pipe.run()
    assert pipe.epoch_size("R") == 7 and pipe.num_outputs == 2


# What is refused.


def changing(*bodies):
    """A pipeline whose function does something else in each batch."""
    turn = iter(bodies)

    def define():
        return next(turn)(fn.external_source(source=small, batch=False))

    pipe = debugged(define)
    pipe.run()
    return pipe


@pytest.mark.parametrize(
    "first, second, text",
    [
        (lambda x: x, lambda x: x + 1, "was not reached in the first batch"),
        (lambda x: fn.cast(x + 1, dtype=types.INT32), lambda x: fn.cat(x, x), "stands where"),
    ],
)
def test_another_order_of_operators(first, second, text):
    with pytest.raises(RuntimeError, match=text):
        changing(first, second).run()


def test_an_argument_that_changes():
    values = iter([1.0, 2.0])

    def body(x):
        return fn.cat(x, x) * next(values)

    with pytest.raises(RuntimeError, match="arguments of the operator at .* changed"):
        changing(body, body).run()


def test_an_input_that_changes_its_type():
    kinds = iter([np.float32, np.int32])
    pipe = debugged(lambda: fn.external_source(source=lambda: zeros(next(kinds))) + 1)
    pipe.run()
    with pytest.raises(RuntimeError, match="int32.*had float32"):
        pipe.run()


def zeros(kind):
    return np.zeros((3, 2), kind)


def test_batches_of_different_sizes():
    def define():
        a = fn.external_source(source=lambda: zeros(np.int32)[:2])
        return a, fn.external_source(source=lambda: zeros(np.int32))

    with pytest.raises(RuntimeError, match="gives 3 samples, and external_source 'input_0'.* 2"):
        debugged(define).run()


def test_values_as_inputs_with_conditionals():
    def define():
        x = fn.external_source(source=small, batch=False)
        return fn.cat(x, x.get())

    with pytest.raises(ValueError, match="data nodes only"):
        debugged(define, enable_conditionals=True).run()


def test_a_list_of_nodes_as_output():
    def define():
        x = fn.external_source(source=small, batch=False)
        return [x, x]

    with pytest.raises(TypeError, match="output 0 is a list"):
        debugged(define).run()


@pytest.mark.parametrize("what", ["with", "serialize", "checkpoint", "node"])
def test_what_needs_a_graph(what):
    pipe = debugged(lambda: fn.external_source(source=small, batch=False))
    with pytest.raises(TypeError if what == "node" else RuntimeError):
        if what == "with":
            with pipe:
                pass
        elif what == "node":
            pipe.feed_input(3, zeros(np.int32))
        else:
            getattr(pipe, what)()


def test_an_operator_that_fails_names_its_line():
    def define():
        x = fn.external_source(source=small, batch=False)
        return fn.hue(x, hue=3.0)  # no image

    with pytest.raises(RuntimeError, match=r"test_debug_mode.py:\d+") as caught:
        debugged(define).run()
    with open(__file__, encoding="utf-8") as file:
        line = next(i for i, text in enumerate(file, 1) if text.rstrip().endswith("# no image"))
    assert f"test_debug_mode.py:{line}" in str(caught.value)
