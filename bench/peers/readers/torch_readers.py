"""webdataset's WebLoader over a tar archive; torchdata.nodes over files. Images by torchvision on Pillow."""

import io
import pathlib

import clock
import torch
import torchdata
import torchvision
import webdataset
from PIL import Image
from torchdata.nodes import Batcher, IterableWrapper, Loader, ParallelMapper, Prefetcher
from torchvision.transforms import v2

TRAIN = v2.Compose([v2.RandomResizedCrop(224), v2.RandomHorizontalFlip(), v2.PILToTensor(), v2.ToDtype(torch.float32, scale=True),
                    v2.Normalize([0.485, 0.456, 0.406], [0.229, 0.224, 0.225])])


def train(encoded):
    return TRAIN(Image.open(io.BytesIO(encoded)).convert("RGB"))


def collate(samples):
    first = [sample[0] for sample in samples]
    return torch.stack(first) if isinstance(first[0], torch.Tensor) else first, [sample[1] for sample in samples]


def archive(args):
    data = webdataset.WebDataset(args.data + "/data-000000.tar", shardshuffle=False).to_tuple("jpg", "cls")
    if args.work == "train":
        data = data.map_tuple(train, int)
    return data.batched(args.batch_size, collation_fn=collate)


def files(args):
    root = pathlib.Path(args.data)
    classes = sorted(path for path in root.iterdir() if path.is_dir())
    listed = [(file, label) for label, folder in enumerate(classes) for file in sorted(folder.iterdir())]

    def load(entry):
        encoded = entry[0].read_bytes()
        return (train(encoded) if args.work == "train" else encoded), entry[1]

    node = ParallelMapper(IterableWrapper(listed), load, num_workers=args.threads, method="thread", in_order=True)
    return Loader(Prefetcher(ParallelMapper(Batcher(node, args.batch_size, drop_last=False), collate, num_workers=1, method="thread"), 2))


def main():
    args = clock.arguments()
    torch.set_num_threads(1)
    data = archive(args) if args.form == "webdataset" else files(args)
    clock.report(lambda: sum(len(batch[1]) for batch in data), args,
                 {"webdataset": webdataset.__version__, "torchdata": torchdata.__version__, "torchvision": torchvision.__version__})


main()
