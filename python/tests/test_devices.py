"""Loaders of one program, one a GPU: here on the CPU, where they divide the data all the same."""

import galatea
import pytest

TEXT = """
from nvidia.dali import pipeline_def, fn

@pipeline_def(batch_size=4, num_threads=1, seed=7)
def p(data: str, shard_id: int = 0, num_shards: int = 1):
    encoded, label = fn.readers.file(file_root=data, shard_id=shard_id, num_shards=num_shards)
    return label, fn.decoders.image(encoded)
"""


def numbers(loader):
    return [number for batch in loader for number in batch.ids]


def test_each_loader_has_its_part(data):
    with galatea.Loader(TEXT, data=str(data), device="cpu") as whole:
        every = numbers(whole)
        loaders = whole.on_devices(range(3))
        parts = [numbers(loader) for loader in loaders]
        for loader in loaders:
            loader.close()
    assert sorted(sum(parts, [])) == sorted(every)
    assert max(map(len, parts)) - min(map(len, parts)) <= 1


def test_a_shard_of_the_pipeline_is_divided(data):
    with galatea.Loader(TEXT, data=str(data), device="cpu", shard=(1, 2)) as half:
        wanted = numbers(half)
        assert sorted(sum((numbers(loader) for loader in half.on_devices([0, 1])), [])) == sorted(wanted)


def test_what_cannot_be_divided_says_so(data):
    with galatea.Loader(TEXT, data=str(data), device="cpu") as loader:
        with pytest.raises(ValueError, match="devices is empty"):
            loader.on_devices([])
        with pytest.raises(TypeError):
            loader.on_devices(["gpu:0"])
    fed = TEXT.replace("encoded, label = fn.readers.file(file_root=data, shard_id=shard_id, num_shards=num_shards)",
                       'encoded = fn.external_source(name="encoded", dtype=types.UINT8, ndim=1)\n    label = encoded')
    fed = fed.replace("pipeline_def, fn", "pipeline_def, fn, types")
    with galatea.Loader(fed, data=data, device="cpu") as loader:
        with pytest.raises(ValueError, match="has no data to divide"):
            loader.on_devices([0, 1])
