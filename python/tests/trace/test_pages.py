"""The Python blocks of docs/python-pipelines.md are programs that work."""

import re

import pytest

from trace_common import ROOT, galatea_program  # noqa: F401

TEXT = (ROOT / "docs" / "python-pipelines.md").read_text()
BLOCKS = re.findall(r"^```python\n(.*?)^```", TEXT, re.M | re.S)


@pytest.mark.parametrize("index", range(len(BLOCKS)))
def test_block(galatea_program, tmp_path, index):
    assert len(BLOCKS) >= 3
    path = tmp_path / "train.py"
    path.write_text(BLOCKS[index])
    names = {"__name__": "train"}
    exec(compile(BLOCKS[index], str(path), "exec"), names)
    galatea_program.accepts(names["pipe"])
    found = re.findall(
        r"^```text\n(# Made from the Python function `(\w+)`.*?)^```", TEXT, re.M | re.S
    )
    shown = {name: text for text, name in found}
    assert set(shown) == {"train", "darkened"}
    pipe = names["pipe"]
    assert pipe.text == shown.get(pipe.name, pipe.text)
