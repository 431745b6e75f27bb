"""Readers: epochs, shards, padding, metadata."""

from pathlib import Path

from . import case, each


def reader(m, count=7, batch_size=2, **options):
    pipe = m.Pipeline(batch_size=batch_size, num_threads=1, device_id=None, seed=1)
    with pipe:
        data, labels = m.fn.readers.file(file_root=m.files(count), name="Reader", **options)
        pipe.set_outputs(data, labels)
    pipe.build()
    return pipe


def bytes_of(m, pipe, batches):
    """The first byte of each file, batch after batch."""
    return [[int(m.np.array(one)[0]) for one in pipe.run()[0]] for _ in range(batches)]


@case
def files_and_labels(m):
    return m.plain(reader(m).run())


@case
def epochs_follow_each_other(m):
    return bytes_of(m, reader(m), 9)


@case
def padded(m):
    return bytes_of(m, reader(m, pad_last_batch=True), 9)


@each(0, 1, 2)
def shard(m, number):
    return bytes_of(m, reader(m, shard_id=number, num_shards=3), 9)


@each(0, 1, 2)
def shard_padded(m, number):
    return bytes_of(m, reader(m, shard_id=number, num_shards=3, pad_last_batch=True), 9)


@each(0, 1)
def shard_that_stays(m, number):
    return bytes_of(m, reader(m, shard_id=number, num_shards=2, stick_to_shard=True), 9)


@each(0, 1)
def shard_that_stays_padded(m, number):
    options = {"shard_id": number, "num_shards": 2, "stick_to_shard": True}
    return bytes_of(m, reader(m, pad_last_batch=True, **options), 9)


@case
def shuffled_epoch_holds_all(m):
    pipe = reader(m, 8, random_shuffle=True, initial_fill=4)
    return [sorted(sum(bytes_of(m, pipe, 4), [])) for _ in range(1)]


@case
def shuffled_after_epoch_holds_all(m):
    pipe = reader(m, 8, shuffle_after_epoch=True)
    return [sorted(sum(bytes_of(m, pipe, 4), [])) for _ in range(3)]


@case
def list_of_files(m):
    root = m.files(7)
    pipe = m.Pipeline(batch_size=2, num_threads=1, device_id=None)
    with pipe:
        data, labels = m.fn.readers.file(
            file_root=root, files=["b/005.jpg", "a/001.jpg"], labels=[50, 10]
        )
        pipe.set_outputs(data, labels)
    return m.plain(pipe.run())


@case
def files_without_labels(m):
    root = m.files(7)
    pipe = m.Pipeline(batch_size=2, num_threads=1, device_id=None)
    with pipe:
        data, labels = m.fn.readers.file(file_root=root, files=["b/005.jpg", "a/001.jpg"])
        pipe.set_outputs(data, labels)
    return m.plain(pipe.run())


@case
def file_list(m):
    path = m.path("list.txt")
    path.write_text("a/002.jpg 20\nb/006.jpg 60\n")
    pipe = m.Pipeline(batch_size=2, num_threads=1, device_id=None)
    with pipe:
        data, labels = m.fn.readers.file(file_root=m.files(7), file_list=str(path))
        pipe.set_outputs(data, labels)
    return m.plain(pipe.run())


@case
def file_filters(m):
    pipe = m.Pipeline(batch_size=2, num_threads=1, device_id=None)
    with pipe:
        data, labels = m.fn.readers.file(file_root=m.files(7), file_filters=["*00[56].jpg"])
        pipe.set_outputs(data, labels)
    return m.plain(pipe.run())


@case
def two_readers(m):
    pipe = m.Pipeline(batch_size=2, num_threads=1, device_id=None)
    with pipe:
        first, _ = m.fn.readers.file(file_root=m.files(4), name="A")
        second, _ = m.fn.readers.file(file_root=m.files(6), name="B")
        pipe.set_outputs(first, second)
    pipe.build()
    sizes = pipe.epoch_size()
    return [sizes, [m.plain(pipe.run()) for _ in range(4)]]


@case
def reader_beside_a_source(m):
    pipe = m.Pipeline(batch_size=2, num_threads=1, device_id=None)
    with pipe:
        data, _ = m.fn.readers.file(file_root=m.files(4))
        x = m.fn.external_source(source=lambda i: m.np.full((2, 1), i, "int32"))
        pipe.set_outputs(data, x)
    return [m.plain(pipe.run()) for _ in range(3)]


