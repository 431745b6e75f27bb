"""kornia: batches of float tensors. It has no bytes, and no chain of ours rounds between operators there: colours and geometry are as it has them."""

import kornia
import numpy as np
import serve
import torch
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
    if work.element != "f32":
        raise serve.NotSpelled("it works on floats only")
    if work.name not in spelled:
        raise serve.NotSpelled(work.name)
    torch.set_num_threads(work.threads)
    total = work.batch_size * work.batches
    pictures = torch.from_numpy(np.stack([work.picture(i).transpose(2, 0, 1) for i in range(total)]))
    call = spelled[work.name](work)

    def run_batch(number):
        return call(pictures[number * work.batch_size:(number + 1) * work.batch_size])

    with torch.inference_mode():
        first = run_batch(0).contiguous().numpy().copy()
        result = serve.timed(run_batch, work)
    return result, first if work.planes else np.ascontiguousarray(first.transpose(0, 2, 3, 1))


of_batch("brightness")(lambda work: lambda batch: enhance.adjust_brightness(batch, 1.3, clip_output=False))
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
