"""Operators on sound for the sweep: decoding, resampling, where it is not silent, spectra, mel bands, decibels, cepstra."""
import numpy as np

from cases_waveforms import encoded, tone
from recorder import TYPES
from sweep_drawer import BATCH, Drawer

BOTH_KINDS = ["copy", "permute", "arithmetic"]


class Sound(Drawer):
    # ---- inputs
    def draw_sound(self):
        self.one_of(self.draw_waves, self.draw_waves, self.draw_sound_files, self.draw_spectra)()

    def draw_waves(self):
        """Voices with silence before and behind them, of lengths from one frame on."""
        self.kind, self.dtype = "sound", np.dtype(self.one_of("float32", "float32", "float32", "int16", "uint8", "int8", "uint16", "int32"))
        self.layout, self.channels = self.one_of("", "", "t"), None
        self.range = 1.0 if self.dtype.kind == "f" else 256.0 ** self.dtype.itemsize
        self.column = self.chance(0.2)
        self.layout = "" if self.column else self.layout
        waves = [self.draw_wave() for _ in range(BATCH)]
        self.shortest = min(len(wave) for wave in waves)
        self.lines.append("x = " + self.feed(waves, self.layout))

    def draw_wave(self):
        voice = tone(self.whole(1, 900), 0, self.whole(0, 999))
        silence = [np.zeros(self.whole(0, 200) if self.chance(0.4) else 0, np.float32) for _ in range(2)]
        wave = np.concatenate([silence[0], voice, silence[1]])
        if self.dtype.kind == "u":
            wave = (wave + 1) / 2
        if self.dtype.kind != "f":
            wave = np.round(wave.astype(np.float64) * np.iinfo(self.dtype).max)
        return wave.astype(self.dtype)[:, None] if self.column else wave.astype(self.dtype)

    def draw_sound_files(self):
        self.kind, self.dtype, self.layout, self.channels, self.range = "sound file", np.dtype("uint8"), "", None, 1.0
        self.form = self.one_of(("WAV", "PCM_16"), ("WAV", "PCM_24"), ("WAV", "PCM_U8"), ("WAV", "FLOAT"), ("WAV", "ALAW"), ("FLAC", "PCM_16"),
                                ("FLAC", "PCM_24"), ("AIFF", "PCM_16"), ("AU", "PCM_16"))
        sounds = [tone(self.whole(1, 600), self.whole(1, 3), self.whole(0, 999)) for _ in range(BATCH)]
        self.lines.append("x = " + self.feed([encoded(sound, self.one_of(8000, 16000, 22050), *self.form) for sound in sounds]))

    def draw_spectra(self):
        """Powers of frequencies over time, none of them 0."""
        self.kind, self.dtype, self.layout, self.channels, self.range = "spectrum", np.dtype("float32"), self.one_of("ft", "ft", "tf", ""), None, 1.0
        self.bands = self.whole(3, 129)
        shapes = [(self.whole(1, 12), self.bands) if self.layout == "tf" else (self.bands, self.whole(1, 12)) for _ in range(BATCH)]
        self.lines.append("x = " + self.feed([(self.random.random(shape) ** 2 + 1e-3).astype(np.float32) for shape in shapes], self.layout))

    # ---- what fits
    def fitting_sound(self):
        found = BOTH_KINDS + ["preemphasis"]
        if not self.column:
            found += ["nonsilent"] * self.is_exact
            if self.dtype == np.float32:
                found += ["power_spectrum"]
        if self.dtype == np.float32:
            found += ["spectrogram"] * 3
        return found + ["audio_resample"] * 2

    def fitting_spectrum(self):
        return BOTH_KINDS + ["mel"] * 2 + ["decibels", "mfcc"]

    # ---- waveforms
    def op_decode_sound(self):
        mono, rate = self.chance(0.6), self.chance(0.4)
        integer = self.form[1] != "FLOAT" and self.chance(0.4)  # of files of floats DALI gives zeros
        self.later = self.one_of("int16", "int32") if integer else None
        arguments = {"downmix": "True" if mono else self.one_of(None, "False"), "sample_rate": self.number(4000, 48000) if rate else None,
                     "quality": self.number(0, 100, 0) if rate and self.chance(0.5) else None, "dtype": self.later and "types." + TYPES[self.later]}
        name = self.one_of("decoders.audio", "decoders.audio", "audio_decoder")
        self.write(name, f"x, rate = fn.{name}({', '.join(['x'] + self.arguments(arguments))})")
        self.dtype, self.range = np.dtype(self.later or "float32"), {None: 1.0, "int16": 65536.0, "int32": 2.0 ** 32}[self.later]
        self.later = None
        if mono or rate:
            self.sums()
        self.kind, self.column, self.shortest = "sound", False, 1
        if not mono or self.chance(0.3):
            self.lines.append("x = x, rate")
            self.kind = "end"

    def sums(self):
        """float32 in another order: a part of the loudest, and of integers a step."""
        self.relative += 1e-5
        self.slack += self.dtype.kind in "iu" and 1

    def length(self):
        return self.each(np.int64, lambda: self.whole(1, 900)) if self.chance(0.3) else repr(self.whole(1, 900))

    def op_audio_resample(self):
        form = self.one_of("rates", "scale", "length")
        arguments = {"rates": lambda: {"in_rate": self.number(8000, 48000), "out_rate": self.number(8000, 48000)},
                     "scale": lambda: {"scale": self.number(0.3, 3)}, "length": lambda: {"out_length": self.length()}}[form]()
        arguments["quality"] = self.number(0, 100, 0) if self.chance(0.4) else None
        self.later = self.one_of("float32", "int16", "uint8", "int32") if self.dtype == np.float32 and self.chance(0.3) else None
        arguments["dtype"] = self.later and "types." + TYPES[self.later]
        self.call(self.one_of("audio_resample", "audio_resample", "experimental.audio_resample"), **arguments)
        self.take_type()
        self.sums()
        self.shortest = 0

    def op_preemphasis(self):
        self.later = self.one_of(None, None, "float32", "int16", "float64", "int32", "uint8")
        self.call("preemphasis_filter", border=self.one_of(None, '"clamp"', '"zero"', '"reflect"'), preemph_coeff=self.one_of(None, self.number(-1, 1)),
                  dtype=self.later and "types." + TYPES[self.later])
        self.dtype, self.later = np.dtype(self.later or "float32"), None
        self.slack *= 2
        self.relative *= 2
        self.sums()
        if self.dtype == np.float64:  # which the operators on sound do not take
            self.kind = "end"

    def op_nonsilent(self):
        length = self.one_of(1, 16, 64, 256)
        power = float(np.iinfo(self.dtype).max if self.dtype.kind in "iu" else 1) ** 2  # of integers DALI's threshold is one
        arguments = {"cutoff_db": self.one_of(None, repr(self.real(-60, -5))),
                     "reference_power": self.one_of(None, None, repr(self.real(0.01, 2) * power)),
                     "window_length": repr(length), "reset_interval": self.one_of("-1", repr(length * self.whole(1, 20)))}
        self.write("nonsilent_region", f"b, l = fn.nonsilent_region(x, {', '.join(self.arguments(arguments))})\nx = b, l")
        self.kind = "end"

    # ---- spectra
    def op_spectrogram(self):
        length = self.one_of(8, 17, 32, 50, 64, 100, 200)
        points = self.one_of(None, length, 128, 256)
        points = max(points, length) if points else None
        arguments = {"nfft": points and repr(points), "window_length": repr(length), "window_step": repr(self.whole(max(length // 4, 1), length)),
                     "power": self.one_of(None, "1", "2"), "layout": self.one_of(None, '"ft"', '"tf"'),
                     "window_fn": repr([self.real(-1, 2) for _ in range(length)]) if self.chance(0.2) else None,
                     "center_windows": "False" if length <= self.shortest and self.chance(0.5) else None, "reflect_padding": self.one_of(None, None, "False")}
        self.call("spectrogram", **arguments)
        self.kind, self.bands, self.layout = "spectrum", (points or length) // 2 + 1, "tf" if arguments["layout"] == '"tf"' else "ft"
        self.slack, self.relative = 0.0, self.relative * 4 + 4e-6

    def op_power_spectrum(self):
        self.call("power_spectrum", nfft=self.one_of(None, repr(self.whole(3, 300))), power=self.one_of(None, "1", "2"), axis=self.one_of(None, "0"))
        self.relative = self.relative * 4 + 4e-6
        self.kind = "end"

    def op_mel(self):
        rate = self.one_of(None, 8000, 16000)
        low = self.one_of(None, self.real(0, 500))
        arguments = {"nfilter": repr(self.whole(1, 80)), "sample_rate": rate and repr(float(rate)), "freq_low": low and repr(low),
                     "freq_high": self.one_of(None, repr(self.real(2000, 4000))), "normalize": self.one_of(None, "False", "True"),
                     "mel_formula": self.one_of(None, '"slaney"', '"htk"')}
        self.call("mel_filter_bank", **arguments)
        self.bands = int(arguments["nfilter"])
        self.relative = self.relative * 2 + 2e-5

    def op_decibels(self):
        """Of what is inexact: no further below its largest than noise allows."""
        near = {"cutoff_db": repr(self.real(-30, -10))}
        free = {"cutoff_db": self.one_of(None, repr(self.real(-90, -3))), "reference": self.one_of(None, repr(self.real(0.1, 3)))}
        self.call("to_decibels", multiplier=self.one_of(None, "10.0"), **(free if self.is_exact else near))
        self.slack, self.relative = self.relative * 1e4 + 1e-4, 0.0

    def op_mfcc(self):
        kind = self.one_of(None, 1, 2, 3, 4)
        axis = self.one_of(None, "0") if self.layout != "tf" else "1"
        self.call("mfcc", dct_type=kind and repr(kind), n_mfcc=self.one_of(None, repr(self.whole(1, 60))), lifter=self.one_of(None, repr(self.real(0, 30))),
                  axis=axis, normalize=self.one_of(None, "False", "True") if kind != 1 else None)
        self.slack *= self.bands
        self.relative = self.relative * 4 + 2e-5
        self.kind = "end"
