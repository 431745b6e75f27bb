"""Trains a softmax regression in numpy for one epoch: python train_numpy.py build/samples"""

import argparse
import pathlib

import galatea
import numpy as np

SIZE, CLASSES = 32, 10

weights = np.zeros((SIZE * SIZE * 3, CLASSES), np.float32)
parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("data", help="a folder with a folder of pictures for each class")
data = parser.parse_args().data
pipeline = pathlib.Path(__file__).with_name("train.dali-dsl")
with galatea.Loader(pipeline, data=data, size=SIZE) as loader:
    for number, (images, labels) in enumerate(loader):
        inputs = images.numpy().reshape(len(images), -1)
        wanted = np.eye(CLASSES, dtype=np.float32)[labels.numpy()[:, 0]]
        scores = inputs @ weights
        chances = np.exp(scores - scores.max(axis=1, keepdims=True))
        chances /= chances.sum(axis=1, keepdims=True)
        loss = -np.mean(np.log(np.sum(chances * wanted, axis=1)))
        weights -= 1e-4 * inputs.T @ (chances - wanted) / len(images)
        print(f"batch {number}: {len(images)} images, loss {loss:.4f}")
