"""Generators of random numbers, and operators that draw."""

from __future__ import annotations

import itertools
import random as _random
from typing import Any

from ...names import missing

_numbers = itertools.count()


class RNG:
    """A generator: two of one seed, used by the same calls in the same order, draw alike."""

    def __init__(self, seed: int | None = None, state: Any = None):
        if state is not None:
            missing("experimental.dynamic.random.RNG.state", "make it anew from its seed")
        self._begin(seed)

    def _begin(self, seed: int | None) -> None:
        if seed is not None and not isinstance(seed, int):
            raise TypeError(f"a seed is a number, not a {type(seed).__name__}")
        self._random = _random.Random(seed)
        self._key = next(_numbers)

    def __call__(self) -> int:
        """The next number, of 32 bits."""
        return self._random.getrandbits(32)

    @property
    def seed(self) -> int:
        """Can be set: the generator begins anew."""
        raise AttributeError("a seed can be set, and not be asked for")

    @seed.setter
    def seed(self, value: int) -> None:
        self._begin(value)

    def clone(self) -> "RNG":
        """Refused: what operators drew is not kept here."""
        missing("experimental.dynamic.random.RNG.clone", "make two generators of one seed")

    def advance(self, n: int) -> None:
        """Refused: operators do not count what they draw."""
        missing("experimental.dynamic.random.RNG.advance", "make it anew from another seed")

    def __repr__(self) -> str:
        return f"RNG({self._key})"


_default = RNG()


def get_default_rng() -> RNG:
    """The generator of calls that name none."""
    return _default


def set_seed(seed: int) -> None:
    """Has the default generator begin anew."""
    _default.seed = seed
