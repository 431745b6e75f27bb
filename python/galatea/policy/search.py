"""Searches whose objective is a Python callable.

The program ``galatea policy search`` runs the search: strategies, journal and report are its own. It
asks this process how good a policy is, and, where the strategy is written in Python, which to try.
"""

import contextlib
import inspect
import json
import logging
import math
import numbers
import os
import types
from typing import Any

from ..errors import UserError, failure_text
from . import program
from .conversation import Conversation
from .document import Document
from .result import Result
from .space import Space
from .strategy import StrategyHost, strategy_of

__all__ = ["EndTrial", "ObjectiveError", "Report", "search"]

_OPTIONS = ("population", "levels", "ahead", "budget", "least_budget", "eta")
_logger = logging.getLogger("galatea")


class EndTrial(Exception):
    """The trial shall end: it is pruned, or takes too long. The objective lets it pass."""


class ObjectiveError(UserError):
    """An objective failed, and the search was told to stop then."""


class Report:
    """What an objective is told of its trial, and tells while it runs."""

    def __init__(self, words: dict, conversation, max_microseconds):
        self.trial = int(words["trial"])
        self.step = int(words["step"])
        self.budget = float(words["budget"]) if "budget" in words else None
        self.state = words.get("state")
        self.parent = words.get("parent") or None
        self.scores: list[float] = []
        self.microseconds: float | None = None
        self._conversation = conversation
        self._max_microseconds = max_microseconds

    def __call__(self, score) -> None:
        """Tells a score of the trial so far. Raises EndTrial where it shall end for it."""
        number = _number(score, "reported")
        self.scores.append(number)
        if self._conversation.report(self._conversation.call, number):
            raise EndTrial(f"pruned after {len(self.scores)} scores")

    def takes(self, microseconds) -> None:
        """Tells what the policy takes a sample. Raises EndTrial where that is too long."""
        self.microseconds = _number(microseconds, "told as microseconds")
        if self._max_microseconds and self.microseconds > self._max_microseconds:
            raise EndTrial(f"takes {self.microseconds} microseconds a sample")


def search(
    space,
    objective,
    *,
    trials: int | None = None,
    strategy: Any = "evolution",
    seed: int = 0,
    minimize: bool = False,
    prune: bool = False,
    max_microseconds: float | None = None,
    cost=None,
    journal=None,
    on_error: str = "continue",
    **options,
) -> Result:
    """Tries policies of a space; ``objective(document)`` or ``objective(document, report)`` scores.

    `objective` returns a number: higher is better unless `minimize`. ``report(score)`` tells a score
    on the way; a generator yields them, and returns the last one or yields it. ``report.budget``,
    ``.step``, ``.state`` and ``.parent`` are what halving and populations tell (docs/policies.md).

    * `trials`: how many in all, with those in the journal (None: as the command line);
    * `strategy`: "random", "grid", "evolution", "halving", "population", "optuna" (that is
      ``policy.Optuna()``, which takes a sampler, a pruner or a study), or an object with
      ``ask(number)``, which gives a point (a value for each parameter, or {path: value}; None: there
      are no more), and ``tell(trial)``; also, if it has them, ``begin(parameters, greeting)`` and
      ``prunes(trial)``;
    * `seed`: the same seed tries the same policies, where scores are the same;
    * `prune`: trials end early whose scores so far are the worse half, or as the strategy says;
    * `max_microseconds`: a policy that takes longer for a sample has failed. ``cost(document)`` tells
      it before the objective runs (`policy.Cost` measures a pipeline); without it the objective
      does, by ``report.takes(microseconds)``;
    * `journal`: a folder for the journal and the policies. The same call goes on where the last one
      stopped, was interrupted or killed. None: nothing is kept;
    * `on_error`: "continue" records a trial whose objective failed and goes on, "stop" raises
      ObjectiveError behind that;
    * `options` of our strategies: `population`, `levels`, `ahead`, `budget`, `least_budget`, `eta`.
    """
    if not callable(objective):
        raise TypeError(f"the objective is a callable, not {type(objective).__name__}")
    if on_error not in ("continue", "stop"):
        raise ValueError(f'on_error is {on_error!r}; it is "continue" or "stop"')
    if cost is not None and not max_microseconds:
        raise ValueError("cost measures what max_microseconds bounds: give that, too")
    space = space if isinstance(space, Space) else Space(space)
    strategy = strategy_of(strategy)
    arguments = ["--seed", str(seed), "--host-objective", _name_of(objective)]
    arguments += ["--trials", str(trials)] if trials is not None else []
    arguments += ["--minimize"] if minimize else []
    arguments += ["--prune"] if prune else []
    arguments += ["--max-microseconds", repr(max_microseconds)] if max_microseconds else []
    for name, value in options.items():
        if name not in _OPTIONS:
            raise TypeError(f"search() has no option {name!r}")
        arguments += ["--" + name.replace("_", "-"), str(value)]
    if isinstance(strategy, str):
        arguments += ["--strategy", strategy]
    else:
        arguments += ["--host-strategy", getattr(strategy, "name", type(strategy).__qualname__)]
    host = _Host(objective, strategy, cost, max_microseconds, on_error == "stop")
    with contextlib.ExitStack() as stack:
        scratch = stack.enter_context(program.scratch())
        folder = os.fspath(journal) if journal is not None else os.path.join(scratch, "search")
        report = os.path.join(scratch, "report.html")
        path, shown_as = stack.enter_context(space.as_file(scratch))
        command = program.command("search", path, *arguments, "--json", "--diagnostics=json")
        best = os.path.join(scratch, "best.json")
        command += ["--folder", folder, "--report", report, "--output", best]
        conversation = Conversation(command, shown_as)
        with conversation:
            conversation.serve(host)
        for entry in conversation.diagnostics():
            if entry["severity"] == "warning":
                _logger.warning("%s", entry["message"])
        if host.failure is not None:
            error, cause = host.failure
            raise ObjectiveError(error) from cause
        if conversation.has_failed:
            conversation.raise_failure()
        found = conversation.result()
        documents = {
            entry["trial"]: _document_of(f"{folder}/trial-{entry['trial']:05}.json")
            for entry in found["trials"]
        }
        with open(report, encoding="utf-8") as file:
            page = file.read()
        return Result(found, host.parameters, documents, _document_of(best), page, minimize)


