"""How IPython shows errors of the library: the user's lines, then the message in colours."""

from __future__ import annotations

import linecache
import os
import re
import traceback

from galatea.errors import GalateaError

from . import marked, shell

__all__ = ["cell_name", "lines", "readable"]

# What IPython and ipykernel call the text of a cell.
_CELL_FILE = re.compile(r"<ipython-input-[^>\n]+>|[^\s('\"]*ipykernel_\d+[/\\]\d+\.py")
_PACKAGE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


def readable(error: GalateaError) -> str:
    """What the error says, with cells of the notebook by the numbers that people see."""
    text = _CELL_FILE.sub(lambda found: cell_name(found[0]) or found[0], str(error))
    if not text:
        return type(error).__name__
    return text if text.startswith(("error", "warning", "note")) else f"error: {text}"


def lines(error: GalateaError) -> list[str]:
    """Where the user's code called the library, and what the error says.

    Frames inside of the package are left out. What the error came from, a callable that raised,
    comes first.
    """
    out: list[str] = []
    if error.__cause__ is not None:
        out += _cause(error.__cause__)
    for frame, line in traceback.walk_tb(error.__traceback__):
        name = frame.f_code.co_filename
        if _is_inside(name) or f"{os.sep}IPython{os.sep}" in name:
            continue
        source = linecache.getline(name, line, frame.f_globals).strip()
        if source.startswith("get_ipython().run_cell_magic("):
            continue  # what a cell with a magic became
        out.append(f"\033[1;34m{cell_name(name) or name}:{line}\033[0m  {source}".rstrip())
    return [*out, *marked.ansi(marked.of_message(readable(error))).split("\n")]


def _is_inside(name: str) -> bool:
    return os.path.abspath(name).startswith(_PACKAGE + os.sep)


def _cause(cause: BaseException) -> list[str]:
    told = traceback.TracebackException.from_exception(cause)
    frames = [frame for frame in told.stack if not _is_inside(frame.filename)]
    if frames:
        told.stack = traceback.StackSummary.from_list(frames)
    return ["".join(told.format()).rstrip(), ""]


def cell_name(name: str) -> str:
    """ "Cell In[3]" of the file that IPython took the cell for, or ""."""
    named = getattr(getattr(shell.running(), "compile", None), "format_code_name", None)
    described = named(name) if named else None
    return " ".join(described) if described else ""
