"""NVIDIA DALI on the CPU: the same operators as in bench/benches/*.dali-dsl. --form pytorch: by its iterator for PyTorch."""

import measure
import numpy as np
import nvidia.dali as dali
from nvidia.dali import fn, pipeline_def, types
from nvidia.dali.auto_aug.auto_augment import auto_augment
from nvidia.dali.auto_aug.rand_augment import rand_augment
from nvidia.dali.auto_aug.trivial_augment import trivial_augment_wide


def normalize(image, mirror=0, **crop):
    return fn.crop_mirror_normalize(image, dtype=types.FLOAT, output_layout="CHW", mean=measure.MEAN, std=measure.STD, mirror=mirror, **crop)


def random_window(encoded):
    return fn.decoders.image_random_crop(encoded, output_type=types.RGB, random_area=list(measure.AREA), random_aspect_ratio=list(measure.RATIO))


def fixed_window(encoded, p):
    return fn.decoders.image_slice(encoded, start=[p["top"], p["left"]], shape=[p["height"], p["width"]], axis_names="HW", output_type=types.RGB)


def resize(image, size=measure.SIZE):
    return fn.resize(image, size=[size, size], interp_type=types.INTERP_LINEAR, antialias=True)


def color_rotate(image, angle, **twist):
    return fn.color_twist(fn.rotate(image, angle=angle, keep_size=True, fill_value=0), **twist)


def train_imagenet(encoded):
    return normalize(resize(random_window(encoded)), fn.random.coin_flip())


def val_imagenet(encoded):
    image = fn.resize(fn.decoders.image(encoded, output_type=types.RGB), resize_shorter=measure.SHORTER, interp_type=types.INTERP_LINEAR,
                      antialias=True)
    return normalize(image, crop=[measure.SIZE, measure.SIZE])


def random_twist():
    near_one = {name: fn.random.uniform(range=list(measure.TWIST)) for name in ("brightness", "contrast", "saturation")}
    return near_one | {"hue": fn.random.uniform(range=[-measure.MAX_HUE, measure.MAX_HUE])}


def train_color_rotate(encoded):
    image = color_rotate(resize(random_window(encoded)), fn.random.uniform(range=[-measure.MAX_ANGLE, measure.MAX_ANGLE]), **random_twist())
    return normalize(image, fn.random.coin_flip())


def train_detection(encoded, label):
    count = 1 + label[0] % len(measure.BOXES)
    boxes = types.Constant(np.array(measure.BOXES, dtype=np.float32), device="cpu")[:count]
    classes = types.Constant(np.arange(len(measure.BOXES), dtype=np.int32), device="cpu")[:count]
    anchor, shape, boxes, classes = fn.random_bbox_crop(boxes, classes, thresholds=[0.0, 0.1, 0.3, 0.5, 0.7, 0.9], scaling=[0.3, 1.0],
                                                        aspect_ratio=[0.5, 2.0], bbox_layout="xyXY", total_num_attempts=50)
    image = resize(fn.decoders.image_slice(encoded, anchor, shape, output_type=types.RGB), measure.DETECTION_SIZE)
    mirror = fn.random.coin_flip()
    return normalize(fn.color_twist(image, **random_twist()), mirror), fn.bb_flip(boxes, ltrb=True, horizontal=mirror), classes


def train_conditional(encoded):
    image = resize(random_window(encoded))
    if fn.random.coin_flip(dtype=types.BOOL):
        image = fn.saturation(image, saturation=2.0)
    else:
        image = fn.cast_like(0.5 * image + 0.5 * fn.laplacian(image, window_size=5), image)
    return normalize(image, fn.random.coin_flip())


def train_autoaugment(encoded):
    return normalize(auto_augment(resize(random_window(encoded)), shape=[measure.SIZE, measure.SIZE]), fn.random.coin_flip())


def train_randaugment_2_9(encoded):
    return normalize(rand_augment(resize(random_window(encoded)), n=2, m=9), fn.random.coin_flip())


def train_randaugment_3_15(encoded):
    return normalize(rand_augment(resize(random_window(encoded)), n=3, m=15), fn.random.coin_flip())


def train_trivialaugment(encoded):
    return normalize(trivial_augment_wide(resize(random_window(encoded))), fn.random.coin_flip())


def fixed_conditional(encoded, label, p):
    image = resize(fixed_window(encoded, p))
    if label[0] % 2 == 0:
        image = fn.saturation(image, saturation=2.0)
    else:
        image = fn.cast_like(0.5 * image + 0.5 * fn.laplacian(image, window_size=5), image)
    return normalize(image)


TRAIN = {"imagenet-train": train_imagenet, "imagenet-val": val_imagenet, "train-color-rotate": train_color_rotate,
         "seed-conditional": train_conditional, "autoaugment": train_autoaugment,
         "randaugment-2-9": train_randaugment_2_9, "randaugment-3-15": train_randaugment_3_15, "trivialaugment": train_trivialaugment}
FIXED = {
    "imagenet-train": lambda encoded, label, p: normalize(resize(fixed_window(encoded, p))),
    "imagenet-val": lambda encoded, label, p: val_imagenet(encoded),
    "train-color-rotate": lambda encoded, label, p: normalize(color_rotate(
        resize(fixed_window(encoded, p)), **{name: p[name] for name in ("angle", "brightness", "contrast", "saturation", "hue")})),
    "seed-conditional": fixed_conditional,
    "detection": lambda encoded, label, p: normalize(fn.color_twist(
        resize(fixed_window(encoded, p), measure.DETECTION_SIZE),
        **{name: p[name] for name in ("brightness", "contrast", "saturation", "hue")})),
}


@pipeline_def(enable_conditionals=True)
def train(bench, photos):
    encoded, label = fn.readers.file(file_root=photos, random_shuffle=bench != "imagenet-val", name="Reader")
    if bench == "detection":
        return train_detection(encoded, label)
    return TRAIN[bench](encoded), label


@pipeline_def(enable_conditionals=True)
def fixed(bench, files, parameters):
    encoded, label = fn.readers.file(files=[path for path, _ in files], labels=[label for _, label in files], name="Reader")
    return FIXED[bench](encoded, label, parameters), label


def main():
    args = measure.arguments()
    common = dict(batch_size=args.batch_size, num_threads=args.threads, device_id=None, seed=42)
    if args.fixed:
        files = measure.fixed_files(args)
        pipeline = fixed(args.bench, files, args.parameters, **{**common, "batch_size": len(files)})
        pipeline.build()
        images, _ = pipeline.run()
        measure.compare(args, [images.at(i) for i in range(len(files))])
        return
    pipeline = train(args.bench, args.photos, **common)
    if args.form == "pytorch":
        from nvidia.dali.plugin.pytorch import DALIClassificationIterator, LastBatchPolicy

        loader = DALIClassificationIterator(pipeline, reader_name="Reader", last_batch_policy=LastBatchPolicy.PARTIAL, auto_reset=True)
        measure.report(lambda: sum(outputs[0]["data"].shape[0] for outputs in loader), args, {"nvidia-dali": dali.__version__})
        return
    pipeline.build()
    # Its batches run over the end of an epoch: as many as hold at least one epoch.
    batches = -(-pipeline.epoch_size("Reader") // args.batch_size)

    def run_epoch():
        samples = 0
        for _ in range(batches):
            images, *_ = pipeline.run()
            samples += images.as_tensor().shape()[0]
        return samples

    measure.report(run_epoch, args, {"nvidia-dali": dali.__version__})


main()
