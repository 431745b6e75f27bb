"""torchvision: --form pil (Pillow decodes and transforms) or --form tensor (its own decoder, tensors of bytes).

Its colour operations are its own: contrast about the mean of the grey picture, hue through HSV. It has no Laplacian; a convolution is one.
"""

import measure
import PIL
import PIL.Image
import torch
import torch_loading
import torchvision
from torchvision.transforms import v2
from torchvision.transforms.v2 import functional as F

LINEAR = v2.InterpolationMode.BILINEAR


def load_pil(path):
    with open(path, "rb") as file:
        return PIL.Image.open(file).convert("RGB")


def load_tensor(path):
    return torchvision.io.decode_image(torchvision.io.read_file(path), mode=torchvision.io.ImageReadMode.RGB)


LOADERS = {"pil": load_pil, "tensor": load_tensor}


def finish():
    return [v2.ToImage(), v2.ToDtype(torch.float32, scale=True), v2.Normalize(measure.UNIT_MEAN, measure.UNIT_STD)]


def random_crop():
    return v2.RandomResizedCrop(measure.SIZE, scale=measure.AREA, ratio=measure.RATIO, interpolation=LINEAR, antialias=True)


def laplacian_weight():
    """The sum of both second derivatives with smoothing, 5 x 5, for each channel."""
    derivative, smooth = torch.tensor([1., 0., -2., 0., 1.]), torch.tensor([1., 4., 6., 4., 1.])
    return (torch.outer(smooth, derivative) + torch.outer(derivative, smooth)).expand(3, 1, 5, 5).contiguous()


LAPLACIAN = laplacian_weight()


def draw_edges(image):
    pixels = F.to_image(image).to(torch.float32)[None]
    padded = torch.nn.functional.pad(pixels, (2, 2, 2, 2), mode="reflect")
    edges = torch.nn.functional.conv2d(padded, LAPLACIAN, groups=3).round_().clamp_(0, 255)
    return pixels.add_(edges).mul_(0.5).round_().to(torch.uint8)[0]


def saturation_or_edges(image, condition):
    return F.adjust_saturation(image, 2.0) if condition else draw_edges(image)


TRAIN = {
    "imagenet-train": lambda: [random_crop(), v2.RandomHorizontalFlip()],
    "imagenet-val": lambda: [v2.Resize(measure.SHORTER, interpolation=LINEAR, antialias=True), v2.CenterCrop(measure.SIZE)],
    "train-color-rotate": lambda: [
        random_crop(), v2.RandomRotation(measure.MAX_ANGLE, interpolation=LINEAR),
        v2.ColorJitter(measure.TWIST, measure.TWIST, measure.TWIST, measure.MAX_HUE / 360), v2.RandomHorizontalFlip()],
    "seed-conditional": lambda: [random_crop(), v2.Lambda(lambda image: saturation_or_edges(image, torch.rand(()) < 0.5)),
                                 v2.RandomHorizontalFlip()],
}


def color_rotate(image, p):
    image = F.rotate(image, p["angle"], interpolation=LINEAR)
    image = F.adjust_contrast(F.adjust_brightness(image, p["brightness"]), p["contrast"])
    return F.adjust_hue(F.adjust_saturation(image, p["saturation"]), p["hue"] / 360)


FIXED = {
    "imagenet-train": lambda image, label, p: image,
    "train-color-rotate": lambda image, label, p: color_rotate(image, p),
    "seed-conditional": lambda image, label, p: saturation_or_edges(image, label % 2 == 0),
}


def fixed(bench, image, label, p):
    if bench == "imagenet-val":
        return v2.Compose(TRAIN[bench]() + finish())(image)
    image = F.resized_crop(image, p["top"], p["left"], p["height"], p["width"], [measure.SIZE] * 2, LINEAR, antialias=True)
    return v2.Compose(finish())(FIXED[bench](image, label, p))


def main():
    args = measure.arguments()
    load = LOADERS[args.form]
    if args.fixed:
        measure.compare(args, [fixed(args.bench, load(path), label, args.parameters) for path, label in measure.fixed_files(args)])
        return
    transform = v2.Compose(TRAIN[args.bench]() + finish())
    torch_loading.measure_folder(transform, load, args, {"torchvision": torchvision.__version__, "pillow": PIL.__version__})


main()
