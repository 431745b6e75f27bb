"""The terms in which DALI's users know a mistake.

Programs match messages: "out of bounds", "mutually exclusive", "[-3, 2]". The engine has words of
its own. Each entry of terms_table.py has a pattern of the engine's messages and what is added to
them, as a note; a message that no pattern fits gets none.
"""

from __future__ import annotations

import re
from typing import Iterable

from .terms_table import PARTS, TERMS

_KINDS = {
    "FLOAT": "float",
    "FLOAT16": "float16",
    "FLOAT64": "double",
    "f16": "float16",
    "f32": "float",
    "f64": "double",
    "bool": "bool",
}
_SHORT = {"u": "uint", "i": "int"}


def _compiled(pattern: str) -> re.Pattern:
    for name, part in PARTS.items():
        pattern = pattern.replace(name, part)
    return re.compile(pattern)


_COMPILED = [(_compiled(pattern), terms) for pattern, terms in TERMS]


def _kind(name: str) -> str:
    """An element type as DALI writes it: "float" of FLOAT and of f32."""
    if name in _KINDS:
        return _KINDS[name]
    if name[:1] in _SHORT and name[1:].isdigit():
        return _SHORT[name[:1]] + name[1:]
    return name.lower()


def _axes(text: str) -> int:
    """How many axes a type has: 2 of "f32[?,3]"."""
    inner = text.partition("[")[2].rstrip("]")
    return inner.count(",") + 1 if inner else 0


def _described(text: str) -> str:
    """An input of `cat`: its element type, and where that is all of a type its rank."""
    kind, bracket, _ = text.partition("[")
    return _kind(kind) + (f", {_axes(text.split(' ')[0])}-D" if bracket else "")


def _shown(number: str) -> str:
    """A number without the last digits of its sum: 0.6 of 0.6000000000000001."""
    return f"{float(number):g}"


# Values of templates that are made of groups of their patterns.
_MADE = {
    "rank": lambda g: _axes(g["type"]),
    "first": lambda g: -int(g["rank"]),
    "less": lambda g: 1 - int(g["rank"]),
    "last": lambda g: int(g["rank"]) - 1,
    "spelt": lambda g: _kind(g["kind"]),
    "all_spelt": lambda g: ", ".join(map(_kind, re.findall(r"[A-Z]\w+", g["list"]))),
    "quoted": lambda g: ", ".join(f'"{name}"' for name in [*g["a"].split(", "), g["b"]]),
    "inputs": lambda g: " and ".join(_described(g[name]) for name in "ab"),
    "words": lambda g: g["a"].replace("_", " "),
    "product": lambda g: int(g["y"]) * int(g["z"]),
    "shown": lambda g: _shown(g["x"]),
}


class _Values(dict):
    """The groups of a match, and what is made of them where a template asks for it."""

    def __missing__(self, name: str) -> object:
        return _MADE[name](self) if name in _MADE else ""


def of(messages: Iterable[str], text: str = "") -> list[str]:
    """What is added to an error of these messages; `text` shows the sample that it is about."""
    sample = re.search(r"sample (\d+) of batch", text)
    found = []
    for message in messages:
        for pattern, terms in _COMPILED:
            match = pattern.search(message)
            if match is not None:
                groups = {name: part for name, part in match.groupdict().items() if part}
                values = _Values(groups, sample=sample[1] if sample else "0")
                found.append(terms.format_map(values))
    return found
