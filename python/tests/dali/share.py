"""Which of the recorded cases `./dev test` runs.

Cases of one function of `cases` differ in an argument and run the same code. A usual run takes a
eighth of them, by a hash of the name, and beside those at least one of each function and one of
each operator of DALI that a case is about. `./dev test --all`, `run_cases.py` and `compare.py` run
all.
"""

from __future__ import annotations

import os
import re
import zlib
from typing import Iterable

ONE_OF = 8
IS_WHOLE = os.environ.get("GALATEA_TEST_SCALE") == "100"


def function_of(name: str) -> str:
    """The function of a case: "operator_inputs.types" of "operator_inputs.types[resize]"."""
    return name.partition("[")[0]


def operators_of(name: str, operators: Iterable[str]) -> set[str]:
    """The operators that the argument of a case names: "resize" of the same."""
    return set(re.findall(r"[\w.]+", name.partition("[")[2])).intersection(operators)


def chosen(names: Iterable[str], operators: Iterable[str]) -> set[str]:
    """Those of all cases that a usual run takes."""
    by_hash = sorted(names, key=lambda name: (zlib.crc32(name.encode()), name))
    found = {name for name in by_hash if zlib.crc32(name.encode()) % ONE_OF == 0}
    functions = {function_of(name) for name in found}
    shown = {operator for name in found for operator in operators_of(name, operators)}
    for name in by_hash:
        mine = {function_of(name)}, operators_of(name, operators)
        if mine[0] <= functions and mine[1] <= shown:
            continue
        found.add(name)
        functions |= mine[0]
        shown |= mine[1]
    return found
