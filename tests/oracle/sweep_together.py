#!/usr/bin/env python3
"""Runs random programs of galatea.together and computes boxes, points and masks once more, with NumPy, from numbers of each picture.

usage: PYTHONPATH=build/python GALATEA_BUILD=$PWD/build python3 tests/oracle/sweep_together.py [--count=500] [--first=0] [--case=SEED]

A program is one to three steps, of which policies are half, over pictures of several sizes. Its mask numbers the pixels of the first
picture, so that each pixel of the last one says where it comes from: nothing but the mask's own pixels tells whether t.matrix is true,
and t.matrix tells points and boxes. What a picture on the way cuts off is known from the matrices and extents behind each step; of a
policy that may move a picture more than once, boxes are held between what the mask shows and what the frame allows. Status 1 if a
program differs.
"""
import argparse
import collections
import math
import sys

import numpy as np

HEAD = """import galatea
from galatea import fn, pipeline_def, types
from galatea.auto_aug import auto_augment, policy, rand_augment, timm, torchvision, trivial_augment


@pipeline_def(batch_size={samples}, num_threads=1, seed={seed})
def p():
    image = fn.external_source(name="image", dtype=types.UINT8, layout="HWC", ndim=3)
    mask = fn.external_source(name="mask", dtype=types.INT16, layout="HW", ndim=2)
    boxes = fn.external_source(name="boxes", dtype=types.FLOAT, ndim=2)
    labels = fn.external_source(name="labels", dtype=types.INT32, ndim=1)
    points = fn.external_source(name="points", dtype=types.FLOAT, ndim={points_ndim})
    t = galatea.together(image=image, mask=mask, boxes=boxes, labels=labels, points=points,
                         box_format="{box_format}", relative={relative}, min_visible={min_visible})
    s0 = t.shape()
{steps}
    return t.mask, t.boxes, t.labels, t.points, t.inside, s0, {numbers}
"""
SAMPLES = 4
UNIFORM = "fn.random.uniform(range=[{}, {}])"


# ---------------------------------------------------------------------------------------------------- programs

def moving_step(rng):
    """A step, and how many times it moves the picture at most."""
    h, w = (int(n) for n in rng.integers(24, 100, size=2))
    some = lambda low, high: UNIFORM.format(low, high)
    return rng.choice([
        f"fn.resize(t, size=[{h}, {w}])",
        f"fn.resize(t, resize_shorter={h})",
        f"fn.crop(t, crop=[{min(h, 30)}, {min(w, 34)}], crop_pos_x={some(0.0, 1.0)}, crop_pos_y={some(0.0, 1.0)})",
        f"fn.crop(t, crop=[{h + 40}, {w + 40}], out_of_bounds_policy=\"pad\")",
        "fn.slice(t, rel_start=[0.2, 0.1], rel_shape=[0.5, 0.7])",
        "fn.flip(t, horizontal=fn.random.coin_flip(), vertical=fn.random.coin_flip())",
        f"fn.rotate(t, angle={some(-70.0, 70.0)}, fill_value=9)",
        f"fn.rotate(t, angle={some(-70.0, 70.0)}, keep_size=True, fill_value=9)",
        f"fn.random_resized_crop(t, size=[{h}, {w}], random_area=[0.3, 0.9])",
        f"fn.resize_crop_mirror(t, size=[{h + 8}, {w + 8}], crop=[{h}, {w}], mirror=fn.random.coin_flip())",
        f"fn.paste(t, ratio={some(1.0, 1.8)}, paste_x={some(0.0, 1.0)}, paste_y={some(0.0, 1.0)}, fill_value=9)",
        "fn.warp_affine(t, fn.transforms.shear(angles=fn.random.uniform(range=[-15.0, 15.0], shape=[2])), inverse_map=False,"
        " fill_value=1)",
        "fn.galatea.random_perspective(t, distortion_scale=0.4, p=0.8, fill_value=1)",
        f"fn.pad(t, axis_names=\"HW\", shape=[{h + 60}, {w + 60}], fill_value=3)",
    ]), 1


