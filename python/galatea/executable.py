"""Where the program `galatea` is."""

import os


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
