"""How pipelines, batches and errors show themselves: contact sheets, notebooks, progress."""

from .sheet import Cell, Sheet
from .view import view

__all__ = ["Cell", "Sheet", "view"]
