"""Cases of sound: preemphasis, spectrograms, mel bands, decibels, cepstra, and log-mel features as one pipeline.

References are formulas in float64; mel weights are librosa's, cosine transforms SciPy's.
"""
import librosa
import numpy as np
import scipy.fft

from recorder import Feed
from samples import rng

FEET = "at the foot of a triangle a weight is noise of float32"
F32 = "sums in float32, in another order"
LOG = "logarithms in float32"
ONE_BIT = "DALI may contract a product and a difference"


def sounds(lengths, key):
    """A rising tone with noise, so that no frequency is silent."""
    made = []
    for number, length in enumerate(lengths):
        t = np.arange(length) / max(length, 1)
        noise = rng(key + number).standard_normal(length)
        made.append((np.sin(2 * np.pi * (20 + 60 * t) * t) + 0.1 * noise).astype(np.float32))
    return made


def hann(length):
    return 0.5 - 0.5 * np.cos(2 * np.pi * (np.arange(length) + 0.5) / length)


def spectrogram(x, nfft=None, window_length=512, window_step=256, window=None, power=2, center=True, reflect=True):
    nfft = nfft or window_length
    window = np.asarray(hann(window_length) if window is None else window, np.float64)
    x = x.astype(np.float64).ravel()
    half = window_length // 2 if center else 0
    count = len(x) // window_step + 1 if center else (len(x) - window_length) // window_step + 1
    places = np.arange(count)[:, None] * window_step - half + np.arange(window_length)
    if reflect:
        period = max(2 * (len(x) - 1), 1)
        inside = np.abs(places) % period
        frames = x[np.minimum(np.minimum(inside, period - inside), len(x) - 1)]
    else:
        frames = np.where((places >= 0) & (places < len(x)), x[np.clip(places, 0, len(x) - 1)], 0)
    return np.abs(np.fft.rfft(frames * window, nfft)).T ** power


