"""Runs a test of an editor, or says why it cannot: run.py EDITOR PROGRAM FOLDER BUILD. Status 77: skipped."""

import os
import pathlib
import shutil
import subprocess
import sys

SKIPPED = 77
HERE = pathlib.Path(__file__).parent


def commands(program: str, folder: str, build: str) -> dict[str, list[str]]:
    python = str(pathlib.Path(build, "python-environment/bin/python"))
    return {
        "vscode": ["node", str(HERE / "vscode_test.js"), program, folder],
        "neovim": ["nvim", "--headless", "-u", "NONE", "-c", f"luafile {HERE / 'neovim_test.lua'}"],
        "emacs": ["emacs", "--batch", "-q", "-l", str(HERE / "emacs_test.el")],
        "kate": ["kate-syntax-highlighter"],
        "pytest_lsp": [python, "-m", "pytest", "-q", "-p", "no:cacheprovider", str(HERE / "pytest_lsp_test.py")],
    }


def reason(editor: str, command: list[str]) -> str:
    """Why it cannot run here; empty: it can."""
    if shutil.which(command[0]) is None:
        return f"there is no {command[0]} on this machine"
    if editor != "pytest_lsp":
        return ""
    known = subprocess.run([command[0], "-c", "import pytest_lsp"], capture_output=True)
    return "pytest-lsp is not installed (./dev test --editors installs it)" if known.returncode else ""


def main(editor: str, program: str, folder: str, build: str) -> int:
    command = commands(program, folder, build)[editor]
    if why := reason(editor, command):
        print(f"SKIPPED: {why}")
        return SKIPPED
    if editor == "kate":
        command = [sys.executable, str(HERE / "kate_test.py")]
    environment = {**os.environ, "GALATEA_PROGRAM": program, "GALATEA_SOURCE": folder, "PYTHONDONTWRITEBYTECODE": "1"}
    return subprocess.run(command, env=environment, stdin=subprocess.DEVNULL, timeout=300).returncode


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
