"""What DALI 2.4 has, as data (`names.json`, made by `python/tools/dali_names.py`), and how a name
that galatea has not is answered: with the name and the reason, where it is used."""

from __future__ import annotations

import functools
import json
import os
from typing import Any, NoReturn


@functools.cache
def document() -> dict[str, Any]:
    """{"version", "functions": {name: arguments}, "classes": {name: function}, "modules"}."""
    path = os.path.join(os.path.dirname(__file__), "names.json")
    with open(path, encoding="utf-8") as file:
        return json.load(file)


_REASONS = {
    "gpu": "it works on memory of a GPU; galatea hands outputs of a GPU out by galatea.Loader",
}


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


def getter(module: str):
    """`__getattr__` of a module: names of DALI's that are not there stand in for themselves."""

    def get(name: str) -> Any:
        if name in document()["modules"].get(module, ()):
            return stand_in(f"{module}.{name}" if module else name, "it has no meaning here")
        raise AttributeError(f"module 'nvidia.dali.{module}' has no attribute '{name}'")

    return get
