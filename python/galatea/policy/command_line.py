"""``python -m galatea policy search … --strategy optuna``: the program, with points from Optuna."""

import signal
import sys

from ..executable import program

_MISSING = 3  # the program's status for what is not here


def wants_optuna(arguments: list[str]) -> bool:
    """Whether these are arguments of a search by Optuna."""
    if [each for each in arguments if not each.startswith("-")][:2] != ["policy", "search"]:
        return False
    pairs = zip(arguments, arguments[1:])
    return "--strategy=optuna" in arguments or ("--strategy", "optuna") in pairs


def _without_strategy(arguments: list[str]) -> list[str]:
    kept = [each for each in arguments if each != "--strategy=optuna"]
    for at in range(len(kept) - 1):
        if kept[at : at + 2] == ["--strategy", "optuna"]:
            return kept[:at] + kept[at + 2 :]
    return kept


def search_with_optuna(arguments: list[str]) -> int:
    """Runs the search, and answers it; gives the exit status."""
    try:
        from .optuna_strategy import Optuna
    except ImportError as error:
        print(f"galatea: {error}", file=sys.stderr)
        return _MISSING
    from .conversation import Conversation
    from .strategy import StrategyHost

    strategy = Optuna()
    # Ctrl-C is for the program, which ends in order; this process answers until it has ended.
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        command = [program(), *_without_strategy(arguments), "--host-strategy", strategy.name]
        with Conversation(command, {}, shows=True) as conversation:
            conversation.serve(StrategyHost(strategy))
    finally:
        signal.signal(signal.SIGINT, before)
    return conversation.status
