"""The frameworks, each SKIPPED where it is not installed."""

import importlib

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
    # Behind tensorflow paddle and torchvision crash when they are loaded, by the LLVM and the
    # protobuf that it shares with the whole process; before it, all live in one process.
    for name in ("paddle", "torchvision"):
        try:
            importlib.import_module(name)
        except ImportError:
            pass
    return pytest.importorskip("tensorflow")
