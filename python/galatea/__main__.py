"""The command line: ``python -m galatea run FILE``."""

import os
import sys

from galatea.executable import program
from galatea.policy.command_line import search_with_optuna, wants_optuna


def main() -> None:
    """Becomes the program, with the arguments of this one; answers a search by Optuna."""
    if wants_optuna(sys.argv[1:]):
        sys.exit(search_with_optuna(sys.argv[1:]))
    path = program()
    sys.stdout.flush()
    sys.stderr.flush()
    os.execv(path, [path, *sys.argv[1:]])


if __name__ == "__main__":
    main()
