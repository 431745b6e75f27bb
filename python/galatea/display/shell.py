"""The IPython that runs this program, if one does; nothing here imports it."""

from __future__ import annotations

import sys
from typing import Any

__all__ = ["in_notebook", "running"]


def running() -> Any:
    """The IPython shell, or None."""
    module = sys.modules.get("IPython")
    return module.get_ipython() if module else None


def in_notebook() -> bool:
    """Whether what is displayed goes to a notebook, not to a terminal."""
    return hasattr(running(), "kernel")
