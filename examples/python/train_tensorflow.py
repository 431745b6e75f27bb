"""Trains a small network of tensorflow for one epoch: python train_tensorflow.py build/samples"""

import argparse
import pathlib

import galatea
import tensorflow as tf
from galatea.tensorflow import dataset

SIZE, CLASSES = 32, 10

tf.random.set_seed(0)
first = tf.Variable(0.02 * tf.random.normal((SIZE * SIZE * 3, 32)))
second = tf.Variable(0.1 * tf.random.normal((32, CLASSES)))


@tf.function
def step(images, labels):
    with tf.GradientTape() as tape:
        hidden = tf.nn.relu(tf.reshape(images, (-1, SIZE * SIZE * 3)) @ first)
        losses = tf.nn.sparse_softmax_cross_entropy_with_logits(labels[:, 0], hidden @ second)
        loss = tf.reduce_mean(losses)
    for weight, slope in zip((first, second), tape.gradient(loss, (first, second))):
        weight.assign_sub(1e-3 * slope)
    return loss


parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("data", help="a folder with a folder of pictures for each class")
data = parser.parse_args().data
pipeline = pathlib.Path(__file__).with_name("train.dali-dsl")
with galatea.Loader(pipeline, data=data, size=SIZE, layout="HWC") as loader:
    for number, (images, labels) in enumerate(dataset(loader).prefetch(1)):
        loss = step(images, labels)
        print(f"batch {number}: {len(images)} images, loss {loss.numpy():.4f}")
