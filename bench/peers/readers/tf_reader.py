"""tf.data: TFRecordDataset with parse_example, files by read_file."""

import os
import pathlib

import clock

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
os.environ["CUDA_VISIBLE_DEVICES"] = ""
import tensorflow as tf  # noqa: E402

MEAN = [123.675, 116.28, 103.53]
STD = [58.395, 57.12, 57.375]


def train(encoded):
    box = tf.zeros([1, 0, 4])
    begin, size, _ = tf.image.sample_distorted_bounding_box(tf.image.extract_jpeg_shape(encoded), box, area_range=(0.08, 1.0),
                                                            aspect_ratio_range=(0.75, 4 / 3), min_object_covered=0.0,
                                                            use_image_if_no_bounding_boxes=True)
    window = tf.stack([begin[0], begin[1], size[0], size[1]])
    image = tf.image.decode_and_crop_jpeg(encoded, window, channels=3, dct_method="INTEGER_ACCURATE")
    image = tf.image.resize(image, [224, 224], antialias=True)
    return tf.transpose((tf.image.random_flip_left_right(image) - MEAN) / STD, [2, 0, 1])


def dataset(args):
    if args.form == "folder":
        root = pathlib.Path(args.data)
        classes = sorted(path for path in root.iterdir() if path.is_dir())
        files = [(str(file), label) for label, folder in enumerate(classes) for file in sorted(folder.iterdir())]
        data = tf.data.Dataset.from_tensor_slices(([path for path, _ in files], [label for _, label in files]))
        data = data.map(lambda path, label: (tf.io.read_file(path), label), num_parallel_calls=args.threads)
    else:
        features = {"image/encoded": tf.io.FixedLenFeature((), tf.string), "image/class/label": tf.io.FixedLenFeature((), tf.int64)}
        data = tf.data.TFRecordDataset(args.data + "/data-000000.tfrecord")
        if args.work == "bytes":  # many at once is its quickest way
            return data.batch(args.batch_size).map(lambda records: tuple(tf.io.parse_example(records, features).values()),
                                                   num_parallel_calls=args.threads)

        def parse(record):
            found = tf.io.parse_single_example(record, features)
            return found["image/encoded"], found["image/class/label"]

        data = data.map(parse, num_parallel_calls=args.threads)
    if args.work == "train":
        data = data.map(lambda encoded, label: (train(encoded), label), num_parallel_calls=args.threads)
    return data.batch(args.batch_size)


def main():
    args = clock.arguments()
    options = tf.data.Options()
    options.threading.private_threadpool_size = args.threads
    tf.config.threading.set_intra_op_parallelism_threads(1)
    data = dataset(args).prefetch(2).with_options(options)
    clock.report(lambda: sum(int(batch[1].shape[0]) for batch in data), args, {"tensorflow": tf.__version__})


main()
