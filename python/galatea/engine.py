"""The engine of the process, its operators, and its log (the logger ``galatea``)."""

import atexit
import functools
import json
import logging

from . import _c

__all__ = ["default_engine", "operators", "version"]

logger = logging.getLogger("galatea")
_LEVELS = {0: logging.DEBUG, 1: logging.INFO, 2: logging.WARNING}
_default = None  # (fork generation, engine)


def version() -> str:
    """The library's version, "0.2.0"."""
    return _c.version()


def default_engine() -> "_c.Engine":
    """The engine that loaders use unless another one is given. A forked child makes its own."""
    global _default
    generation = _c.fork_generation()
    if _default is None or _default[0] != generation:
        _default = (generation, _c.Engine())
    return _default[1]


def flush_log(engine) -> None:
    """Hands what an engine had to tell to the logger ``galatea``."""
    for level, text in engine.take_log():
        logger.log(_LEVELS[level], "%s", text)


@functools.cache
def operators() -> dict:
    """The operators as ``galatea ops --json`` prints them, parsed."""
    return json.loads(default_engine().operators_json())


# Threads of a session may be inside a Python callable: they end while there is an interpreter.
atexit.register(_c.close_all_sessions)
