"""Generators of random numbers, and operators that draw."""

from __future__ import annotations

import random as _random
from typing import Any

_WORD, _LONG = (1 << 32) - 1, (1 << 64) - 1


def _philox(key: int, counter: int) -> list[int]:
    """Four words of Philox 4x32-10 (Salmon, Moraes, Dror, Shaw: Parallel random numbers, 2011)."""
    a, b, c, d = (counter >> shift & _WORD for shift in (0, 32, 64, 96))
    low, high = key & _WORD, key >> 32 & _WORD
    for _ in range(10):
        first, second = 0xD2511F53 * a, 0xCD9E8D57 * c
        a, b, c, d = second >> 32 ^ b ^ low, second & _WORD, first >> 32 ^ d ^ high, first & _WORD
        low, high = (low + 0x9E3779B9) & _WORD, (high + 0xBB67AE85) & _WORD
    return [a, b, c, d]


class State:
    """Where a generator stands; its text is what `RNG.set_state` takes, too."""

    def __init__(self, key: int, place: int):
        self._key, self._place = key, place

    def __str__(self) -> str:
        block, phase = divmod(self._place, 4)
        return f"Philox_{self._key:016X}_{block >> 64:016X}:{block & _LONG:016X}_{phase}"

    __repr__ = __str__


def _read(text: str) -> tuple[int, int]:
    """Key and place of a state's text."""
    parts = text.replace(":", "_").split("_")
    try:
        name, key, high, low, phase = parts
        numbers = [int(one, 16) for one in (key, high, low)]
        if name != "Philox" or phase not in ("0", "1", "2", "3"):
            raise ValueError(phase)
    except ValueError:
        raise ValueError(f"{text!r} is no state of a generator, as `RNG.state` gives it") from None
    return numbers[0], (numbers[1] << 64 | numbers[2]) << 2 | int(phase)


class RNG:
    """A generator: two of one seed, used by the same calls in the same order, draw alike.

    `state` is where another one stood: its `state`, or the text of that.
    """

    def __init__(self, seed: int | None = None, state: Any = None):
        if state is not None:
            if seed is not None:
                raise ValueError("a generator begins from a seed or from a state, not from both")
            self.set_state(state)
        else:
            self._begin(_random.SystemRandom().getrandbits(64) if seed is None else seed)

    def _begin(self, seed: int) -> None:
        if not isinstance(seed, int):
            raise TypeError(f"a seed is a number, not a {type(seed).__name__}")
        self._key, self._place = seed & _LONG, 0

    def __call__(self) -> int:
        """The next number, of 32 bits."""
        block, phase = divmod(self._place, 4)
        self._place += 1
        return _philox(self._key, block)[phase]

    def _seed_of_a_call(self) -> int:
        """What an operator that draws begins from."""
        return (self() << 32 | self()) >> 1

    def get_state(self) -> State:
        """Where the generator stands."""
        return State(self._key, self._place)

    def set_state(self, state: Any) -> None:
        """Goes to where another generator stood."""
        if not isinstance(state, (State, str, bytes)):
            raise TypeError(f"a state is what `RNG.state` gives, not a {type(state).__name__}")
        text = state.decode(errors="replace") if isinstance(state, bytes) else str(state)
        self._key, self._place = _read(text)

    state = property(get_state, set_state, doc="Where the generator stands; can be set.")

    @property
    def seed(self) -> int:
        """Can be set: the generator begins anew."""
        raise AttributeError("a seed can be set, and not be asked for")

    @seed.setter
    def seed(self, value: int) -> None:
        self._begin(value)

    def clone(self) -> "RNG":
        """A generator that gives the same numbers from here on."""
        return RNG(state=self.state)

    def advance(self, n: int) -> None:
        """Leaves `n` numbers out."""
        if not isinstance(n, int):
            raise TypeError(f"a number of numbers is an integer, not a {type(n).__name__}")
        if n < 0:
            raise ValueError(f"a generator advances, and does not go back: {n}")
        self._place += n

    def __repr__(self) -> str:
        return f"RNG(state='{self.state}')"


_default = RNG()


def get_default_rng() -> RNG:
    """The generator of calls that name none."""
    return _default


def set_seed(seed: int) -> None:
    """Has the default generator begin anew."""
    _default.seed = seed