def policy_step(rng):
    m = int(rng.integers(0, 31))
    n = int(rng.integers(1, 4))
    config = rng.choice(["original", "originalr", "v0", "v0r", "3a"])
    named = rng.choice(["imagenet", "cifar10", "svhn"])
    suite = rng.choice(["reduced_cifar10", "svhn", "reduced_image_net", "image_net"])
    chosen = ("{\"bins\": 11, \"augmentations\": {\"rotate\": {\"range\": [0, 30], \"negate\": True}, \"equalize\": {},"
              " \"shear_x\": {\"range\": [0, 0.3], \"negate\": True, \"param\": \"vec_x\"}}, \"policy\": {\"choose\": 2, \"from\":"
              " [[\"rotate\", 0.8, 6], [\"equalize\", 0.5, None], [\"shear_x\", 0.7, 9]]}}")
    return [
        (f"rand_augment.rand_augment(t, n={n}, m={m}, fill_value=7)", n),
        (f"rand_augment.rand_augment(t, n={n}, m={m}, monotonic_mag=False)", n),
        ("auto_augment.auto_augment(t, fill_value=7)", 2),
        ("auto_augment.auto_augment_image_net(t)", 2),
        (f"auto_augment.apply_auto_augment(auto_augment.get_{suite}_policy(), t)", 2),
        ("trivial_augment.trivial_augment_wide(t, fill_value=7)", 1),
        ("trivial_augment.trivial_augment_wide(t)", 1),
        (f"torchvision.RandAugment(num_ops={n}, magnitude={m})(t)", n),
        ("torchvision.TrivialAugmentWide()(t)", 1),
        (f"torchvision.AutoAugment(\"{named}\")(t)", 2),
        (f"timm.transform(\"rand-m{m % 11}-n{n}-mstd0.5-inc1\")(t)", n),
        (f"timm.transform(\"{config}-mstd0.5\")(t)", 2),
        (f"policy.define({chosen})(t)", 2),
    ][int(rng.integers(13))]


class Case:
    def __init__(self, seed):
        rng = np.random.default_rng(seed)
        self.rng = rng
        self.seed = seed
        self.box_format = str(rng.choice(["xyxy", "xywh", "cxcywh"]))
        self.relative = bool(rng.integers(2))
        self.min_visible = float(rng.choice([0.0, 0.25, 0.5, 0.8]))
        self.points_of_boxes = bool(rng.integers(2))
        self.steps = [(policy_step if rng.integers(2) else moving_step)(rng) for _ in range(int(rng.integers(1, 4)))]
        if all(moves == 1 and "aug" not in step.lower() for step, moves in self.steps):
            self.steps.append(policy_step(rng))
        self.feeds = {name: [] for name in ("image", "mask", "boxes", "labels", "points")}
        self.corners, self.places = [], []
        for _ in range(SAMPLES):
            self.add_sample()
        lines, numbers = [], []
        for k, (step, _) in enumerate(self.steps, 1):
            lines += [f"    t = {step}", f"    m{k} = t.matrix", f"    s{k} = t.shape()"]
            numbers += [f"m{k}", f"s{k}"]
        self.text = HEAD.format(samples=SAMPLES, seed=seed, points_ndim=3 if self.points_of_boxes else 2, box_format=self.box_format,
                                relative=self.relative, min_visible=self.min_visible, steps="\n".join(lines), numbers=", ".join(numbers))

    def add_sample(self):
        rng = self.rng
        h, w = (int(n) for n in rng.integers(40, 120, size=2))
        n = int(rng.integers(0, 6))
        unit = np.array([w, h, w, h], np.float64) if self.relative else np.ones(4)
        first = rng.uniform(0, 0.7, size=(n, 2)) * [w, h]
        corners = np.concatenate([first, first + rng.uniform(0.05, 0.3, size=(n, 2)) * [w, h]], axis=1)
        boxes = corners.copy()
        if self.box_format == "xywh":
            boxes[:, 2:] -= boxes[:, :2]
        if self.box_format == "cxcywh":
            boxes = np.concatenate([(corners[:, :2] + corners[:, 2:]) / 2, corners[:, 2:] - corners[:, :2]], axis=1)
        shape = (n, 3, 2) if self.points_of_boxes else (5, 2)
        places = rng.uniform(-0.05, 1.05, size=shape) * [w, h]
        self.corners.append(corners)
        self.places.append(places)
        self.feeds["image"].append(rng.integers(0, 256, size=(h, w, 3), dtype=np.uint8))
        self.feeds["mask"].append(np.arange(1, h * w + 1, dtype=np.int16).reshape(h, w))
        self.feeds["boxes"].append((boxes / unit).astype(np.float32))
        self.feeds["labels"].append(np.arange(n, dtype=np.int32))
        self.feeds["points"].append((places / unit[:2]).astype(np.float32))

    @property
    def is_exact(self):
        return all(moves == 1 for _, moves in self.steps)


# ---------------------------------------------------------------------------------------------------- once more

def moved(matrix, places):
    flat = places.reshape(-1, 2)
    out = np.concatenate([flat, np.ones((len(flat), 1))], axis=1) @ matrix.T
    with np.errstate(divide="ignore", invalid="ignore"):
        return (out[:, :2] / out[:, 2:]).reshape(places.shape)


def around(matrix, box):
    """The box around the four corners of one."""
    x0, y0, x1, y1 = box
    at = moved(matrix, np.array([[x0, y0], [x1, y0], [x0, y1], [x1, y1]]))
    return np.concatenate([at.min(axis=0), at.max(axis=0)])


