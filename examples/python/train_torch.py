"""Trains a small network of torch for one epoch: python train_torch.py build/samples"""

import argparse
import pathlib

import torch
from galatea.torch import Loader

torch.manual_seed(0)
model = torch.nn.Sequential(
    torch.nn.Conv2d(3, 8, 5, stride=2),
    torch.nn.ReLU(),
    torch.nn.AdaptiveAvgPool2d(4),
    torch.nn.Flatten(),
    torch.nn.Linear(128, 10),
)
optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("data", help="a folder with a folder of pictures for each class")
data = parser.parse_args().data
pipeline = pathlib.Path(__file__).with_name("train.dali-dsl")
with Loader(pipeline, data=data) as loader:
    for number, (images, labels) in enumerate(loader):
        loss = torch.nn.functional.cross_entropy(model(images), labels[:, 0].long())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        print(f"batch {number}: {len(images)} images, loss {loss.item():.4f}")
