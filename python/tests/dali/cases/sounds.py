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
    return run(m, lambda m, x: m.fn.nonsilent_region(m.fn.decoders.audio(x, downmix=True)[0], window_length=16))


@case
def operator_objects(m):
    return run(m, lambda m, x: m.ops.decoders.Audio(downmix=True, dtype=m.types.INT16)(x))


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