def common(a, b):
    return np.concatenate([np.maximum(a[:2], b[:2]), np.minimum(a[2:], b[2:])])


def area(box):
    return max(box[2] - box[0], 0) * max(box[3] - box[1], 0)


class Sample:
    """What one sample must be."""

    def __init__(self, case, k, outputs):
        self.case, self.k = case, k
        self.mask, self.boxes, self.labels, self.points, self.inside, first = (np.asarray(o) for o in outputs[:6])
        self.mask = self.mask.reshape(self.mask.shape[:2])
        self.sizes = [first] + [np.asarray(o) for o in outputs[7::2]]
        self.matrices = [np.eye(3)] + [np.asarray(o, np.float64) for o in outputs[6::2]]
        self.matrix = self.matrices[-1]
        self.frames = [np.array([0, 0, size[1], size[0]], np.float64) for size in self.sizes]
        self.height, self.width = (int(n) for n in self.sizes[-1][:2])

    def faults(self):
        yield from self.faults_of_mask()
        yield from self.faults_of_points()
        yield from self.faults_of_boxes()

    def origins(self):
        """Of pixels that show something: their centres, and those that they come from."""
        y, x = np.nonzero(self.mask)
        number = self.mask[y, x].astype(int) - 1
        width = self.case.feeds["mask"][self.k].shape[1]
        return np.stack([x, y], 1) + 0.5, np.stack([number % width, number // width], 1) + 0.5

    def slack(self):
        """Nearest neighbours take half a pixel of each picture on the way, in pixels of the first one."""
        moves = sum(moves for _, moves in self.case.steps)
        scale = 1.0
        for matrix, frame in zip(self.matrices, self.frames):
            inverse = np.linalg.inv(matrix)
            middle = np.array([[frame[2] / 2, frame[3] / 2]])
            for step in ([1, 0], [0, 1]):
                scale = max(scale, np.abs(moved(inverse, middle + step) - moved(inverse, middle)).sum())
        return 0.51 + 0.75 * scale * (moves - 1)

    def faults_of_mask(self):
        if self.mask.shape != (self.height, self.width):
            yield "mask", f"extents {self.mask.shape}, image {self.height, self.width}"
            return
        here, there = self.origins()
        if len(here) < 20:
            return
        off = moved(np.linalg.inv(self.matrix), here) - there
        if np.abs(off).max() > self.slack():
            yield "mask", f"a pixel is {np.abs(off).max():.2f} of the first picture away from where t.matrix says ({self.slack():.2f} may be)"

    def unit(self):
        return np.array([self.width, self.height] * 2, np.float64) if self.case.relative else np.ones(4)

    def faults_of_points(self):
        places = self.case.places[self.k]
        if self.case.points_of_boxes:
            places = places[self.labels]
        if self.points.shape != places.shape:
            yield "points", f"extents {self.points.shape} for {places.shape}"
            return
        wanted = moved(self.matrix, places)
        got = self.points * self.unit()[:2]
        off = np.abs(got - wanted)
        if off.size and not (off <= 0.02 + 1e-3 * np.abs(wanted)).all():
            yield "points", f"off by {off.max():.3f}"
        may = np.ones(places.shape[:-1], bool)
        edge = np.zeros(places.shape[:-1], bool)
        for matrix, frame in zip(self.matrices, self.frames):
            at = moved(matrix, places)
            may &= ((at >= frame[:2]) & (at <= frame[2:])).all(axis=-1)
            edge |= (np.minimum(np.abs(at - frame[:2]), np.abs(at - frame[2:])) < 0.01).any(axis=-1)
        given = self.inside.astype(bool)
        wrong = (given & ~may) | ((given != may) if self.case.is_exact else False)
        if (wrong & ~edge).any():
            yield "inside", f"{given} for {may}"
        yield from self.marks(got[given], places[given])

    def marks(self, there, places):
        """The mask marks the pixels of points that are inside, a pixel away at most."""
        width = self.case.feeds["mask"][self.k].shape[1]
        for at, place in zip(there, places):
            x, y = (int(math.floor(n)) for n in at)
            near = self.mask[max(y - 1, 0):y + 2, max(x - 1, 0):x + 2]
            number = near[near > 0].astype(int) - 1
            if not number.size:
                yield "marks", f"a point at {at} is inside, and its surroundings are not shown"
                continue
            off = np.abs(np.stack([number % width, number // width], -1) + 0.5 - place).max(axis=-1).min()
            if off > self.slack() + 0.5:
                yield "marks", f"the mask shows a point at {at} {off:.2f} away"

    def corners_given(self):
        boxes = self.boxes.astype(np.float64) * self.unit()
        if self.case.box_format == "xywh":
            boxes = np.concatenate([boxes[:, :2], boxes[:, :2] + boxes[:, 2:]], axis=1)
        if self.case.box_format == "cxcywh":
            boxes = np.concatenate([boxes[:, :2] - boxes[:, 2:] / 2, boxes[:, :2] + boxes[:, 2:] / 2], axis=1)
        return boxes

    def shown(self, corners):
        """The box around pixels that come from within a box, for which half a pixel less is asked."""
        here, there = self.origins()
        within = ((there >= corners[:2]) & (there <= corners[2:])).all(axis=1)
        if not within.any():
            return None
        return np.concatenate([here[within].min(axis=0), here[within].max(axis=0)])

    def faults_of_boxes(self):
        if len(self.labels) != len(self.boxes) or (np.diff(self.labels) <= 0).any():
            yield "labels", f"{self.labels} for {len(self.boxes)} boxes"
            return
        given = dict(zip(self.labels.tolist(), self.corners_given()))
        for n, corners in enumerate(self.case.corners[self.k]):
            whole = around(self.matrix, corners)
            visible = common(corners, self.frames[0])
            for k in range(1, len(self.matrices)):
                step = self.matrices[k] @ np.linalg.inv(self.matrices[k - 1])
                visible = common(around(step, visible), self.frames[k]) if area(visible) > 0 else visible
            allowed = common(whole, self.frames[-1])
            seen = common(whole, visible)
            box = given.get(n)
            share = area(seen) / max(area(whole), 1e-9) if area(visible) > 0 else 0
            if self.case.is_exact:
                if abs(share - self.case.min_visible) < 1e-3 or area(seen) < 1e-3:
                    continue
                if (box is not None) != (share >= self.case.min_visible):
                    yield "filter", f"box {n}, of which {share:.3f} is seen, is {'kept' if box is not None else 'dropped'}"
                elif box is not None and np.abs(box - seen).max() > 0.05 + 1e-3 * np.abs(whole).max():
                    yield "boxes", f"box {n}: {box} for {seen}"
                continue
            shown = self.shown(corners)
            if box is None:
                if shown is not None and area(shown) > (self.case.min_visible + 0.02) * area(whole) + 2:
                    yield "filter", f"box {n} is gone; the mask shows {shown} of {whole}"
                continue
            if (box[:2] < allowed[:2] - 0.1).any() or (box[2:] > allowed[2:] + 0.1).any():
                yield "boxes", f"box {n}: {box} is not within {allowed}"
            if area(box) < (self.case.min_visible - 1e-3) * area(whole):
                yield "filter", f"box {n} is kept, of which {area(box) / area(whole):.3f} is seen"
            reach = 1 + sum(moves for _, moves in self.case.steps)
            if shown is not None and ((shown[:2] < box[:2] - reach).any() or (shown[2:] > box[2:] + reach).any()):
                yield "boxes", f"box {n}: {box}, the mask shows {shown}"


def run(case):
    import galatea

    loader = galatea.Loader(galatea.TextPipeline(case.text))
    for name, values in case.feeds.items():
        loader.feed(name, values)
    batch = next(iter(loader))
    return [[np.array(output[k].numpy() if hasattr(output[k], "numpy") else output[k]) for k in range(SAMPLES)] for output in batch]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=500)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--case", type=int)
    arguments = parser.parse_args()
    if arguments.case is not None:
        print(Case(arguments.case).text)
        arguments.first, arguments.count = arguments.case, 1
    differing, counts, policies = [], collections.Counter(), collections.Counter()
    for seed in range(arguments.first, arguments.first + arguments.count):
        case = Case(seed)
        counts["programs"] += 1
        counts["exact" if case.is_exact else "between bounds"] += 1
        policies.update(step.split("(")[0] for step, _ in case.steps)
        outputs = run(case)
        faults = []
        for k in range(SAMPLES):
            sample = Sample(case, k, [output[k] for output in outputs])
            counts["boxes"] += len(sample.boxes)
            counts["boxes dropped"] += len(case.corners[k]) - len(sample.boxes)
            counts["points"] += sample.inside.size
            faults += [(kind, f"sample {k}: {words}") for kind, words in sample.faults()]
        if faults:
            differing.append(seed)
            print(f"{seed}: {[step for step, _ in case.steps]}")
            for kind, words in faults[:4]:
                print(f"    {kind}: {words}")
    print(", ".join(f"{number} {name}" for name, number in sorted(counts.items())))
    print(", ".join(f"{number} {name}" for name, number in policies.most_common()))
    print(f"{len(differing)} differ: {differing}")
    return 1 if differing else 0


if __name__ == "__main__":
    sys.exit(main())
