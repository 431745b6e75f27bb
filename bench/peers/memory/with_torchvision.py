"""torchvision on tensors: a whole batch in one call where all pictures get the same, else picture by picture."""

import numpy as np
import serve
import torch
import torchvision
from color_maths import MEAN, STD
from torchvision.transforms.v2 import ColorJitter, InterpolationMode
from torchvision.transforms.v2 import functional as F

VERSIONS = {"torchvision": torchvision.__version__, "torch": torch.__version__}
LINEAR, NEAREST = InterpolationMode.BILINEAR, InterpolationMode.NEAREST
SIZE = 224
batched, single = {}, {}


def of_batch(*names, only=None):
    def keep(make):
        batched.update({name: (make, only) for name in names})
        return make
    return keep


def of_picture(name):
    def keep(call):
        single[name] = call
        return call
    return keep


def measure(work):
    torch.set_num_threads(work.threads)
    total = work.batch_size * work.batches
    # Rows of pixels in memory, under torch's order of axes: as its decoder delivers them.
    pictures = torch.from_numpy(work.stack()).permute(0, 3, 1, 2)
    parameters = [work.parameters_of(i) for i in range(total)]
    if work.name in single:
        call = single[work.name]

        def run_batch(number):
            batch = torch.stack([call(pictures[i], parameters[i]) for i in work.samples(number)])
            return batch.contiguous() if work.planes else batch
    elif work.name in batched and batched[work.name][1] in (None, work.element):
        call = batched[work.name][0](work)

        def run_batch(number):
            return call(pictures[number * work.batch_size:(number + 1) * work.batch_size])
    else:
        raise serve.NotSpelled(f"{work.name} of {work.element}")
    with torch.inference_mode():
        first = run_batch(0).numpy().copy()
        result = serve.timed(run_batch, work)
    # Where ours are rows of pixels, so are these to be compared.
    is_picture = first.ndim == 4 and not work.planes
    return result, np.ascontiguousarray(first.transpose(0, 2, 3, 1)) if is_picture else first


JITTER = ColorJitter(0.4, 0.4, 0.4, 0.1)
of_picture("color_jitter")(lambda picture, p: JITTER(picture))


def colors(picture, p):
    picture = F.adjust_brightness(picture, float(p["brightness"]))
    picture = F.adjust_contrast(picture, float(p["contrast"]))
    picture = F.adjust_saturation(picture, float(p["saturation"]))
    picture = F.adjust_hue(picture, float(p["hue"]) / 360)
    picture = F.solarize(picture, float(p["threshold"]))
    return F.posterize(picture, 8 - (256 - int(p["mask"])).bit_length() + 1)


def normalize(picture):
    return F.normalize(F.to_dtype(picture, torch.float32, scale=True), list(MEAN / 255), list(STD / 255))


@of_picture("color-chain bytes")
def _(picture, p):
    return colors(picture, p)


@of_picture("color-chain floats")
def _(picture, p):
    return normalize(colors(picture, p))


def shear_angles(p):
    return [float(np.rad2deg(np.arctan(v))) for v in p["shear"]]


@of_picture("geometry-chain chain")
def _(picture, p):
    picture = F.rotate(picture, float(p["angle"]), interpolation=LINEAR)
    picture = F.affine(picture, 0.0, [0, 0], 1.0, shear_angles(p), interpolation=LINEAR, center=[0, 0])
    picture = F.affine(picture, 0.0, [-float(v) for v in p["offset"]], 1.0, [0.0, 0.0], interpolation=LINEAR)
    if p["flip"]:
        picture = F.horizontal_flip(picture)
    return normalize(F.center_crop(picture, [SIZE, SIZE]))


@of_batch("brightness")
def _(work):
    return lambda batch: F.adjust_brightness(batch, 1.3)


@of_batch("flip horizontal")
def _(work):
    return F.horizontal_flip


@of_batch("flip vertical")
def _(work):
    return F.vertical_flip


@of_batch("gray")
def _(work):
    return F.rgb_to_grayscale


