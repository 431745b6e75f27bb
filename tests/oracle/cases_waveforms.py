"""Cases of sound: decoding, resampling, where it is not silent."""
import io

import numpy as np
import soundfile

from recorder import Feed
from samples import rng

SUMS = "float32 sums in another order"
ROUNDED = "a sum next to half a step"
CODEC = "another build of the codec, which computes in float32"
RATES = [(16000, 8000), (44100, 16000), (16000, 44100), (22050, 16000), (3, 3.7)]


def tone(frames, channels=1, key=0):
    """Voices of different pitch over a little noise, [frames] or [frames, channels], within [-1, 1]."""
    t = np.arange(frames)[:, None]
    pitch = 0.02 * (1 + np.arange(max(channels, 1)))
    wave = 0.5 * np.sin(2 * np.pi * pitch * t) + 0.2 * np.sin(2 * np.pi * 3.7 * pitch * t)
    wave = wave + rng(2000 + key).normal(size=wave.shape) * 0.05
    wave = np.clip(wave, -1, 1).astype(np.float32)
    return wave[:, 0] if channels == 0 else wave


def waves(dtype=np.float32, channels=0, key=0):
    """Of different lengths: one frame, less than a window, and some with more than a block of places."""
    samples = [tone(n, channels, key + n) for n in (700, 1, 21, 301)]
    if dtype == np.float32:
        return Feed(samples)
    largest = np.iinfo(dtype).max
    if np.issubdtype(dtype, np.signedinteger):
        return Feed([np.clip(np.round(x.astype(np.float64) * largest), -largest, largest).astype(dtype) for x in samples])
    return Feed([np.round((x.astype(np.float64) + 1) * (largest / 2)).astype(dtype) for x in samples])


def encoded(sound, rate=16000, form="WAV", codec=None):
    file = io.BytesIO()
    soundfile.write(file, sound, rate, format=form, subtype=codec)
    return np.frombuffer(file.getvalue(), np.uint8)


def files(form="WAV", codec=None, channels=(1, 2, 3), frames=(400, 1, 233), rates=(16000, 8000, 22050)):
    return Feed([encoded(tone(n, c, n), r, form, codec) for n, c, r in zip(frames, channels, rates)])


def numbers(values, dtype=np.float32):
    return Feed([np.array(value, dtype) for value in values])