def add_spectrogram(group):
    feeds = {"x": Feed(sounds([700, 333, 64, 5, 1], key=9000), "t")}
    cases = {
        "default": {}, "window_64": {"window_length": 64, "window_step": 32},
        "nfft": {"nfft": 128, "window_length": 50, "window_step": 17},
        "window_of_1": {"nfft": 8, "window_length": 1, "window_step": 100},
        "step_1": {"nfft": 16, "window_length": 16, "window_step": 1},
        "magnitude": {"nfft": 64, "window_length": 48, "window_step": 20, "power": 1},
        "zeros_around": {"window_length": 64, "window_step": 40, "reflect": False},
    }
    for points in (3, 4, 5, 6, 9, 12, 15, 25, 30, 49, 60, 100, 121, 169, 400):
        cases[f"points_{points}"] = {"window_length": points, "window_step": max(points // 2, 1)}
    for points in (17, 34, 53, 106, 221, 257):
        cases[f"prime_{points}"] = {"window_length": points, "window_step": max(points // 2, 1)}
    for name, options in cases.items():
        words = {"reflect": "reflect_padding"}
        arguments = ", ".join(f"{words.get(key, key)}={value}" for key, value in options.items())
        group.case(f"spectrogram_{name}", f"fn.spectrogram(x, {arguments})", feeds, 2e-6, "range", F32,
                   expect=lambda x, options=options: spectrogram(x, **options))
    long = {"x": Feed(sounds([700, 333, 64], key=9010))}
    group.case("spectrogram_inside", "fn.spectrogram(x, window_length=64, window_step=30, center_windows=False)", long,
               2e-6, "range", F32, expect=lambda x: spectrogram(x, None, 64, 30, center=False, reflect=False))
    group.case("spectrogram_tf", "fn.spectrogram(x, window_length=64, window_step=30, layout='tf')", long, 2e-6, "range",
               F32, expect=lambda x: spectrogram(x, None, 64, 30).T)
    window = [0.5, 1.0, 0.25, 2.0, -1.0, 0.125, 0.0, 3.0]
    group.case("spectrogram_window_fn", f"fn.spectrogram(x, window_length=8, window_step=3, window_fn={window})", long,
               2e-6, "range", F32, expect=lambda x: spectrogram(x, None, 8, 3, window))
    column = {"x": Feed([x[:, None] for x in sounds([100, 70], key=9020)])}
    group.case("spectrogram_column", "fn.spectrogram(x, window_length=32, window_step=16)", column, 2e-6, "range", F32,
               expect=lambda x: spectrogram(x, None, 32, 16))
    group.refused("refused_spectrogram_channels", "fn.spectrogram(x)", {"x": Feed([np.ones((9, 2), np.float32)])})
    group.refused("refused_spectrogram_int16", "fn.spectrogram(x)", {"x": Feed([np.ones(9, np.int16)])})
    group.refused("refused_spectrogram_empty", "fn.spectrogram(x)", {"x": Feed([np.ones(0, np.float32)])})
    group.refused("refused_spectrogram_short", "fn.spectrogram(x, window_length=80, window_step=8, center_windows=False)", long)
    for name, arguments in {"nfft": "nfft=32, window_length=64", "power": "power=3", "step": "window_step=0",
                            "length": "window_length=0", "layout": "layout='xy'",
                            "window_fn": "window_length=4, window_fn=[1.0, 2.0]"}.items():
        group.refused(f"refused_spectrogram_{name}", f"fn.spectrogram(x, {arguments})", long)


def add_power_spectrum(group):
    def spectrum(x, axis, nfft=None, power=2):
        return np.abs(np.fft.rfft(x.astype(np.float64), nfft, axis)) ** power

    feeds = {"x": Feed(sounds([100, 53, 24], key=9100))}
    for name, arguments, options in (("own_points", "", {}), ("filled_up", ", nfft=128", {"nfft": 128}),
                                     ("cut", ", nfft=20", {"nfft": 20}), ("magnitude", ", nfft=60, power=1", {"nfft": 60, "power": 1})):
        group.case(f"power_spectrum_{name}", f"fn.power_spectrum(x{arguments})", feeds, 2e-6, "range", F32,
                   expect=lambda x, options=options: spectrum(x, -1, **options))
    tensors = {"x": Feed([rng(9110 + n).standard_normal((n, 7, 5)).astype(np.float32) for n in (12, 9)])}
    for axis in (0, 1, 2):
        group.case(f"power_spectrum_axis_{axis}", f"fn.power_spectrum(x, axis={axis})", tensors, 2e-6,
                   "range", F32, expect=lambda x, axis=axis: spectrum(x, axis))
    group.refused("refused_power_spectrum_axis", "fn.power_spectrum(x, axis=1)", feeds)
    group.refused("refused_power_spectrum_power", "fn.power_spectrum(x, power=0)", feeds)
    group.refused("refused_power_spectrum_int16", "fn.power_spectrum(x)", {"x": Feed([np.ones(9, np.int16)])})


def spectra(shapes, key):
    return [(rng(key + n).standard_normal(shape) ** 2).astype(np.float32) for n, shape in enumerate(shapes)]


def mel(x, axis=0, nfilter=128, sample_rate=44100, freq_low=0, freq_high=0, normalize=True, htk=False):
    bins = x.shape[axis]
    weights = librosa.filters.mel(sr=sample_rate, n_fft=2 * (bins - 1), n_mels=nfilter, fmin=freq_low, fmax=freq_high or None,
                                  htk=htk, norm="slaney" if normalize else None, dtype=np.float64)
    return np.moveaxis(np.tensordot(weights, x.astype(np.float64), (1, axis)), 0, axis)


def add_mel(group):
    feeds = {"x": Feed(spectra([(257, 9), (257, 1), (257, 4)], key=9200), "ft")}
    cases = {"default": ("", {}), "speech": (", nfilter=80, sample_rate=16000", {"nfilter": 80, "sample_rate": 16000}),
             "band": (", nfilter=23, sample_rate=16000, freq_low=133.0, freq_high=6854.5",
                      {"nfilter": 23, "sample_rate": 16000, "freq_low": 133.0, "freq_high": 6854.5}),
             "height_1": (", nfilter=40, sample_rate=8000, normalize=False", {"nfilter": 40, "sample_rate": 8000, "normalize": False}),
             "htk": (", nfilter=40, sample_rate=16000, mel_formula='htk'", {"nfilter": 40, "sample_rate": 16000, "htk": True}),
             "one": (", nfilter=1", {"nfilter": 1})}
    for name, (arguments, options) in cases.items():
        group.case(f"mel_{name}", f"fn.mel_filter_bank(x{arguments})", feeds, 5e-6, "range", FEET,
                   expect=lambda x, options=options: mel(x, **options))
    turned = {"x": Feed(spectra([(5, 129), (2, 129)], key=9210), "tf")}
    group.case("mel_tf", "fn.mel_filter_bank(x, nfilter=20)", turned, 5e-6, "range", FEET, expect=lambda x: mel(x, 1, 20))
    ragged = {"x": Feed(spectra([(3, 65, 4), (1, 33, 2), (2, 17, 3)], key=9220))}
    group.case("mel_ragged", "fn.mel_filter_bank(x, nfilter=12)", ragged, 5e-6, "range", FEET, expect=lambda x: mel(x, 1, 12))
    few = {"x": Feed(spectra([(1, 3), (2, 3), (3, 2)], key=9230))}
    group.case("mel_few_bins", "fn.mel_filter_bank(x, nfilter=10)", few, 5e-6, "range", FEET)
    group.refused("refused_mel_layout", "fn.mel_filter_bank(x)", {"x": Feed(spectra([(9, 4)], key=9240), "HW")})
    group.refused("refused_mel_bytes", "fn.mel_filter_bank(x)", {"x": Feed([np.ones((9, 4), np.uint8)])})
    for name, arguments in {"filters": "nfilter=0", "low": "freq_low=-1.0", "order": "freq_low=500.0, freq_high=400.0",
                            "high": "freq_high=44200.0", "rate": "sample_rate=0.0", "formula": "mel_formula='bark'"}.items():
        group.refused(f"refused_mel_{name}", f"fn.mel_filter_bank(x, {arguments})", feeds)


def decibels(x, multiplier=10.0, reference=None, cutoff=-200.0):
    x = x.astype(np.float64)
    if reference is None:
        reference = x.max() or 1
    floor = max(np.float32(10.0 ** (cutoff / multiplier)), np.float32(1e-45))
    with np.errstate(all="ignore"):
        return multiplier * np.log10(np.maximum(x / reference, np.float64(floor)))


def add_decibels(group):
    shapes = [(13, 7), (1, 1), (4, 30)]
    feeds = {"x": Feed(spectra(shapes, key=9300), "ft")}
    for name, arguments, options in (("default", "", {}), ("magnitude", ", multiplier=20.0", {"multiplier": 20}),
                                     ("reference", ", reference=2.5", {"reference": 2.5}),
                                     ("floor", ", cutoff_db=-3.0", {"cutoff": -3}),
                                     ("natural", f", multiplier={np.log(10)}, reference=1.0, cutoff_db=-80.0",
                                      {"multiplier": np.log(10), "reference": 1, "cutoff": -80}),
                                     ("negative_reference", ", reference=-1.0", {"reference": -1})):
        group.case(f"decibels_{name}", f"fn.to_decibels(x{arguments})", feeds, 1e-4, "abs", LOG,
                   expect=lambda x, options=options: decibels(x, **options))
    odd = {"x": Feed([np.array(v, np.float32) for v in ([0, 0, 0], [1, 0, 1e-40, 1e-45, 3e38], [-1, -2], [])])}
    group.case("decibels_odd", "fn.to_decibels(x)", odd, 1e-4, "abs", LOG)
    group.case("decibels_no_floor", "fn.to_decibels(x, cutoff_db=-4000.0, reference=1.0)", odd, 1e-3, "abs", LOG)
    group.refused("refused_decibels_reference", "fn.to_decibels(x, reference=0.0)", feeds)
    group.refused("refused_decibels_integers", "fn.to_decibels(x)", {"x": Feed([np.ones(3, np.int32)])})


def cepstra(x, axis=0, count=20, kind=2, normalize=False, lifter=0.0):
    x = np.moveaxis(x.astype(np.float64), axis, 0)
    out = scipy.fft.dct(x, kind, axis=0, norm="ortho" if normalize else None) * (1 if normalize else 0.5)
    out = out[:count]
    if lifter:
        k = np.arange(len(out)).reshape((-1,) + (1,) * (x.ndim - 1))
        out = out * (1 + lifter / 2 * np.sin(np.pi * (k + 1) / lifter))
    return np.moveaxis(out, 0, axis)


def add_mfcc(group):
    logs = [np.log(s + np.float32(1e-3)) for s in spectra([(33, 6), (12, 2), (80, 3)], key=9400)]
    feeds = {"x": Feed(logs, "ft")}
    for kind in (1, 2, 3, 4):
        for normalize in (False, True)[: 1 if kind == 1 else 2]:
            group.case(f"mfcc_{kind}{'_normalized' * normalize}", f"fn.mfcc(x, dct_type={kind}, normalize={normalize})", feeds,
                       1e-4, "abs", F32, expect=lambda x, k=kind, n=normalize: cepstra(x, kind=k, normalize=n))
    group.case("mfcc_lifter", "fn.mfcc(x, n_mfcc=13, lifter=22.0)", feeds, 1e-3, "abs", F32, expect=lambda x: cepstra(x, count=13, lifter=22))
    group.case("mfcc_axis_1", "fn.mfcc(x, axis=1, n_mfcc=2)", feeds, 1e-4, "abs", F32, expect=lambda x: cepstra(x, 1, 2))
    group.case("mfcc_all", "fn.mfcc(x, n_mfcc=100, normalize=True)", feeds, 1e-4, "abs", F32, expect=lambda x: cepstra(x, count=100, normalize=True))
    solid = {"x": Feed([rng(9410 + n).standard_normal((2, n, 3, 2)).astype(np.float32) for n in (5, 1)])}
    group.case("mfcc_4d", "fn.mfcc(x, axis=1, n_mfcc=4)", solid, 1e-4, "abs", F32, expect=lambda x: cepstra(x, 1, 4))
    for name, arguments in {"type": "dct_type=5", "type_0": "dct_type=0", "type_1": "dct_type=1, normalize=True", "count": "n_mfcc=0",
                            "axis": "axis=2", "negative_axis": "axis=-1"}.items():
        group.refused(f"refused_mfcc_{name}", f"fn.mfcc(x, {arguments})", feeds)
    group.refused("refused_mfcc_one_band", "fn.mfcc(x, dct_type=1)", {"x": Feed([np.ones((1, 4), np.float32)])})
    group.refused("refused_mfcc_integers", "fn.mfcc(x)", {"x": Feed([np.ones((4, 4), np.int32)])})


def preemphasis(x, share=0.97, border="clamp"):
    x = x.astype(np.float64)
    flat = x.ravel()
    first = {"clamp": flat[:1], "zero": flat[:1] * 0, "reflect": flat[1:2] if flat.size > 1 else flat[:1] * 0}[border]
    return (flat - share * np.concatenate([first, flat[:-1]])).reshape(x.shape)


def add_preemphasis(group):
    feeds = {"x": Feed(sounds([300, 17, 2, 1], key=9500), "t")}
    for border in ("clamp", "zero", "reflect"):
        group.case(f"preemphasis_{border}", f"fn.preemphasis_filter(x, border='{border}')", feeds, 1e-6, "abs", F32,
                   expect=lambda x, border=border: preemphasis(x, border=border))
    shares = {**feeds, "c": Feed([np.array(c, np.float32) for c in (0.5, 0.0, -1.0, 0.97)])}
    group.case("preemphasis_per_sample", "fn.preemphasis_filter(x, preemph_coeff=c)", shares, 1e-6, "abs", F32,
               expect=lambda x, c: preemphasis(x, float(c)))
    for dtype in ("int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64", "float64"):
        samples = [np.abs(s * 50).astype(dtype) for s in feeds["x"].samples]
        group.case(f"preemphasis_{dtype}", "fn.preemphasis_filter(x)", {"x": Feed(samples)}, 1e-4, "abs", F32, expect=preemphasis)
    loud = {"x": Feed([s * np.float32(90) for s in feeds["x"].samples])}
    for dtype in ("INT8", "UINT8", "INT16", "UINT16", "INT32", "UINT32", "INT64", "UINT64"):
        group.case(f"preemphasis_to_{dtype.lower()}", f"fn.preemphasis_filter(x, dtype=types.{dtype})", loud, 1, "abs", ONE_BIT,
                   expect=preemphasis)
    group.case("preemphasis_to_float64", "fn.preemphasis_filter(x, dtype=types.FLOAT64)", loud, 1e-4, "abs", F32, expect=preemphasis)
    halves = {"x": Feed([np.arange(1, 8, dtype=np.float32)])}
    group.case("preemphasis_ties", "fn.preemphasis_filter(x, dtype=types.INT32, preemph_coeff=0.5, border='zero')", halves,
               expect=lambda x: preemphasis(x, 0.5, "zero"))
    plane = {"x": Feed([s[:16].reshape(-1, 2) for s in sounds([16, 30], key=9510)])}
    group.case("preemphasis_2d", "fn.preemphasis_filter(x)", plane, 1e-6, "abs", F32, expect=preemphasis)
    group.refused("refused_preemphasis_border", "fn.preemphasis_filter(x, border='wrap')", feeds)
    group.refused("refused_preemphasis_half", "fn.preemphasis_filter(x, dtype=types.FLOAT16)", feeds)
    group.refused("refused_preemphasis_bool", "fn.preemphasis_filter(x)", {"x": Feed([np.ones(4, bool)])})


def add_features(group):
    def features(x):
        power = spectrogram(preemphasis(x), 512, 320, 160)
        logs = decibels(mel(power, nfilter=64, sample_rate=16000, freq_high=8000), np.log(10), 1, -80)
        return (logs - logs.mean(1, keepdims=True)) / logs.std(1, keepdims=True)

    feeds = {"x": Feed(sounds([6000, 1700, 3333], key=9600), "t")}
    body = f"""x = fn.preemphasis_filter(x)
power = fn.spectrogram(x, nfft=512, window_length=320, window_step=160)
bands = fn.mel_filter_bank(power, nfilter=64, sample_rate=16000, freq_high=8000.0)
logs = fn.to_decibels(bands, multiplier={np.log(10)}, reference=1.0, cutoff_db=-80.0)
return fn.normalize(logs, axes=[1])"""
    group.case("features", body, feeds, 1e-3, "abs", F32, expect=features)
    for layout in ("ft", "tf"):
        axis = layout.index("f")
        body = f"""power = fn.spectrogram(x, nfft=256, window_length=200, window_step=80, layout="{layout}")
bands = fn.mel_filter_bank(power, nfilter=40, sample_rate=8000)
return bands, fn.mfcc(fn.to_decibels(bands), axis={axis}, n_mfcc=13)"""
        group.case(f"features_{layout}", body, feeds, 1e-3, "rel", F32)


def add(group):
    add_spectrogram(group)
    add_power_spectrum(group)
    add_mel(group)
    add_decibels(group)
    add_mfcc(group)
    add_preemphasis(group)
    add_features(group)
