"""`checkpoint`: states of readers and generators, collected, saved and restored together."""

from __future__ import annotations

import glob
import json
import os
import re
import string
import threading
from typing import Any

_VERSION = 2
_here = threading.local()


def _parts(pattern: str) -> tuple[str, str, str]:
    """What stands before `{seq}`, its format, and what stands behind it."""
    found: list[str] = []
    texts = [""]
    for text, field, form, _ in string.Formatter().parse(pattern):
        texts[-1] += text
        if field is None:
            continue
        if field != "seq":
            raise ValueError(f"{{{field}}} means nothing in the name of a checkpoint; {{seq}} does")
        found.append(form or "")
        texts.append("")
    if len(found) != 1:
        raise ValueError(f"the name of a checkpoint has {{seq}} once: {pattern!r}")
    return texts[0], found[0], texts[1]


def _numbered(pattern: str) -> list[tuple[int, str]]:
    """Files that a pattern names, by their numbers."""
    before, _, behind = _parts(pattern)
    named = re.compile(re.escape(before) + r"\s*(\d+)" + re.escape(behind))
    names = glob.glob(glob.escape(before) + "*" + glob.escape(behind))
    matches = [(named.fullmatch(name), name) for name in names]
    return sorted((int(match[1]), name) for match, name in matches if match)


def _kind(value: Any) -> str:
    return value if isinstance(value, str) else getattr(value, "__qualname__", str(value))


class Checkpoint:
    """States of what was registered, by name: readers, and generators of random numbers."""

    def __init__(self) -> None:
        self.clear()

    def clear(self) -> None:
        """Forgets what was registered, and all states."""
        self._registered: dict[str, Any] = {}
        self._states: dict[str, tuple[Any, str | None]] = {}
        self._loaded = self._collected = False

    @property
    def is_loaded(self) -> bool:
        """Whether the states come from a text or a file."""
        return self._loaded

    @property
    def is_complete(self) -> bool:
        """Whether the states were collected, and not read or set."""
        return self._collected

    @property
    def names(self) -> tuple[str, ...]:
        """Names of what was registered."""
        return tuple(self._registered)

    def __len__(self) -> int:
        return len(self._registered)

    def __contains__(self, name: Any) -> bool:
        return name in self._registered

    def register(self, op: Any, name: str | None = None) -> str:
        """Adds a reader or a generator, and gives its name; a state that waits for it is set."""
        if not hasattr(op, "get_state") or not hasattr(op, "set_state"):
            raise TypeError(f"a {type(op).__name__} has no state: readers and generators have one")
        if name is not None and not isinstance(name, str):
            raise TypeError(f"a name is a text, not {name!r}")
        key = name
        if key is None:
            known = next((old for old, one in self._registered.items() if one is op), None)
            key = known or f"__op_{len(self._registered)}"
        if self._loaded and key not in self._states:
            raise KeyError(f"the checkpoint that was loaded has no state of {key!r}")
        if hasattr(op, "_has_states") and getattr(op, "_pipe", None) is None:
            op._has_states = True
        self._registered[key] = op
        if key in self._states:
            self._apply(key)
        return key

    def _apply(self, key: str) -> None:
        state, kind = self._states[key]
        op = self._registered[key]
        if kind is not None and kind != type(op).__qualname__:
            raise TypeError(
                f"the state of {key!r} is that of a {kind}, and a {type(op).__qualname__} was "
                "registered"
            )
        op.set_state(state)

    def get_state(self, name: str) -> Any:
        """The state that was collected or set for a name."""
        if name not in self._registered:
            raise KeyError(f"nothing is registered as {name!r}")
        return self._states[name][0] if name in self._states else None

    def set_state(self, name: str, value: Any, op_type: Any = None) -> None:
        """Sets the state of what is, or will be, registered under a name."""
        self._states[name] = (value, None if op_type is None else _kind(op_type))
        self._collected = False
        if name in self._registered:
            self._apply(name)

    def collect(self) -> None:
        """Asks all that is registered for its state."""
        self._states = {
            name: (op.get_state(), type(op).__qualname__) for name, op in self._registered.items()
        }
        self._loaded, self._collected = False, True

    def restore(self) -> None:
        """Sets the states of all that is registered, of generators also anew."""
        for name, op in self._registered.items():
            if name in self._states and getattr(op, "_pipe", None) is None:
                self._apply(name)

    def serialize(self) -> str:
        """All states as a text."""
        if not self._states:
            raise RuntimeError("an empty checkpoint is no text: `collect` the states first")
        each = self._states.items()
        states = {name: {"state": str(state), "type": kind} for name, (state, kind) in each}
        return json.dumps({"version": _VERSION, "states": states})

    def deserialize(self, data: str) -> None:
        """Takes the states of a text; they are set where the names are, or become, registered."""
        read = json.loads(data)
        if not isinstance(read, dict) or read.get("version") != _VERSION:
            raise ValueError(f"the text is no checkpoint of version {_VERSION}")
        self._states = {
            name: (one["state"], one.get("type")) for name, one in read["states"].items()
        }
        self._loaded, self._collected = True, False
        self.restore()

    def save(self, filename: str) -> str:
        """Writes a file, with the next number for `{seq}`; gives its name."""
        before, form, behind = _parts(filename)
        text = self.serialize()
        taken = _numbered(filename)
        name = f"{before}{format(taken[-1][0] + 1 if taken else 0, form)}{behind}"
        with open(f"{name}.tmp", "w", encoding="utf-8") as file:
            file.write(text)
        os.replace(f"{name}.tmp", name)
        return name

    def load(self, filename: str) -> str:
        """Reads the file of the largest number for `{seq}`; gives its name."""
        found = _numbered(filename)
        if not found:
            raise FileNotFoundError(f"no file is named as {filename!r} says")
        with open(found[-1][1], encoding="utf-8") as file:
            self.deserialize(file.read())
        return found[-1][1]


def current() -> Checkpoint:
    """The checkpoint of this thread."""
    if not hasattr(_here, "checkpoint"):
        _here.checkpoint = Checkpoint()
    return _here.checkpoint
