"""What DALI 2.4 has, as data (`names.json`, made by `python/tools/dali_names.py`), and how a name
that galatea has not is answered: with the name and the reason, where it is used."""

from __future__ import annotations

import functools
import importlib.abc
import importlib.machinery
import importlib.util
import json
import os
import sys
import types as _python_types
from typing import Any, Callable, NoReturn


def place(root: str, path: str, value: Any) -> None:
    """Puts `value` at the dotted `path` below the module `root`; modules on the way are made."""
    module: Any = sys.modules[root]
    full = root
    *parents, name = path.split(".")
    for part in parents:
        full = f"{full}.{part}"
        if full not in sys.modules:
            made = _python_types.ModuleType(full, f"Operators of `{full}`.")
            made.__path__ = []  # type: ignore[attr-defined]
            sys.modules[full] = made
            setattr(module, part, made)
        module = sys.modules[full]
    setattr(module, name, value)


@functools.cache
def document() -> dict[str, Any]:
    """{"version", "functions": {name: arguments}, "classes": {name: function}, "modules": {name:
    public names}, "members": {class: public members}, "all_modules": names, "internals": {module:
    names that are not public, or that it imports}}."""
    path = os.path.join(os.path.dirname(__file__), "names.json")
    with open(path, encoding="utf-8") as file:
        return json.load(file)


_REASONS = {
    "gpu": "it works on memory of a GPU; galatea hands outputs of a GPU out by galatea.Loader",
}

_INTERNAL = "it is one of DALI's internals"

# Of modules, the longest first, what stands for what they lack.
_OF_MODULES = {
    "experimental.torchvision": "write its transforms as operators of a pipeline; "
    "docs/from-torchvision.md has the line for each",
    "experimental.dynamic": "dynamic mode has tensors, batches, operators and readers here; "
    "docs/from-dali.md lists what it leaves out",
}


def _why(path: str, otherwise: str) -> str:
    for module, why in _OF_MODULES.items():
        if path.startswith(module + "."):
            return why
    return otherwise


def missing(name: str, why: str = "") -> NoReturn:
    """Raises for a name of DALI's that galatea has not."""
    why = _REASONS.get(why, why) or "galatea has no such operator; `galatea ops` lists what it has"
    raise NotImplementedError(f"nvidia.dali.{name} is not in galatea: {why}")


class _StandIn(type):
    """A class whose attributes raise, too."""

    def __getattr__(cls, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        missing(cls._galatea_missing, cls._galatea_why)


def stand_in(name: str, why: str = "") -> Any:
    """A class that can be named, and raises where it is used."""

    def refuse(self, *args, **kwargs):
        missing(name, why)

    last = name.rsplit(".", 1)[-1]
    text = f"`nvidia.dali.{name}`, which galatea has not: using it raises NotImplementedError."
    return _StandIn(
        last,
        (),
        {"__init__": refuse, "__doc__": text, "_galatea_missing": name, "_galatea_why": why},
    )


def internal(name: str) -> Callable[..., NoReturn]:
    """A method that is one of DALI's internals: it raises where it is called."""

    def refuse(*_: Any, **__: Any) -> NoReturn:
        missing(name, _INTERNAL)

    return refuse


class WithoutEngine:
    """Base of operators as objects: what DALI's say of its engine, ours say that they have not."""

    _shown = "ops"
    schema_name = ""

    @property
    def schema(self) -> Any:
        """What `GetSchema` of `nvidia.dali.backend` gives for the operator."""
        from .schemas import GetSchema

        return GetSchema(self.schema_name)

    @property
    def spec(self) -> NoReturn:
        """Raises: an operator of galatea is a line of `pipe.text`."""
        missing(f"{self._shown}.spec", "it is DALI's; `pipe.text` shows the operators")


def getter(module: str):
    """`__getattr__` of a module: names of DALI's that are not there stand in for themselves."""

    def get(name: str) -> Any:
        path = f"{module}.{name}" if module else name
        if path in document()["all_modules"]:
            return importlib.import_module(f"{_PACKAGE}.{path}")
        if name in document()["modules"].get(module, ()):
            return stand_in(path, _why(path, "it has no meaning here"))
        if name in document()["internals"].get(module, ()):
            return stand_in(path, _why(path, _INTERNAL))
        raise AttributeError(f"module 'nvidia.dali.{module}' has no attribute '{name}'")

    return get


_PACKAGE = __name__.rpartition(".")[0]
# Calls into DALI's internals that programs make, and that may have no effect.
_ACCEPTED = {"_autograph.utils.ag_logging.set_verbosity", "_utils.dali_trace.set_tracing"}


def _accept(*_: Any, **__: Any) -> None:
    """Accepted: it steers what DALI writes to its log."""


class _Modules(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Modules that DALI has and galatea has not: they can be imported, their names raise in use."""

    def find_spec(self, name: str, path: Any = None, target: Any = None):
        if not name.startswith(_PACKAGE + "."):
            return None
        if name[len(_PACKAGE) + 1 :] not in document()["all_modules"]:
            return None
        return importlib.machinery.ModuleSpec(name, self, is_package=True)

    def create_module(self, spec):
        path = spec.name[len(_PACKAGE) + 1 :]
        text = f"Stands in for `nvidia.dali.{path}`, which galatea has not: its names raise in use."
        module = _python_types.ModuleType(spec.name, text)
        known = document()["modules"].get(path)
        inner = getter(path)

        def get(name: str) -> Any:
            if f"{path}.{name}" in _ACCEPTED:
                return _accept
            if known is None and not name.startswith("__"):
                if f"{path}.{name}" not in document()["all_modules"]:
                    return stand_in(f"{path}.{name}", _why(f"{path}.{name}", _INTERNAL))
            return inner(name)

        module.__getattr__ = get  # type: ignore[method-assign]
        return module

    def exec_module(self, module):
        """There is nothing to run."""


def install_modules() -> None:
    """Has imports below this package find stand-ins where there is no module of that name."""
    if not any(isinstance(finder, _Modules) for finder in sys.meta_path):
        sys.meta_path.append(_Modules())
