"""Loader, Batch and Output: values, names, ragged outputs, epochs, last batches, shards, states."""

import json
import os
import pickle
import subprocess

import numpy as np
import pytest

import galatea
from loader_support import FED, PHOTOS, RAGGED, TIMEOUT
from galatea.__main__ import program


def all_batches(loader):
    return [[output.numpy().copy() for output in batch] for batch in loader]


def assert_same(left, right):
    assert len(left) == len(right) > 0
    for a, b in zip(left, right):
        for x, y in zip(a, b, strict=True):
            np.testing.assert_array_equal(x, y)


def test_values_are_those_of_the_command_line(data, tmp_path):
    file = tmp_path / "photos.dali-dsl"
    file.write_text(PHOTOS)
    saved = tmp_path / "saved"
    subprocess.run(
        [program(), "run", file, "--set", f"data={data}", "--save", saved, "--epochs", "2"],
        check=True,
        timeout=TIMEOUT,
        stdout=subprocess.DEVNULL,
    )
    sample = 0
    with galatea.Loader(file, data=data) as loader:
        for epoch in range(2):
            for batch in loader:
                assert batch.epoch == epoch
                for image, label in zip(*batch):
                    for number, output in enumerate((image, label)):
                        expected = np.load(saved / f"out{number}" / f"{sample:06}.npy")
                        np.testing.assert_array_equal(output.numpy(), expected)
                    sample += 1
    assert sample == len(list((saved / "out0").iterdir())) == 36


def test_outputs_by_position_name_and_unpacking(data):
    with galatea.Loader(PHOTOS, data=data) as loader:
        batch = next(iter(loader))
        images, labels = batch
        assert len(batch) == 2 and batch.names == ("image", "label") == loader.output_names
        for other in (batch[0], batch["image"], batch[-2]):
            assert other.address == images.address
        assert images.shape == (4, 32, 48, 3) and images.dtype == np.uint8
        assert images.layout == "NHWC" and images.device == "cpu" and len(images) == 4
        assert images.name == "image" and images.is_dense
        assert images[1].shape == (32, 48, 3) and images[1].layout == "HWC"
        assert labels.dtype == np.int32 and labels.shape == (4, 1)
        assert len(batch.ids) == 4 and all(
            os.path.isfile(os.path.join(data, name)) for name in batch.sample_names
        )
        with pytest.raises(KeyError, match="no output 'mask'; there are image, label"):
            batch["mask"]
        with pytest.raises(IndexError):
            batch[2]
        with pytest.raises(IndexError):
            images[4]


def test_nothing_is_copied(data):
    with galatea.Loader(PHOTOS, data=data) as loader:
        images = next(iter(loader))[0]
        for array in (images.numpy(), np.asarray(images), np.from_dlpack(images)):
            assert array.__array_interface__["data"] == (images.address, False)
        sample = images[2]
        assert sample.numpy().__array_interface__["data"][0] == sample.address
        assert sample.address == images.address + 2 * 32 * 48 * 3
        images.numpy()[0, 0, 0, 0] = 99
        assert images[0].numpy()[0, 0, 0] == 99
        assert np.asarray(images, dtype=np.float32).dtype == np.float32
        with pytest.raises(BufferError, match="not copied"):
            images.__dlpack__(copy=True)
        with pytest.raises(BufferError, match="lies on cpu"):
            images.__dlpack__(dl_device=(2, 0))


def test_capsules_of_both_forms_may_be_dropped(data):
    with galatea.Loader(PHOTOS, data=data, max_held_batches=2) as loader:
        for batch in loader:
            old, new = batch[0].__dlpack__(), batch[0].__dlpack__(max_version=(1, 0))
            assert '"dltensor"' in repr(old) and '"dltensor_versioned"' in repr(new)


def test_every_element_type():
    names = "UINT8 UINT16 UINT32 UINT64 INT8 INT16 INT32 INT64 FLOAT16 FLOAT FLOAT64 BOOL".split()
    text = "from galatea import pipeline_def, fn, types\n"
    text += "@pipeline_def(batch_size=2)\ndef p():\n"
    text += "    x = fn.external_source(name='x', dtype=types.INT32, ndim=1)\n    return "
    text += ", ".join(f"fn.cast(x, dtype=types.{name})" for name in names) + "\n"
    numpy_names = [name.lower().replace("float", "float32") for name in names]
    numpy_names = [name.replace("float3216", "float16") for name in numpy_names]
    numpy_names = [name.replace("float3264", "float64") for name in numpy_names]
    values = np.array([[0, 1, 7], [1, 5, 0]], np.int32)
    with galatea.Loader(text) as loader:
        loader.feed("x", values)
        for output, name in zip(loader.next_batch(), numpy_names, strict=True):
            assert output.dtype == name
            np.testing.assert_array_equal(output.numpy(), values.astype(name))