def add_resampling(group):
    for rate_in, rate_out in RATES:
        for quality in (0, 50, 100):
            group.case(f"resample_{rate_in}_{rate_out}_{quality}".replace(".", "_"),
                       f"fn.audio_resample(x, in_rate={rate_in}.0, out_rate={float(rate_out)}, quality={quality})",
                       {"x": waves()}, tolerance=4e-6, why=SUMS)
    for arguments in ("scale=0.5", "scale=2", "scale=1.37", "scale=1", "out_length=100", "out_length=1",
                      "out_length=0", "in_rate=1, out_rate=1"):
        group.case("resample_" + arguments, f"fn.audio_resample(x, {arguments})", {"x": waves()}, tolerance=4e-6,
                   why=SUMS)
    for channels in (1, 2, 5):
        group.case(f"resample_channels_{channels}", "fn.audio_resample(x, scale=0.7)",
                   {"x": waves(channels=channels)}, tolerance=4e-6, why=SUMS)
    per_sample = {"x": waves(), "a": numbers([16000, 8000, 11025, 3]), "b": numbers([8000, 16000, 16000, 7])}
    group.case("resample_rates_per_sample", "fn.audio_resample(x, in_rate=a, out_rate=b)", per_sample,
               tolerance=4e-6, why=SUMS)
    group.case("resample_scale_per_sample", "fn.audio_resample(x, scale=s)",
               {"x": waves(), "s": numbers([0.3, 2, 1.1, 1])}, tolerance=4e-6, why=SUMS)
    group.case("resample_length_per_sample", "fn.audio_resample(x, out_length=n)",
               {"x": waves(), "n": numbers([30, 5, 0, 900], np.int64)}, tolerance=4e-6, why=SUMS)
    for dtype in (np.uint8, np.int8, np.uint16, np.int16):
        name = np.dtype(dtype).name
        group.case(f"resample_{name}", "fn.audio_resample(x, scale=0.7)", {"x": waves(dtype)}, tolerance=1, why=ROUNDED)
        group.case(f"resample_{name}_to_float", "fn.audio_resample(x, scale=0.7, dtype=types.FLOAT)",
                   {"x": waves(dtype)}, tolerance=4e-6, why=SUMS)
        group.case(f"resample_float_to_{name}", f"fn.audio_resample(x, scale=0.7, dtype=types.{name.upper()})",
                   {"x": waves()}, tolerance=1, why=ROUNDED)
    for dtype in (np.int32, np.uint32):
        name = np.dtype(dtype).name
        group.case(f"resample_{name}", "fn.audio_resample(x, scale=0.7)", {"x": waves(dtype)}, tolerance=20000, why=SUMS)
        group.case(f"resample_{name}_to_int16", "fn.audio_resample(x, scale=0.7, dtype=types.INT16)",
                   {"x": waves(dtype)}, tolerance=1, why=ROUNDED)
    group.case("resample_fused", "fn.audio_resample(x * 0.5, scale=0.7) + 1", {"x": waves()}, tolerance=4e-6, why=SUMS)
    for name, arguments in (("nothing", ""), ("both", "scale=1, out_length=5"), ("half", "in_rate=5"),
                            ("quality", "scale=2, quality=101"), ("length", "out_length=-1"),
                            ("dtype", "scale=2, dtype=types.INT64")):
        group.refused(f"refused_resample_{name}", f"fn.audio_resample(x, {arguments})", {"x": waves()})
    group.refused("refused_resample_axes", "fn.audio_resample(x, scale=2)", {"x": Feed([np.zeros((2, 3, 4), np.float32)] * 4)})
    group.refused("refused_resample_double", "fn.audio_resample(x, scale=2)", {"x": Feed([np.zeros(4)] * 4)})


def spoken(dtype=np.float32, scale=1.0):
    """Silence, sound, silence; all silent; short; a click."""
    whole = np.zeros(9000)
    whole[3000:4000] = tone(1000, 0)
    whole[1000] = 0.001
    click = np.zeros(5000)
    click[2500] = 0.9
    return Feed([(x * scale).astype(dtype) for x in (whole, np.zeros(3000), whole[3000:3010], click)])


def add_region(group):
    for name, arguments in (("default", ""), ("cutoff", "cutoff_db=-10"), ("window", "window_length=512"),
                            ("one", "window_length=1, reset_interval=-1"),
                            ("reference", "reference_power=1.0, cutoff_db=-20, window_length=256"),
                            ("never", "reference_power=1e9"), ("reset", "window_length=64, reset_interval=640"),
                            ("long", "window_length=8192")):
        group.case("region_" + name, region(arguments), {"x": spoken()})
    for dtype, scale in ((np.int16, 30000), (np.uint8, 100), (np.int8, 100), (np.int32, 1e6), (np.uint16, 1e4)):
        sound = Feed([np.abs(x) if np.issubdtype(dtype, np.unsignedinteger) else x for x in spoken(np.float64, scale).samples])
        group.case("region_" + np.dtype(dtype).name, region("cutoff_db=-30"),
                   {"x": Feed([x.astype(dtype) for x in sound.samples])})
    group.refused("refused_region_reference", region("reference_power=0.0"), {"x": spoken()})
    group.refused("refused_region_double", region(), {"x": spoken(np.float64)})
    group.refused("refused_region_axes", region(), {"x": Feed([np.zeros((9, 2), np.float32)] * 4)})


