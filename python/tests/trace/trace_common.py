"""What the tests of tracing share: the command line, as a fixture."""

import os
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
BUILD = Path(os.environ.get("GALATEA_BUILD", ROOT / "build"))
PROGRAM = BUILD / "bin" / "galatea"


class CommandLine:
    """The program `galatea` on files in a folder."""

    def __init__(self, folder: Path):
        self.folder = folder

    def __call__(self, *arguments, ok=True):
        done = subprocess.run(
            [PROGRAM, *map(str, arguments)],
            capture_output=True,
            text=True,
            timeout=300,
            cwd=self.folder,
        )
        assert not ok or done.returncode == 0, done.stdout + done.stderr
        return done

    def accepts(self, pipe, formatted=True):
        """The text is accepted, and is as `galatea fmt` has it. Gives the file."""
        path = self.folder / f"{pipe.name}.dali-dsl"
        pipe.save(path)
        done = self("check", path, ok=False)
        assert done.returncode == 0, f"{path.read_text()}\n{done.stdout}{done.stderr}"
        if formatted:
            done = self("fmt", "--diff", "--check", path, ok=False)
            assert done.returncode == 0, f"{path.read_text()}\n{done.stdout}{done.stderr}"
        return path


@pytest.fixture
def galatea_program(tmp_path):
    if not PROGRAM.exists():
        pytest.skip(f"SKIPPED: {PROGRAM} is not built")
    return CommandLine(tmp_path)
