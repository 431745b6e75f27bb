"""Runs a test of an editor, or says why it cannot: run.py EDITOR PROGRAM FOLDER. Status 77: skipped."""

import os
import pathlib
import shutil
import subprocess
import sys

SKIPPED = 77
COMMANDS = {
    "vscode": lambda here, program, folder: ["node", str(here / "vscode_test.js"), program, folder],
    "neovim": lambda here, program, folder: [
        *["nvim", "--headless", "-u", "NONE"],
        *["-c", f"luafile {here / 'neovim_test.lua'}"],
    ],
    "emacs": lambda here, program, folder: ["emacs", "--batch", "-q", "-l", str(here / "emacs_test.el")],
}


def main(editor: str, program: str, folder: str) -> int:
    command = COMMANDS[editor](pathlib.Path(__file__).parent, program, folder)
    if shutil.which(command[0]) is None:
        print(f"SKIPPED: there is no {command[0]} on this machine")
        return SKIPPED
    environment = {**os.environ, "GALATEA_PROGRAM": program, "GALATEA_SOURCE": folder}
    return subprocess.run(command, env=environment, stdin=subprocess.DEVNULL, timeout=300).returncode


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
