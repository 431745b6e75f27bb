"""NVIDIA DALI on the CPU: its reader of each form, with indices where it wants them, and the operators of bench/benches/readers.dali-dsl."""

import clock
import nvidia.dali as dali
import nvidia.dali.tfrecord as tfrecord
from nvidia.dali import fn, pipeline_def, types

MEAN = [123.675, 116.28, 103.53]
STD = [58.395, 57.12, 57.375]


def read(form, data):
    shard = data + "/data-000000"
    if form == "folder":
        return fn.readers.file(file_root=data, name="Reader")
    if form == "tfrecord":
        record = fn.readers.tfrecord(path=shard + ".tfrecord", index_path=shard + ".idx", name="Reader", features={
            "image/encoded": tfrecord.FixedLenFeature((), tfrecord.string, ""),
            "image/class/label": tfrecord.FixedLenFeature([1], tfrecord.int64, -1)})
        return record["image/encoded"], record["image/class/label"]
    if form == "webdataset":
        return fn.readers.webdataset(paths=shard + ".tar", index_paths=shard + ".idx", ext=["jpg", "cls"], name="Reader")
    if form == "recordio":
        return fn.readers.mxnet(path=shard + ".rec", index_path=shard + ".idx", name="Reader")
    return fn.readers.caffe(path=data, name="Reader")


@pipeline_def
def pipeline(args):
    encoded, label = read(args.form, args.data)
    if args.work == "bytes":
        return encoded, label
    image = fn.decoders.image_random_crop(encoded, output_type=types.RGB, random_area=[0.08, 1.0], random_aspect_ratio=[0.75, 4 / 3])
    image = fn.resize(image, size=[224, 224], interp_type=types.INTERP_LINEAR, antialias=True)
    return fn.crop_mirror_normalize(image, dtype=types.FLOAT, output_layout="CHW", mean=MEAN, std=STD, mirror=fn.random.coin_flip()), label


def main():
    args = clock.arguments()
    pipe = pipeline(args, batch_size=args.batch_size, num_threads=args.threads, device_id=None, seed=42)
    state = {"samples": 0}

    def run_epoch():
        if not state["samples"]:
            # Building reads ahead, so it belongs to the first epoch.
            pipe.build()
            state["samples"] = pipe.reader_meta("Reader")["epoch_size"]
        done = 0
        while done < state["samples"]:
            out = pipe.run()
            done += len(out[0])
        return done

    clock.report(run_epoch, args, {"dali": dali.__version__})


main()
