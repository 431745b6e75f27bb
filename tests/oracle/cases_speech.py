"""Cases of sound at its edges: one sample, less than a window, silence, large numbers, channels.

Each argument of each operator has two values or more, here, in cases_sound.py and
cases_waveforms.py.
"""

import numpy as np
from cases_sound import (
    F32,
    FEET,
    LOG,
    cepstra,
    decibels,
    mel,
    preemphasis,
    sounds,
    spectra,
    spectrogram,
)
from cases_waveforms import ROUNDED, SUMS, decoded, encoded, files, numbers, region, tone
from recorder import Feed

# One sample, less than a window, nothing to hear, the largest and least that are no infinity.
LOUD = np.array([1e18, -1e18, 3e17, -2.5e17, 1e18, 0.0, -1e18, 7e17, 1.0], np.float32)
QUIET = np.array([1e-15, -1e-15, 1e-30, 0.0, -3e-16, 1e-38, 1e-15, 5e-16, -1e-17], np.float32)


def edges(layout=None):
    return {"x": Feed([tone(1, 0), tone(5, 0), np.zeros(40, np.float32), LOUD, QUIET], layout)}


def words(options):
    """Arguments of a call, strings quoted."""
    return "".join(f", {key}={value!r}" for key, value in options.items())


def add_spectrogram(group):
    for name, options in {
        "plain": {"window_length": 8, "window_step": 3},
        "zeros": {"window_length": 8, "window_step": 3, "reflect_padding": False},
        "magnitude": {"window_length": 9, "window_step": 2, "power": 1},
        "squares": {"window_length": 7, "window_step": 7, "power": 2, "reflect_padding": True},
        "points": {"nfft": 21, "window_length": 10, "window_step": 4},
        "apart": {"nfft": 12, "window_length": 4, "window_step": 9, "center_windows": True},
    }.items():
        body = f"fn.spectrogram(x{words(options)})"
        group.case(f"spectrogram_{name}", body, edges("t"), 4e-6, "range", F32)
    window = [0.5, -1.0, 0.25, 2.0, 0.125]
    long = {"x": Feed(sounds([301, 40, 5], key=9700))}
    known = {"window_length": 5, "window_step": 2}
    for name, options in {
        "filled": {"nfft": 9},
        "inside": {"nfft": 14, "center_windows": False},
        "inside_no_mirror": {"center_windows": False, "reflect_padding": False},
        "zeros": {"nfft": 11, "reflect_padding": False},
        "magnitude_tf": {"nfft": 6, "power": 1, "layout": "tf"},
        "long_step": {"window_step": 50},
    }.items():
        given = {**known, **options}

        def wanted(x, given=given):
            is_centred = given.get("center_windows", True)
            is_mirrored = is_centred and given.get("reflect_padding", True)
            out = spectrogram(
                x,
                given.get("nfft"),
                5,
                given["window_step"],
                window,
                given.get("power", 2),
                is_centred,
                is_mirrored,
            )
            return out.T if given.get("layout") == "tf" else out

        body = f"fn.spectrogram(x, window_fn={window}{words(given)})"
        group.case(f"window_fn_{name}", body, long, 2e-6, "range", F32, expect=wanted)
    for points in (97, 100, 300):
        body = f"fn.spectrogram(x, nfft={points}, window_length=77, window_step=19)"
        group.case(
            f"spectrogram_77_of_{points}",
            body,
            long,
            2e-6,
            "range",
            F32,
            expect=lambda x, n=points: spectrogram(x, n, 77, 19),
        )


def add_power_spectrum(group):
    stereo = {"x": Feed([tone(n, 3, n) for n in (45, 3, 7)])}  # DALI refuses 1 and 2 points

    def spectrum(x, axis, nfft=None, power=2):
        return np.abs(np.fft.rfft(x.astype(np.float64), nfft, axis)) ** power

    for name, options in {
        "frames": {"axis": 0},
        "channels": {"axis": 1, "power": 1},
        "last": {"axis": -1},
        "prime": {"axis": 0, "nfft": 37},
        "odd": {"axis": 0, "nfft": 45, "power": 2},
    }.items():
        body = f"fn.power_spectrum(x{words(options)})"
        group.case(
            f"power_spectrum_of_3_{name}",
            body,
            stereo,
            2e-6,
            "range",
            F32,
            expect=lambda x, options=options: spectrum(x, **options),
        )
    longer = {"x": Feed([x for x in edges()["x"].samples if len(x) > 1])}
    group.case("power_spectrum_edges", "fn.power_spectrum(x)", longer, 4e-6, "range", F32)


