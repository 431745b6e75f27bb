#!/usr/bin/env python3
"""Records what timm's warps make of a picture (with Pillow), in the form of tests/oracle.

Out: data/timm_warps.json, data/timm_warps.bin. Needs: pip install --no-deps timm, and numpy and pillow. timm's module is run
from its file, so that torch is not needed. The picture has a border of the fill colour, so that it makes no difference that
Pillow fills where a place is outside and we where a pixel is.
"""
import io
import json
import os

import numpy as np
import PIL
from PIL import Image

from make_tables import load

HERE = os.path.dirname(os.path.abspath(__file__))
FILL = (124, 116, 104)
HEIGHT, WIDTH, BORDER = 31, 44, 4
TEXT = """from nvidia.dali import fn, pipeline_def, types
from galatea.auto_aug import timm


@pipeline_def(batch_size=1, num_threads=1)
def p():
    x = fn.external_source(name="x", dtype=types.UINT8, ndim=3, layout="HWC")
    return timm.warped("{name}", x, {value!r}, {fill}, types.INTERP_{kind})
"""
WHY = "Pillow truncates where we round, and steps along a row in double precision"


def picture():
    """Noise, smoothed a little, within a border."""
    noise = np.random.Generator(np.random.PCG64(77)).integers(0, 256, (HEIGHT, WIDTH, 3)).astype(np.float64)
    noise[1:] = (noise[1:] + noise[:-1]) / 2
    image = np.empty((HEIGHT, WIDTH, 3), np.uint8)
    image[:] = FILL
    inner = slice(BORDER, -BORDER)
    image[inner, inner] = noise[inner, inner].astype(np.uint8)
    return image


class Blobs:
    def __init__(self):
        self.data = bytearray()

    def add(self, array):
        stream = io.BytesIO()
        np.lib.format.write_array(stream, np.array(array, order="C"), version=(1, 0), allow_pickle=False)
        place = [len(self.data), len(stream.getvalue())]
        self.data += stream.getvalue()
        return place


def main():
    timm = load("timm", "data/auto_augment.py", "fake_auto_augment")
    functions = {
        "Rotate": (timm.rotate, 1, [17.0, -29.5]),
        "ShearX": (timm.shear_x, -1, [0.27, -0.11]),
        "ShearY": (timm.shear_y, -1, [0.19]),
        "TranslateX": (timm.translate_x_abs, -1, [5.25]),
        "TranslateY": (timm.translate_y_abs, -1, [-3.5]),
        "TranslateXRel": (timm.translate_x_rel, -1, [0.1625]),
        "TranslateYRel": (timm.translate_y_rel, -1, [-0.0875]),
    }
    kinds = {"CUBIC": Image.Resampling.BICUBIC, "LINEAR": Image.Resampling.BILINEAR}
    blobs, cases = Blobs(), []
    image = picture()
    place = blobs.add(image)
    for name, (function, sign, values) in functions.items():
        for value in values:
            for kind, resample in kinds.items():
                # Pillow's matrices lead from the output to the image, ours to the output; signs are drawn anyway.
                out = function(Image.fromarray(image), sign * value, resample=resample, fillcolor=FILL)
                cases.append({
                    "name": f"{name}_{value:g}_{kind.lower()}",
                    "text": TEXT.format(name=name, value=value, fill=list(FILL), kind=kind),
                    "inputs": {"x": [place]},
                    "outputs": [[blobs.add(np.asarray(out))]],
                    "layouts": ["HWC"],
                    "tolerance": 1,
                    "tolerance_kind": "abs",
                    "why": WHY,
                })
    os.makedirs(os.path.join(HERE, "data"), exist_ok=True)
    with open(os.path.join(HERE, "data", "timm_warps.json"), "w", encoding="utf-8") as file:
        file.write('{"dali": "none: Pillow %s", "numpy": "%s", "cases": [\n' % (PIL.__version__, np.__version__))
        file.write(",\n".join(json.dumps(case) for case in cases))
        file.write("\n]}\n")
    with open(os.path.join(HERE, "data", "timm_warps.bin"), "wb") as file:
        file.write(blobs.data)


if __name__ == "__main__":
    main()
