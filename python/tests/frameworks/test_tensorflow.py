"""galatea.tensorflow: addresses, values, datasets; code that is made beside tensorflow's LLVM."""

import numpy as np
import pytest

import galatea
from framework_support import assert_equal, assert_ragged_equal, numpy_batches
from loader_support import FED, PHOTOS, RAGGED, run_python


def address(tensor):
    return np.from_dlpack(tensor).ctypes.data


def test_addresses(tensorflow, data):
    from galatea.tensorflow import Loader

    with Loader(PHOTOS, data=data) as loader:
        batch = loader.next_batch()
        images, _ = loader.tensors(batch)
        assert address(images) == batch[0].address
        kept = images.numpy().copy()
        del batch
        for _ in range(8):
            loader.next_batch()
        np.testing.assert_array_equal(kept, images.numpy())


@pytest.mark.parametrize("kept", [3, 18])
def test_addresses_of_a_dataset(tensorflow, data, kept):
    """No copies, until tensorflow keeps half of what may be held; then copies, and no error."""
    from galatea.tensorflow import dataset

    with galatea.Loader(PHOTOS, data=data, batch_size=1, max_held_batches=8) as loader:
        addresses = []
        take = loader.next_batch

        def noting():
            batch = take()
            addresses.append(None if batch is None else batch[0].address)
            return batch

        loader.next_batch = noting
        tensors = [images for images, _ in dataset(loader).take(kept)]
        same = [address(images) == place for images, place in zip(tensors, addresses)]
        assert same == [True] * min(kept, 4) + [False] * (kept - min(kept, 4))
        expected = numpy_batches(data, batch_size=1)
        for images, arrays in zip(tensors, expected):
            np.testing.assert_array_equal(images.numpy(), arrays[0])


def test_a_dataset_takes_a_loader_of_batches(tensorflow, data):
    from galatea.tensorflow import Loader, dataset

    with Loader(PHOTOS, data=data) as loader:
        with pytest.raises(TypeError, match="give it a galatea.Loader, no galatea.tensorflow.Loader"):
            dataset(loader)



def test_a_dataset_over_many_epochs(tensorflow, data):
    """Batches come back: tensorflow lets go of them late, and keeps a few."""
    from galatea.tensorflow import dataset

    with galatea.Loader(PHOTOS, data=data, batch_size=1) as loader:
        made = dataset(loader)
        counts = [sum(1 for _ in made.prefetch(2)) for _ in range(5)]
        assert counts == [18] * 5
        assert len(list(made.shuffle(18))) == 18


@pytest.mark.parametrize("last_batch", ["partial", "drop", "pad"])
def test_values(tensorflow, data, last_batch):
    from galatea.tensorflow import Loader, dataset

    expected = numpy_batches(data, last_batch=last_batch)
    with Loader(PHOTOS, data=data, last_batch=last_batch) as loader:
        assert_equal([[t.numpy() for t in batch] for batch in loader], expected)
    with galatea.Loader(PHOTOS, data=data, last_batch=last_batch) as loader:
        made = dataset(loader)
        samples = None if last_batch == "partial" else 4
        assert made.element_spec[0].shape.as_list() == [samples, 32, 48, 3]
        assert_equal([[t.numpy() for t in batch] for batch in made], expected)


@pytest.mark.parametrize("form", ["list", "ragged", "padded"])
def test_ragged(tensorflow, data, form):
    from galatea.tensorflow import Loader, dataset

    expected = numpy_batches(data, RAGGED)[0][0]
    with Loader(RAGGED, data=data, ragged=form) as loader:
        images = next(iter(loader))[0]
        if form == "padded":
            np.testing.assert_array_equal(images.numpy(), expected)
        elif form == "ragged":
            np.testing.assert_array_equal(images.to_tensor().numpy(), expected)
        else:
            assert_ragged_equal([image.numpy() for image in images], expected)
    if form == "list":
        with pytest.raises(ValueError, match="ragged is"):
            dataset(loader, ragged=form)
        return
    with galatea.Loader(RAGGED, data=data) as loader:
        made = dataset(loader, ragged=form)
        images = next(iter(made))[0]
        assert made.element_spec[0].is_compatible_with(images)
        whole = images.to_tensor() if form == "ragged" else images
        np.testing.assert_array_equal(whole.numpy(), expected)


def test_bools_are_copied(tensorflow):
    from galatea.tensorflow import Loader

    with Loader(FED.replace("x + 1", "x > 1")) as loader:
        loader.feed("x", np.arange(4, dtype=np.int32).reshape(2, 2))
        assert loader.tensors(loader.next_batch())[0][1].numpy().tolist() == [True, True]


def test_code_is_made_behind_tensorflow(tensorflow, tmp_path):
    """tensorflow shares an LLVM with the whole process; ours must not take that one's functions."""
    out = run_python(
        """
        import os, sys
        import tensorflow
        sys.path.insert(0, sys.argv[1])
        os.environ["GALATEA_CACHE_DIR"] = sys.argv[2]
        import numpy as np
        import galatea
        from loader_support import FED
        with galatea.Loader(FED.replace("x + 1", "x * 3 - 1")) as loader:
            loader.feed("x", np.arange(4, dtype=np.int32).reshape(2, 2))
            print("values", loader.next_batch()[0].padded().tolist())
        """,
        _folder(),
        str(tmp_path),
    )
    assert "values [[-1, 2], [5, 8]]" in out


def _folder():
    import os

    return os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
