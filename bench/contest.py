"""Contestants and rounds: who is measured, in turns, and how two of them compare."""

import contextlib
import json
import selectors
import statistics
import subprocess
import sys
import time
from dataclasses import dataclass, field

import harness


@dataclass
class Contestant:
    """Measured once a round: by a command of its own, or by asking a Server."""
    name: str
    command: list = None
    server: "Server" = None
    request: dict = None
    skipped: str = ""
    is_peer: bool = False
    rates: list = field(default_factory=list)  # samples per second, one a round
    cpu: list = field(default_factory=list)  # seconds of all cores per sample, one a round; empty if not known
    versions: dict = field(default_factory=dict)
    difference: dict = None  # of its output from ours, if it was compared

    @property
    def cpu_ms(self):
        return 1000 * statistics.median(self.cpu) if self.cpu else None

    @property
    def rate(self):
        return statistics.median(self.rates) if self.rates else None

    def measure(self, timeout=None):
        result = self.server.ask(self.request, timeout) if self.server else harness.call_json(self.command, timeout)
        try:
            samples, rate = result["samples"], result["samples"] / result["seconds"]
        except (KeyError, TypeError, ZeroDivisionError):
            raise harness.Failure(f"{self.name} answered without samples and seconds: {str(result)[:200]}") from None
        if samples <= 0:
            raise harness.Failure(f"{self.name} made no sample: {str(result)[:200]}")
        self.rates.append(rate)
        if "cpu_seconds" in result:
            self.cpu.append(result["cpu_seconds"] / samples)
        if result.get("grew_bytes"):
            print(f"bench: {self.name} took {result['grew_bytes']} bytes more while it was timed: --warm-up is too short", file=sys.stderr)
        self.versions = result.get("versions", {})
        self.difference = result.get("difference", self.difference)


class Server:
    """A peer's process that answers requests, a line of JSON each; started when first asked, and again after a crash."""

    def __init__(self, command):
        self.command = command
        self.process = None
        self.errors = None

    def ask(self, request, timeout=None):
        if self.process is None or self.process.poll() is not None:
            self.close()
            # Into a file: nobody reads a pipe while an answer is awaited.
            self.errors = (harness.OUT / f"server-{id(self)}.log").open("w+")
            try:
                self.process = harness.start(self.command, stdin=subprocess.PIPE, stderr=self.errors)
            except harness.Failure:
                self.close()
                raise
        try:
            self.process.stdin.write(json.dumps(request) + "\n")
            self.process.stdin.flush()
            line = self.read_line(timeout)
        except OSError:
            line = ""
        if not line:
            status = self.process.wait()
            self.errors.seek(0)
            words = harness.last_words(self.errors.read())
            self.close()
            raise harness.Failure(f"the peer ended with status {status}: {words}")
        try:
            answer = json.loads(line)
        except ValueError:
            raise harness.Failure(f"the peer answered what is no JSON: {line[:200]}") from None
        if "failed" in answer:
            raise harness.Failure(answer["failed"])
        return answer

    def read_line(self, timeout):
        if timeout:
            with selectors.DefaultSelector() as selector:
                selector.register(self.process.stdout, selectors.EVENT_READ)
                if not selector.select(timeout):
                    self.close()
                    raise harness.Failure(f"the peer did not answer within {timeout} seconds")
        return self.process.stdout.readline()

    def close(self):
        if self.process is not None:
            harness.end(self.process)
            self.process = None
        if self.errors is not None:
            self.errors.close()
            with contextlib.suppress(OSError):
                harness.Path(self.errors.name).unlink()
            self.errors = None


def run_rounds(contestants, rounds, timeout=None, quiet=False):
    """Each contestant once a round, in turn; whoever fails is out, with the reason."""
    for number in range(rounds):
        for contestant in contestants:
            if contestant.skipped:
                continue
            begin = time.perf_counter()
            try:
                contestant.measure(timeout)
            except harness.Failure as failure:
                contestant.skipped = str(failure)
                continue
            if not quiet:
                print(f"  round {number + 1}: {contestant.name}: {contestant.rates[-1]:.0f}/s ({time.perf_counter() - begin:.0f} s)",
                      file=sys.stderr)


def ratio(a, b):
    """Of two contestants, the median over rounds of a's rate by b's, and its extremes."""
    if a.skipped or b.skipped or not a.rates or len(a.rates) != len(b.rates):
        return None
    quotients = sorted(x / y for x, y in zip(a.rates, b.rates))
    return {"median": statistics.median(quotients), "min": quotients[0], "max": quotients[-1]}
