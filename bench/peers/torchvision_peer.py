"""torchvision: --form pil (Pillow decodes, crops and resizes) or --form tensor (its own decoder, tensors of bytes)."""

import measure
import PIL
import PIL.Image
import torch
import torch_loading
import torchvision
import torchvision.datasets
from torchvision.transforms import v2

LINEAR = v2.InterpolationMode.BILINEAR
MEAN = [m / 255 for m in measure.MEAN]
STD = [s / 255 for s in measure.STD]


def load_pil(path):
    with open(path, "rb") as file:
        return PIL.Image.open(file).convert("RGB")


def load_tensor(path):
    return torchvision.io.decode_image(torchvision.io.read_file(path), mode=torchvision.io.ImageReadMode.RGB)


LOADERS = {"pil": load_pil, "tensor": load_tensor}


def finish():
    return [v2.ToImage(), v2.ToDtype(torch.float32, scale=True), v2.Normalize(MEAN, STD)]


def main():
    args = measure.arguments()
    load = LOADERS[args.form]
    if args.fixed:
        paths, top, left, height, width = measure.fixed_window(args)
        rest = v2.Compose(finish())
        measure.save(args, [rest(v2.functional.resized_crop(load(path), top, left, height, width, [measure.SIZE] * 2, LINEAR,
                                                            antialias=True)) for path in paths])
        return
    transform = v2.Compose([
        v2.RandomResizedCrop(measure.SIZE, scale=measure.AREA, ratio=measure.RATIO, interpolation=LINEAR, antialias=True),
        v2.RandomHorizontalFlip(), *finish()])
    dataset = torchvision.datasets.ImageFolder(args.photos, transform, loader=load)
    torch_loading.measure_dataset(dataset, args, {"torchvision": torchvision.__version__, "pillow": PIL.__version__})


main()
