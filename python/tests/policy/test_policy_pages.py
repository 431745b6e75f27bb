"""The Python blocks of docs/policies.md are programs that work."""

import pathlib
import re

import pytest

TEXT = (pathlib.Path(__file__).resolve().parents[3] / "docs" / "policies.md").read_text()
BLOCKS = re.findall(r"^```python\n(.*?)^```", TEXT, re.M | re.S)


def test_there_are_blocks():
    assert len(BLOCKS) == 2


@pytest.mark.parametrize("index", range(len(BLOCKS)))
def test_block(tmp_path, monkeypatch, index):
    if "import optuna" in BLOCKS[index]:
        pytest.importorskip("optuna", minversion="5", reason="optuna 5 is not installed")
    monkeypatch.chdir(tmp_path)
    names = {"__name__": "page"}
    exec(compile(BLOCKS[index], "policies.md", "exec"), names)
    assert names["found"].best_trial.score == max(
        trial.score for trial in names["found"].trials if trial.score is not None
    )