def add_mel(group):
    odd = [np.zeros((17, 3)), np.full((17, 1), 1e30), np.full((17, 2), 1e-30)]
    feeds = {"x": Feed([*spectra([(17, 4)], key=9710), *map(np.float32, odd)], "ft")}
    for name, options in {
        "plain": {"nfilter": 7},
        "named": {"nfilter": 9, "mel_formula": "slaney", "normalize": True, "sample_rate": 22050.5},
        "htk": {"nfilter": 5, "mel_formula": "htk", "normalize": False, "sample_rate": 8000.0},
        "low": {"nfilter": 4, "freq_low": 1000.0, "sample_rate": 16000.0},
        "high": {"nfilter": 6, "freq_high": 8000.0, "sample_rate": 16000.0},
        "between": {"nfilter": 3, "freq_low": 300.0, "freq_high": 3400.0, "sample_rate": 11025.0},
        "more_than_bins": {"nfilter": 40, "sample_rate": 16000.0},
    }.items():
        given = {key: value for key, value in options.items() if key != "mel_formula"}
        given["htk"] = options.get("mel_formula") == "htk"
        body = f"fn.mel_filter_bank(x{words(options)})"
        group.case(
            f"mel_{name}",
            body,
            feeds,
            5e-6,
            "range",
            FEET,
            expect=lambda x, given=given: mel(x, **given),
        )


def add_decibels(group):
    odd = [[0, 0], [1e38, 1e-38, 1], [3e38, 0], [1e-37, 3e-38], [7]]
    feeds = {"x": Feed([np.array(value, np.float32) for value in odd], "f")}
    for name, options in {
        "plain": {},
        "five": {"multiplier": 5.0},
        "negative": {"multiplier": -10.0, "reference": 1.0},
        "cutoff_0": {"cutoff_db": 0.0},
        "cutoff_above": {"cutoff_db": 10.0},
        "cutoff_near": {"cutoff_db": -20.0, "multiplier": 20.0},
        "reference_large": {"reference": 1e10},
        "reference_small": {"reference": 1e-3},
    }.items():
        given = {{"cutoff_db": "cutoff"}.get(key, key): value for key, value in options.items()}
        if "small" not in name and options.get("multiplier", 1) > 0:  # DALI multiplies in float32
            expect = lambda x, given=given: decibels(x, **given)  # noqa: E731
        else:
            expect = None
        body = f"fn.to_decibels(x{words(options)})"
        group.case(f"decibels_{name}", body, feeds, 1e-4, "abs", LOG, expect=expect)


def add_mfcc(group):
    logs = [np.log(s + np.float32(1e-3)) for s in spectra([(13, 4), (2, 3)], key=9720)]
    feeds = {"x": Feed([*logs, np.zeros((5, 2), np.float32)], "ft")}
    for name, options in {
        "one": {"n_mfcc": 1},
        "lifter_1": {"n_mfcc": 7, "lifter": 1.0},
        "lifter_half": {"n_mfcc": 7, "lifter": 0.7},
        "lifter_long": {"n_mfcc": 5, "lifter": 100.5},
        "lifter_negative": {"n_mfcc": 5, "lifter": -3.0},
        "lifter_0": {"n_mfcc": 5, "lifter": 0.0, "dct_type": 3, "normalize": True},
        "fourth": {"dct_type": 4, "normalize": True, "lifter": 9.0, "n_mfcc": 9},
        "first_lifter": {"dct_type": 1, "lifter": 5.0, "n_mfcc": 3},
    }.items():
        given = {{"n_mfcc": "count", "dct_type": "kind"}.get(k, k): v for k, v in options.items()}
        expect = None
        if "negative" not in name:
            expect = lambda x, given=given: cepstra(x, **given)  # noqa: E731
        body = f"fn.mfcc(x{words(options)})"
        group.case(f"mfcc_{name}", body, feeds, 1e-3, "abs", F32, expect=expect)
    turned = {"x": Feed([s.T.copy() for s in logs], "tf")}
    group.case(
        "mfcc_tf",
        "fn.mfcc(x, axis=1, n_mfcc=3, normalize=True)",
        turned,
        1e-4,
        "abs",
        F32,
        expect=lambda x: cepstra(x, 1, 3, normalize=True),
    )


