"""What the tests of tracing share: the command line, as a fixture; inputs, and the text of a body."""

import os
import subprocess
from pathlib import Path

import pytest

from galatea import fn, types
from galatea.pipeline import Pipeline
from galatea.trace.errors import TraceError

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


def number(name="x"):
    return fn.external_source(name=name, dtype=types.FLOAT, ndim=0)


def flag(name="c"):
    return fn.external_source(name=name, dtype=types.BOOL, ndim=0)


def body(function):
    """The traced body's lines."""
    text = Pipeline.trace(function, batch_size=2).text
    lines = text.split("\n")
    start = next(i for i, line in enumerate(lines) if line.startswith("def "))
    return "\n".join(line[4:] for line in lines[start + 1 :]).strip()


def fails(function, *words, **options):
    with pytest.raises(TraceError) as caught:
        Pipeline.trace(function, batch_size=2, **options)
    text = str(caught.value)
    for word in words:
        assert word in text, text
    assert f"{Path(function.__code__.co_filename).name}:" in text
    assert caught.value.diagnostics[0].line
    return text
