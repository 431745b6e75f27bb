"""galatea.torch: addresses, values, forms, states, workers, processes."""

import json
import pickle

import numpy as np
import pytest

from framework_support import assert_equal, assert_ragged_equal, numpy_batches
from loader_support import PHOTOS, RAGGED, run_python


def test_addresses(torch, data):
    from galatea.torch import Loader

    with Loader(PHOTOS, data=data) as loader:
        batch = loader.next_batch()
        images, _ = loader.tensors(batch)
        assert images.data_ptr() == batch[0].address == batch[0].torch().data_ptr()
        assert torch.from_dlpack(batch[0]).data_ptr() == batch[0].address
        assert batch[0][2].torch().data_ptr() == batch[0][2].address
        kept = images.clone()
        del batch
        for _ in range(8):
            loader.next_batch()
        assert torch.equal(kept, images)
    with Loader(RAGGED, data=data) as loader:
        batch = loader.next_batch()
        samples = loader.tensors(batch)[0]
        assert [one.data_ptr() for one in samples] == [one.address for one in batch[0]]


def test_values(torch, data):
    from galatea.torch import Loader

    with Loader(PHOTOS, data=data, to="cpu") as loader:
        assert_equal(loader, numpy_batches(data))
        again = pickle.loads(pickle.dumps(loader))
        assert torch.equal(next(iter(again))[0], next(iter(loader))[0])
        again.close()


@pytest.mark.parametrize(
    "last_batch, sizes", [("partial", [4] * 4 + [2]), ("drop", [4] * 4), ("pad", [4] * 5)]
)
def test_last_batches(torch, data, last_batch, sizes):
    from galatea.torch import Loader

    with Loader(PHOTOS, data=data, last_batch=last_batch) as loader:
        batches = list(loader)
        assert [len(labels) for _, labels in batches] == sizes and len(loader) == len(sizes)
        assert_equal(batches, numpy_batches(data, last_batch=last_batch))


@pytest.mark.parametrize("ragged", ["list", "nested", "padded"])
def test_ragged(torch, data, ragged):
    from galatea.torch import Loader

    expected = numpy_batches(data, RAGGED)[0][0]
    with Loader(RAGGED, data=data, ragged=ragged) as loader:
        images = next(iter(loader))[0]
        if ragged == "padded":
            np.testing.assert_array_equal(images.numpy(), expected)
        else:
            assert isinstance(images, list) if ragged == "list" else images.is_nested
            assert_ragged_equal(images if ragged == "list" else images.unbind(), expected)
    with pytest.raises(ValueError, match="ragged is"):
        Loader(RAGGED, data=data, ragged="bag")


def test_states(torch, data):
    """What Lightning saves: it finds state_dict and load_state_dict by their names."""
    from galatea.torch import Loader

    with Loader(PHOTOS, data=data) as loader:
        running = iter(loader)
        next(running), next(running)
        state = json.loads(json.dumps(loader.state_dict()))
        rest = [[tensor.clone() for tensor in batch] for batch in running]
    with Loader(PHOTOS, data=data) as loader:
        loader.load_state_dict(state)
        assert_equal(loader, [[tensor.numpy() for tensor in batch] for batch in rest])


@pytest.mark.parametrize("workers", [0, 2])
def test_data_loader(torch, data, workers):
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


def test_data_sets_go_on(torch, data):
    """What torchdata's StatefulDataLoader does with a data set of one process."""
    from galatea.torch import IterableDataset

    dataset = IterableDataset(PHOTOS, data=data)
    running = iter(dataset)
    next(running)
    state = dataset.state_dict()
    rest = [labels.clone() for _, labels in running]
    again = IterableDataset(PHOTOS, data=data)
    again.load_state_dict(state)
    assert all(torch.equal(a, b[1]) for a, b in zip(rest, again, strict=True))


def test_a_shard_given_twice(torch, data, monkeypatch):
    from galatea.torch import IterableDataset

    info = type("Info", (), {"id": 1, "num_workers": 2})
    monkeypatch.setattr(torch.utils.data, "get_worker_info", lambda: info)
    with pytest.raises(ValueError, match="num_workers"):
        iter(IterableDataset(PHOTOS, data=data, shard=(0, 2)))


def test_processes_share_the_samples(torch, data, tmp_path):
    """Two processes of torch.distributed (gloo), without and with workers of a DataLoader."""
    out = run_python(
        """
        import sys
        sys.path[:0] = sys.argv[3:]
        import torch
        import torch.multiprocessing as mp
        from galatea.torch import IterableDataset, Loader
        from loader_support import PHOTOS

        def labels_and_ids(loader):
            ids = []
            while (batch := loader.next_batch()) is not None:
                ids += batch.ids
            return ids

        def process(rank, data, store, results):
            torch.distributed.init_process_group(
                "gloo", init_method=f"file://{store}", rank=rank, world_size=2)
            with Loader(PHOTOS, data=data) as loader:
                ids = labels_and_ids(loader)
            dataset = IterableDataset(PHOTOS, data=data)
            loader = torch.utils.data.DataLoader(
                dataset, batch_size=None, num_workers=2, multiprocessing_context="spawn")
            sums = [int(image.sum()) for images, _ in loader for image in images]
            results.put((ids, sums))
            torch.distributed.destroy_process_group()

        if __name__ == "__main__":
            context = mp.get_context("fork")
            results = context.SimpleQueue()
            children = [
                context.Process(target=process, args=(rank, sys.argv[1], sys.argv[2], results))
                for rank in range(2)
            ]
            for child in children:
                child.start()
            got = [results.get() for _ in children]
            for child in children:
                child.join()
            with Loader(PHOTOS, data=sys.argv[1]) as loader:
                sums = [int(image.sum()) for images, _ in loader for image in images]
            print([sorted(ids) for ids, _ in got])
            print(sorted(got[0][1] + got[1][1]) == sorted(sums), len(sums))
        """,
        data,
        str(tmp_path / "store"),
        *_paths(),
    )
    ids, same = out.splitlines()[-2:]
    first, second = json.loads(ids)
    assert sorted(first + second) == list(range(18)) and len(first) == len(second) == 9
    assert same == "True 18"


def _paths():
    import os

    here = os.path.dirname(os.path.abspath(__file__))
    return here, os.path.dirname(here)
