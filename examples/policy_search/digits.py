"""The data and the classifier: scikit-learn's digits as PNG files in three parts, and a small network.

The test part is fixed. The rest is the pool: a training set is drawn from it for each seed, and what is left of the
pool is that seed's validation part. A search asks `validation`; only the last table asks `test`.
"""

import os
import pathlib
import struct
import subprocess
import tempfile
import warnings
import zlib

os.environ.setdefault("OMP_NUM_THREADS", "1")  # trials run side by side

import numpy as np
from sklearn.datasets import load_digits
from sklearn.exceptions import ConvergenceWarning
from sklearn.neural_network import MLPClassifier

HERE = pathlib.Path(__file__).resolve().parent
NUM_TEST = 597
NUM_TRAIN = 120


def png(pixels):
    """The bytes of a PNG file: 8 bits of grey."""
    height, width = pixels.shape

    def chunk(kind, data):
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    header = struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0)
    rows = b"".join(b"\0" + row.tobytes() for row in pixels)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b"")


def write_pictures(folder, indices):
    """Pictures in a folder for each digit, as `readers.file` wants them. A folder that is there is complete."""
    if folder.exists():
        return folder
    digits = load_digits()
    folder.parent.mkdir(parents=True, exist_ok=True)
    partial = pathlib.Path(tempfile.mkdtemp(dir=folder.parent))
    for index in indices:
        file = partial / str(digits.target[index]) / f"{index:04d}.png"
        file.parent.mkdir(exist_ok=True)
        file.write_bytes(png((digits.images[index] * 15).astype(np.uint8)))
    try:
        partial.rename(folder)
    except OSError:  # another trial was first
        if not folder.exists():
            raise
    return folder


def parts():
    """Indices of the pool and of the test part, the same always."""
    order = np.random.RandomState(0).permutation(len(load_digits().target))
    return order[NUM_TEST:], order[:NUM_TEST]


def training_and_validation(seed):
    pool, _ = parts()
    order = np.random.RandomState(seed).permutation(pool)
    return order[:NUM_TRAIN], order[NUM_TRAIN:]


class Digits:
    """Runs galatea over the parts, and trains on what comes out."""

    def __init__(self, galatea, work, copies=8, rounds=40):
        self.galatea, self.work, self.copies, self.rounds = galatea, work, copies, rounds

    def augmented(self, data, policies, epochs, seed):
        """By policy: features and labels of `epochs` passes over the pictures; each is decoded once a pass."""
        with tempfile.TemporaryDirectory(dir=self.work) as folder:
            command = [self.galatea, "run", HERE / "augment.dali-dsl", "--set", f"data={data}", "--epochs", epochs]
            command += ["--seed", seed, "--save", folder, "--policies", *policies]
            done = subprocess.run([str(part) for part in command], capture_output=True, text=True)
            if done.returncode != 0:
                raise RuntimeError(done.stderr)
            labels = self.saved(pathlib.Path(folder) / "out1")[:, 0]
            names = [pathlib.Path(policy).stem for policy in policies]
            return {name: (self.features(pathlib.Path(folder) / name / "out0"), labels) for name in names}

    @staticmethod
    def saved(folder):
        return np.stack([np.load(file) for file in sorted(folder.iterdir())])

    def features(self, folder):
        """One number for each 2 × 2 pixels."""
        grey = self.saved(folder)[..., 0].astype(np.float32) / 255
        number, height, width = grey.shape
        return grey.reshape(number, height // 2, 2, width // 2, 2).mean(axis=(2, 4)).reshape(number, -1)

    def plain(self, name, indices):
        """Features and labels without augmentation; kept, for they do not change."""
        kept = self.work / f"{name}.npz"
        if kept.exists():
            with np.load(kept) as file:
                return file["features"], file["labels"]
        data = write_pictures(self.work / name, indices)
        features, labels = self.augmented(data, [HERE / "none.json"], 1, 0)["none"]
        with tempfile.NamedTemporaryFile(dir=self.work, suffix=".npz", delete=False) as file:
            np.savez(file, features=features, labels=labels)
        os.replace(file.name, kept)
        return features, labels

    def accuracies(self, policies, seed, held_out):
        """By policy: the share of the held-out pictures that a network recognises which was trained with it."""
        data = write_pictures(self.work / f"train-{seed}", training_and_validation(seed)[0])
        scores = {}
        for name, (features, labels) in self.augmented(data, policies, self.copies, seed).items():
            network = MLPClassifier((64,), batch_size=64, learning_rate_init=2e-3, max_iter=self.rounds,
                                    random_state=seed)
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", ConvergenceWarning)
                network.fit(features, labels)
            scores[name] = network.score(*held_out)
        return scores

    def validation(self, policy, seed):
        held_out = self.plain(f"validation-{seed}", training_and_validation(seed)[1])
        return next(iter(self.accuracies([policy], seed, held_out).values()))

    def test(self, policies, seed):
        return self.accuracies(policies, seed, self.plain("test", parts()[1]))
