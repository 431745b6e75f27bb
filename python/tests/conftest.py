"""The sample photographs; Ctrl-C as a terminal gives it."""

import signal

import pytest

from loader_support import BUILD

# A shell starts what it runs in the background with Ctrl-C ignored, and children inherit that.
signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(scope="session")
def data() -> str:
    folder = BUILD / "samples"
    if not folder.is_dir():
        pytest.skip(f"no sample photographs in {folder}: ./dev run draws them")
    return str(folder)
