"""Runs the tests of the page, or says why it cannot: run.py BUILD SOURCE. Status 77: skipped."""

import os
import pathlib
import shutil
import subprocess
import sys

SKIPPED = 77


def reason(python: pathlib.Path) -> str:
    """Why they cannot run here; empty: they can."""
    if shutil.which("chromium") is None:
        return "there is no chromium on this machine"
    if not python.exists():
        return f"there is no {python}"
    known = subprocess.run([python, "-c", "import pytest, playwright.sync_api"], capture_output=True)
    return "playwright is not installed" if known.returncode else ""


def main(build: str, source: str) -> int:
    python = pathlib.Path(build, "python-environment/bin/python")
    why = reason(python)
    if why:
        print(f"SKIPPED: {why} (./dev test --browser installs what is needed)")
        return SKIPPED
    environment = {**os.environ, "GALATEA_BUILD": build, "PYTHONDONTWRITEBYTECODE": "1"}
    tests = pathlib.Path(source, "tests/browser")
    return subprocess.run([python, "-m", "pytest", "-q", "-p", "no:cacheprovider", tests], env=environment).returncode


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
