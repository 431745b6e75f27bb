"""Optuna's samplers and pruners as a strategy."""

import contextlib
import warnings
from typing import Any

try:
    import optuna
except ImportError as error:
    raise ImportError(
        'the strategy "optuna" needs the package optuna, 5 or newer: pip install optuna'
    ) from error
from optuna.distributions import CategoricalDistribution, FloatDistribution, IntDistribution
from optuna.trial import TrialState

if not hasattr(optuna.trial.Trial, "set_constraint"):
    raise ImportError(
        f'the strategy "optuna" needs optuna 5 or newer, and {optuna.__version__} is installed: '
        "pip install --upgrade optuna"
    )

_CONSTRAINT = "microseconds"


class Optuna:
    """A study that is asked and told.

    `sampler` and `pruner` are Optuna's; without them `TPESampler`, whose draws depend on the search's
    seed and the trial's number, so that a search that was interrupted goes the same way, and
    `MedianPruner`. A sampler of yours has a seed of its own. `study` takes the place of both; its
    direction must be the search's.

    A parameter is called by its path. What stands inside of a choice's item is drawn only where that
    item was chosen. A bound of microseconds is the constraint "microseconds" of the trials.
    """

    def __init__(self, *, sampler=None, pruner=None, study=None):
        if study is not None and (sampler is not None or pruner is not None):
            raise ValueError("a study has its sampler and its pruner: give them to it")
        self.study: Any = study
        self._sampler = sampler
        self._pruner = pruner
        self._makes_samplers = sampler is None and study is None
        kind = study.sampler if study is not None else sampler
        self.name = f"optuna {type(kind).__name__ if kind is not None else 'TPESampler'}"
        self._running = {}

    def begin(self, parameters, greeting):
        """Makes the study. A strategy serves one search."""
        self._parameters = parameters
        self._seed = greeting["seed"]
        self._most = greeting["max_microseconds"]
        self._running = {}
        direction = "minimize" if greeting["minimize"] else "maximize"
        if self.study is None:
            pruner = self._pruner or optuna.pruners.MedianPruner()
            with _quiet():
                self.study = optuna.create_study(
                    direction=direction, sampler=self._sampler, pruner=pruner
                )
        elif self.study.direction.name.lower() != direction:
            raise ValueError(
                f"the study is to {self.study.direction.name.lower()}, the search to {direction}; "
                "say minimize= as the study has it"
            )

    def ask(self, number):
        """The point of a trial: a value for each parameter, None where its item is not chosen."""
        if self._makes_samplers:
            seed = (self._seed * 0x9E3779B1 + number * 0x85EBCA77) % 2**32
            self.study.sampler = optuna.samplers.TPESampler(seed=seed)
        trial = self.study.ask()
        self._running[number] = trial
        point = []
        for parameter in self._parameters:
            active = parameter.is_active(point)
            point.append(self._suggest(trial, parameter) if active else None)
        return point

    def _suggest(self, trial, parameter):
        name, low, high = parameter.path, parameter.low, parameter.high
        if parameter.kind == "choice":
            return trial.suggest_categorical(name, _items(parameter))
        if parameter.kind == "int":
            return trial.suggest_int(name, low, high, log=parameter.log)
        return trial.suggest_float(name, low, high, log=parameter.log)

    def _distribution(self, parameter):
        if parameter.kind == "choice":
            return CategoricalDistribution(_items(parameter))
        kind = IntDistribution if parameter.kind == "int" else FloatDistribution
        return kind(parameter.low, parameter.high, log=parameter.log)

    def _active(self, point):
        return [
            (parameter, value)
            for parameter, value in zip(self._parameters, point)
            if parameter.is_active(point)
        ]

    def tell(self, trial):
        """Takes a trial that has ended, of this search or of its journal."""
        excess = None
        if self._most and trial.microseconds is not None:
            excess = trial.microseconds - self._most
        if trial.failed is None:
            state = TrialState.COMPLETE
        else:
            # Optuna learns from what was pruned; what takes too long is of that kind.
            learns = trial.pruned or (excess is not None and excess > 0)
            state = TrialState.PRUNED if learns else TrialState.FAIL
        value = trial.score
        if state is TrialState.PRUNED and trial.scores:
            value = trial.scores[-1]  # as a study has it
        running = self._running.pop(trial.number, None)
        if running is None:
            active = self._active(trial.point)
            self.study.add_trial(
                optuna.trial.create_trial(
                    state=state,
                    value=value if state is not TrialState.FAIL else None,
                    params={parameter.path: value for parameter, value in active},
                    distributions={p.path: self._distribution(p) for p, _ in active},
                    intermediate_values=dict(enumerate(trial.scores)),
                    constraints=None if excess is None else {_CONSTRAINT: excess},
                )
            )
            return
        known = self.study.get_trials(deepcopy=False)[running.number]
        reported = len(known.intermediate_values)
        for step, score in enumerate(trial.scores[reported:], reported):
            running.report(score, step)
        if excess is not None:
            running.set_constraint(_CONSTRAINT, excess)
        complete = state is TrialState.COMPLETE
        self.study.tell(running, value if complete else None, state=state)

    def prunes(self, trial):
        """Whether the pruner ends a trial for the scores that it has reported."""
        running = self._running.get(trial.number)
        if running is None:  # it was interrupted, and runs again
            active = self._active(trial.point)
            self.study.enqueue_trial({parameter.path: value for parameter, value in active})
            running = self._running[trial.number] = self.study.ask()
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                for parameter, _ in active:
                    self._suggest(running, parameter)
        running.report(trial.scores[-1], len(trial.scores) - 1)
        return running.should_prune()


def _items(parameter):
    """A choice's items, by number: their texts need not differ."""
    return tuple(range(len(parameter.choices)))


@contextlib.contextmanager
def _quiet():
    """Without the line that says that there is a study."""
    level = optuna.logging.get_verbosity()
    optuna.logging.set_verbosity(optuna.logging.WARNING)
    try:
        yield
    finally:
        optuna.logging.set_verbosity(level)
