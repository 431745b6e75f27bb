"""Uses an installed galatea as a first user does: a pipeline, the command line, the page, sound, films.

python use_wheel.py TREE SAMPLES     (TREE: a clone, for examples and films; SAMPLES: photographs)

The page, sound and films need libraries of the system; where they are missing the error has to name them.
"""

import json
import math
import struct
import subprocess
import sys
import tempfile
import urllib.request
import wave
from pathlib import Path

import galatea
from galatea import fn, pipeline_def


def run(*arguments, **options):
    """What the command line prints."""
    command = [sys.executable, "-m", "galatea", *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=600, **options)
    assert done.returncode == 0, f"{command}: {done.stderr}"
    return done.stdout


def use_a_loader(tree, samples):
    with galatea.Loader(tree / "examples/01_hello.dali-dsl", data=str(samples)) as loader:
        for image, label in loader:
            assert image.numpy().any() and len(image) == len(label), image
        return f"{loader.statistics()['samples']} samples"


def use_the_command_line(tree, samples):
    version = run("version").splitlines()[0]
    hello = tree / "examples/01_hello.dali-dsl"
    assert "resize" in run("trace", hello, "--set", f"data={samples}")
    return version


def use_the_language_server(tree, samples):
    hello = {"processId": None, "rootUri": None, "capabilities": {}}
    requests = [("initialize", hello), ("shutdown", None)]
    messages = [
        {"jsonrpc": "2.0", "id": number, "method": method, "params": parameters}
        for number, (method, parameters) in enumerate(requests)
    ] + [{"jsonrpc": "2.0", "method": "exit"}]
    texts = [json.dumps(message) for message in messages]
    answer = run("lsp", input="".join(f"Content-Length: {len(one)}\r\n\r\n{one}" for one in texts))
    assert "completionProvider" in answer, answer
    return "answers"


def use_the_page(tree, samples):
    command = [sys.executable, "-m", "galatea", "serve", str(tree / "examples/01_hello.dali-dsl")]
    server = subprocess.Popen(
        [*command, "--set", f"data={samples}"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        address = server.stdout.readline().strip()
        if not address:
            why = server.stderr.read()
            assert "libcpp-httplib0.11" in why, why
            return "not here: libcpp-httplib0.11"
        with urllib.request.urlopen(address, timeout=600) as answer:
            assert b"<html" in answer.read()
        return "answers"
    finally:
        server.terminate()
        server.communicate()


def first_batch(pipeline, wanted):
    """The first batch, or which of the `wanted` words the error has: it has to have them all."""
    try:
        with galatea.Loader(pipeline) as loader:
            return next(iter(loader))
    except galatea.GalateaError as error:
        assert all(word in str(error) for word in wanted), error
        return f"not here: {', '.join(wanted)}"


def use_sound(tree, samples):
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "one").mkdir()
        with wave.open(f"{folder}/one/tone.wav", "wb") as out:
            out.setnchannels(1)
            out.setsampwidth(2)
            out.setframerate(8000)
            tone = [round(9000 * math.sin(0.1 * n)) for n in range(400)]
            out.writeframes(struct.pack("<400h", *tone))

        @pipeline_def(batch_size=1)
        def sound():
            encoded, _ = fn.readers.file(file_root=folder)
            return fn.decoders.audio(encoded)

        return first_batch(sound(), ["libsndfile1"])


def use_films(tree, samples):
    @pipeline_def(batch_size=1)
    def films():
        film = str(tree / "tests/video/films/vp9.webm")
        return fn.experimental.readers.video(filenames=[film], sequence_length=3)

    return first_batch(films(), ["libavformat", "libavcodec", "libavutil"])


USES = (
    use_a_loader,
    use_the_command_line,
    use_the_language_server,
    use_the_page,
    use_sound,
    use_films,
)


def main():
    tree, samples = Path(sys.argv[1]).resolve(), Path(sys.argv[2]).resolve()
    assert tree not in Path(galatea.__file__).parents or "site-packages" in galatea.__file__
    for use in USES:
        print(f"{use.__name__}: {use(tree, samples)}")


if __name__ == "__main__":
    main()
