"""galatea.tensorflow: eager loops by DLPack, tf.data.Dataset by copies; code is made beside it."""

import numpy as np
import pytest

import galatea
from framework_support import assert_equal, assert_ragged_equal, numpy_batches
from loader_support import FED, PHOTOS, RAGGED, run_python


def address(tensor):
    return np.from_dlpack(tensor).ctypes.data


def test_addresses(tensorflow, data):
    from galatea.tensorflow import Loader, dataset

    with Loader(PHOTOS, data=data) as loader:
        batch = loader.next_batch()
        images, _ = loader.tensors(batch)
        assert address(images) == batch[0].address
        kept = images.numpy().copy()
        del batch
        for _ in range(8):
            loader.next_batch()
        np.testing.assert_array_equal(kept, images.numpy())
    with galatea.Loader(PHOTOS, data=data, max_held_batches=16) as loader:
        held = []
        take = loader.next_batch

        def holding():
            held.append(take())
            return held[-1]

        loader.next_batch = holding
        tensors = [images for images, _ in dataset(loader)]
        addresses = [batch[0].address for batch in held if batch is not None]
        # docs/python.md says that tensorflow copies here: this tells when it no longer does.
        assert len(tensors) == len(addresses) == 5
        assert not set(addresses) & {address(images) for images in tensors}


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