def test_ragged_outputs(data):
    with galatea.Loader(RAGGED, data=data) as loader:
        images = next(batch[0] for batch in loader if not batch[0].is_dense)
        assert images.shape[0] == 4 and None in images.shape and images.layout == "NHWC"
        arrays = images.numpy()
        assert [array.shape for array in arrays] == images.shapes
        padded = images.padded(fill=7)
        assert padded.shape == (4, *np.max(images.shapes, axis=0))
        for array, shape, row in zip(arrays, images.shapes, padded):
            np.testing.assert_array_equal(row[: shape[0], : shape[1]], array)
            assert (row[shape[0] :] == 7).all() and (row[:, shape[1] :] == 7).all()
        with pytest.raises(ValueError, match="'image' is ragged, shape .4, None, None, 3."):
            np.asarray(images)
        with pytest.raises(BufferError, match="ragged"):
            images.__dlpack__()
        with pytest.raises(ValueError, match="ragged"):
            images.address


def test_epochs_follow_each_other(data):
    with galatea.Loader(PHOTOS, data=data, epochs=3) as loader:
        assert len(loader) == 5 and loader.epoch_size == 18
        first, second = all_batches(loader), all_batches(loader)
        assert [len(batch[0]) for batch in first] == [4, 4, 4, 4, 2]
        assert any((a[0] != b[0]).any() for a, b in zip(first, second))
        assert [(b.epoch, b.index) for b in loader.run(2)][::5] == [(2, 0), (3, 0)]
    with galatea.Loader(PHOTOS, data=data) as loader:
        with pytest.raises(ValueError, match="how many epochs"):
            next(loader.run())


def test_a_for_that_was_left_early_is_over(data):
    with galatea.Loader(PHOTOS, data=data) as loader:
        left = iter(loader)
        next(left), next(left)
        following = iter(loader)
        assert next(following).epoch == 1
        with pytest.raises(RuntimeError, match="another `for`"):
            next(left)
        assert [batch.index for batch in following] == [1, 2, 3, 4]
        assert list(following) == []


@pytest.mark.parametrize("last_batch, sizes", [("partial", 2), ("drop", None), ("pad", 4)])
def test_last_batches(data, last_batch, sizes):
    with galatea.Loader(PHOTOS, data=data, last_batch=last_batch) as loader:
        batches = list(loader)
        assert len(batches) == len(loader) == (4 if sizes is None else 5)
        last = batches[-1]
        assert len(last[0]) == last.num_samples == (sizes or 4)
        if last_batch == "pad":
            assert last.num_filled == 2 and last[0].shape == (4, 32, 48, 3)
            for array in (last[0].numpy(), np.from_dlpack(last[0])):
                np.testing.assert_array_equal(array[2], array[1])
                np.testing.assert_array_equal(array[3], array[1])
            assert last[0][3].address == last[0][1].address
    with pytest.raises(ValueError, match="last_batch is 'all'"):
        galatea.Loader(PHOTOS, data=data, last_batch="all")


def test_shards_share_the_samples(data):
    ids = []
    for number in range(3):
        with galatea.Loader(PHOTOS, data=data, shard=(number, 3)) as loader:
            ids.append([k for batch in loader for k in batch.ids])
    assert sorted(sum(ids, [])) == list(range(18)) and {len(part) for part in ids} == {6}
    with pytest.raises(galatea.UserError, match="num_shards|shard_id"):
        galatea.Loader(RAGGED, data=data, shard=(1, 3))
    galatea.Loader(RAGGED, data=data, shard=(0, 1)).close()
    for wrong in ((3, 3), (-1, 2), "all", 7):
        with pytest.raises(ValueError, match="shard is"):
            galatea.Loader(PHOTOS, data=data, shard=wrong)


@pytest.mark.parametrize("taken", [0, 1, 3, 5, 6])
def test_states_are_exact(data, taken):
    """`taken` calls of next_batch() before the state; the sixth gives the end of the epoch."""
    with galatea.Loader(PHOTOS, data=data, seed=3) as loader:
        for _ in range(taken):
            loader.next_batch()
        state = json.loads(json.dumps(loader.state_dict()))
        rest = [[o.numpy().copy() for o in loader.next_batch() or ()] for _ in range(8)]
    # Another seed: that of the state is taken.
    with galatea.Loader(PHOTOS, data=data, num_threads=1) as other:
        other.next_batch()
        other.load_state_dict(state)
        assert other.seed == 3
        again = [[o.numpy().copy() for o in other.next_batch() or ()] for _ in range(8)]
    assert_same(rest, again)


