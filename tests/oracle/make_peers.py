#!/usr/bin/env python3
"""Records what Pillow, torchvision, OpenCV and Albumentations make of images: for the presets of docs/compat.md, for
what DALI does not have (`detection`), and for the pages that translate from these libraries (`albumentations`,
`torchvision`).

Out: peers/<group>.json and peers/<group>.bin beside this file, all groups or those named on the command line.
Each case is a pipeline text, of a preset with `compat=`, its inputs, and what the library made of the same inputs.

    python3 -m venv venv
    venv/bin/pip install nvidia-dali-cuda130 numpy pillow torch torchvision opencv-python-headless albumentations
    venv/bin/python tests/oracle/make_peers.py [group ...]

(nvidia-dali because recorder.py, which writes the data, imports it.)
"""
import importlib
import json
import os
import sys

import numpy as np

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)

from recorder import Blobs, Feed, pipeline_text  # noqa: E402

GROUPS = ["resize", "colour", "blur", "warp", "perspective", "floats", "decode", "jitter", "detection", "albumentations", "torchvision"]


def versions():
    import cv2
    import PIL
    import torch
    import torchvision

    return {"pillow": PIL.__version__, "torch": torch.__version__, "torchvision": torchvision.__version__,
            "opencv": cv2.__version__, "numpy": np.__version__}


class PeerGroup:
    """The cases of one index file: as recorder.Group, with a function of a library in DALI's place."""

    def __init__(self, name):
        self.name = name
        self.cases = []
        self.blobs = Blobs()

    def case(self, name, body, samples, peer, layout="HWC", tolerance=0, why="", mean_tolerance=None):
        """`peer` maps one sample to the library's output for it; `body` is the pipeline's expression of `x`."""
        self.record(name, body, {"x": Feed(samples, layout)}, peer, "HWC", tolerance, why, mean_tolerance)

    def record(self, name, body, feeds, peer, layout="", tolerance=0, why="", mean_tolerance=None):
        """The same of several inputs, which `peer` takes in order, and of an output of any layout."""
        assert name not in {case["name"] for case in self.cases}, name
        assert bool(tolerance) == bool(why), name
        outputs = [np.asarray(peer(*samples)) for samples in zip(*(feed.samples for feed in feeds.values()))]
        text = pipeline_text(body, feeds).replace("from nvidia.dali import", "from galatea import")
        self.cases.append({
            "name": name,
            "text": text,
            "inputs": {input: [self.blobs.add(sample) for sample in feed.samples] for input, feed in feeds.items()},
            "outputs": [[self.blobs.add(output) for output in outputs]],
            "layouts": [layout],
            "tolerance": tolerance,
            **({"tolerance_kind": "abs", "why": why} if tolerance else {}),
            **({"mean_tolerance": mean_tolerance} if mean_tolerance is not None else {}),
        })

    def write(self, folder):
        with open(os.path.join(folder, self.name + ".json"), "w", encoding="utf-8") as file:
            file.write('{"dali": "none", "peers": %s, "cases": [\n' % json.dumps(versions()))
            file.write(",\n".join(json.dumps(case, ensure_ascii=False) for case in self.cases))
            file.write("\n]}\n")
        with open(os.path.join(folder, self.name + ".bin"), "wb") as file:
            file.write(self.blobs.data)
        print(f"{self.name}: {len(self.cases)} cases, {len(self.blobs.data) / 1024:.0f} KiB")


def main(names):
    folder = os.path.join(HERE, "peers")
    os.makedirs(folder, exist_ok=True)
    for name in names or GROUPS:
        group = PeerGroup(name)
        importlib.import_module("peers_" + name).add(group)
        group.write(folder)


if __name__ == "__main__":
    main(sys.argv[1:])