def add_preemphasis(group):
    stereo = {"x": Feed([tone(n, 2, n) for n in (45, 1, 7)])}
    for border in ("clamp", "zero", "reflect"):
        body = f'fn.preemphasis_filter(x, border="{border}", preemph_coeff=-0.5)'
        group.case(
            f"preemphasis_stereo_{border}",
            body,
            stereo,
            1e-6,
            "abs",
            F32,
            expect=lambda x, border=border: preemphasis(x, -0.5, border),
        )
        group.case(
            f"preemphasis_edges_{border}",
            f'fn.preemphasis_filter(x, border="{border}")',
            {"x": Feed(edges()["x"].samples[border == "reflect" :], "t")},  # one has no neighbour
            1e-6,
            "range",
            F32,
            expect=lambda x, border=border: preemphasis(x, 0.97, border),
        )
    for share in (0.0, 1.0, 2.5):
        body = f"fn.preemphasis_filter(x, preemph_coeff={share}, dtype=types.FLOAT)"
        group.case(
            f"preemphasis_by_{share}",
            body,
            stereo,
            1e-6,
            "abs",
            F32,
            expect=lambda x, share=share: preemphasis(x, share),
        )
    shares = {**stereo, "c": numbers([[0.1], [0.2], [-3]])}
    body = "fn.preemphasis_filter(x, preemph_coeff=c, border='zero')"
    group.case(
        "preemphasis_vectors",
        body,
        shares,
        1e-6,
        "abs",
        F32,
        expect=lambda x, c: preemphasis(x, float(c[0]), "zero"),
    )


def add_resampling(group):
    for name, arguments in {
        "scale": "scale=3.3",
        "down": "scale=0.21, quality=10",
        "length": "out_length=13",
        "rates": "in_rate=7, out_rate=5, quality=33.3",
        "old": "in_rate=8000, out_rate=16000",
    }.items():
        call = "experimental.audio_resample" if name == "old" else "audio_resample"
        body = f"fn.{call}(x, {arguments})"
        group.case(f"resample_edges_{name}", body, edges(), 4e-6, "range", SUMS)
    stereo = {"x": Feed([tone(n, 2, n) for n in (45, 1, 7)]), "s": numbers([0.5, 9, 1.25])}
    group.case(
        "resample_stereo", "fn.audio_resample(x, scale=s)", stereo, tolerance=4e-6, why=SUMS
    )
    rates = {"x": stereo["x"], "a": numbers([8000, 3, 7]), "n": numbers([3, 4, 20], np.int64)}
    for name, arguments in {"in": "in_rate=a, out_rate=5", "out": "in_rate=5, out_rate=a"}.items():
        body = f"fn.audio_resample(x, {arguments})"
        group.case(f"resample_stereo_{name}", body, rates, tolerance=4e-6, why=SUMS)
    body = "fn.audio_resample(x, out_length=n, quality=80)"
    group.case("resample_stereo_length", body, rates, tolerance=4e-6, why=SUMS)
    full = Feed([np.array([1, 1, -1, -1, 1, -1, 2, -2], np.float32), np.ones(1, np.float32)])
    for dtype, step in (("INT32", 20000), ("UINT32", 20000), ("INT16", 1), ("UINT8", 1)):
        body = f"fn.audio_resample(x, scale=1.9, dtype=types.{dtype})"
        group.case(f"resample_full_{dtype.lower()}", body, {"x": full}, tolerance=step, why=ROUNDED)


