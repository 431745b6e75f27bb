"""examples/policy_search in a tiny form, with the environment that `./dev run` made for it, or with this Python.

What it finds does not matter here; that the parts are apart does.
"""

import json
import os
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
EXAMPLE = ROOT / "examples/policy_search"
SKIPPED = 77

CHECKS = """
import sys, pathlib
sys.path.insert(0, sys.argv[1])
import numpy as np
import digits
pool, test = digits.parts()
assert len(pool) + len(test) == 1797 and not set(pool) & set(test)
for seed in (0, 1, 100):
    train, validation = digits.training_and_validation(seed)
    assert not set(train) & set(validation) and set(train) | set(validation) == set(pool)
    assert len(train) == digits.NUM_TRAIN
# Validation pictures arrive as they are: an image that is made larger and averaged again stays near itself.
work = pathlib.Path(sys.argv[3])
program = digits.Digits(sys.argv[2], work)
train, _ = digits.training_and_validation(0)
features, labels = program.plain("train-check", train)
assert features.shape == (digits.NUM_TRAIN, 144) and 0 <= features.min() and features.max() <= 1
of_digits = digits.load_digits()
assert sorted(labels) == sorted(of_digits.target[train])
"""


def python_with_sklearn():
    """One that can run the example; None: there is none."""
    for python in (sys.executable, ROOT / "build/policy_search/environment/bin/python"):
        if pathlib.Path(python).exists() and subprocess.run([python, "-c", "import sklearn"], capture_output=True).returncode == 0:
            return python
    return None


def main():
    python = python_with_sklearn()
    if python is None:
        print("SKIPPED: scikit-learn is not installed (`./dev run examples/policy_search` installs it for the example)")
        return SKIPPED
    galatea = os.environ["GALATEA_PROGRAM"]
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([python, "-c", CHECKS, EXAMPLE, galatea, folder], check=True)
        tiny = ["--trials", "3", "--seeds", "2", "--copies", "2", "--rounds", "3", "--jobs", "1"]
        done = subprocess.run([python, EXAMPLE / "run.py", "--galatea", galatea, "--work", folder, *tiny], capture_output=True, text=True)
        if done.returncode != 0:
            print(done.stdout, done.stderr)
            return 1
        results = json.loads(pathlib.Path(folder, "results.json").read_text())["scores"]
        assert set(results) == {"none", "rand_augment", "found"}, results
        for scores in results.values():
            assert len(scores) == 2 and all(0.05 < score <= 1 for score in scores), results
        found = json.loads(pathlib.Path(folder, "found.json").read_text())
        assert found["format"] == "augment-policy" and "$choice" not in json.dumps(found)
        # The search has seen its own training sets and nothing that judges.
        seen = {path.name for path in pathlib.Path(folder).iterdir()}
        assert {"train-0", "train-1", "train-2", "train-100", "train-101", "test"} <= seen, seen
        assert "mean" in done.stdout and "over none" in done.stdout, done.stdout
    return 0


if __name__ == "__main__":
    sys.exit(main())
