"""examples/python/train_*.py: each trains for an epoch, and its losses are numbers."""

import pathlib
import subprocess
import sys

import pytest

from loader_support import TIMEOUT

EXAMPLES = pathlib.Path(__file__).parents[3] / "examples" / "python"


@pytest.mark.parametrize("framework", ["numpy", "torch", "jax", "tensorflow", "paddle"])
def test_example(request, data, framework):
    if framework != "numpy":
        request.getfixturevalue(framework)
    done = subprocess.run(
        [sys.executable, EXAMPLES / f"train_{framework}.py", data],
        capture_output=True,
        text=True,
        timeout=TIMEOUT,
    )
    assert done.returncode == 0, done.stderr
    lines = [line for line in done.stdout.splitlines() if line.startswith("batch ")]
    losses = [float(line.split()[-1]) for line in lines]
    assert len(losses) == 3 and all(0 < loss < 20 for loss in losses), done.stdout


def test_every_example_is_run():
    names = {path.stem for path in EXAMPLES.glob("train_*.py")}
    assert names == {f"train_{name}" for name in "numpy torch jax tensorflow paddle".split()}
