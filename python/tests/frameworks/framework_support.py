"""What the tests of the frameworks share. Not in conftest.py: children import it by its name."""

import numpy as np

import galatea
from loader_support import PHOTOS


def numpy_batches(data, text=PHOTOS, **options):
    """The batches of an epoch as lists of numpy arrays, ragged outputs padded with zeros."""
    with galatea.Loader(text, data=data, **options) as loader:
        return [[output.padded().copy() for output in batch] for batch in loader]


def assert_equal(batches, expected):
    """Batches of a framework's tensors against numpy_batches()."""
    for tensors, arrays in zip(batches, expected, strict=True):
        for tensor, array in zip(tensors, arrays, strict=True):
            np.testing.assert_array_equal(np.asarray(tensor), array)


def assert_ragged_equal(samples, padded):
    """A ragged output's samples against its padded array."""
    assert len(samples) == len(padded) > 0
    for sample, row in zip(samples, padded):
        sample = np.asarray(sample)
        where = tuple(slice(extent) for extent in sample.shape)
        np.testing.assert_array_equal(sample, row[where])
        assert row.sum() == sample.sum()