@case
def epoch_size(m):
    pipe = reader(m)
    return [pipe.epoch_size(), pipe.epoch_size("Reader")]


@case
def epoch_size_of_a_shard(m):
    return reader(m, shard_id=1, num_shards=2).epoch_size("Reader")


@case
def epoch_size_of_nothing(m):
    return reader(m).epoch_size("Other")


@each(plain={}, padded={"pad_last_batch": True}, shards={"shard_id": 1, "num_shards": 3})
def meta(m, options):
    return reader(m, **options).reader_meta("Reader")


@case
def meta_of_a_shard_that_stays(m):
    return reader(m, stick_to_shard=True, num_shards=2, pad_last_batch=True).reader_meta("Reader")


@case
def meta_of_all(m):
    return reader(m).reader_meta()


@case
def meta_of_nothing(m):
    return reader(m).reader_meta("Other")


@case
def source_info(m):
    out = reader(m).run()[0]
    return out[1].source_info().rsplit("/", 2)[1:]


@case
def missing_folder(m):
    pipe = m.Pipeline(batch_size=2, num_threads=1, device_id=None)
    with pipe:
        pipe.set_outputs(*m.fn.readers.file(file_root=str(m.path("none"))))
    pipe.build()


@case
def missing_arguments(m):
    pipe = m.Pipeline(batch_size=2, num_threads=1, device_id=None)
    with pipe:
        pipe.set_outputs(*m.fn.readers.file())
    pipe.build()


@case
def missing_file(m):
    pipe = m.Pipeline(batch_size=2, num_threads=1, device_id=None)
    with pipe:
        pipe.set_outputs(*m.fn.readers.file(file_root=m.files(7), files=["a/none.jpg"]))
    pipe.build()
    return pipe.run()


@case
def labels_of_wrong_count(m):
    pipe = m.Pipeline(batch_size=2, num_threads=1, device_id=None)
    with pipe:
        pipe.set_outputs(
            *m.fn.readers.file(file_root=m.files(7), files=["a/000.jpg"], labels=[1, 2])
        )
    pipe.build()


@each(negative=(-1, 2), too_large=(2, 2))
def wrong_shard(m, what):
    return bytes_of(m, reader(m, shard_id=what[0], num_shards=what[1]), 1)


@case
def stick_and_shuffle(m):
    return reader(m, stick_to_shard=True, shuffle_after_epoch=True)


@case
def same_name_twice(m):
    pipe = m.Pipeline(batch_size=2, num_threads=1, device_id=None)
    with pipe:
        a, _ = m.fn.readers.file(file_root=m.files(4), name="A")
        b, _ = m.fn.readers.file(file_root=m.files(4), name="A")
        pipe.set_outputs(a, b)
    pipe.build()


@case
def old_name_of_the_reader(m):
    pipe = m.Pipeline(batch_size=2, num_threads=1, device_id=None)
    with pipe:
        pipe.set_outputs(*m.fn.file_reader(file_root=m.files(4)))
    return m.plain(pipe.run())


def png(m, array):
    import struct
    import zlib

    height, width, channels = array.shape
    rows = b"".join(b"\0" + array[i].tobytes() for i in range(height))

    def chunk(kind, data):
        crc = zlib.crc32(kind + data)
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", crc)

    head = struct.pack(">IIBBBBB", width, height, 8, {1: 0, 3: 2}[channels], 0, 0, 0)
    body = chunk(b"IHDR", head) + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b"")
    return m.np.frombuffer(b"\x89PNG\r\n\x1a\n" + body, "uint8")


def decoded(m, call, channels=3):
    encoded = [png(m, m.image(4, 6, channels)), png(m, m.image(5, 3, channels))]
    return m.run(lambda: call(m.feed(encoded)))[0]


RECORDED = Path(__file__).resolve().parents[4] / "tests/readers/recorded"


def tfrecord(m, **options):
    label = m.load("tfrecord").FixedLenFeature([1], m.load("tfrecord").int64, -1)
    paths = {"path": str(RECORDED / "a.tfrecord"), "index_path": str(RECORDED / "a.idx")}
    return m.fn.readers.tfrecord(features={"label": label}, **paths, **options)["label"]


def recordio(m, **options):
    paths = {"path": str(RECORDED / "all.rec"), "index_path": str(RECORDED / "all.rec.idx")}
    return m.fn.readers.mxnet(**paths, **options)[1]