def _document_of(path: str) -> Document | None:
    """None: there is no such file, of a trial whose point is no policy."""
    with contextlib.suppress(FileNotFoundError):
        with open(path, encoding="utf-8") as file:
            return Document(json.load(file))
    return None


def _name_of(objective) -> str:
    """What the journal knows it by: another one is not gone on with."""
    module = getattr(objective, "__module__", None) or ""
    name = getattr(objective, "__qualname__", None) or type(objective).__qualname__
    return f"python {module}.{name}"


def _takes_report(objective) -> bool:
    try:
        parameters = inspect.signature(objective).parameters.values()
    except (TypeError, ValueError):
        return False
    by_place = [p for p in parameters if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
    needed = [p for p in by_place if p.default is p.empty]
    if any(p.kind is p.VAR_POSITIONAL for p in parameters):
        return True
    return len(needed) > 1 or (len(by_place) > 1 and by_place[1].name == "report")


def _number(value, what: str) -> float:
    """A finite number, or an error that says what it is instead."""
    is_text = isinstance(value, (str, bytes, bool)) or value is None
    if not is_text and (isinstance(value, numbers.Real) or hasattr(value, "__float__")):
        try:
            number = float(value)
        except (TypeError, ValueError) as error:
            raise TypeError(f"{what}: a {type(value).__name__}, no number: {error}") from None
        if math.isfinite(number):
            return number
        raise ValueError(f"{what}: {number}, which is no score; scores are finite numbers")
    raise TypeError(f"{what}: {value!r} of type {type(value).__name__}; scores are numbers")


def _why(called, error) -> str:
    """What a callable of the user's raised, at the user's line, not at one of this package."""
    whole = part = error.__traceback__
    users = None
    while part is not None:
        if os.path.dirname(part.tb_frame.f_code.co_filename) != os.path.dirname(__file__):
            users = types.TracebackType(None, part.tb_frame, part.tb_lasti, part.tb_lineno)
        part = part.tb_next
    text = failure_text(called, error.with_traceback(users))
    error.with_traceback(whole)
    return text


class _Host(StrategyHost):
    """Runs the objective, and asks the strategy where that is Python's."""

    def __init__(self, objective, strategy, cost, max_microseconds, stops):
        super().__init__(None if isinstance(strategy, str) else strategy)
        self._objective = objective
        self._takes_report = _takes_report(objective)
        self._cost = cost
        self._max_microseconds = max_microseconds
        self._stops = stops
        self.failure = None

    def run(self, words, conversation) -> dict:
        report = Report(words, conversation, self._max_microseconds)
        with open(words["policy"], encoding="utf-8") as file:
            document = Document(json.load(file), words["policy"])
        outcome: dict = {}
        called = self._objective
        try:
            if self._cost is not None:
                called = self._cost
                report.takes(self._cost(document))
            called = self._objective
            outcome["score"] = self._score(document, report)
        except EndTrial as end:
            outcome["failed"] = str(end)
        except Exception as error:
            outcome["failed"] = _why(called, error)
            _logger.warning("trial %d: %s", report.trial, outcome["failed"])
            if self._stops:
                self.failure = outcome["failed"], error
                outcome["stop"] = True
        if report.microseconds is not None:
            outcome["microseconds"] = report.microseconds
        return outcome

    def _score(self, document, report) -> float:
        made = (
            self._objective(document, report) if self._takes_report else self._objective(document)
        )
        if inspect.isgenerator(made):
            made = self._last_of(made, report)
        return _number(made, "returned")

    def _last_of(self, generator, report):
        """What a generator returns, else what it yielded last; what it yields is reported."""
        with contextlib.closing(generator):
            last = None
            while True:
                try:
                    last = next(generator)
                except StopIteration as end:
                    return last if end.value is None else end.value
                report(last)
