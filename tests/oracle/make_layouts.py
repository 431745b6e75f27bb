#!/usr/bin/env python3
"""Records which layouts of images, sequences and volumes DALI's operators take on the CPU, as layouts.json.

Needs DALI as make_operators.py does, and no GPU. Each call runs on one array of bytes for each layout; a layout that the
operator refuses is left out. Calls that say something of a volume's depth stand under names of their own.
"""
import json
import os
import warnings

import numpy as np

warnings.simplefilter("ignore")
from nvidia import dali  # noqa: E402
from nvidia.dali import fn, pipeline_def, types  # noqa: E402

LAYOUTS = ["HWC", "CHW", "HW", "FHWC", "FCHW", "CFHW", "FHW", "DHWC", "CDHW", "DCHW", "DHW", "FDHWC", "FCDHW", "FDCHW"]
EXTENTS = {"F": 2, "D": 3, "H": 6, "W": 8, "C": 3}
CALLS = {
    "brightness": lambda x: fn.brightness(x, brightness=1.3),
    "contrast": lambda x: fn.contrast(x, contrast=1.3),
    "brightness_contrast": lambda x: fn.brightness_contrast(x, brightness=1.3, contrast=0.7),
    "hue": lambda x: fn.hue(x, hue=40.0),
    "saturation": lambda x: fn.saturation(x, saturation=0.5),
    "hsv": lambda x: fn.hsv(x, hue=40.0),
    "color_twist": lambda x: fn.color_twist(x, hue=40.0),
    "color_space_conversion": lambda x: fn.color_space_conversion(x, image_type=types.RGB, output_type=types.GRAY),
    "equalize": lambda x: fn.equalize(x),
    "clahe": lambda x: fn.clahe(x, tiles_x=2, tiles_y=2, clip_limit=2.0),
    "crop": lambda x: fn.crop(x, crop=(4, 4)),
    "crop (d, h, w)": lambda x: fn.crop(x, crop_d=2, crop_h=4, crop_w=4),
    "crop_mirror_normalize": lambda x: fn.crop_mirror_normalize(x, crop=(4, 4), output_layout=""),
    "flip": lambda x: fn.flip(x),
    "flip (depthwise)": lambda x: fn.flip(x, depthwise=1),
    "resize": lambda x: fn.resize(x, size=(5, 4)),
    "resize (d, h, w)": lambda x: fn.resize(x, size=(2, 5, 4)),
    "resize_crop_mirror": lambda x: fn.resize_crop_mirror(x, size=(5, 4), crop=(3, 4)),
    "fast_resize_crop_mirror": lambda x: fn.fast_resize_crop_mirror(x, size=(5, 4), crop=(3, 4)),
    "multi_paste": lambda x: fn.multi_paste(x, in_ids=np.array([0], np.int32), output_size=(9, 9),
                                            shapes=np.array([[2, 3]], np.int32), out_anchors=np.array([[1, 4]], np.int32)),
    "grid_mask": lambda x: fn.grid_mask(x, tile=3),
    "sphere": lambda x: fn.sphere(x),
    "water": lambda x: fn.water(x),
    "random_resized_crop": lambda x: fn.random_resized_crop(x, size=(5, 4)),
    "rotate": lambda x: fn.rotate(x, angle=30.0, fill_value=0),
    "warp_affine": lambda x: fn.warp_affine(x, matrix=[1, 0.1, 0, 0, 1, 0], fill_value=0),
    "experimental.warp_perspective": lambda x: fn.experimental.warp_perspective(x, matrix=[1, 0.1, 0, 0, 1, 0, 0, 0.01, 1]),
    "paste": lambda x: fn.paste(x, ratio=1.5, fill_value=[1]),
    "filter": lambda x: fn.filter(x, np.float32([[0, 0.5, 0], [0, 0.5, 0]])),
    "gaussian_blur": lambda x: fn.gaussian_blur(x, sigma=1.0),
    "laplacian": lambda x: fn.laplacian(x, window_size=3),
}
# Of what runs on GPUs alone the schema says it.
ON_GPU = {"median_blur": "experimental__MedianBlur", "dilate": "experimental__Dilate", "erode": "experimental__Erode", "jitter": "Jitter"}
# Takes any layout for HWC, and corrupts memory.
ONLY = {"grid_mask": ["HWC"]}


def accepts(call, layout):
    data = np.arange(np.prod([EXTENTS[c] for c in layout])).reshape([EXTENTS[c] for c in layout]).astype(np.uint8)

    @pipeline_def(batch_size=1, num_threads=1, device_id=None)
    def pipeline():
        return call(fn.external_source(lambda: [data], layout=layout))

    try:
        built = pipeline()
        built.build()
        built.run()
    except Exception:  # noqa: BLE001 - DALI raises several types, some of them its own
        return False
    return True


def main():
    found = {name: [layout for layout in ONLY.get(name, LAYOUTS) if accepts(call, layout)] for name, call in CALLS.items()}
    for name, schema in ON_GPU.items():
        found[name] = [str(layout) for layout in dali.backend.GetSchema(schema).GetSupportedLayouts(0)]
    path = os.path.join(os.path.dirname(os.path.abspath(__file__)), "layouts.json")
    with open(path, "w", encoding="utf-8") as out:
        lines = [f"  {json.dumps(name)}: {json.dumps(layouts)}" for name, layouts in found.items()]
        out.write(f'{{\n "dali": "{dali.__version__}",\n "layouts": {{\n' + ",\n".join(lines) + "\n }\n}\n")


main()
