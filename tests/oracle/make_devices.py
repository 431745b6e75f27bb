#!/usr/bin/env python3
"""Records which calls DALI accepts by where their inputs lie, and where their results lie, as devices.json.

Needs DALI as make_operators.py does, and no GPU: pipelines are put together, not built. `c`, `g`: an image on the CPU, on the GPU;
`e`: encoded bytes; `n`, `m`: a drawn number on the CPU, on the GPU. `device` is that of the result; null: refused, with DALI's words.
"""
import json
import os
import re

import numpy as np
from nvidia import dali
from nvidia.dali import fn, pipeline_def, types

CALLS = [
    "fn.flip(c)",
    "fn.flip(g)",
    'fn.flip(c, device="gpu")',
    'fn.flip(g, device="cpu")',
    "fn.flip(c.gpu())",
    "fn.flip(g.cpu())",
    "fn.flip(g).cpu().cpu().gpu().gpu()",
    "fn.resize(c, size=[2, 2])",
    "fn.resize(g, size=[2, 2])",
    'fn.resize(c, size=[2, 2], device="gpu")',
    'fn.decoders.image(e, device="mixed")',
    'fn.decoders.image(e, device="cpu")',
    'fn.decoders.image(e, device="gpu")',
    'fn.decoders.image(e.gpu(), device="mixed")',
    'fn.flip(fn.decoders.image(e, device="mixed"))',
    'fn.decoders.image_random_crop(e, device="mixed")',
    "fn.gaussian_blur(g, window_size=3, sigma=n)",
    "fn.gaussian_blur(g, window_size=3, sigma=m)",
    "fn.gaussian_blur(g, window_size=3, sigma=m.cpu())",
    "fn.gaussian_blur(g, window_size=3, sigma=fn.reductions.mean(g))",
    "fn.gaussian_blur(g, window_size=3, sigma=fn.reductions.mean(g).cpu())",
    "fn.flip(g, horizontal=fn.random.coin_flip())",
    'fn.flip(g, horizontal=fn.random.coin_flip(device="gpu"))',
    "c + g",
    "g - c",
    "g * n",
    "c * m",
    "n + m",
    "-g",
    "g * 2 + 1",
    "g + types.Constant(np.array([1.0, 2.0, 3.0], dtype=np.float32))",
    'g + types.Constant(np.array([1.0, 2.0, 3.0], dtype=np.float32), device="cpu")',
    'g + types.Constant(np.array([1.0, 2.0, 3.0], dtype=np.float32), device="gpu")',
    "fn.stack(c, c)",
    "fn.stack(g, g)",
    "fn.stack(c, g)",
    "fn.cat(g, c)",
    "fn.cast_like(c, c)",
    "fn.cast_like(g, c)",
    "fn.cast_like(c, g)",
    "fn.slice(g, fn.random.uniform(range=[0, 0.1], shape=[2]), fn.random.uniform(range=[0.1, 0.2], shape=[2]))",
    "fn.warp_affine(g, fn.transforms.rotation(angle=3.0))",
    "fn.warp_affine(g, fn.transforms.rotation(angle=3.0).gpu())",
    "fn.warp_affine(c, fn.transforms.rotation(angle=3.0).gpu())",
    "fn.warp_affine(g, matrix=fn.transforms.rotation(angle=3.0))",
    "fn.random.uniform(range=[0, 1])",
    'fn.random.uniform(range=[0, 1], device="gpu")',
    "fn.random.uniform(c, range=[0, 1])",
    "fn.random.uniform(g, range=[0, 1])",
    "c.shape()",
    "g.shape()",
    'g.shape(device="gpu")',
    'c.shape(device="gpu")',
    "g[0]",
    "g[fn.random.uniform(range=[0, 1], dtype=types.INT32)]",
    'g[fn.random.uniform(range=[0, 1], dtype=types.INT32, device="gpu")]',
    "fn.reductions.mean(g)",
    "fn.reshape(g, shape=[-1])",
    "fn.transpose(g, perm=[1, 0, 2])",
    "fn.crop_mirror_normalize(g, mirror=fn.random.coin_flip())",
    'fn.crop_mirror_normalize(c, device="gpu")',
    'fn.lookup_table(fn.cast(c, dtype=types.INT32), keys=[1], values=[2], device="gpu")',
]


def judge(call):
    def body():
        c = fn.external_source(name="c", dtype=types.UINT8, ndim=3, layout="HWC")
        e = fn.external_source(name="e", dtype=types.UINT8, ndim=1)
        n = fn.random.uniform(range=[0.5, 1.5])
        names = {"fn": fn, "types": types, "np": np, "c": c, "e": e, "n": n, "g": c.gpu(), "m": n.gpu()}
        result = eval(call, names)  # the calls above
        found.append(result.device)
        return result

    found = []
    try:
        pipeline_def(batch_size=2, num_threads=1, device_id=0)(body)()
    except Exception as error:  # DALI has many
        words = re.sub(r"\s+", " ", str(error)).strip()
        return {"call": call, "device": None, "refused": words[:160]}
    return {"call": call, "device": found[0]}


if __name__ == "__main__":
    path = os.path.join(os.path.dirname(os.path.abspath(__file__)), "devices.json")
    with open(path, "w") as out:
        json.dump({"dali": dali.__version__, "calls": [judge(call) for call in CALLS]}, out, indent=1)
        out.write("\n")
