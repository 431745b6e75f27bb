"""``python -m galatea`` is the program."""

import subprocess
import sys

from loader_support import TIMEOUT
from galatea import version


def test_it_is_the_program():
    done = subprocess.run(
        [sys.executable, "-m", "galatea", "version"],
        capture_output=True,
        text=True,
        timeout=TIMEOUT,
    )
    assert done.returncode == 0 and version() in done.stdout
    done = subprocess.run([sys.executable, "-m", "galatea", "nothing"], timeout=TIMEOUT, stderr=-3)
    assert done.returncode == 2
