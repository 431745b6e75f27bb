"""galatea.paddle: addresses, values, ragged outputs."""

import numpy as np
import pytest

from framework_support import assert_equal, assert_ragged_equal, numpy_batches
from loader_support import PHOTOS, RAGGED


def test_addresses(paddle, data):
    from galatea.paddle import Loader

    with Loader(PHOTOS, data=data) as loader:
        batch = loader.next_batch()
        images, _ = loader.tensors(batch)
        assert images.data_ptr() == batch[0].address
        kept = images.numpy().copy()
        del batch
        for _ in range(8):
            loader.next_batch()
        np.testing.assert_array_equal(kept, images.numpy())


@pytest.mark.parametrize("last_batch", ["partial", "drop", "pad"])
def test_values(paddle, data, last_batch):
    from galatea.paddle import Loader

    with Loader(PHOTOS, data=data, last_batch=last_batch) as loader:
        assert_equal(
            [[tensor.numpy() for tensor in batch] for batch in loader],
            numpy_batches(data, last_batch=last_batch),
        )


def test_ragged(paddle, data):
    from galatea.paddle import Loader

    expected = numpy_batches(data, RAGGED)[0][0]
    with Loader(RAGGED, data=data) as loader:
        batch = loader.next_batch()
        samples = loader.tensors(batch)[0]
        assert [one.data_ptr() for one in samples] == [one.address for one in batch[0]]
        assert_ragged_equal([one.numpy() for one in samples], expected)
    with Loader(RAGGED, data=data, ragged="padded") as loader:
        np.testing.assert_array_equal(next(iter(loader))[0].numpy(), expected)
