"""Operators for sound and spectra: their arguments' forms, extents of what they give, refusals."""

from . import each
from .axes_and_extents import of


def tone(m, count=400, kind="float32", factor=1.0):
    np = m.np
    n = np.arange(count)
    return (factor * np.sin(0.31 * n) * np.minimum(1, n / 100)).astype(kind)


def spectra(m, rows=33, columns=4):
    rng = m.np.random.default_rng(4)
    return [rng.uniform(0.1, 4.0, (rows, columns)).astype("float32") for _ in range(2)]


def shown(values):
    """Type, layout, shapes, and the first numbers of each sample."""
    return [
        [v["layout"], [[s["dtype"], s["shape"], s["values"][:6]] for s in v["samples"]]]
        for v in values
    ]


BANKS = {
    "default": dict(sample_rate=1600),
    "few": dict(sample_rate=1600, nfilter=5),
    "htk": dict(sample_rate=1600, nfilter=5, mel_formula="htk"),
    "not_normalized": dict(sample_rate=1600, nfilter=5, normalize=False),
    "range": dict(sample_rate=1600, nfilter=5, freq_low=100.0, freq_high=700.0),
    "range_backwards": dict(sample_rate=1600, nfilter=5, freq_low=700.0, freq_high=100.0),
    "above_half": dict(sample_rate=1600, nfilter=5, freq_high=1000.0),
    "no_filters": dict(sample_rate=1600, nfilter=0),
    "formula": dict(sample_rate=1600, nfilter=5, mel_formula="bark"),
    "rate_zero": dict(sample_rate=0, nfilter=5),
    "negative_low": dict(sample_rate=1600, nfilter=5, freq_low=-5.0),
}


@each(**BANKS)
def mel(m, arguments):
    return shown(of(m, lambda fn, x: fn.mel_filter_bank(x, **arguments), spectra(m), layout="ft"))


@each("tf", "xf", "", "f", "batched", "bytes")
def mel_of(m, kind):
    layout = "" if kind == "bytes" else "f" if kind == "f" else kind
    feed = spectra(m)
    if kind == "f":
        feed = [one[:, 0] for one in feed]
    if kind == "batched":
        layout = "cft"
        feed = [m.np.stack([one, one * 2]) for one in feed]
    if kind == "bytes":
        feed = [one.astype("uint8") for one in feed]
    return shown(
        of(m, lambda fn, x: fn.mel_filter_bank(x, nfilter=4, sample_rate=1600), feed, layout=layout)
    )


MFCCS = {
    "default": {},
    "few": dict(n_mfcc=4),
    "more_than_rows": dict(n_mfcc=100),
    "none": dict(n_mfcc=0),
    "type_1": dict(n_mfcc=4, dct_type=1),
    "type_3": dict(n_mfcc=4, dct_type=3),
    "type_4": dict(n_mfcc=4, dct_type=4),
    "type_5": dict(n_mfcc=4, dct_type=5),
    "normalized": dict(n_mfcc=4, normalize=True),
    "normalized_1": dict(n_mfcc=4, normalize=True, dct_type=1),
    "lifter": dict(n_mfcc=5, lifter=22.0),
    "axis": dict(n_mfcc=3, axis=1),
    "axis_outside": dict(n_mfcc=3, axis=2),
    "axis_negative": dict(n_mfcc=3, axis=-1),
}


@each(**MFCCS)
def mfcc(m, arguments):
    return shown(of(m, lambda fn, x: fn.mfcc(x, **arguments), spectra(m, 8), layout="ft"))


QUIET = {
    "default": {},
    "cutoff": dict(cutoff_db=-20.0),
    "window": dict(window_length=64),
    "reset": dict(window_length=32, reset_interval=64),
    "reference": dict(reference_power=0.5, cutoff_db=-12.0),
    "window_zero": dict(window_length=0),
    "window_too_long": dict(window_length=100000),
    "reset_fraction": dict(window_length=32, reset_interval=40),
    "reset_short": dict(window_length=32, reset_interval=16),
    "positive_cutoff": dict(cutoff_db=3.0),
}


@each(**QUIET)
def sounding(m, arguments):
    feed = [tone(m), m.np.concatenate([m.np.zeros(300, "float32"), tone(m), m.np.zeros(200, "f4")])]
    return of(m, lambda fn, x: tuple(fn.nonsilent_region(x, **arguments)), feed)


@each("silence", "int16", "uint8", "int32", "two_ranks", "empty", "float64", "column")
def sounding_of(m, kind):
    np = m.np
    feed = {
        "silence": [np.zeros(500, "float32")],
        "int16": [np.concatenate([np.zeros(100, "int16"), tone(m, kind="int16", factor=9000)])],
        "uint8": [tone(m, kind="uint8", factor=100)],
        "int32": [tone(m, kind="int32", factor=1e8)],
        "two_ranks": [tone(m).reshape(200, 2)],
        "empty": [np.zeros(0, "float32")],
        "float64": [tone(m, kind="float64")],
        "column": [tone(m).reshape(400, 1)],
    }[kind]
    return of(m, lambda fn, x: tuple(fn.nonsilent_region(x, window_length=32)), feed)


