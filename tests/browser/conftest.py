"""A browser, and pages of `galatea serve` in it."""

import os
import pathlib
import shutil
import signal
import subprocess

import pytest
from playwright.sync_api import sync_playwright

BUILD = pathlib.Path(os.environ["GALATEA_BUILD"])
SAMPLES = BUILD / "samples"

PIPELINE = """from galatea import fn, pipeline_def


@pipeline_def(batch_size=4, num_threads=1, seed=3)
def train(data: str = "photos", size: int = 64, bright: float = 1.2, flipped: bool = False):
    encoded, label = fn.readers.file(file_root=data)
    image = fn.decoders.image(encoded)
    image = fn.resize(image, size=[size, size])
    image = fn.rotate(image, angle=fn.random.uniform(range=[-20.0, 20.0]), keep_size=True)
    if flipped:
        image = fn.flip(image)
    return fn.brightness(image, brightness=bright), label
"""

POLICY = """{
  "format": "augment-policy",
  "version": 1,
  "bins": 11,
  "augmentations": {
    "rotate": {"range": [0, 30], "negate": true},
    "brightness": {"range": [0, 0.9], "negate": true, "param": "one_plus"},
    "posterize": {"range": [8, 4], "quantize": "round_even", "param": "posterize_mask"}
  },
  "policy": {"choose": 1, "from": ["rotate", "brightness", "posterize"], "weights": [1, 1, 2], "each": {"mag": {"uniform_bin": [0, 10]}}}
}
"""

WITH_POLICY = """from galatea import fn, pipeline_def
from galatea.auto_aug import policy


@pipeline_def(batch_size=4, num_threads=1, seed=3)
def train(data: str = "photos"):
    encoded, label = fn.readers.file(file_root=data)
    image = fn.resize(fn.decoders.image(encoded), size=[96, 96])
    augmented = policy.load("policy.json")(image)
    return augmented, label
"""


@pytest.fixture(scope="session")
def browser():
    with sync_playwright() as playwright:
        program = shutil.which("chromium")
        browser = playwright.chromium.launch(executable_path=program, args=["--no-sandbox"])
        yield browser
        browser.close()


@pytest.fixture
def context(browser):
    context = browser.new_context(viewport={"width": 1280, "height": 900})
    context.set_default_timeout(60_000)
    yield context
    context.close()


@pytest.fixture
def serve():
    """Starts `galatea serve`; gives the address. All end with the test."""
    running = []

    def start(file: pathlib.Path) -> str:
        environment = {**os.environ, "GALATEA_CACHE_DIR": str(BUILD / "test-cache")}
        command = [str(BUILD / "bin/galatea"), "serve", file.name]
        process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment, cwd=file.parent)
        running.append(process)
        return process.stdout.readline().strip()

    yield start
    for process in running:
        process.send_signal(signal.SIGINT)
        assert process.wait(timeout=60) == 0, "Ctrl-C ends it in order"


@pytest.fixture
def open_page(context):
    """Opens an address, and holds that nothing went wrong in the page's own code."""
    errors = []

    def open_one(address: str):
        page = context.new_page()
        page.on("pageerror", lambda error: errors.append(str(error)))
        page.goto(address)
        return page

    yield open_one
    assert errors == []


@pytest.fixture
def folder(tmp_path):
    """With the photographs in it."""
    (tmp_path / "photos").symlink_to(SAMPLES)
    return tmp_path


@pytest.fixture
def pipeline(folder):
    file = folder / "train.dali-dsl"
    file.write_text(PIPELINE)
    return file


@pytest.fixture
def with_policy(folder):
    file = folder / "train.dali-dsl"
    file.write_text(WITH_POLICY)
    (folder / "policy.json").write_text(POLICY)
    return file
