"""Strategies that are Python objects."""

from .result import Trial

_OURS = ("random", "grid", "evolution", "halving", "population")


def strategy_of(strategy):
    if strategy == "optuna":
        from .optuna_strategy import Optuna

        return Optuna()
    if isinstance(strategy, str):
        if strategy not in _OURS:
            raise ValueError(
                f"there is no strategy {strategy!r}; there are {', '.join(_OURS)}, optuna, and "
                "objects with ask and tell"
            )
        return strategy
    if not (callable(getattr(strategy, "ask", None)) and callable(getattr(strategy, "tell", None))):
        raise TypeError(
            f"a strategy is a name, or an object with ask and tell; {type(strategy).__name__} has "
            "them not"
        )
    return strategy


class StrategyHost:
    """Asks and tells an object for the program; None: the program has a strategy of its own."""

    def __init__(self, strategy=None):
        self._strategy = strategy
        self.parameters = ()

    def begin(self, parameters, greeting):
        self.parameters = parameters
        if hasattr(self._strategy, "begin"):
            self._strategy.begin(parameters, greeting)

    def ask(self, number):
        return self._strategy.ask(number)

    def tell(self, entry):
        self._strategy.tell(Trial.of(entry, self.parameters))

    def prunes(self, entry):
        """None: the object does not say, and the program goes by the median."""
        prunes = getattr(self._strategy, "prunes", None)
        return prunes and prunes(Trial.of(entry, self.parameters))
