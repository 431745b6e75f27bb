"""The frameworks, each SKIPPED where it is not installed."""

import pytest


@pytest.fixture(scope="session")
def torch():
    return pytest.importorskip("torch")


@pytest.fixture(scope="session")
def jax():
    return pytest.importorskip("jax")


@pytest.fixture(scope="session")
def paddle():
    return pytest.importorskip("paddle")


@pytest.fixture(scope="session")
def tensorflow():
    # Behind tensorflow paddle crashes when it is loaded; before it both live in one process.
    try:
        import paddle  # noqa: F401
    except ImportError:
        pass
    return pytest.importorskip("tensorflow")
