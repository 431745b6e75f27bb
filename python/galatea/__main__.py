"""The command line: ``python -m galatea run FILE``."""

import os
import sys


def program() -> str:
    """The path of the program: in the package, or of the build that the package is part of."""
    folder = os.path.dirname(os.path.abspath(__file__))
    from . import _c

    build = os.path.dirname(os.path.abspath(_c.__file__))
    for path in (
        os.path.join(folder, "bin", "galatea"),
        os.path.join(build, "..", "..", "bin", "galatea"),
    ):
        if os.path.isfile(path):
            return os.path.normpath(path)
    raise FileNotFoundError(f"the program `galatea` is neither in {folder}/bin nor in a build")


def main() -> None:
    """Becomes the program, with the arguments of this one."""
    if "optuna" in " ".join(sys.argv[1:]):
        from .policy.command_line import search_with_optuna, wants_optuna

        if wants_optuna(sys.argv[1:]):
            sys.exit(search_with_optuna(sys.argv[1:]))
    path = program()
    sys.stdout.flush()
    sys.stderr.flush()
    os.execv(path, [path, *sys.argv[1:]])


if __name__ == "__main__":
    main()