def arrays(m, **options):
    return m.fn.readers.numpy(files=[str(RECORDED / "u8.npy")] * 3, **options)


def coco(m, **options):
    paths = {
        "file_root": str(RECORDED / "images"),
        "annotations_file": str(RECORDED / "coco.json"),
    }
    return m.fn.readers.coco(**paths, **options)[2]


def caffe(m, **options):
    return m.fn.readers.caffe(path=str(RECORDED / "caffe_lmdb"), **options)[1]


READERS = (tfrecord, recordio, arrays, coco, caffe)


@each(**{reader.__name__: reader for reader in READERS})
def sizes_of_epochs(m, reader):
    found = []
    shards = {"num_shards": 2}
    for options in ({}, {**shards, "shard_id": 1}, {**shards, "pad_last_batch": True}):
        pipe = m.pipeline_def(batch_size=2, num_threads=1, device_id=None)(
            lambda options=options: reader(m, name="data", **options)
        )()
        pipe.build()
        found.append([pipe.epoch_size("data"), pipe.epoch_size(), pipe.reader_meta("data")])
    return found


SHARDS = {
    "shard": {"num_shards": 3, "shard_id": 1},
    "padded": {"num_shards": 3, "shard_id": 2, "pad_last_batch": True},
    "stays": {"num_shards": 2, "shard_id": 1, "stick_to_shard": True, "pad_last_batch": True},
    "idle": {"initial_fill": 0, "skip_cached_images": False, "lazy_init": True, "seed": 3},
}


@each(**{f"{r.__name__}_{name}": (r, SHARDS[name]) for r in READERS for name in SHARDS})
def epochs_of(m, what):
    """Which samples each batch has, over the ends of epochs; and what the reader says of itself."""
    reader, options = what
    pipe = m.pipeline_def(batch_size=2, num_threads=1, device_id=None)(
        lambda: reader(m, name="data", **options)
    )()
    pipe.build()
    return [[m.plain(pipe.run()) for _ in range(7)], pipe.reader_meta("data")]


@case
def meta_of_what_is_permuted(m):
    return reader(m, num_shards=2, shard_id=1, shuffle_after_epoch=True).reader_meta("Reader")


@case
def cached_images_left_out(m):
    return bytes_of(m, reader(m, skip_cached_images=True), 5)


@case
def an_iterator_over_records(m):
    pytorch = m.load("plugin.pytorch")
    pipe = m.pipeline_def(batch_size=2, num_threads=1, device_id=None)(
        lambda: tfrecord(m, name="data")
    )()
    batches = pytorch.DALIGenericIterator(
        pipe,
        ["label"],
        reader_name="data",
        last_batch_policy=pytorch.LastBatchPolicy.PARTIAL,
        auto_reset=True,
    )
    return [[batch[0]["label"] for batch in batches] for _ in range(2)]


@each(
    image=lambda m, x: m.fn.decoders.image(x),
    bgr=lambda m, x: m.fn.decoders.image(x, output_type=m.types.BGR),
    crop=lambda m, x: m.fn.decoders.image_crop(x, crop=(2, 2)),
    slice=lambda m, x: m.fn.decoders.image_slice(x, start=[1, 1], shape=[2, 2], axes=[0, 1]),
    shape=lambda m, x: m.fn.peek_image_shape(x),
    old_name=lambda m, x: m.fn.image_decoder(x),
)
def decoder(m, call):
    return decoded(m, lambda x: call(m, x))


@case
def decoder_of_grey(m):
    return decoded(m, lambda x: m.fn.decoders.image(x, output_type=m.types.GRAY), 1)


@case
def decoder_of_garbage(m):
    return m.run(lambda: m.fn.decoders.image(m.feed([m.np.zeros(9, "uint8")] * 2)))


@case
def names_of_readers_without_one(m):
    """The class of the operator, and which one it is of those that have no name."""
    folder = m.files(4)
    pipe = m.Pipeline(batch_size=2, num_threads=1, device_id=None)
    with pipe:
        first, _ = m.fn.readers.file(file_root=folder)
        second, _ = m.ops.FileReader(file_root=folder)()
        named, _ = m.fn.readers.file(file_root=folder, name="mine")
        third, _ = m.ops.readers.File(file_root=folder)()
        pipe.set_outputs(first, second, named, third)
    pipe.build()
    return [list(pipe.epoch_size()), list(pipe.reader_meta())]