def decoded(arguments=""):
    return f"sound, rate = fn.decoders.audio(x, {arguments})\nreturn sound, rate"


def region(arguments=""):
    return f"begin, length = fn.nonsilent_region(x, {arguments})\nreturn begin, length"


def add_decoding(group):
    codecs = [("WAV", "PCM_16"), ("WAV", "PCM_24"), ("WAV", "PCM_32"), ("WAV", "PCM_U8"), ("WAV", "FLOAT"), ("WAV", "DOUBLE"),
              ("WAV", "ULAW"), ("WAV", "ALAW"), ("FLAC", "PCM_16"), ("FLAC", "PCM_24"), ("AIFF", "PCM_16"), ("AU", "PCM_16"),
              ("W64", "PCM_16"), ("CAF", "PCM_16"), ("RF64", "PCM_16")]
    for form, codec in codecs:
        name = f"{form}_{codec}".lower()
        group.case("decode_" + name, decoded(), {"x": files(form, codec)})
        group.case("decode_mono_" + name, decoded("downmix=True"), {"x": files(form, codec)},
                   tolerance=1e-7, why=SUMS)
        if codec in ("FLOAT", "DOUBLE"):  # DALI gives zeros
            continue
        for dtype in ("INT16", "INT32"):
            group.case(f"decode_{name}_{dtype}", decoded(f"dtype=types.{dtype}"), {"x": files(form, codec)})
            group.case(f"decode_mono_{name}_{dtype}", decoded(f"dtype=types.{dtype}, downmix=True"),
                       {"x": files(form, codec)}, tolerance=1 if dtype == "INT16" else 256, why=ROUNDED)
    for codec in ("VORBIS", "OPUS"):
        sounds = files("OGG", codec, (1, 2, 1), (900, 300, 500), (16000, 8000, 48000))
        group.case("decode_" + codec.lower(), decoded(), {"x": sounds}, tolerance=1e-4, why=CODEC)
        group.case(f"decode_{codec.lower()}_at_rate", decoded("downmix=True, sample_rate=16000"),
                   {"x": sounds}, tolerance=1e-4, why=CODEC)
    for quality in (0, 50, 100):
        group.case(f"decode_at_rate_{quality}", decoded(f"sample_rate=16000, quality={quality}"),
                   {"x": files()}, tolerance=4e-6, why=SUMS)
    group.case("decode_at_rate_mono", decoded("sample_rate=11025, downmix=True"), {"x": files("FLAC")},
               tolerance=4e-6, why=SUMS)
    group.case("decode_at_rate_int16", decoded("sample_rate=11025, dtype=types.INT16"), {"x": files()},
               tolerance=1, why=ROUNDED)
    group.case("decode_at_rate_int32", decoded("sample_rate=11025, dtype=types.INT32"), {"x": files()},
               tolerance=20000, why=SUMS)
    group.case("decode_at_own_rate", "sound, _ = fn.decoders.audio(x, sample_rate=r)\nreturn sound",
               {"x": files(), "r": numbers([0, 8000, 16000])}, tolerance=4e-6, why=SUMS)
    group.case("decode_nothing", decoded(), {"x": files(frames=(0, 0, 5))})
    group.case("decode_sliced", "fn.slice(fn.decoders.audio(x, downmix=True)[0], start=[2], shape=[3], axes=[0])",
               {"x": files(frames=(400, 9, 233))}, tolerance=1e-7, why=SUMS)
    group.refused("refused_decode_dtype", decoded("dtype=types.UINT8"), {"x": files()})
    group.refused("refused_decode_noise", decoded(), {"x": Feed([np.arange(200, dtype=np.uint8)] * 3)})
    group.refused("refused_decode_cut", decoded(),
                  {"x": Feed([file[: len(file) // 2].copy() for file in files("FLAC", frames=(400, 400, 400)).samples])})


def add(group):
    add_resampling(group)
    add_region(group)
    add_decoding(group)
