"""Trains a small network of jax for one epoch: python train_jax.py build/samples"""

import argparse
import pathlib

import jax
import jax.numpy as jnp
from galatea.jax import Loader

SIZE, CLASSES = 32, 10


def loss_of(weights, images, labels):
    hidden = jax.nn.relu(images.reshape(len(images), -1) @ weights["first"])
    chances = jax.nn.log_softmax(hidden @ weights["second"])
    return -jnp.mean(jnp.take_along_axis(chances, labels, axis=1))


@jax.jit
def step(weights, images, labels):
    loss, slopes = jax.value_and_grad(loss_of)(weights, images, labels)
    return jax.tree.map(lambda weight, slope: weight - 1e-3 * slope, weights, slopes), loss


first, second = jax.random.split(jax.random.key(0))
weights = {
    "first": 0.02 * jax.random.normal(first, (SIZE * SIZE * 3, 32)),
    "second": 0.1 * jax.random.normal(second, (32, CLASSES)),
}
parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("data", help="a folder with a folder of pictures for each class")
data = parser.parse_args().data
pipeline = pathlib.Path(__file__).with_name("train.dali-dsl")
# jax compiles for one shape: batches that are not full are left out.
with Loader(pipeline, data=data, size=SIZE, layout="HWC", last_batch="drop") as loader:
    for number, (images, labels) in enumerate(loader):
        weights, loss = step(weights, images, labels)
        print(f"batch {number}: {len(images)} images, loss {loss:.4f}")
