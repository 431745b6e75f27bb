"""Augmentation policies as values: read, look at, use in loaders and pipelines, search.

``policy.load("mine.json")`` or ``policy.load("rand_augment(n=2, m=9)")`` gives a `Document`;
``policy.search(space, objective)`` tries documents of a space. docs/policies.md has the format of
both. Documents, spaces and searches mean what the command ``galatea policy`` says they mean: it is
the program that reads them.
"""

from .conversation import Parameter
from .cost import Cost
from .document import Document, check, known, load
from .result import Result, Trial
from .search import EndTrial, ObjectiveError, Report, search
from .space import Space

__all__ = [
    "Cost",
    "Document",
    "EndTrial",
    "ObjectiveError",
    "Optuna",
    "Parameter",
    "Report",
    "Result",
    "Space",
    "Trial",
    "check",
    "known",
    "load",
    "search",
]


def __getattr__(name):
    if name == "Optuna":  # imports optuna
        from .optuna_strategy import Optuna

        return Optuna
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
