"""loader.run(progress=…): what is counted, where it is shown, with tqdm and without."""

import sys

import numpy as np
import pytest

import galatea
from galatea.display import progress as shown
from loader_support import FED, PHOTOS


@pytest.fixture(params=["line", "tqdm"])
def stderr(request, monkeypatch, capsys):
    """Gives what was written to stderr since; something is shown after each batch."""
    if request.param == "tqdm":
        pytest.importorskip("tqdm", reason="SKIPPED: tqdm is not installed")
    else:
        monkeypatch.setitem(sys.modules, "tqdm", None)
        monkeypatch.setitem(sys.modules, "tqdm.auto", None)
    monkeypatch.setattr(shown, "INTERVAL", 0)
    return lambda: capsys.readouterr().err


def last_line(stderr) -> str:
    text = stderr()
    assert text.endswith("\n")
    return text.rstrip("\n").rpartition("\r")[2]


def test_the_batches_are_the_same(data, stderr):
    with galatea.Loader(PHOTOS, data=data) as loader:
        plain = [batch.ids for batch in loader.run(2)]
        assert stderr() == ""
        loader.load_state_dict(galatea.Loader(PHOTOS, data=data).state_dict())
        assert [batch.ids for batch in loader.run(2, progress="always")] == plain
        size, batches = loader.epoch_size, len(loader)
    line = last_line(stderr)
    assert f"{2 * size}/{2 * size}" in line and f"batch {batches}/{batches}" in line
    assert line.startswith("photos, epoch 2/2") and "/s" in line


def test_only_where_somebody_looks(data, stderr, monkeypatch):
    with galatea.Loader(PHOTOS, data=data, epochs=1) as loader:
        for _ in loader.run(progress=True):
            pass
        assert stderr() == ""
        monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
        for _ in loader.run(progress=True):
            pass
        assert last_line(stderr).startswith("photos")
        with pytest.raises(ValueError, match="progress is 'no'; it is False, True or 'always'"):
            loader.run(progress="no")
        with pytest.raises(ValueError, match="how many epochs"):
            galatea.Loader(PHOTOS, data=data).run(progress=True)


@pytest.mark.parametrize("last_batch", ["drop", "pad"])
def test_batches_that_are_not_full(data, stderr, last_batch):
    with galatea.Loader(PHOTOS, data=data, batch_size=5, last_batch=last_batch) as loader:
        size = loader.epoch_size
        assert size % 5
        for _ in loader.run(1, progress="always"):
            pass
    total = size // 5 * 5 if last_batch == "drop" else size
    assert f"{total}/{total}" in last_line(stderr)


def test_a_run_that_is_left(data, stderr):
    with galatea.Loader(PHOTOS, data=data) as loader:
        run = loader.run(1, progress="always")
        next(run)
        run.close()
        assert f"4/{loader.epoch_size}" in last_line(stderr)


def test_it_holds_no_batch(data, stderr):
    with galatea.Loader(PHOTOS, data=data, batch_size=1, max_held_batches=1) as loader:
        count = 0
        for batch in loader.run(1, progress="always"):
            count += 1
            del batch
        assert count == loader.epoch_size


def test_an_epoch_of_unknown_size(stderr):
    with galatea.Loader(FED) as loader:
        loader.feed("x", [np.arange(2, dtype=np.int32)] * 3)
        loader.end_of_feed()
        assert sum(batch.num_samples for batch in loader.run(1, progress="always")) == 3
    line = last_line(stderr)
    assert "fed: 3 samples" in line and "batch 1" in line


def test_the_line():
    assert shown.line("train", 450, 1000, 3.0, " samples", "batch 8/16") == (
        "train:  45 % 450/1000 samples, 150/s, batch 8/16, 0:00:04 left"
    )
    assert shown.line("train", 7200, 14_400_000, 1.0, " samples", "") == (
        "train:   0 % 7200/14400000 samples, 7200/s, 0:33:19 left"
    )
    assert shown.line("t", 5, None, 0.0, " samples", "batch 2") == "t: 5 samples, 0/s, batch 2"
    assert shown.line("t", 0, 0, 1.0, " samples", "").startswith("t: 100 % 0/0 samples")
