"""Presets (`compat=`) from Python: the pipeline's, a call's, and what they change."""

import galatea
import numpy as np
import pytest
from galatea import fn, types


def _resized(preset=None, at_call=None):
    picture = (np.arange(13 * 17 * 3) * 37 % 256).astype(np.uint8).reshape(13, 17, 3)

    @galatea.pipeline_def(batch_size=1, num_threads=1, compat=preset)
    def pipe():
        image = fn.external_source(
            source=lambda info: picture, batch=False, dtype=types.UINT8, ndim=3, layout="HWC"
        )
        return fn.resize(image, size=[5, 6], interp_type=types.INTERP_CUBIC, compat=at_call)

    with galatea.Loader(pipe()) as loader:
        batch = next(iter(loader))
        return np.array(batch[0][0])


def test_a_preset_of_the_pipeline_is_that_of_its_calls():
    assert (_resized("pil") == _resized(None, "pil")).all()
    assert (_resized("torchvision", "pil") == _resized("pil")).all()


def test_presets_differ():
    assert (_resized("pil") != _resized()).any()
    assert (_resized("pil", "dali") == _resized()).all()


def test_an_unknown_preset_is_an_error():
    with pytest.raises(Exception, match="dali"):
        _resized("pillow")
    with pytest.raises(Exception, match="names no preset"):
        _resized(None, "pillow")
