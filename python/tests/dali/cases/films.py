"""Films on the CPU, of the codecs that DALI's CPU decodes: clips, labels, epochs, iterators."""

import threading
import zlib
from pathlib import Path

from . import case, each

FILMS = Path(__file__).resolve().parents[4] / "tests/video/films"
VP9, VP8 = str(FILMS / "vp9.webm"), str(FILMS / "vp8.webm")


def brief(m, outputs):
    """Of each sample its extents and a checksum; small ones as they are."""

    def of(sample):
        array = m.np.array(sample)
        if array.size <= 8:
            return m.plain(array)
        return [str(array.dtype), list(array.shape), zlib.crc32(array.tobytes())]

    return [[out.layout(), [of(out.at(i)) for i in range(len(out))]] for out in outputs]


def clips(m, batches, **options):
    """Batches of `experimental.readers.video`, and what its epochs hold."""
    pipe = m.Pipeline(batch_size=2, num_threads=1, device_id=None)
    with pipe:
        made = m.fn.experimental.readers.video(device="cpu", name="films", **options)
        pipe.set_outputs(*(made if isinstance(made, (list, tuple)) else [made]))
    pipe.build()
    results = [brief(m, pipe.run()) for _ in range(batches)]
    return [results, pipe.epoch_size("films"), pipe.reader_meta("films")["epoch_size"]]


@each(
    plain={},
    stride={"stride": 2},
    step={"step": 1},
    labels={"labels": [4, 7]},
    unknown_argument={"pad_sequences": True},
    shard={"shard_id": 1, "num_shards": 2},
)
def reader(m, options):
    return clips(m, 3, **{"filenames": [VP9, VP8], "sequence_length": 3, **options})


@each(no_file=[], no_film=[__file__])
def reader_refuses(m, files):
    return clips(m, 1, filenames=files, sequence_length=3)


@case
def reader_object(m):
    class Films(m.Pipeline):
        def __init__(self):
            super().__init__(2, 1, None)
            self.films = m.ops.experimental.readers.Video(
                device="cpu", filenames=[VP9], sequence_length=2
            )

        def define_graph(self):
            return self.films(name="films")

    pipe = Films()
    pipe.build()
    return [brief(m, pipe.run()), pipe.epoch_size("films")]


@each("all", "stride", "frames")
def decoder(m, what):
    data = [m.np.fromfile(VP9, m.np.uint8)]
    options = {
        "all": {},
        "stride": {"stride": 3},
        "frames": {"start_frame": 2, "sequence_length": 2},
    }
    pipe = m.Pipeline(batch_size=1, num_threads=1, device_id=None)
    with pipe:
        film = m.fn.external_source(source=lambda: data, batch=True)
        clip = m.fn.experimental.decoders.video(film, device="cpu", **options[what])
        pipe.set_outputs(clip)
    pipe.build()
    return brief(m, pipe.run())


@each("FILL", "DROP", "PARTIAL")
def iterator(m, policy):
    pytorch = m.load("plugin.pytorch")

    @m.pipeline_def(batch_size=2, num_threads=1, device_id=None)
    def films():
        clip, label = m.fn.experimental.readers.video(
            device="cpu", filenames=[VP9], labels=[3], sequence_length=3, name="films"
        )
        clip = m.fn.crop_mirror_normalize(clip, crop=(8, 8), output_layout="CFHW")
        return clip, label

    batches = pytorch.DALIGenericIterator(
        films(),
        ["clip", "label"],
        reader_name="films",
        auto_reset=True,
        last_batch_policy=getattr(pytorch.LastBatchPolicy, policy),
    )
    epochs = [[list(batch[0]["clip"].shape) for batch in batches] for _ in range(2)]
    return [epochs, len(batches)]


def _fed(m, films, count, depth=1, batch_size=2, **options):
    """What `count` runs give of films that are fed, one at a time, to `experimental.inputs.video`."""
    pipe = m.Pipeline(batch_size, 1, None, prefetch_queue_depth=depth)
    with pipe:
        options = {"sequence_length": 4, **options}
        pipe.set_outputs(m.fn.experimental.inputs.video(name="film", **options))
    pipe.build()
    for film in films:
        pipe.feed_input("film", [m.np.fromfile(film, m.np.uint8)])
    given = []
    for _ in range(count):
        try:
            given.append(brief(m, pipe.run()))
        except RuntimeError:
            given.append("RuntimeError")
    return given