def test_a_for_goes_on_from_a_state(data):
    with galatea.Loader(PHOTOS, data=data) as loader:
        for batch in loader:
            if batch.index == 1:
                state = loader.state_dict()
        second = all_batches(loader)
    with galatea.Loader(PHOTOS, data=data) as loader:
        loader.load_state_dict(state)
        assert [batch.index for batch in loader] == [2, 3, 4]
        assert_same(second, all_batches(loader))


def test_a_state_that_does_not_fit_leaves_the_loader_as_it_is(data):
    with galatea.Loader(PHOTOS, data=data) as loader, galatea.Loader(PHOTOS, data=data) as other:
        left, right = iter(loader), iter(other)
        assert_same([[o.numpy() for o in next(left)]], [[o.numpy() for o in next(right)]])
        wrong = loader.state_dict()
        wrong["session"] = {**wrong["session"], "seed": "00000000000000ff"}
        with pytest.raises(galatea.StateError):
            loader.load_state_dict(wrong)
        assert loader.seed == other.seed
        assert_same(
            [[o.numpy() for o in batch] for batch in left],
            [[o.numpy() for o in batch] for batch in right],
        )


def test_states_that_do_not_fit(data):
    with galatea.Loader(PHOTOS, data=data, seed=5) as loader:
        state = loader.state_dict()
    with galatea.Loader(RAGGED, data=data) as loader:
        with pytest.raises(galatea.StateError):
            loader.load_state_dict(state)
        for wrong in ({}, None, {"galatea_loader": 2}):
            with pytest.raises(ValueError, match="state_dict"):
                loader.load_state_dict(wrong)
    with galatea.Loader(PHOTOS, data=data, seed=6) as loader:
        with pytest.raises(galatea.StateError, match="seed"):
            loader.load_state_dict(state)
        damaged = {**state, "session": {**state["session"], "batch": 3, "seed": "0" * 15 + "6"}}
        with pytest.raises(galatea.StateError, match="changed"):
            loader.load_state_dict(damaged)


def test_loaders_are_pickled_with_their_place(data):
    with galatea.Loader(PHOTOS, data=data) as loader:
        fresh = pickle.loads(pickle.dumps(loader))
        first = all_batches(loader)
        assert_same(first, all_batches(fresh))
        fresh.close()
        loader.next_batch()
        copy = pickle.loads(pickle.dumps(loader))
        expected = [output.numpy().copy() for output in loader.next_batch()]
        with copy:
            assert_same([expected], [[output.numpy() for output in copy.next_batch()]])


def test_inputs_whose_types_only_the_data_tells():
    text = """from galatea import fn, pipeline_def
@pipeline_def(batch_size=2, num_threads=1)
def late():
    x = fn.external_source(name="x")
    rest = x[fn.external_source(name="begin") :]
    return rest, x
"""
    x = np.arange(12, dtype=np.int16).reshape(2, 6)
    with galatea.Loader(text) as loader:
        assert [port["name"] for port in loader.ports["inputs"]] == ["x", "begin"]
        assert loader.ports["outputs"] is None
        with pytest.raises(RuntimeError, match="before the first batch"):
            loader.output_names
        loader.feed("x", x)
        loader.feed("begin", np.array([4, 1]))
        batch = loader.next_batch()
        assert batch.names == loader.output_names == ("rest", "x")
        assert [list(sample.numpy()) for sample in batch["rest"]] == [[4, 5], [7, 8, 9, 10, 11]]
        np.testing.assert_array_equal(batch["x"].numpy(), x)


def test_feeding():
    with galatea.Loader(FED) as loader:
        assert loader.epoch_size == -1
        with pytest.raises(TypeError, match="feed"):
            len(loader)
        with pytest.raises(galatea.NothingFedError):
            loader.next_batch()
        loader.feed("x", [np.arange(3, dtype=np.int32), np.arange(2, dtype=np.int32)], ids=[7, 9])
        batch = loader.next_batch()
        assert batch.ids == [7, 9] and batch[0][1].numpy().tolist() == [1, 2]
        loader.feed("x", np.arange(20, dtype=np.int32).reshape(4, 5)[:, ::2])
        batch = loader.next_batch()
        assert batch[0][1].numpy().tolist() == [6, 8, 10] and batch[0].padded().shape == (4, 3)
        loader.end_of_feed()
        assert loader.next_batch() is None
        with pytest.raises(galatea.UserError, match="'y'|`y`"):
            loader.feed("y", np.zeros((4, 1), np.int32))
        with pytest.raises(TypeError, match="str is no array"):
            loader.feed("x", ["text"])
        with pytest.raises(TypeError, match="complex128|elements"):
            loader.feed("x", np.zeros((4, 1), complex))
        with pytest.raises(ValueError, match="1 ids"):
            loader.feed("x", np.zeros((4, 1), np.int32), ids=[1])


