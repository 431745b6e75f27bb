"""Dynamic mode beside PyTorch: `nodes` of torchdata, which is imported when they are used."""

from ....names import getter as _getter

_get = _getter("experimental.dynamic.pytorch")


def __getattr__(name: str):
    if name == "nodes":
        import importlib

        return importlib.import_module(f"{__name__}.nodes")
    return _get(name)
