"""Writes tests/readers/recorded/speech: short recordings, manifests that name them, and what DALI reads of these.

    pip install nvidia-dali-cuda120==2.4.0 soundfile
    python tests/readers/make_speech.py

Sound that is resampled is no part of it: tests/oracle records audio_resample.
"""

import json
import os

import numpy as np
import soundfile
from make_arrays import RECORDED, described, write

FOLDER = RECORDED / "speech"


def recordings():
    t = np.arange(400)[:, None]
    sound = 0.5 * np.sin(t * np.array([[0.2, 0.31]])) + 0.2 * np.sin(t * np.array([[1.3, 0.7]]))
    FOLDER.mkdir(exist_ok=True)
    soundfile.write(FOLDER / "mono.wav", sound[:, 0], 2205, subtype="PCM_16")
    soundfile.write(FOLDER / "stereo.flac", sound[:160], 1600, subtype="PCM_16")


def manifest(name, lines):
    (FOLDER / name).write_text("".join((x if isinstance(x, str) else json.dumps(x, ensure_ascii=False)) + "\n" for x in lines))


def manifests():
    mono = {"audio_filepath": "mono.wav", "duration": 0.18, "text": "hällo"}
    manifest("parts.json", [mono, mono | {"duration": 0.07}, mono | {"offset": 0.05}, mono | {"offset": 0.05, "duration": 0.025},
                            {"audio_filepath": "mono.wav"}, mono | {"offset": 0.011111, "duration": 0.033333},
                            mono | {"offset": 0.09, "duration": 5}, mono | {"duration": -1}, mono | {"duration": 0}])
    manifest("mixed.json", [mono, "not json", "[1]", {"text": "x"}, "",
                            {"audio_filepath": "stereo.flac", "duration": 0.1, "text": "stereo", "extra": {"a": [1]}}])


def run(body, batch):
    from nvidia.dali import fn, pipeline_def, types  # noqa: F401

    names = {"fn": fn, "types": types}
    exec("def body():\n" + "\n".join("    " + line for line in body.replace("@/", "").split("\n")), names)
    pipe = pipeline_def(names["body"])(batch_size=batch, num_threads=1, device_id=None)
    pipe.build()
    return [[described(np.array(output[i])) for i in range(batch)] for output in pipe.run()]


def main():
    recordings()
    manifests()
    os.chdir(FOLDER)
    cases = []
    for name, file, batch, arguments, outputs in [
            ("parts", "parts.json", 9, "read_idxs=True", "sound, rate, text, index"),
            ("channels", "mixed.json", 2, "downmix=False", "sound, rate, text"),
            ("int16", "mixed.json", 2, "dtype=types.INT16", "sound, rate, text"),
            ("int32", "mixed.json", 2, "dtype=types.INT32, downmix=False", "sound, rate, text"),
            ("sound alone", "mixed.json", 2, "read_text=False, read_sample_rate=False", "sound"),
            ("numbers", "mixed.json", 2, "read_text=False, read_sample_rate=False, read_idxs=True", "sound, index"),
            ("durations", "parts.json", 2, "min_duration=0.03, max_duration=0.08, read_idxs=True", "sound, rate, text, index"),
            ("shortest", "parts.json", 1, "min_duration=0.18", "sound, rate, text"),
            ("longest", "parts.json", 3, "max_duration=0.1", "sound, rate, text")]:
        body = f'{outputs} = fn.readers.nemo_asr(manifest_filepaths=["@/speech/{file}"], {arguments})\nreturn {outputs}'
        cases.append({"name": name, "batch": batch, "outputs": run(body.replace("speech/", ""), batch), "body": body})
    body = ('sound, index = fn.readers.nemo_asr(manifest_filepaths=["@/speech/mixed.json", "@/speech/parts.json"], '
            "read_text=False, read_sample_rate=False, read_idxs=True)\nreturn sound, index")
    cases.append({"name": "manifests", "batch": 4, "outputs": run(body.replace("speech/", ""), 4), "body": body})
    write("speech.json", cases)


if __name__ == "__main__":
    main()
