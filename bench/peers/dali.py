"""NVIDIA DALI on the CPU."""

import measure
import nvidia.dali as dali
from nvidia.dali import fn, pipeline_def, types


def finish(image, mirror):
    image = fn.resize(image, size=[measure.SIZE, measure.SIZE], interp_type=types.INTERP_LINEAR, antialias=True)
    return fn.crop_mirror_normalize(image, dtype=types.FLOAT, output_layout="CHW", mean=measure.MEAN, std=measure.STD,
                                    mirror=mirror)


@pipeline_def
def train(photos):
    encoded, label = fn.readers.file(file_root=photos, random_shuffle=True, name="Reader")
    image = fn.decoders.image_random_crop(encoded, output_type=types.RGB, random_area=list(measure.AREA),
                                          random_aspect_ratio=list(measure.RATIO))
    return finish(image, fn.random.coin_flip()), label


@pipeline_def
def fixed(paths, top, left, height, width):
    encoded, label = fn.readers.file(files=paths, name="Reader")
    image = fn.decoders.image_slice(encoded, start=[top, left], shape=[height, width], axis_names="HW",
                                    output_type=types.RGB)
    return finish(image, 0), label


def main():
    args = measure.arguments()
    common = dict(batch_size=args.batch_size, num_threads=args.threads, device_id=None, seed=42)
    if args.fixed:
        paths, *window = measure.fixed_window(args)
        pipeline = fixed(paths, *window, **{**common, "batch_size": len(paths)})
        pipeline.build()
        images, _ = pipeline.run()
        measure.save(args, [images.at(i) for i in range(len(paths))])
        return
    pipeline = train(args.photos, **common)
    pipeline.build()
    # Its batches run over the end of an epoch: as many as hold at least one epoch.
    batches = -(-pipeline.epoch_size("Reader") // args.batch_size)

    def run_epoch():
        samples = 0
        for _ in range(batches):
            images, _ = pipeline.run()
            samples += images.as_tensor().shape()[0]
        return samples

    measure.report(run_epoch, args, {"nvidia-dali": dali.__version__})


main()
