"""ColorJitter by torchvision, with amounts that are fixed, in each order: galatea.color_jitter draws one of them."""
import itertools

import numpy as np
import torch
import torchvision.transforms.v2.functional as F

SIZE = (5, 6)
AMOUNTS = {"brightness": 1.75, "contrast": 1.5, "saturation": 2.0, "hue": 0.1875}
STEPS = {"brightness": F.adjust_brightness, "contrast": F.adjust_contrast, "saturation": F.adjust_saturation,
         "hue": F.adjust_hue}


def picture(channels):
    """Some of it is clamped by every step."""
    return np.random.Generator(np.random.PCG64(31)).integers(0, 256, (*SIZE, channels), dtype=np.uint8)


def in_order(order):
    def run(image):
        tensor = torch.from_numpy(image).permute(2, 0, 1)
        for step in order:
            tensor = STEPS[step](tensor, AMOUNTS[step])
        return tensor.permute(1, 2, 0).numpy()
    return run


def add_orders(group, kind, steps, image, tolerance, why, of="x"):
    """The cases `kind_bcsh`, `kind_bchs` and so on. No two of them are near each other."""
    amounts = ", ".join(f"{step}=({AMOUNTS[step]}, {AMOUNTS[step]})" for step in steps)
    results = []
    for order in itertools.permutations(steps):
        group.case(f"{kind}_{''.join(step[0] for step in order)}", f"fn.galatea.color_jitter({of}, {amounts})",
                   [image], in_order(order), tolerance=tolerance, why=why)
        results.append(in_order(order)(image))
    for one, other in itertools.combinations(results, 2):
        assert np.abs(one.astype(np.float64) - other).max() > 4 * tolerance


def add(group):
    coloured, grey = picture(3), picture(1)
    unit = (coloured / np.float32(255)).astype(np.float32)
    level = "f32 in another order: a number that is nearly whole loses its fraction"
    add_orders(group, "bytes", list(AMOUNTS), coloured, 1, level)
    add_orders(group, "floats", list(AMOUNTS), unit, 1e-5, "f32 in another order")
    add_orders(group, "flat", ["brightness", "saturation", "hue"], coloured, 1, level)
    add_orders(group, "grey", ["brightness", "contrast"], grey, 1, level, of='fn.reshape(x, shape=[5, 6, 1], layout="HWC")')