@pytest.mark.parametrize("per_batch", [False, True])
@pytest.mark.parametrize("synchronous", [False, True])
def test_pulling(per_batch, synchronous):
    calls = []

    def make(epoch, batch, first, count):
        calls.append((epoch, batch, first, count))
        if first >= 10:
            raise StopIteration
        count = min(count, 10 - first)
        return [np.array([100 * epoch + first + k], np.int32) for k in range(count)]

    with galatea.Loader(FED, synchronous=synchronous) as loader:
        loader.pull("x", make, per_batch=per_batch)
        for epoch in range(2):
            values = [output.padded()[:, 0].tolist() for (output,) in loader]
            assert sum(values, []) == [100 * epoch + k + 1 for k in range(10)]
            assert [len(part) for part in values] == [4, 4, 2]
    assert calls[0] == (0, 0, 0, 4 if per_batch else 1)


def test_what_is_pulled_and_handed_on_is_one_array_from_the_second_batch_on():
    handed_on = """from nvidia.dali import pipeline_def, fn, types

@pipeline_def(batch_size=4, num_threads=1)
def handed_on():
    return fn.external_source(name="x", dtype=types.INT32, ndim=1)
"""

    def make(epoch, batch, first, count):
        return [np.full(16, first + k, np.int32) for k in range(count)]

    with galatea.Loader(handed_on) as loader:
        loader.pull("x", make, per_batch=True)
        assert loader.next_batch()[0].in_a_row() is None
        for batch in range(1, 4):
            row = loader.next_batch()[0].in_a_row()
            assert row.shape == (4, 16)
            assert row[:, 0].tolist() == [4 * batch + k for k in range(4)]


def test_a_callable_that_fails_is_named():
    def make(epoch, batch, first, count):
        if first == 5:
            return {}["no such key"]
        return [np.array([first], np.int32)]

    with galatea.Loader(FED) as loader:
        loader.pull("x", make)
        assert loader.next_batch() is not None
        with pytest.raises(galatea.UserError) as caught:
            loader.next_batch()
        line = make.__code__.co_firstlineno
        assert f"make' ({__file__}:{line}) failed: KeyError: 'no such key'" in str(caught.value)
        assert f"at {__file__}:{line + 2}" in str(caught.value)
        assert isinstance(caught.value.__cause__, KeyError)
        assert loader.next_batch()[0].padded()[:, 0].tolist() == [9, 10, 11, 12]
    with galatea.Loader(FED, on_error="skip") as loader:
        loader.pull("x", make)
        assert [len(loader.next_batch()[0]) for _ in range(3)] == [4, 3, 4]


@pytest.mark.parametrize(
    "result, message",
    [
        (lambda: None, "NoneType"),
        (lambda: [], "0 samples"),
        (lambda: [np.zeros(1, np.int32)] * 5, "5 samples were given"),
        (lambda: np.int32(3), "list of arrays"),
        (lambda: [np.zeros((2, 2), np.int32)] * 4, "dimension"),
        (lambda: [np.zeros(1, np.float32)] * 4, "FLOAT|f32|INT32"),
        (lambda: [object()] * 4, "object is no array"),
    ],
)
def test_a_callable_that_gives_something_else(result, message):
    with galatea.Loader(FED) as loader:
        loader.pull("x", lambda *_: result(), per_batch=True)
        with pytest.raises(galatea.UserError, match=message):
            loader.next_batch()


def test_statistics_and_text(data):
    with galatea.Loader(PHOTOS, data=data) as loader:
        assert len(list(loader)) == 5
        statistics = loader.statistics()
        assert statistics["samples"] == 18 and statistics["batches"] == 5
        assert "photos" in repr(loader) and loader.ports["outputs"][1]["name"] == "label"


def test_parameters_are_typed_by_the_pipeline(tmp_path):
    text = """
from galatea import pipeline_def, fn, types

@pipeline_def(batch_size=1)
def p(a: int, b: float, c: str, d: bool, e: list[int], f=None):
    assert a == 3 and b == 0.5 and c == "3" and d == True and e == [1, 2] and f is None
    return fn.external_source(name="x", dtype=types.INT32, ndim=0)
"""
    for e in ([1, 2], (1, 2), np.array([1, 2])):
        galatea.Loader(text, a=np.int64(3), b=0.5, c="3", d=True, e=e, f=None).close()
    galatea.Loader(text, parameters={"a": 3, "b": 0.5, "c": "3"}, d=True, e=[1, 2]).close()
    with pytest.raises(TypeError, match="parameter 'a' is dict"):
        galatea.Loader(text, a={})
    with pytest.raises(galatea.UserError):
        galatea.Loader(text, a=4, b=0.5, c="3", d=True, e=[1, 2])
    with pytest.raises(TypeError, match="not int"):
        galatea.Loader(7)
    with pytest.raises(TypeError, match="pipeline_def"):
        galatea.Loader(lambda: 3)