@of_batch("solarize")
def _(work):
    return lambda batch: F.solarize(batch, 128 if work.element == "u8" else 0.5)


@of_batch("posterize", only="u8")
def _(work):
    return lambda batch: F.posterize(batch, 4)


@of_batch("invert")
def _(work):
    return F.invert


@of_batch("equalize", only="u8")
def _(work):
    return F.equalize


@of_batch("crop")
def _(work):
    top, left, height, width = work.height // 4, work.width // 4, work.height // 2, work.width // 2
    # A view is no delivered batch.
    return lambda batch: F.crop(batch, top, left, height, width).contiguous()


@of_batch("crop_mirror_normalize")
def _(work):
    mean, std = ([(v / 255) for v in values] for values in (MEAN, STD))
    return lambda batch: F.normalize(F.to_dtype(batch.contiguous(), torch.float32, scale=work.element == "u8"), mean, std)


@of_batch("resize half")
def _(work):
    return lambda batch: F.resize(batch, [work.height // 2, work.width // 2], LINEAR, antialias=True)


@of_batch("resize half nearest")
def _(work):
    return lambda batch: F.resize(batch, [work.height // 2, work.width // 2], InterpolationMode.NEAREST_EXACT)


@of_batch("resize 1.5")
def _(work):
    return lambda batch: F.resize(batch, [work.height * 3 // 2, work.width * 3 // 2], LINEAR, antialias=True)


@of_batch("rotate")
def _(work):
    return lambda batch: F.rotate(batch, 10.0, interpolation=LINEAR)


@of_batch("rotate nearest")
def _(work):
    return lambda batch: F.rotate(batch, 10.0, interpolation=NEAREST)


def gaussian(size, sigma):
    def make(work):
        return lambda batch: F.gaussian_blur(batch, [size, size], [sigma, sigma])
    return make


of_batch("gaussian_blur 3")(gaussian(3, 0.8))
of_batch("gaussian_blur 5")(gaussian(5, 1.1))
of_batch("gaussian_blur 15")(gaussian(15, 2.6))


@of_batch("erase")
def _(work):
    top, left, height, width = work.height // 4, work.width // 4, work.height // 2, work.width // 2
    zero = torch.zeros((1, 1, 1), dtype=torch.uint8 if work.element == "u8" else torch.float32)
    return lambda batch: F.erase(batch, top, left, height, width, zero)


@of_batch("transpose CHW")
def _(work):
    return lambda batch: batch.contiguous()


@of_batch("cast f32", only="u8")
def _(work):
    return lambda batch: batch.to(torch.float32)


@of_batch("cast u8", only="f32")
def _(work):
    return lambda batch: batch.mul(255).round_().clamp_(0, 255).to(torch.uint8)


@of_batch("mean")
def _(work):
    return lambda batch: batch.to(torch.float32).mean((1, 2, 3))


@of_batch("max")
def _(work):
    return lambda batch: batch.amax((1, 2, 3))


def regions(**options):
    def make(work):
        w, h = work.width, work.height
        boxes = torch.tensor([[w * (i % 5) / 10, h * (i % 4) / 10, w * (5 + i % 4) / 10, h * (5 + i % 5) / 10] for i in range(20)])
        return lambda batch: torchvision.ops.roi_align(batch.contiguous(), [boxes] * len(batch), 7, aligned=True, **options)
    return make


of_batch("roi_align", only="f32")(regions(sampling_ratio=2))
of_batch("roi_align adaptive", only="f32")(regions())


@of_batch("laplacian 3")
def _(work):
    weight = torch.tensor([[2., 0., 2.], [0., -8., 0.], [2., 0., 2.]]).expand(3, 1, 3, 3).contiguous()

    def call(batch):
        edges = torch.nn.functional.conv2d(torch.nn.functional.pad(batch.to(torch.float32), (1, 1, 1, 1), mode="reflect"), weight, groups=3)
        return edges.round_().clamp_(0, 255).to(torch.uint8) if work.element == "u8" else edges
    return call
