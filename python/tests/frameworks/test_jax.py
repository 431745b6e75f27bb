"""galatea.jax: addresses, values, shardings."""

import pickle

import numpy as np
import pytest

from framework_support import assert_equal, assert_ragged_equal, numpy_batches
from loader_support import PHOTOS, RAGGED


def test_addresses(jax, data):
    from galatea.jax import Loader

    with Loader(PHOTOS, data=data) as loader:
        batch = loader.next_batch()
        images, _ = loader.tensors(batch)
        assert images.unsafe_buffer_pointer() == batch[0].address
        kept = np.array(images)
        del batch
        for _ in range(8):
            loader.next_batch()
        np.testing.assert_array_equal(kept, images)


@pytest.mark.parametrize("last_batch", ["partial", "drop", "pad"])
def test_values(jax, data, last_batch):
    from galatea.jax import Loader

    with Loader(PHOTOS, data=data, last_batch=last_batch) as loader:
        assert_equal(loader, numpy_batches(data, last_batch=last_batch))


def test_ragged(jax, data):
    from galatea.jax import Loader

    expected = numpy_batches(data, RAGGED)[0][0]
    with Loader(RAGGED, data=data) as loader:
        assert_ragged_equal(next(iter(loader))[0], expected)
    with Loader(RAGGED, data=data, ragged="padded") as loader:
        np.testing.assert_array_equal(next(iter(loader))[0], expected)


def test_shardings(jax, data):
    from galatea.jax import Loader

    mesh = jax.sharding.Mesh(np.array(jax.devices()), ("batch",))
    sharding = jax.sharding.NamedSharding(mesh, jax.sharding.PartitionSpec("batch"))
    with Loader(PHOTOS, data=data, sharding=sharding) as loader:
        images, _ = next(iter(loader))
        assert images.sharding == sharding
        np.testing.assert_array_equal(np.asarray(images), numpy_batches(data)[0][0])
        with pytest.raises(TypeError, match="pickled"):
            pickle.dumps(loader)
    with Loader(RAGGED, data=data, sharding=sharding) as loader:
        with pytest.raises(ValueError, match="'image' is ragged.*padded"):
            next(iter(loader))
    with Loader(RAGGED, data=data, sharding=sharding, ragged="padded") as loader:
        assert next(iter(loader))[0].sharding == sharding
    with pytest.raises(TypeError, match="sharding is a"):
        Loader(PHOTOS, data=data, sharding="batch")


def test_loaders_are_pickled(jax, data):
    from galatea.jax import Loader

    with Loader(RAGGED, data=data, ragged="padded") as loader:
        with pickle.loads(pickle.dumps(loader)) as again:
            np.testing.assert_array_equal(next(iter(again))[0], next(iter(loader))[0])
