"""Loaders of frameworks: addresses, values, states; SKIPPED where the framework is not installed."""

import pathlib
import pickle
import subprocess
import sys

import numpy as np
import pytest

import galatea
from loader_support import PHOTOS, RAGGED, TIMEOUT


def numpy_batches(data, text=PHOTOS):
    with galatea.Loader(text, data=data) as loader:
        return [[output.padded().copy() for output in batch] for batch in loader]


def test_torch(data):
    torch = pytest.importorskip("torch")
    from galatea.torch import Loader

    with Loader(PHOTOS, data=data) as loader:
        batch = loader.next_batch()
        images, _ = loader.tensors(batch)
        assert images.data_ptr() == batch[0].address == batch[0].torch().data_ptr()
        assert torch.from_dlpack(batch[0]).data_ptr() == batch[0].address
        kept = images.clone()
        del batch
        for _ in range(8):
            loader.next_batch()
        assert torch.equal(kept, images)
    expected = numpy_batches(data)
    with Loader(PHOTOS, data=data, to="cpu") as loader:
        for (images, labels), arrays in zip(loader, expected, strict=True):
            np.testing.assert_array_equal(images.numpy(), arrays[0])
            np.testing.assert_array_equal(labels.numpy(), arrays[1])
        again = pickle.loads(pickle.dumps(loader))
        assert torch.equal(next(iter(again))[0], next(iter(loader))[0])
        again.close()


@pytest.mark.parametrize("ragged", ["list", "nested", "padded"])
def test_torch_ragged(data, ragged):
    torch = pytest.importorskip("torch")
    from galatea.torch import Loader

    expected = numpy_batches(data, RAGGED)[0][0]
    with Loader(RAGGED, data=data, ragged=ragged) as loader:
        images = next(iter(loader))[0]
        if ragged == "padded":
            np.testing.assert_array_equal(images.numpy(), expected)
        else:
            assert images.is_nested if ragged == "nested" else isinstance(images, list)
            for row, image in zip(expected, images if ragged == "list" else images.unbind()):
                assert isinstance(image, torch.Tensor)
                np.testing.assert_array_equal(row[: image.shape[0], : image.shape[1]], image.numpy())
    with pytest.raises(ValueError, match="ragged is"):
        Loader(RAGGED, data=data, ragged="bag")


@pytest.mark.parametrize("workers", [0, 2])
def test_torch_data_loader(data, workers):
    torch = pytest.importorskip("torch")
    from galatea.torch import IterableDataset

    context = "spawn" if workers else None
    loader = torch.utils.data.DataLoader(
        IterableDataset(PHOTOS, data=data),
        batch_size=None,
        num_workers=workers,
        multiprocessing_context=context,
    )
    labels = torch.cat([labels for _, labels in loader])
    expected = np.concatenate([arrays[1] for arrays in numpy_batches(data)])
    assert sorted(labels.flatten().tolist()) == sorted(expected.flatten().tolist())


def test_jax(data):
    pytest.importorskip("jax")
    from galatea.jax import Loader

    with Loader(PHOTOS, data=data) as loader:
        for arrays, expected in zip(loader, numpy_batches(data), strict=True):
            for array, values in zip(arrays, expected, strict=True):
                np.testing.assert_array_equal(np.asarray(array), values)
        batch = loader.next_batch()
        assert batch[0].jax().unsafe_buffer_pointer() == batch[0].address


def test_jax_sharded(data):
    jax = pytest.importorskip("jax")
    from galatea.jax import Loader

    mesh = jax.sharding.Mesh(np.array(jax.devices()), ("batch",))
    sharding = jax.sharding.NamedSharding(mesh, jax.sharding.PartitionSpec("batch"))
    with Loader(PHOTOS, data=data, sharding=sharding) as loader:
        images, _ = next(iter(loader))
        assert images.sharding == sharding
        np.testing.assert_array_equal(np.asarray(images), numpy_batches(data)[0][0])
        with pytest.raises(TypeError, match="pickled"):
            pickle.dumps(loader)


def test_tensorflow(data):
    pytest.importorskip("tensorflow")
    from galatea.tensorflow import dataset

    with galatea.Loader(PHOTOS, data=data) as loader:
        made = dataset(loader)
        assert made.element_spec[0].shape.as_list() == [None, 32, 48, 3]
        for tensors, expected in zip(made, numpy_batches(data), strict=True):
            for tensor, values in zip(tensors, expected, strict=True):
                np.testing.assert_array_equal(tensor.numpy(), values)


def test_paddle(data):
    pytest.importorskip("paddle")
    from galatea.paddle import Loader

    with Loader(PHOTOS, data=data) as loader:
        batch = loader.next_batch()
        from galatea.paddle import _tensor

        assert _tensor(batch[0]).data_ptr() == batch[0].address
        np.testing.assert_array_equal(_tensor(batch[0]).numpy(), batch[0].numpy())


@pytest.mark.parametrize("framework", ["torch", "jax"])
def test_examples(data, framework):
    pytest.importorskip(framework)
    example = pathlib.Path(__file__).parents[2] / "examples" / "python" / f"train_{framework}.py"
    done = subprocess.run(
        [sys.executable, example, data], capture_output=True, text=True, timeout=TIMEOUT
    )
    assert done.returncode == 0, done.stderr
    losses = [float(line.split()[-1]) for line in done.stdout.splitlines()]
    assert len(losses) == 3 and all(0 < loss < 20 for loss in losses)