@each(
    partial={},
    pad={"last_sequence_policy": "pad"},
    long={"sequence_length": 100},
    long_pad={"sequence_length": 30, "last_sequence_policy": "pad"},
    one={"sequence_length": 1, "batch_size": 16},
    ahead={"depth": 3},
    ignored={"affine": False, "no_copy": True},
    wrong_policy={"last_sequence_policy": "cut"},
    unknown_argument={"stride": 2},
)
def input_fed(m, options):
    return _fed(m, [VP9], 5, **options)


@case
def input_of_two_films(m):
    return _fed(m, [VP9, VP8], 9)


@case
def input_of_no_film(m):
    return _fed(m, [__file__], 1)


@case
def input_goes_on_where_more_is_fed(m):
    pipe = m.Pipeline(2, 1, None, prefetch_queue_depth=1)
    with pipe:
        film = m.fn.experimental.inputs.video(sequence_length=8)
        pipe.set_outputs(m.fn.resize(film, size=[6, 8]))
    pipe.build()
    given = [m.raises(pipe.run)]
    for _ in range(2):
        pipe.feed_input(film, [m.np.fromfile(VP9, m.np.uint8)])
        given += [[len(pipe.run()[0]), m.raises(pipe.run)]]
    return given


@case
def input_beside_another(m):
    pipe = m.Pipeline(2, 1, None, prefetch_queue_depth=1)
    with pipe:
        film = m.fn.experimental.inputs.video(name="film", sequence_length=4)
        pipe.set_outputs(film, m.fn.external_source(name="x"))
    pipe.build()
    pipe.feed_input("film", [m.np.fromfile(VP9, m.np.uint8)])
    given = []
    for number in range(3):
        pipe.feed_input("x", [m.np.int32(number)] * 2)
        given.append(brief(m, pipe.run()))
    return given


def _fed_by_a_thread(m, pipe, name, batches):
    """What runs give while another thread feeds; each of its feeds waits for the run before."""
    is_wanted = threading.Semaphore(1)

    def feed():
        for batch in batches:
            is_wanted.acquire()
            pipe.feed_input(name, batch)

    thread = threading.Thread(target=feed, daemon=True)
    thread.start()
    given = []
    for _ in batches:
        given.append(brief(m, pipe.run()))
        is_wanted.release()
    thread.join()
    return given


@case
def input_that_waits(m):
    pipe = m.Pipeline(8, 1, None, prefetch_queue_depth=1)
    with pipe:
        pipe.set_outputs(
            m.fn.experimental.inputs.video(name="film", blocking=True, sequence_length=5)
        )
    pipe.build()
    return _fed_by_a_thread(m, pipe, "film", [[m.np.fromfile(f, m.np.uint8)] for f in (VP9, VP8)])


@case
def source_that_waits(m):
    pipe = m.Pipeline(2, 1, None, prefetch_queue_depth=1)
    with pipe:
        pipe.set_outputs(m.fn.external_source(name="x", blocking=True) + 1)
    pipe.build()
    return _fed_by_a_thread(m, pipe, "x", [[m.np.int32(number)] * 2 for number in range(3)])


@case
def input_beside_a_reader(m):
    """As many labels of the reader as there are sequences, epoch after epoch."""
    pipe = m.Pipeline(2, 1, None, prefetch_queue_depth=1)
    with pipe:
        film = m.fn.experimental.inputs.video(name="film", sequence_length=8)
        _, label = m.fn.readers.file(file_root=m.files(3), name="files")
        pipe.set_outputs(film, label)
    pipe.build()
    given = []
    for _ in range(2):
        pipe.feed_input("film", [m.np.fromfile(VP9, m.np.uint8)])
        given += [brief(m, pipe.run()) for _ in range(2)]
    return given
