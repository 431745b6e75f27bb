"""`pipe.explain()`: the program's explanation of a pipeline that is in memory."""

from __future__ import annotations

import os
import subprocess
import tempfile
from typing import TYPE_CHECKING

from galatea.errors import UserError

if TYPE_CHECKING:
    from galatea.pipeline import Pipeline

__all__ = ["explain"]


def explain(pipe: Pipeline, emit: str | None = None) -> str:
    """What `galatea explain` prints of the pipeline; `emit` is its option."""
    from galatea.__main__ import program

    arguments = pipe.compile_arguments()
    pipe.program()  # what is wrong is told at the places where people wrote it
    options = ["--pipeline", pipe.name] + ([f"--emit={emit}"] if emit else [])
    if arguments.get("device"):
        options.append(f"--device={arguments['device']}")
    for name, value in arguments.get("parameters", {}).items():
        options += ["--set", f"{name}={value}"]
    with tempfile.TemporaryDirectory(prefix="galatea-") as folder:
        path = os.path.join(folder, f"{pipe.name}.dali-dsl")
        pipe.save(path)
        done = subprocess.run(
            [program(), "explain", path, *options], stdout=subprocess.PIPE, stderr=subprocess.PIPE
        )
    if done.returncode:
        raise UserError(done.stderr.decode(errors="replace").rstrip())
    return done.stdout.decode(errors="replace")
