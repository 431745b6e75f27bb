"""Epochs by torch's DataLoader: in this process for one thread, in as many worker processes for more; or in as many as --workers says."""

import cv2
import measure
import torch
import torch.utils.data
import torchvision.datasets


def worker_init(_):
    torch.set_num_threads(1)
    cv2.setNumThreads(0)


class WithBoxes(torchvision.datasets.ImageFolder):
    """make(image, label) gives image, boxes and classes; their numbers differ."""

    def __init__(self, folder, make, load):
        super().__init__(folder, loader=load)
        self.make = make

    def __getitem__(self, index):
        return self.make(*super().__getitem__(index))


def stack_images(samples):
    images, boxes, classes = zip(*samples, strict=True)
    return torch.stack(images), (boxes, classes)


def measure_folder(transform, load, args, versions):
    measure_dataset(torchvision.datasets.ImageFolder(args.photos, transform, loader=load), args, versions)


def measure_boxes(make, load, args, versions):
    measure_dataset(WithBoxes(args.photos, make, load), args, versions, stack_images)


def measure_dataset(dataset, args, versions, collate=None):
    worker_init(0)
    workers = args.workers
    if workers is None:
        workers = 0 if args.threads == 1 else args.threads
    loader = torch.utils.data.DataLoader(dataset, batch_size=args.batch_size, shuffle=args.bench != "imagenet-val", num_workers=workers,
                                         worker_init_fn=worker_init, persistent_workers=workers > 0, collate_fn=collate,
                                         generator=torch.Generator().manual_seed(42))

    def run_epoch():
        return sum(images.shape[0] for images, _ in loader)

    measure.report(run_epoch, args, {"torch": torch.__version__, **versions}, cpu_is_here=workers == 0)
