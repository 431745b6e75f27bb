#!/usr/bin/env python3
"""Speech features by another library: reads each array of a folder, computes one case, prints samples and seconds as JSON.

With --make: writes waveforms, power spectra and mel bands, sixteen of each, and recordings of 44.1 kHz as WAV and FLAC.
"""
import argparse
import json
import os
import pathlib
import time

import numpy as np

RATE, POINTS, LENGTH, STEP, BANDS, FILES = 16000, 512, 400, 160, 80, 16
RECORDED_RATE = 44100


def files(folder):
    return sorted(str(path) for path in pathlib.Path(folder).rglob("*.*"))


def draw_sound(number, rate):
    random = np.random.default_rng(number)
    t = np.arange(10 * rate) / rate
    return (0.5 * np.sin(2 * np.pi * (200 + 50 * number + 300 * t) * t) + 0.1 * random.standard_normal(t.size)).astype(np.float32)


def make(folder):
    import librosa
    import soundfile
    for name in ("waveforms", "spectra", "bands", "wav/0", "flac/0"):  # fn.readers.file wants a folder of a folder a class
        os.makedirs(os.path.join(folder, name))
    for number in range(FILES):
        for kind in ("wav", "flac"):
            soundfile.write(os.path.join(folder, kind, "0", f"{number:02}.{kind}"), draw_sound(number, RECORDED_RATE), RECORDED_RATE, "PCM_16")
        sound = draw_sound(number, RATE)
        power = np.abs(librosa.stft(sound, n_fft=POINTS, win_length=LENGTH, hop_length=STEP)).astype(np.float32) ** 2
        bands = librosa.feature.melspectrogram(S=power, sr=RATE, n_mels=BANDS)
        for name, array in (("waveforms", sound), ("spectra", power), ("bands", bands)):
            np.save(os.path.join(folder, name, f"{number:02}.npy"), np.ascontiguousarray(array, np.float32))


def recording(path):
    import soundfile
    return soundfile.read(path, dtype="float32")[0]


class Dali:
    def __init__(self, case, data, threads):
        import nvidia.dali as dali
        self.versions = {"nvidia-dali": dali.__version__}
        path = pathlib.Path(__file__).resolve().parents[2] / "benches/asr.dali-dsl"
        space = {"__name__": "pipelines"}
        exec(compile(path.read_text(), str(path), "exec"), space)
        self.pipeline = space[case](data, batch_size=FILES, num_threads=threads, device_id=None, prefetch_queue_depth=2)
        self.pipeline.build()

    def epoch(self):
        self.pipeline.run()


class Torch:
    """What torchaudio's transforms call, without torchaudio."""

    def __init__(self, case, data, threads):
        import librosa
        import torch
        torch.set_num_threads(threads)
        self.versions = {"torch": torch.__version__}
        self.files = files(data)
        self.torch = torch
        self.load = recording if case == "recorded" else np.load
        window = torch.hann_window(LENGTH)
        weights = torch.from_numpy(librosa.filters.mel(sr=RATE, n_fft=POINTS, n_mels=BANDS))
        n, k = np.meshgrid(np.arange(BANDS), np.arange(20))
        cosines = torch.from_numpy(np.cos(np.pi * (n + 0.5) * k / BANDS).astype(np.float32))

        def emphasized(x):
            return torch.cat([x[:1] * 0.03, x[1:] - 0.97 * x[:-1]])

        def power(x):
            return torch.stft(x, POINTS, STEP, LENGTH, window, return_complex=True).abs().square()

        def logs(x):
            return torch.log(torch.clamp(x, min=1e-35))

        def normal(x):
            return (x - x.mean(1, keepdim=True)) / x.std(1, keepdim=True, unbiased=False)

        self.cases = {"preemphasis": emphasized, "spectrogram": power, "mel": lambda x: weights @ x, "decibels": logs,
                      "mfcc": lambda x: cosines @ x, "normalize": normal,
                      "features": lambda x: normal(logs(weights @ power(emphasized(x))))}
        self.add_cases()
        if case not in self.cases:
            raise SystemExit("PyTorch alone does not resample")
        self.compute = self.cases[case]

    def add_cases(self):
        """For libraries over PyTorch that have cases of their own."""

    def epoch(self):
        with self.torch.no_grad():
            for path in self.files:
                self.compute(self.torch.from_numpy(self.load(path)))


class Torchaudio(Torch):
    """torchaudio's transforms, where it has them."""

    def add_cases(self):
        # It refuses a PyTorch for another version of CUDA, of which nothing is used here.
        self.torch.version.cuda = None
        import torchaudio
        self.versions["torchaudio"] = torchaudio.__version__
        resample, preemphasis = torchaudio.functional.resample, torchaudio.functional.preemphasis
        spectrogram = torchaudio.transforms.Spectrogram(POINTS, win_length=LENGTH, hop_length=STEP)
        mel = torchaudio.transforms.MelScale(BANDS, RATE, n_stft=POINTS // 2 + 1, norm="slaney", mel_scale="slaney")
        logs, normal = self.cases["decibels"], self.cases["normalize"]

        def features(x):
            return normal(logs(mel(spectrogram(preemphasis(x)))))

        self.cases |= {"preemphasis": preemphasis, "spectrogram": spectrogram, "mel": mel, "features": features,
                       "recorded": lambda x: features(resample(x, RECORDED_RATE, RATE))}


class Librosa:
    def __init__(self, case, data, threads):
        import librosa
        import scipy.fft
        if threads > 1:
            raise SystemExit("librosa has one thread")
        self.versions = {"librosa": librosa.__version__}
        self.files = files(data)
        self.load = recording if case == "recorded" else np.load

        def power(x):
            return np.abs(librosa.stft(x, n_fft=POINTS, win_length=LENGTH, hop_length=STEP)) ** 2

        def mel(x):
            return librosa.feature.melspectrogram(S=x, sr=RATE, n_mels=BANDS)

        def logs(x):
            return np.log(np.maximum(x, np.float32(1e-35)))

        def normal(x):
            return (x - x.mean(1, keepdims=True)) / x.std(1, keepdims=True)

        def features(x):
            return normal(logs(mel(power(librosa.effects.preemphasis(x)))))

        self.compute = {"preemphasis": librosa.effects.preemphasis, "spectrogram": power, "mel": mel, "decibels": logs,
                        "mfcc": lambda x: scipy.fft.dct(x, axis=0)[:20], "normalize": normal,
                        "features": features,
                        "recorded": lambda x: features(librosa.resample(x, orig_sr=RECORDED_RATE, target_sr=RATE))}[case]

    def epoch(self):
        for path in self.files:
            self.compute(self.load(path))


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--make", help="the folder to write")
    parser.add_argument("--library", choices=("dali", "torch", "torchaudio", "librosa"))
    parser.add_argument("--case")
    parser.add_argument("--data", help="the folder to read")
    parser.add_argument("--epochs", type=int, default=3)
    parser.add_argument("--threads", type=int, default=1)
    args = parser.parse_args()
    if args.make:
        return make(args.make)
    library = {"dali": Dali, "torch": Torch, "torchaudio": Torchaudio, "librosa": Librosa}[args.library](args.case, args.data, args.threads)
    for _ in range(3):
        library.epoch()
    begin = time.perf_counter()
    for _ in range(args.epochs):
        library.epoch()
    print(json.dumps({"samples": FILES * args.epochs, "seconds": time.perf_counter() - begin, "versions": library.versions}))


if __name__ == "__main__":
    main()
