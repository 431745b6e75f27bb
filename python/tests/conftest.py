"""The sample photographs."""

import pytest

from loader_support import BUILD


@pytest.fixture(scope="session")
def data() -> str:
    folder = BUILD / "samples"
    if not folder.is_dir():
        pytest.skip(f"no sample photographs in {folder}: ./dev run draws them")
    return str(folder)
