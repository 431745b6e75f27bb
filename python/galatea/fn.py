"""The operators: `fn.resize(…)`, `fn.random.uniform(…)`, as the library reports them.

Operators are called in functions below `@galatea.pipeline_def`, with data nodes as inputs by
position and arguments by keyword; they give data nodes. `help(fn.resize)` has formula, units and
defaults; `dir(fn)` lists what there is.
"""

from __future__ import annotations

import difflib
import importlib.abc as _abc
import importlib.machinery as _machinery
import sys
import types as _types
from typing import Any

from galatea.trace import operators as _operators
from galatea.trace.errors import UnknownOperator as _UnknownOperator


class _Namespace(_types.ModuleType):
    """Operators whose names begin with `prefix`."""

    def __init__(self, name: str, prefix: str, doc: str | None = None):
        super().__init__(name, doc)
        self.__dict__["_prefix"] = prefix
        self.__dict__["__path__"] = []

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return _resolve(self, self._prefix, name)

    def __dir__(self):
        return _operators.members(self._prefix)


def _resolve(module, prefix: str, name: str) -> Any:
    path = prefix + name
    operator = _operators.find(path)
    if operator is not None:
        made: Any = _operators.function_of(operator)
    elif _operators.members(path + "."):
        full = f"galatea.fn.{path}"
        made = sys.modules.get(full)
        if made is None:
            made = _Namespace(full, path + ".", f"Operators `fn.{path}.…`.")
            sys.modules[full] = made
    else:
        near = difflib.get_close_matches(path, _operators.names(), 1, 0.7)
        last = difflib.get_close_matches(
            name.lower(), [n.rsplit(".", 1)[-1] for n in _operators.names()], 1, 0.8
        )
        if not near and last:
            near = [n for n in _operators.names() if n.rsplit(".", 1)[-1] == last[0]]
        raise _UnknownOperator(
            f"there is no operator `fn.{path}`",
            _operators.place(),
            f"did you mean `fn.{near[0]}`?" if near else "`galatea ops` lists the operators",
        )
    module.__dict__[name] = made
    return made


def __getattr__(name: str) -> Any:
    if name.startswith("__"):
        raise AttributeError(name)
    return _resolve(sys.modules[__name__], "", name)


def __dir__():
    return _operators.members("")


class _Finder(_abc.MetaPathFinder, _abc.Loader):
    """Makes `import galatea.fn.readers` work, and `from galatea.fn.random import uniform`."""

    def find_spec(self, name, path=None, target=None):
        prefix = name.removeprefix("galatea.fn.")
        if prefix == name or not _operators.members(prefix + "."):
            return None
        return _machinery.ModuleSpec(name, self, is_package=True)

    def create_module(self, spec):
        module: Any = sys.modules[__name__]
        for part in spec.name.removeprefix("galatea.fn.").split("."):
            module = getattr(module, part)
        return module

    def exec_module(self, module):
        pass


sys.meta_path.append(_Finder())
__path__: list[str] = []
