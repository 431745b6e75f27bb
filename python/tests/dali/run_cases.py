"""Runs cases in processes of their own, and gives their results as plain values.

    python run_cases.py ROOT [PATTERN] [--write FILE]

ROOT is the module under test: `nvidia.dali` writes down what DALI gives, `galatea.dali` shows ours.
With a pattern FILE keeps what it holds of other cases.
A case that crashes or does not end in time is such a result too, not the end of the run.

The processes are forked, from one that has no threads: behind jax or tensorflow, which other tests
load, a fork does not come back. So tests ask a `Server`.
"""

from __future__ import annotations

import argparse
import gc
import json
import multiprocessing
import os
import signal
import subprocess
import sys
import warnings
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
import cases  # noqa: E402

# Minutes: what hangs fails, what is slow does not. numba compiles for one on a busy machine.
SECONDS = 240
# Where a case runs: in a process of its own, in that of all which are compiled, or interpreted.
ALONE, COMPILED, INTERPRETED = "alone", "compiled", "interpreted"
_FRAMEWORKS = ("torch", "torchdata", "jax", "tensorflow", "paddle", "clu", "numba")


def result_of(function, modules) -> object:
    """What a case gives: {"value": …} or {"error": class, "text": message}."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return {"value": modules.plain(function(modules))}
    except ImportError as error:
        if error.name and error.name.split(".")[0] in _FRAMEWORKS:
            return {"skipped": f"{error.name} is not installed"}
        return {"error": cases.error_name(error), "text": str(error)}
    except BaseException as error:
        if isinstance(error, SystemExit):
            raise
        # A class may belong to several: programs that catch any of them catch it.
        also = [c.__name__ for c in type(error).__mro__ if c.__module__ == "builtins"]
        return {"error": cases.error_name(error), "also": also, "text": str(error)}


def _interpret() -> None:
    """Has galatea interpret pipelines: a case runs a batch or two, and compiling takes longer.

    Both give the same bits, which is what other tests are for (tests/pipelines, tests/ops).
    """
    from galatea import _c

    compiled = _c.Program
    _c.Program = lambda engine, **options: compiled(engine, **{"backend": "interpreter", **options})


def _child(modules, pipe, other_end, is_interpreted) -> None:
    os.setpgrp()
    other_end.close()  # of the fork's copy: else there is no end of file where the tests are killed
    if is_interpreted:
        _interpret()
    while True:
        try:
            name = pipe.recv_bytes().decode()
        except EOFError:  # the tests have ended
            os._exit(0)
        result = result_of(cases.load()[name], modules)
        sys.stdout.flush()
        pipe.send_bytes(json.dumps(result).encode())


class Process:
    """A forked process that runs one case after the other, until one of them ends it."""

    def __init__(self, modules, is_interpreted: bool = False):
        context = multiprocessing.get_context("fork")
        self._pipe, theirs = context.Pipe()
        self._process = context.Process(
            target=_child, args=(modules, theirs, self._pipe, is_interpreted)
        )
        self._process.start()
        theirs.close()
        self.has_ended = False

    def run(self, name: str, seconds: float = SECONDS) -> dict:
        """The result of one case."""
        try:
            self._pipe.send_bytes(name.encode())
            if self._pipe.poll(seconds):
                return json.loads(self._pipe.recv_bytes())
            self.end()
            return {"error": "Timeout", "text": f"no result within {seconds} s"}
        except (EOFError, OSError):
            self._process.join()
            self.end()
            return {"error": "Crash", "text": f"ended by {self._process.exitcode}"}

    def end(self) -> None:
        """Ends it, and workers that its cases left."""
        self.has_ended = True
        try:
            os.killpg(self._process.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        self._process.join()
        self._pipe.close()


def run(name: str, modules, seconds: float = SECONDS) -> dict:
    """The result of one case, from a process of its own."""
    process = Process(modules)
    try:
        return process.run(name, seconds)
    finally:
        if not process.has_ended:
            process.end()


class Server:
    """A process without frameworks that runs the cases of this one."""

    def __init__(self, root: str):
        self._process = subprocess.Popen(
            [sys.executable, __file__, root, "--serve"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def run(self, name: str, place: str = ALONE) -> dict:
        """The result of one case, from one of the places where cases run."""
        print(json.dumps([name, place]), file=self._process.stdin, flush=True)
        answer = self._process.stdout.readline()
        if not answer:
            raise RuntimeError(f"{__file__} --serve ended with status {self._process.wait()}")
        return json.loads(answer)

    def close(self) -> None:
        self._process.stdin.close()
        self._process.wait()
        self._process.stdout.close()


def _serve(modules) -> None:
    """Answers a `Server`, until it closes."""
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # what cases print is no answer
    cases.load()  # here, so that not every forked process loads them
    gc.freeze()  # and its collector leaves them alone
    shared: dict[str, Process] = {}
    for line in sys.stdin:
        name, place = json.loads(line)
        if place == ALONE:
            result = run(name, modules)
        else:
            if place not in shared or shared[place].has_ended:
                shared[place] = Process(modules, place == INTERPRETED)
            result = shared[place].run(name)
        print(json.dumps(result), file=answers, flush=True)
    for process in shared.values():
        if not process.has_ended:
            process.end()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("root")
    parser.add_argument("pattern", nargs="?", default="")
    parser.add_argument("--write")
    parser.add_argument("--serve", action="store_true", help="for tests: cases come on stdin")
    arguments = parser.parse_args()
    modules = cases.Modules(arguments.root)
    if arguments.serve:
        _serve(modules)
        return
    results = {}
    for name in cases.load():
        if arguments.pattern not in name:
            continue
        results[name] = run(name, modules)
        print(name, json.dumps(results[name])[:240], flush=True)
    if arguments.write:
        _write(Path(arguments.write), results, modules.dali.__version__)


def _write(path: Path, results: dict, version: str) -> None:
    kept = json.loads(path.read_text())["cases"] if path.exists() else {}
    lines = []
    for name, one in {**kept, **results}.items():
        one.pop("text", None)  # wording is each library's own
        one.pop("also", None)
        lines.append(f"{json.dumps(name)}: {json.dumps(one)}")
    body = ",\n".join(lines)
    path.write_text(f'{{"version": {json.dumps(version)}, "cases": {{\n{body}\n}}}}\n')


if __name__ == "__main__":
    main()
