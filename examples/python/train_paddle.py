"""Trains a small network of paddle for one epoch: python train_paddle.py build/samples"""

import argparse
import pathlib

import paddle
from galatea.paddle import Loader

paddle.seed(0)
model = paddle.nn.Sequential(
    paddle.nn.Conv2D(3, 8, 5, stride=2),
    paddle.nn.ReLU(),
    paddle.nn.AdaptiveAvgPool2D(4),
    paddle.nn.Flatten(),
    paddle.nn.Linear(128, 10),
)
optimizer = paddle.optimizer.Adam(learning_rate=1e-3, parameters=model.parameters())
parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("data", help="a folder with a folder of pictures for each class")
data = parser.parse_args().data
pipeline = pathlib.Path(__file__).with_name("train.dali-dsl")
with Loader(pipeline, data=data) as loader:
    for number, (images, labels) in enumerate(loader):
        loss = paddle.nn.functional.cross_entropy(model(images), labels.astype("int64"))
        optimizer.clear_grad()
        loss.backward()
        optimizer.step()
        print(f"batch {number}: {len(images)} images, loss {loss.item():.4f}")