def add_region(group):
    long = np.zeros(3000, np.float32)
    long[1000:1010] = 1e18
    feeds = {"x": Feed([tone(1, 0), tone(5, 0), np.zeros(40, np.float32), long])}
    for name, arguments in {
        "plain": "window_length=4",
        "long": "window_length=10000, reset_interval=-1",
        "reset": "window_length=5, reset_interval=5",
        "reset_long": "window_length=5, reset_interval=50000",
        "reference": "reference_power=0.25, cutoff_db=-6, window_length=3, reset_interval=30",
        "reference_small": "reference_power=1e-8, window_length=16",
        "cutoff_0": "cutoff_db=0, window_length=2",
        "cutoff_above": "cutoff_db=20, window_length=2",
        "cutoff_far": "cutoff_db=-300, window_length=2",
    }.items():
        group.case("region_" + name, region(arguments), feeds)


def add_decoding(group):
    loose = {"tolerance": 4e-6, "why": SUMS}
    group.case("decode_old_name", "fn.audio_decoder(x, downmix=True)[0]", {"x": files()}, **loose)
    group.case("decode_stereo_kept", decoded("downmix=False, dtype=types.FLOAT"), {"x": files()})
    group.case("decode_mono_kept", decoded("downmix=False"), {"x": files(channels=(1, 1, 2))})
    least = np.array([-32768, 32767, 0, 1, -1], np.int16)
    full = Feed([encoded(least), encoded(least[:1]), encoded(np.zeros(50, np.int16), 8000)])
    for dtype in ("FLOAT", "INT16", "INT32"):
        group.case(f"decode_full_{dtype}", decoded(f"dtype=types.{dtype}"), {"x": full})
    body = decoded("sample_rate=12000.5, quality=70")
    group.case("decode_full_at_rate", body, {"x": full}, **loose)
    beyond = np.array([1e30, -1e30, 2.5, -1.0, 1e-40], np.float32)
    group.case("decode_beyond", decoded(), {"x": Feed([encoded(beyond, codec="FLOAT")] * 2)})
    rates = {"x": files(), "r": numbers([[4000], [8000], [22050]])}
    group.case("decode_at_rates", decoded("sample_rate=r, quality=20"), rates, **loose)
    group.refused("decode_mp3", decoded(), {"x": Feed([encoded(tone(2000, 1), 16000, "MP3")])})


def add_normalize(group):
    feeds = spectra([(6, 9), (6, 1), (6, 4)], key=9730)
    even = [np.zeros((6, 3), np.float32), np.full((6, 2), 2.0**50, np.float32)]
    feeds = {"x": Feed([*feeds, *even], "ft")}
    for name, arguments in {
        "time": "axes=[1]",
        "time_by_name": 'axis_names="t"',
        "bands": 'axis_names="f", ddof=1',
        "all": 'axis_names="ft", scale=2.0, shift=-1.0',
        "no_axes": "epsilon=1e-5",
        "epsilon": "axes=[1], epsilon=0.25, ddof=1",
        "mean": "axes=[1], mean=0.5",
        "deviation": "axes=[1], stddev=0.25, epsilon=2.0",
        "int16": "axes=[1], dtype=types.INT16, scale=100.0, shift=7.0",
    }.items():
        body = f"fn.normalize(x, {arguments})"
        is_rounded = "INT16" in arguments
        tolerance, kind, why = (1, "abs", ROUNDED) if is_rounded else (1e-5, "range", F32)
        group.case(f"normalize_{name}", body, feeds, tolerance, kind, why)
    bands = [np.linspace(0.5, 2, 6, dtype=np.float32)[:, None]] * 5
    given = {**feeds, "m": Feed(bands), "s": Feed([1 + band for band in bands])}
    tensors = {"both": "mean=m, stddev=s", "mean": "mean=m", "deviation": "stddev=s"}
    for name, arguments in tensors.items():
        body = f"fn.normalize(x, {arguments}, axes=[1])"
        group.case(f"normalize_tensor_{name}", body, given, 1e-5, "range", F32)
    even = {"x": Feed(spectra([(5, 4), (5, 9)], key=9740), "ft")}
    for name, arguments in {"bands": "axes=[1]", "named": 'axis_names="t", ddof=1'}.items():
        body = f"fn.normalize(x, batch=True, {arguments})"
        group.case(f"normalize_batch_{name}", body, even, 1e-5, "range", F32)


def add(group):
    add_spectrogram(group)
    add_power_spectrum(group)
    add_mel(group)
    add_decibels(group)
    add_mfcc(group)
    add_preemphasis(group)
    add_resampling(group)
    add_region(group)
    add_decoding(group)
    add_normalize(group)
