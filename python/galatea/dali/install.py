"""Lets `import nvidia.dali` find `galatea.dali`; nothing is installed under `nvidia/`."""

from __future__ import annotations

import importlib
import importlib.abc
import importlib.machinery
import importlib.util
import sys
import types
from typing import Any

_OURS = "galatea.dali"
_THEIRS = "nvidia.dali"


class _Finder(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Modules below `nvidia.dali` are those below `galatea.dali`: the same objects."""

    def find_spec(self, name: str, path: Any = None, target: Any = None):
        if name == "nvidia":
            # Other packages may share the name: theirs goes first where there is one.
            for finder in sys.meta_path:
                if finder is not self and hasattr(finder, "find_spec"):
                    spec = finder.find_spec(name, path, target)
                    if spec is not None:
                        return spec
            return importlib.machinery.ModuleSpec(name, self, is_package=True)
        if name == _THEIRS or name.startswith(_THEIRS + "."):
            return importlib.machinery.ModuleSpec(name, self, is_package=True)
        return None

    def create_module(self, spec):
        if spec.name == "nvidia":
            module = types.ModuleType("nvidia")
            module.__path__ = []  # type: ignore[attr-defined]
            return module
        ours = _OURS + spec.name[len(_THEIRS) :]
        try:
            module = importlib.import_module(ours)
        except ModuleNotFoundError as error:
            if error.name != ours:
                raise
            raise ModuleNotFoundError(
                f"No module named {spec.name!r}: galatea.dali has none of that name",
                name=spec.name,
            ) from None
        return module

    def exec_module(self, module):
        # importlib has just written its own spec into our module: put ours back.
        name = module.__name__
        if name != "nvidia":
            module.__spec__ = importlib.machinery.ModuleSpec(
                name, None, is_package=hasattr(module, "__path__")
            )


def install() -> None:
    """Has `import nvidia.dali`, and of all modules below it, give `galatea.dali` from now on.

    RuntimeError where another nvidia.dali was imported before.
    """
    if any(isinstance(finder, _Finder) for finder in sys.meta_path):
        return
    before = sys.modules.get(_THEIRS)
    if before is not None:
        raise RuntimeError("nvidia.dali was imported before galatea.dali.install(); call it first")
    sys.meta_path.insert(0, _Finder())
