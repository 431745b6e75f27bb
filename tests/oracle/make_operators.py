#!/usr/bin/env python3
"""Records what DALI's CPU operators do, as data for tests/oracle.

Out: data/<group>.json and data/<group>.bin beside this file, all groups or those named on the command line.
Needs: pip install nvidia-dali-cuda130 numpy pillow opencv-python-headless soundfile (no GPU). States the DALI version in every index.
Also checks DALI against formulas.py and prints each disagreement; status 1 if there is one.
"""
import importlib
import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)

from recorder import Group  # noqa: E402

GROUPS = ["resize", "window", "colour", "filter", "warp", "transforms", "shape", "arithmetic", "indexing", "decode", "branch", "random",
          "pipeline", "values", "tables", "auto_augment", "sequences", "batch", "numbers", "volumes", "tensors", "cropped", "neighbours", "placed", "tensor_resize", "debayer",
          "arguments", "boxes", "box_rows", "pasted", "jpeg", "detection", "pictures", "space", "waveforms", "sound", "speech"]


def main(names):
    folder = os.path.join(HERE, "data")
    os.makedirs(folder, exist_ok=True)
    disagreements = 0
    for name in names or GROUPS:
        group = Group(name)
        importlib.import_module("cases_" + name).add(group)
        disagreements += group.write(folder)
    print(f"{disagreements} disagreements between DALI and the formulas")
    return 1 if disagreements else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
