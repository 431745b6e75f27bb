"""Sound: how many outputs there are, what types they have, epochs of manifests."""

import json
import math
import struct
import tempfile
import wave
from pathlib import Path

from . import case, each


def recording(path, frames=40, channels=1, rate=16000):
    """A WAV file of 16 bits."""
    tone = [round(9000 * math.sin(0.1 * (n // channels))) for n in range(frames * channels)]
    with wave.open(str(path), "wb") as out:
        out.setnchannels(channels)
        out.setsampwidth(2)
        out.setframerate(rate)
        out.writeframes(struct.pack(f"<{len(tone)}h", *tone))
    return path


def run(m, build):
    """What `build` gives for the bytes of a recording of two channels."""
    data = m.np.fromfile(recording(Path(tempfile.mkdtemp()) / "x.wav", channels=2), m.np.uint8)
    pipe = m.Pipeline(batch_size=1, num_threads=1, device_id=None)
    with pipe:
        x = m.fn.external_source(source=lambda: [data], batch=True)
        outputs = build(m, x)
        pipe.set_outputs(*(outputs if isinstance(outputs, (list, tuple)) else [outputs]))
    pipe.build()
    return m.plain(pipe.run())


@each(plain={}, mono={"downmix": True}, int16={"dtype": "INT16"}, int32={"dtype": "INT32"})
def decoded(m, options):
    options = {k: getattr(m.types, v) if k == "dtype" else v for k, v in options.items()}
    return run(m, lambda m, x: m.fn.decoders.audio(x, **options))


@case
def resampled_length(m):
    def build(m, x):
        sound, rate = m.fn.decoders.audio(x, downmix=True)
        return m.fn.shapes(m.fn.audio_resample(sound, in_rate=rate, out_rate=11025)), rate

    return run(m, build)


@case
def region(m):
    def build(m, x):
        return m.fn.nonsilent_region(m.fn.decoders.audio(x, downmix=True)[0], window_length=16)

    return run(m, build)


@case
def operator_objects(m):
    return run(m, lambda m, x: m.ops.decoders.Audio(downmix=True, dtype=m.types.INT16)(x))


def brief(m, value):
    """What a sample is, and of more than a few numbers the sum of their sizes: decoders round."""
    one = m.plain(value)
    for out in one:
        for sample in out["samples"]:
            if len(sample["values"]) > 8:
                values = sample.pop("values")
                sample["loudness"] = float(f"{sum(abs(v) for v in values):.4g}")
    return one


def epochs(m, count, options, make=None, files=1):
    """Batches of two from manifests of five recordings, and what the reader says of itself."""
    options = {k: getattr(m.types, v) if k == "dtype" else v for k, v in options.items()}
    folder = Path(tempfile.mkdtemp())
    lines = []
    for n in range(5):
        path = recording(folder / f"{n}.wav", 100 * (n + 1), 1 + n % 2, 8000 * (1 + n % 3))
        duration = 0.01 * (n + 1)
        lines.append({"audio_filepath": str(path), "duration": duration, "text": f"Text {n} é"})
    lines[3]["offset"] = 0.005
    lines[3]["duration"] = 0.004
    parts = [lines] if files == 1 else [lines[:2], lines[2:]]
    paths = []
    for n, part in enumerate(parts):
        paths.append(folder / f"m{n}.json")
        paths[-1].write_text("".join(json.dumps(line) + "\n" for line in part))
    pipe = m.Pipeline(batch_size=2, num_threads=1, device_id=None, seed=5)
    with pipe:
        make = make or m.fn.readers.nemo_asr
        outputs = make(manifest_filepaths=[str(path) for path in paths], name="speech", **options)
        pipe.set_outputs(*(outputs if isinstance(outputs, (list, tuple)) else [outputs]))
    pipe.build()
    batches = [brief(m, pipe.run()) for _ in range(count)]
    return [batches, pipe.epoch_size("speech"), m.plain(dict(pipe.reader_meta("speech")))]


@each(
    rate={"sample_rate": 16000.0},
    rate_and_quality={"sample_rate": 11025.0, "quality": 0.0},
    best_quality={"sample_rate": 11025.0, "quality": 100.0},
    wrong_quality={"sample_rate": 11025.0, "quality": 100.5},
    rate_int16={"sample_rate": 4000.0, "dtype": "INT16"},
    rate_int32={"sample_rate": 4000.0, "dtype": "INT32", "downmix": False},
    rate_zero={"sample_rate": 0.0},
    wrong_type={"dtype": "UINT8"},
    doubles={"dtype": "FLOAT64"},
    long={"min_duration": 0.025},
    between={"min_duration": 0.015, "max_duration": 0.045},
    none_is_so_long={"min_duration": 9.0},
    bounds_crossed={"min_duration": 0.045, "max_duration": 0.015},
    negative_bound={"max_duration": -1.0},
    mono={"downmix": True, "read_idxs": True},
    all={"read_text": True, "read_sample_rate": True, "read_idxs": True},
    first_shard={"num_shards": 2, "read_idxs": True},
    second_shard={"num_shards": 2, "shard_id": 1, "read_idxs": True},
    shard_outside={"num_shards": 2, "shard_id": 2},
    sticks={"num_shards": 2, "shard_id": 1, "stick_to_shard": True, "read_idxs": True},
    padded={"pad_last_batch": True, "read_idxs": True},
    padded_shards={"num_shards": 2, "shard_id": 1, "pad_last_batch": True, "read_idxs": True},
    pad_and_stick={
        "num_shards": 3,
        "shard_id": 1,
        "pad_last_batch": True,
        "stick_to_shard": True,
        "read_idxs": True,
    },
    not_shuffled={"random_shuffle": False, "shuffle_after_epoch": False, "read_idxs": True},
    two_shuffles={"random_shuffle": True, "shuffle_after_epoch": True},
    hints={
        "dont_use_mmap": True,
        "initial_fill": 2,
        "lazy_init": True,
        "prefetch_queue_depth": 3,
        "read_ahead": True,
        "skip_cached_images": False,
        "tensor_init_bytes": 10,
        "seed": 3,
    },
    other_hints={"dont_use_mmap": False, "lazy_init": False, "read_ahead": False, "seed": 9},
    no_fill={"initial_fill": 0},
    no_queue={"prefetch_queue_depth": 0},
    old_argument={"normalize_text": True},
    unknown_argument={"labels": [1]},
)
def manifest_read(m, options):
    return epochs(m, 4, options)


@each("one", "two")
def manifest_files(m, files):
    return epochs(m, 4, {"read_idxs": True}, files=1 + (files == "two"))


@each("random_shuffle", "shuffle_after_epoch")
def manifest_shuffled(m, how):
    """Which order is each library's own: what an epoch holds is not."""
    options = {"read_idxs": True, "read_text": False, "read_sample_rate": False, how: True}
    batches, size, _ = epochs(m, 5, {**options, "pad_last_batch": True})
    numbers = [v for batch in batches for one in batch[1]["samples"] for v in one["values"]]
    return [sorted(set(numbers)), len(numbers), size]


@each("old_name", "object", "old_object")
def manifest_reader(m, how):
    if how == "old_name":
        return epochs(m, 3, {"read_idxs": True}, m.fn.nemo_asr_reader)
    kind = m.ops.readers.NemoAsr if how == "object" else m.ops.NemoAsrReader

    def make(name, **options):
        return kind(name=name, **options)()

    return epochs(m, 3, {"read_idxs": True}, make)


MANIFESTS = {
    "empty": "",
    "no_json": "audio\n",
    "no_path": '{"duration": 1.0, "text": "x"}\n',
    "no_file": '{"audio_filepath": "nowhere.wav", "duration": 1.0}\n',
    "no_text": None,
    "blank_lines": None,
    "more_keys": None,
    "relative": None,
    "no_duration": None,
    "offset_behind": None,
    "too_long": None,
}


@each(*MANIFESTS)
def manifest_of_lines(m, what):
    """Manifests that are odd, or wrong."""
    folder = Path(tempfile.mkdtemp())
    path = str(recording(folder / "x.wav", 6))
    line = {"audio_filepath": path, "duration": 0.01, "text": "x"}
    changed = {
        "no_text": {k: v for k, v in line.items() if k != "text"},
        "more_keys": {"speaker": {"age": [1, 2]}, **line, "none": None},
        "relative": {**line, "audio_filepath": "x.wav"},
        "no_duration": {k: v for k, v in line.items() if k != "duration"},
        "offset_behind": {**line, "offset": 5.0},
        "too_long": {**line, "duration": 100.0},
    }.get(what, line)
    text = MANIFESTS[what]
    if text is None:
        text = json.dumps(changed) + "\n"
    if what == "blank_lines":
        text = f"\n{text}\n\n{text}"
    (folder / "m.json").write_text(text)
    pipe = m.Pipeline(batch_size=1, num_threads=1, device_id=None)
    with pipe:
        manifest = [str(folder / "m.json")]
        pipe.set_outputs(*m.fn.readers.nemo_asr(manifest_filepaths=manifest))
    pipe.build()
    return m.plain(pipe.run())


@each(
    plain={},
    no_text={"read_text": False},
    no_rate={"read_sample_rate": False},
    alone={"read_text": False, "read_sample_rate": False},
    numbers={"read_idxs": True},
    channels={"downmix": False, "read_idxs": True},
    int16={"dtype": "INT16"},
    short={"max_duration": 0.0015},
)
def manifest(m, options):
    options = {k: getattr(m.types, v) if k == "dtype" else v for k, v in options.items()}
    folder = Path(tempfile.mkdtemp())
    lines = []
    for n in range(3):
        path = recording(folder / f"{n}.wav", 10 * (n + 1), 1 + n % 2)
        duration = 10 * (n + 1) / 16000
        lines.append({"audio_filepath": str(path), "duration": duration, "text": f"text {n}"})
    (folder / "m.json").write_text("".join(json.dumps(line) + "\n" for line in lines))
    pipe = m.Pipeline(batch_size=1, num_threads=1, device_id=None)
    with pipe:
        outputs = m.fn.readers.nemo_asr(manifest_filepaths=[str(folder / "m.json")], **options)
        pipe.set_outputs(*(outputs if isinstance(outputs, (list, tuple)) else [outputs]))
    pipe.build()
    return [m.plain(pipe.run()) for _ in range(4)]


FEATURES = {
    "window_alone": ("spectrogram", {"window_length": 50}),
    "odd_points": ("spectrogram", {"nfft": 37, "window_length": 20, "window_step": 50}),
    "prime_points": ("spectrogram", {"nfft": 97, "window_length": 97, "window_step": 300}),
    "step_of_one": ("spectrogram", {"nfft": 16, "window_length": 9, "window_step": 1}),
    "windows_apart": ("spectrogram", {"nfft": 4, "window_length": 3, "window_step": 5000}),
    "window_beyond_points": ("spectrogram", {"nfft": 16, "window_length": 32}),
    "window_beyond_signal": ("spectrogram", {"window_length": 500, "center_windows": False}),
    "magnitudes_by_time": ("spectrogram", {"nfft": 64, "window_length": 64, "layout": "tf"}),
    "power_3": ("spectrogram", {"nfft": 64, "window_length": 64, "power": 3}),
    "spectrum_37": ("power_spectrum", {"nfft": 37}),
    "spectrum_64": ("power_spectrum", {"nfft": 64, "axis": 0}),
    "spectrum_axis_1": ("power_spectrum", {"nfft": 64, "axis": 1}),
    "border": ("preemphasis_filter", {"border": "reflect"}),
    "wrong_border": ("preemphasis_filter", {"border": "wrap"}),
    "to_no_sample": ("audio_resample", {"out_length": 0}),
    "to_negative": ("audio_resample", {"out_length": -1}),
    "far_down": ("audio_resample", {"in_rate": 192000.0, "out_rate": 7.0}),
    "far_up": ("audio_resample", {"in_rate": 1.0, "out_rate": 100.0}),
    "both_ways": ("audio_resample", {"scale": 2.0, "out_length": 5}),
    "one_rate": ("audio_resample", {"in_rate": 5.0}),
    "quality_beyond": ("audio_resample", {"scale": 2.0, "quality": 101.0}),
}


@each(*FEATURES)
def features(m, what):
    """Extents of what operators make of 80 samples, and what they refuse."""
    operator, options = FEATURES[what]

    def build(m, x):
        sound = m.fn.decoders.audio(x, downmix=True)[0]
        return m.fn.shapes(getattr(m.fn, operator)(sound, **options))

    return run(m, build)
