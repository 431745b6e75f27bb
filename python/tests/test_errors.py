"""Errors: classes, diagnostics, texts; the log."""

import logging
import pickle

import pytest

import galatea
from loader_support import PHOTOS

WRONG = """
from galatea import pipeline_def, fn

@pipeline_def(batch_size=2)
def p(data: str):
    encoded, label = fn.readers.file(file_root=data)
    return fn.rezise(fn.decoders.image(encoded), size=[2, 2]), label
"""


def test_errors_of_the_pipeline():
    with pytest.raises(galatea.UserError) as caught:
        galatea.Loader(WRONG, data="x")
    error = caught.value
    assert isinstance(error, ValueError) and isinstance(error, galatea.GalateaError)
    assert error.code == "G0401" and "rezise" in error.message
    text = str(error)
    assert text.startswith("error[G0401]: ") and "<text>:7" in text and "^^^^^^" in text
    (diagnostic,) = error.diagnostics
    assert (diagnostic.line, diagnostic.severity, diagnostic.file) == (7, "error", "<text>")
    assert "fn.resize" in diagnostic.help
    again = pickle.loads(pickle.dumps(error))
    assert type(again) is type(error) and str(again) == text
    assert again.diagnostics == error.diagnostics and again.code == error.code


def test_files_that_are_not_there(tmp_path):
    with pytest.raises(galatea.GalateaError, match="nowhere.dali-dsl"):
        galatea.Loader(tmp_path / "nowhere.dali-dsl")
    loader = galatea.Loader(PHOTOS, data=tmp_path / "nowhere")
    for _ in range(2):
        with pytest.raises(galatea.GalateaError, match="nowhere"):
            loader.open()


def test_options_that_are_wrong(data):
    for options in (
        {"batch_size": 0},
        {"device": "tpu"},
        {"on_error": "hope"},
        {"num_threads": -1},
    ):
        with pytest.raises(galatea.UserError):
            galatea.Loader(PHOTOS, data=data, **options)
    with pytest.raises(galatea.UserError, match="size_of_all"):
        galatea.Loader(PHOTOS, data=data, size_of_all=3)


def test_too_many_batches_held_names_the_line(data):
    with galatea.Loader(PHOTOS, data=data, batch_size=1, max_held_batches=3) as loader:
        held = []
        with pytest.raises(galatea.BatchesHeldError) as caught:
            for batch in loader:
                held.append(batch)
        assert len(held) == 3 and f"batches are taken at {__file__}:" in str(caught.value)
        assert "max_held_batches=N" in str(caught.value)
        # The loader goes on once there is room.
        held.pop(0)
        assert loader.next_batch().index == 3


def test_time_is_over(data):
    text = """
from galatea import pipeline_def, fn, types

@pipeline_def(batch_size=1)
def p():
    return fn.external_source(name="x", dtype=types.INT32, ndim=0)
"""
    with galatea.Loader(text, wait_for_feed=True) as loader:
        with pytest.raises(galatea.TimeoutError) as caught:
            loader.next_batch(timeout=0.05)
        assert isinstance(caught.value, TimeoutError)
        loader.cancel()
        with pytest.raises(galatea.CancelledError):
            loader.next_batch()


def test_closed_loaders_say_so(data):
    loader = galatea.Loader(PHOTOS, data=data)
    batch = loader.next_batch()
    loader.close()
    loader.close()
    assert batch[0].numpy().shape == (4, 32, 48, 3)
    with pytest.raises(ValueError, match="loader was closed"):
        loader.next_batch()
    batch.release()
    with pytest.raises(galatea.ClosedError, match="batch was closed"):
        batch[0].numpy()


def test_warnings_are_logged(data, caplog):
    text = PHOTOS.replace("    return image, label", "    print(7 * 6)\n    return image, label")
    with caplog.at_level(logging.DEBUG, logger="galatea"):
        galatea.Loader(text, data=data).close()
    assert any("42" in record.getMessage() for record in caplog.records)


@pytest.mark.parametrize(
    "options",
    [{"batch_size": "8"}, {"seed": 1.5}, {"device": 0}, {"exact": "no"}, {"max_held_batches": "2"}],
)
def test_an_option_of_a_wrong_kind_is_named(data, options):
    (name,) = options
    with pytest.raises(TypeError, match=f"{name} is .*; it must be "):
        galatea.Loader(PHOTOS, data=data, **options)


def test_help_speaks_of_python(data):
    with galatea.Loader(PHOTOS, data=data) as loader:
        state = loader.state_dict()
        state["session"]["epoch"] = 7
        with pytest.raises(galatea.StateError) as caught:
            loader.load_state_dict(state)
    assert "load_state_dict()" in caught.value.diagnostics[0].help
    assert "galatea_" not in str(caught.value) and "load_state_dict()" in str(caught.value)
    with pytest.raises(galatea.UserError, match="batch_size is 0") as caught:
        galatea.Loader(PHOTOS, data=data, batch_size=0)
    assert "galatea.h" not in str(caught.value)
