"""kornia: batches of float tensors, with a parameter per sample where a chain has one. Bytes become floats first, as its users do it.

Its colours are its own (hue and saturation through HSV), and it does not round between operators.
"""

import geometry_maths
import kornia
import numpy as np
import serve
import torch
from color_maths import MEAN, STD
from kornia import enhance, filters
from kornia.geometry import transform

VERSIONS = {"kornia": kornia.__version__, "torch": torch.__version__}
spelled = {}


def of_batch(name):
    def keep(make):
        spelled[name] = make
        return make
    return keep


def measure(work):
    if work.name not in spelled or work.element == "u8" and not work.parameters:
        raise serve.NotSpelled(f"{work.name} of {work.element}")
    torch.set_num_threads(work.threads)
    total = work.batch_size * work.batches
    pictures = torch.from_numpy(np.ascontiguousarray(work.stack().transpose(0, 3, 1, 2)))
    rows = {name: np.stack([work.parameters_of(i)[name] for i in range(total)]) for name in work.parameters}
    call = spelled[work.name](work)

    def run_batch(number):
        these = slice(number * work.batch_size, (number + 1) * work.batch_size)
        if not rows:
            return call(pictures[these])
        return call(pictures[these], {name: values[these] for name, values in rows.items()})

    with torch.inference_mode():
        first = run_batch(0).contiguous().numpy().copy()
        result = serve.timed(run_batch, work)
    return result, first if work.planes else np.ascontiguousarray(first.transpose(0, 2, 3, 1))


# ---- chains ----

def unit(batch):
    return batch.to(torch.float32).mul_(1 / 255)


def normalize(batch):
    return enhance.normalize(batch, torch.tensor(MEAN / 255, dtype=torch.float32), torch.tensor(STD / 255, dtype=torch.float32))


def colors(batch, p):
    def numbers(name):
        return torch.from_numpy(p[name])

    batch = enhance.adjust_brightness_accumulative(unit(batch), numbers("brightness"))
    batch = enhance.adjust_contrast_with_mean_subtraction(batch, numbers("contrast"))
    batch = enhance.adjust_hue(enhance.adjust_saturation(batch, numbers("saturation")), numbers("hue") * (np.pi / 180))
    batch = enhance.solarize(batch, numbers("threshold").to(torch.float32) / 255)
    return enhance.posterize(batch, torch.from_numpy(np.array([bin(mask).count("1") for mask in p["mask"]])))


@of_batch("color-chain bytes")
def _(work):
    return lambda batch, p: colors(batch, p).mul_(255).round_().clamp_(0, 255).to(torch.uint8)


@of_batch("color-chain floats")
def _(work):
    return lambda batch, p: normalize(colors(batch, p))


def warp(batch, back, size):
    """back: maps from places of the output to places of the picture, counted from corners; kornia wants the other way, from centres."""
    centers = np.stack(back)
    centers[:, :2, 2] += centers[:, :2, :2].sum(axis=2) / 2 - 0.5
    forth = torch.from_numpy(np.linalg.inv(centers)[:, :2].astype(np.float32))
    return transform.warp_affine(batch, forth, size)


@of_batch("geometry-chain chain")
@of_batch("geometry-chain composed")
def _(work):
    composed = work.name.endswith("composed")
    size = (geometry_maths.SIZE, geometry_maths.SIZE)

    def call(batch, p):
        batch = unit(batch)
        maps = [geometry_maths.matrices({name: values[i] for name, values in p.items()}, work.height, work.width) for i in range(len(batch))]
        if not composed:
            batch = warp(batch, [turn for *_, turn in maps], (work.height, work.width))
            batch = warp(batch, [shear for *_, shear, _ in maps], (work.height, work.width))
            return normalize(warp(batch, [shift @ flip @ crop for crop, flip, shift, _, _ in maps], size))
        return normalize(warp(batch, [turn @ shear @ shift @ flip @ crop for crop, flip, shift, shear, turn in maps], size))
    return call


# ---- per-op ----

of_batch("brightness")(lambda work: lambda batch: enhance.adjust_brightness_accumulative(batch, 1.3, clip_output=False))
of_batch("saturation")(lambda work: lambda batch: enhance.adjust_saturation(batch, 1.4))
of_batch("hue")(lambda work: lambda batch: enhance.adjust_hue(batch, float(np.deg2rad(20.0))))
of_batch("invert")(lambda work: lambda batch: enhance.invert(batch))
of_batch("flip horizontal")(lambda work: transform.hflip)
of_batch("flip vertical")(lambda work: transform.vflip)


@of_batch("crop_mirror_normalize")
def _(work):
    mean, std = torch.tensor([0.485, 0.456, 0.406]), torch.tensor([0.229, 0.224, 0.225])
    return lambda batch: enhance.normalize(batch, mean, std)


def blurred(size, sigma):
    of_batch(f"gaussian_blur {size}")(lambda work: lambda batch: filters.gaussian_blur2d(batch, (size, size), (sigma, sigma), border_type="reflect"))


blurred(3, 0.8)
blurred(5, 1.1)
blurred(15, 2.6)
of_batch("resize half")(lambda work: lambda batch: transform.resize(batch, (work.height // 2, work.width // 2), antialias=True))
of_batch("resize 1.5")(lambda work: lambda batch: transform.resize(batch, (work.height * 3 // 2, work.width * 3 // 2)))


@of_batch("rotate")
def _(work):
    angle = torch.tensor(10.0)
    return lambda batch: transform.rotate(batch, angle.expand(len(batch)))


@of_batch("warp_affine")
def _(work):
    # From places of the picture to those of the output, counted from centres of pixels.
    back = np.array([[0.9, 0.1, 5], [-0.1, 0.9, 5], [0, 0, 1]])
    back[:2, 2] += back[:2, :2].sum(axis=1) / 2 - 0.5
    matrix = torch.from_numpy(np.linalg.inv(back)[:2].astype(np.float32))[None]
    return lambda batch: transform.warp_affine(batch, matrix.expand(len(batch), 2, 3), (work.height, work.width))
