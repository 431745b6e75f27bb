"""What a search found."""

import functools
import html
import os
from dataclasses import dataclass

from . import program
from .conversation import Parameter
from .document import Document

__all__ = ["Result", "Trial"]


@dataclass(frozen=True)
class Trial:
    """A policy that was tried. ``values`` is {path: value}, of what its document is made of."""

    number: int
    point: tuple
    values: dict
    score: float | None  # None: it failed
    failed: str | None  # why; of a pruned trial, too
    pruned: bool
    scores: tuple[float, ...]  # reported while it ran
    microseconds: float | None  # what the policy takes a sample, where that was told
    seconds: float
    budget: float | None
    step: int
    parent: int | None
    document: Document | None  # None: its point is no policy

    @classmethod
    def of(cls, entry: dict, parameters: tuple[Parameter, ...], document=None) -> "Trial":
        point = tuple(
            value if value is None or parameter.kind == "float" else int(value)
            for parameter, value in zip(parameters, entry["point"])
        )
        values = {
            parameter.path: parameter.shown(value)
            for parameter, value in zip(parameters, point)
            if parameter.is_active(point)
        }
        return cls(
            number=entry["trial"],
            point=point,
            values=values,
            score=entry.get("score"),
            failed=entry.get("failed"),
            pruned=bool(entry.get("pruned")),
            scores=tuple(entry.get("scores", ())),
            microseconds=entry.get("microseconds"),
            seconds=entry.get("seconds", 0.0),
            budget=entry.get("budget"),
            step=entry.get("step", 0),
            parent=entry.get("parent"),
            document=document,
        )


class Result:
    """A search that has ended: `trials` in the order in which they did, the best one, a report."""

    def __init__(self, found: dict, parameters, documents: dict, best, report: str, minimize: bool):
        self.parameters = parameters
        self.minimize = minimize
        self.trials = tuple(
            Trial.of(entry, parameters, documents.get(entry["trial"])) for entry in found["trials"]
        )
        self._best = found["best"]
        self._best_document = best
        self._lineage = found["lineage"]
        self._report = report

    @functools.cached_property
    def _by_number(self) -> dict[int, Trial]:
        return {trial.number: trial for trial in self.trials}

    @property
    def best_trial(self) -> Trial:
        """The one with the best score; of halving and populations the best of those that got far.

        Raises ValueError where no trial has a score.
        """
        if self._best is None:
            why = self.trials[0].failed if self.trials else "there was none"
            raise ValueError(f"no trial gave a score: {why}")
        return self._by_number[self._best]

    @property
    def best(self) -> Document:
        """The best trial's policy, without augmentations that it does not use."""
        assert self.best_trial  # or raises
        return self._best_document

    @property
    def schedule(self) -> tuple[Document | None, ...]:
        """The policies that the best trial was built on, and its own: of a population, by step."""
        return tuple(self._by_number[number].document for number in self._lineage)

    def ranking(self) -> list[Trial]:
        """The trials that have a score, the best first, as the program ranks them."""
        sign = 1 if self.minimize else -1
        good = [trial for trial in self.trials if trial.failed is None]
        return sorted(
            good, key=lambda t: (-(t.budget or 0), -t.step, sign * (t.score or 0), t.number)
        )

    def save(self, path) -> None:
        """Writes the best policy as a JSON file."""
        self.best.save(path)

    def save_report(self, path) -> None:
        """Writes a page with plots of the search (HTML): what ``--report`` writes."""
        program.write(os.fspath(path), self._report)

    def _head(self) -> str:
        failed = sum(trial.failed is not None and not trial.pruned for trial in self.trials)
        pruned = sum(trial.pruned for trial in self.trials)
        best = f"best score {self.best_trial.score:.6g}" if self._best is not None else "no score"
        return f"{len(self.trials)} trials, {failed} failed, {pruned} pruned; {best}"

    def table(self, count: int = 10) -> str:
        """The best trials as text, a line each."""
        lines = [self._head()]
        for trial in self.ranking()[:count]:
            values = " ".join(f"{path}={value}" for path, value in trial.values.items())
            lines.append(f"  {trial.score:12.6g}  trial {trial.number:<6} {values}")
        return "\n".join(lines)

    def __repr__(self):
        return f"<galatea.policy.Result: {self._head()}>"

    def __str__(self):
        return self.table()

    def _repr_html_(self):
        paths = [parameter.path for parameter in self.parameters]
        head = "".join(f"<th>{html.escape(name)}</th>" for name in ("trial", "score", *paths))
        rows = ""
        for trial in self.ranking()[:10]:
            values = (trial.values.get(path, "") for path in paths)
            cells = (trial.number, f"{trial.score:.6g}", *values)
            rows += "<tr>" + "".join(f"<td>{html.escape(str(x))}</td>" for x in cells) + "</tr>"
        return f"<p>{html.escape(self._head())}</p><table><tr>{head}</tr>{rows}</table>"
