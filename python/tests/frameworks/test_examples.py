"""examples/python/train_*.py and the beginning of docs/python.md: they train, losses are numbers."""

import pathlib
import re
import subprocess
import sys

import pytest

from loader_support import TIMEOUT

ROOT = pathlib.Path(__file__).parents[3]
EXAMPLES = ROOT / "examples" / "python"


FRAMEWORKS = ("numpy", "torch", "jax", "tensorflow", "paddle")


@pytest.fixture(params=FRAMEWORKS)
def program(request):
    """The example of a framework, which is installed."""
    if request.param != "numpy":
        request.getfixturevalue(request.param)
    return EXAMPLES / f"train_{request.param}.py"


def run(program, *arguments):
    return subprocess.run(
        [sys.executable, program, *arguments], capture_output=True, text=True, timeout=TIMEOUT
    )


def test_example(program, data):
    done = run(program, data)
    assert done.returncode == 0, done.stderr
    lines = [line for line in done.stdout.splitlines() if line.startswith("batch ")]
    losses = [float(line.split()[-1]) for line in lines]
    assert len(losses) == 3 and all(0 < loss < 20 for loss in losses), done.stdout


def test_example_without_its_folder(program):
    done = run(program)
    assert done.returncode == 2 and f"usage: {program.name} [-h] data" in done.stderr
    assert "Traceback" not in done.stderr


def test_example_with_a_folder_that_is_not_there(tmp_path):
    done = run(EXAMPLES / "train_numpy.py", tmp_path / "none")
    assert done.returncode == 1 and str(tmp_path / "none") in done.stderr


def test_every_example_is_run():
    names = {path.stem for path in EXAMPLES.glob("train_*.py")}
    assert names == {f"train_{name}" for name in FRAMEWORKS}


def test_five_minutes_to_a_training_loop(torch, data, tmp_path):
    """What docs/python.md says to save, saved and run, over fewer pictures than a batch."""
    page = (ROOT / "docs" / "python.md").read_text()
    pipeline, program = re.findall(r"```python(?: galatea)?\n(.*?)```", page, re.DOTALL)[:2]
    (tmp_path / "train.dali-dsl").write_text(pipeline)
    (tmp_path / "train.py").write_text(program)
    for picture in pathlib.Path(data).glob("*/*.*"):
        folder = tmp_path / "photos" / picture.parent.name
        folder.mkdir(parents=True, exist_ok=True)
        (folder / picture.name).symlink_to(picture.resolve())
    done = subprocess.run(
        [sys.executable, "train.py"],
        cwd=tmp_path, capture_output=True, text=True, timeout=TIMEOUT,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    lines = [line.split() for line in done.stdout.splitlines()]
    assert [line[0] for line in lines] == ["0", "1", "2"]
    assert all(0 < float(line[1]) < 20 for line in lines), done.stdout
