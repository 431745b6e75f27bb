"""What the tests share: texts of pipelines, child processes with a time-out.

Not in conftest.py: children import it by its name, and there are several of that name.
"""

import os
import pathlib
import subprocess
import sys
import textwrap

BUILD = pathlib.Path(os.environ.get("GALATEA_BUILD", pathlib.Path(__file__).parents[2] / "build"))

# Minutes: what hangs fails, what is slow does not.
TIMEOUT = 240

PHOTOS = """
from galatea import pipeline_def, fn, types

@pipeline_def(batch_size=4, num_threads=2, seed=11)
def photos(data: str, shard_id: int = 0, num_shards: int = 1):
    encoded, label = fn.readers.file(
        file_root=data, random_shuffle=True, shard_id=shard_id, num_shards=num_shards,
        stick_to_shard=True)
    image = fn.decoders.image_random_crop(encoded, output_type=types.RGB)
    image = fn.resize(image, size=[32, 48])
    return image, label
"""

RAGGED = """
from galatea import pipeline_def, fn, types

@pipeline_def(batch_size=4, num_threads=2, seed=11)
def ragged(data: str):
    encoded, label = fn.readers.file(file_root=data)
    image = fn.decoders.image(encoded, output_type=types.RGB)
    return image, label
"""

FED = """
from galatea import pipeline_def, fn, types

@pipeline_def(batch_size=4, num_threads=2, seed=11)
def fed():
    x = fn.external_source(name="x", dtype=types.INT32, ndim=1)
    return x + 1
"""


def run_python(text: str, *arguments: str, status: int = 0) -> str:
    """Runs a program in a process of its own; gives what it wrote."""
    done = subprocess.run(
        [sys.executable, "-X", "faulthandler", "-c", textwrap.dedent(text), *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        timeout=TIMEOUT,
        text=True,
    )
    assert done.returncode == status, f"status {done.returncode}:\n{done.stdout}"
    return done.stdout
