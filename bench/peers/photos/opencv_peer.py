"""OpenCV by hand in threads of one process: what someone writes who leaves the frameworks out. Resizing averages areas where it makes smaller."""

import concurrent.futures
import glob
import os
import random

import by_opencv
import cv2
import measure
import numpy as np


def resize(image, size=(measure.SIZE, measure.SIZE)):
    # The nearest thing to antialiasing that is fast in OpenCV: its linear resize reads four pixels at any scale.
    smaller = image.shape[0] > size[1] and image.shape[1] > size[0]
    return cv2.resize(image, size, interpolation=cv2.INTER_AREA if smaller else cv2.INTER_LINEAR)


def random_window(image, chance):
    height, width = image.shape[:2]
    for _ in range(10):
        area = height * width * chance.uniform(*measure.AREA)
        ratio = np.exp(chance.uniform(*np.log(measure.RATIO)))
        w, h = round((area * ratio) ** 0.5), round((area / ratio) ** 0.5)
        if 0 < w <= width and 0 < h <= height:
            top, left = chance.randint(0, height - h), chance.randint(0, width - w)
            return image[top:top + h, left:left + w]
    return image


def color_rotate(image, angle, **twist):
    return cv2.transform(by_opencv.rotate(image, angle), by_opencv.twist_matrix(**twist))


def center_crop(image):
    height, width = image.shape[:2]
    scale = measure.SHORTER / min(height, width)
    image = resize(image, (round(width * scale), round(height * scale)))
    top, left = (image.shape[0] - measure.SIZE) // 2, (image.shape[1] - measure.SIZE) // 2
    return image[top:top + measure.SIZE, left:left + measure.SIZE]


def augment(bench, image, chance):
    if bench == "imagenet-val":
        return center_crop(image)
    image = resize(random_window(image, chance))
    if bench == "train-color-rotate":
        image = color_rotate(image, chance.uniform(-measure.MAX_ANGLE, measure.MAX_ANGLE), brightness=chance.uniform(*measure.TWIST),
                             contrast=chance.uniform(*measure.TWIST), saturation=chance.uniform(*measure.TWIST),
                             hue=chance.uniform(-measure.MAX_HUE, measure.MAX_HUE))
    if bench == "seed-conditional":
        image = by_opencv.saturation_or_edges(image, chance.random() < 0.5)
    return cv2.flip(image, 1) if chance.random() < 0.5 else image


def fixed(bench, image, label, p):
    if bench == "imagenet-val":
        return center_crop(image)
    image = resize(image[p["top"]:p["top"] + p["height"], p["left"]:p["left"] + p["width"]])
    if bench == "train-color-rotate":
        return color_rotate(image, **{name: p[name] for name in ("angle", "brightness", "contrast", "saturation", "hue")})
    if bench == "seed-conditional":
        return by_opencv.saturation_or_edges(image, label % 2 == 0)
    return image


def main():
    args = measure.arguments()
    cv2.setNumThreads(1)
    if args.fixed:
        shape = (3, measure.SIZE, measure.SIZE)
        measure.compare(args, [by_opencv.normalize(np.ascontiguousarray(fixed(args.bench, by_opencv.load(path), label, args.parameters)),
                                                   np.empty(shape, np.float32)) for path, label in measure.fixed_files(args)])
        return
    paths = sorted(glob.glob(os.path.join(args.photos, "*", "*")))
    chance = random.Random(42)
    ring = [np.empty((args.batch_size, 3, measure.SIZE, measure.SIZE), np.float32) for _ in range(3)]

    def make(batch, paths):
        def one(i):
            by_opencv.normalize(np.ascontiguousarray(augment(args.bench, by_opencv.load(paths[i]), chance)), batch[i])

        if args.threads == 1:
            for i in range(len(paths)):
                one(i)
        else:
            list(pool.map(one, range(len(paths))))

    def run_epoch():
        order = paths[:]
        if args.bench != "imagenet-val":
            chance.shuffle(order)
        for number, at in enumerate(range(0, len(order), args.batch_size)):
            make(ring[number % len(ring)], order[at:at + args.batch_size])
        return len(order)

    with concurrent.futures.ThreadPoolExecutor(args.threads) as pool:
        measure.report(run_epoch, args, {"opencv": cv2.__version__})


main()