SPECTRA = {
    "default": {},
    "nfft": dict(nfft=64),
    "window": dict(nfft=64, window_length=32, window_step=16),
    "magnitude": dict(nfft=64, window_length=32, window_step=16, power=1),
    "power_three": dict(nfft=64, power=3),
    "not_centred": dict(nfft=64, window_length=64, window_step=32, center_windows=False),
    "zeros": dict(nfft=64, window_length=64, window_step=32, reflect_padding=False),
    "layout": dict(nfft=64, window_length=64, window_step=32, layout="tf"),
    "layout_wrong": dict(nfft=64, layout="xy"),
    "window_fn": dict(nfft=8, window_length=4, window_step=4, window_fn=[1.0, 2.0, 2.0, 1.0]),
    "window_fn_length": dict(nfft=8, window_length=4, window_step=4, window_fn=[1.0, 2.0]),
    "nfft_short": dict(nfft=16, window_length=32),
    "step_zero": dict(nfft=64, window_step=0),
    "window_zero": dict(nfft=64, window_length=0),
}


@each(**SPECTRA)
def spectrum(m, arguments):
    return shown(of(m, lambda fn, x: fn.spectrogram(x, **arguments), [tone(m)], layout="t"))


@each("two_ranks", "column", "int16", "empty", "double")
def spectrum_of(m, kind):
    feed = {
        "two_ranks": [tone(m).reshape(200, 2)],
        "column": [tone(m).reshape(400, 1)],
        "int16": [tone(m, kind="int16", factor=9000)],
        "empty": [m.np.zeros(0, "float32")],
        "double": [tone(m, kind="float64")],
    }[kind]
    return shown(
        of(m, lambda fn, x: fn.spectrogram(x, nfft=64, window_length=32, window_step=16), feed)
    )


DECIBELS = {
    "default": {},
    "multiplier": dict(multiplier=20.0, reference=1.0),
    "cutoff": dict(cutoff_db=-3.0),
    "reference": dict(reference=0.0),
    "negative_multiplier": dict(multiplier=-10.0),
    "positive_cutoff": dict(cutoff_db=10.0),
}


@each(**DECIBELS)
def decibels(m, arguments):
    return shown(of(m, lambda fn, x: fn.to_decibels(x, **arguments), spectra(m, 3, 2)))


@each("bytes", "integers", "zeros", "double")
def decibels_of(m, kind):
    feed = {
        "bytes": [m.np.arange(6, dtype="uint8").reshape(2, 3)],
        "integers": [m.np.arange(6, dtype="int32").reshape(2, 3)],
        "zeros": [m.np.zeros((2, 2), "float32")],
        "double": [m.np.ones((2, 2), "float64")],
    }[kind]
    return shown(of(m, lambda fn, x: fn.to_decibels(x), feed))


EMPHASIS = {
    "default": {},
    "none": dict(preemph_coeff=0.0),
    "zero": dict(border="zero"),
    "reflect": dict(border="reflect"),
    "clamp": dict(border="clamp"),
    "wrong": dict(border="wrap"),
    "typed": dict(dtype="INT16"),
}


@each(**EMPHASIS)
def emphasized(m, arguments):
    if "dtype" in arguments:
        arguments = {**arguments, "dtype": getattr(m.types, arguments["dtype"])}
    feed = [tone(m, 40, factor=100), tone(m, 9, factor=50)]
    return shown(of(m, lambda fn, x: fn.preemphasis_filter(x, **arguments), feed))


RESAMPLES = {
    "rates": dict(in_rate=16000, out_rate=8000),
    "scale": dict(scale=0.5),
    "length": dict(out_length=100),
    "both": dict(scale=0.5, out_length=100),
    "rate_and_scale": dict(in_rate=16000, out_rate=8000, scale=0.5),
    "one_rate": dict(in_rate=16000),
    "negative": dict(in_rate=-1, out_rate=8000),
    "zero": dict(in_rate=16000, out_rate=0),
    "length_zero": dict(out_length=0),
    "length_negative": dict(out_length=-5),
    "quality": dict(scale=0.5, quality=101),
    "nothing": {},
    "typed": dict(scale=0.5, dtype="INT16"),
}


@each(**RESAMPLES)
def resampled(m, arguments):
    if "dtype" in arguments:
        arguments = {**arguments, "dtype": getattr(m.types, arguments["dtype"])}
    made = of(m, lambda fn, x: fn.audio_resample(x, **arguments), [tone(m)])
    return [[v["layout"], [[s["dtype"], s["shape"]] for s in v["samples"]]] for v in made]
