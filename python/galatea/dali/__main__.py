"""python -m galatea.dali script.py …: runs a script with `nvidia.dali` found in galatea."""

import os
import runpy
import sys

from galatea.dali import install


def main() -> int:
    if len(sys.argv) < 2 or sys.argv[1] in ("-h", "--help"):
        print("usage: python -m galatea.dali script.py [arguments]", file=sys.stderr)
        return 0 if len(sys.argv) > 1 else 2
    script = sys.argv[1]
    if not os.path.isfile(script):
        print(f"python -m galatea.dali: there is no file {script}", file=sys.stderr)
        return 2
    install()
    sys.argv = sys.argv[1:]
    sys.path.insert(0, os.path.dirname(os.path.abspath(script)))
    runpy.run_path(script, run_name="__main__")
    return 0


if __name__ == "__main__":
    sys.exit(main())
