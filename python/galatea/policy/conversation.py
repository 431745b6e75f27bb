"""The conversation with ``galatea policy search``.

The program is started with a socket; over it go objects of JSON, one a line (docs/policies.md). It
asks for points or hands out trials to be run, and keeps the journal.
"""

import contextlib
import json
import socket
import subprocess
import tempfile
from dataclasses import dataclass
from typing import Any

from . import program

__all__ = ["Conversation", "Parameter"]


@dataclass(frozen=True)
class Parameter:
    """A value of a space that is searched.

    ``path`` says where it stands; ``kind`` is "choice", "int" or "float". Numbers lie between
    ``low`` and ``high``, both included, on a logarithmic scale if ``log``. Of a choice the values are
    0 … len(choices) - 1, and ``choices`` is how people read them. A parameter inside of a choice's
    item has that choice as ``parent`` (its place among the parameters) and ``item``.
    """

    path: str
    kind: str
    low: float
    high: float
    log: bool = False
    choices: tuple[str, ...] = ()
    parent: int | None = None
    item: int | None = None

    @classmethod
    def of(cls, entry: dict) -> "Parameter":
        parent, item = entry.get("of", (None, None))
        choices = tuple(entry.get("choices", ()))
        if choices:
            return cls(entry["path"], "choice", 0, len(choices) - 1, False, choices, parent, item)
        number = int if entry["kind"] == "int" else float
        low, high = number(entry["low"]), number(entry["high"])
        return cls(entry["path"], entry["kind"], low, high, entry["log"], (), parent, item)

    def is_active(self, point) -> bool:
        """Whether the point's document has this value: its choice's item is chosen."""
        return self.parent is None or point[self.parent] == self.item

    def shown(self, value):
        """A value as people read it."""
        return self.choices[int(value)] if self.kind == "choice" else value


class Conversation:
    """The program, running a search for this process.

    `host` of `serve` has ``begin(parameters, greeting)``, and where they are needed ``ask(number)``,
    ``tell(entry)``, ``prunes(entry)`` and ``run(words, conversation)``. `shown_as`: {path: what stands
    for it in messages}. With `shows` the program writes to this process's stdout and stderr, and
    belongs to the same job of the terminal; else what it wrote is in `out` and `err`, and Ctrl-C is
    for this process alone, which then hangs up.
    """

    def __init__(self, command: list[str], shown_as: dict[str, str], shows: bool = False):
        self._shown_as = shown_as
        self._stack = contextlib.ExitStack()
        self.parameters: tuple[Parameter, ...] = ()
        self.call = 0  # the trial's that runs
        self.status = -1  # of the program, once it has ended
        self.out = self.err = ""
        here, there = socket.socketpair()
        self._socket = self._stack.enter_context(here)
        self._out = self._stack.enter_context(tempfile.TemporaryFile())
        self._err = self._stack.enter_context(tempfile.TemporaryFile())
        with there:
            number = there.fileno()
            self._process = subprocess.Popen(
                [*command, "--host", str(number)],
                stdin=subprocess.DEVNULL,
                stdout=None if shows else self._out,
                stderr=None if shows else self._err,
                pass_fds=[number],
                start_new_session=not shows,
            )
        self._lines = self._stack.enter_context(here.makefile("r", encoding="utf-8"))
        self._host: Any = None

    def send(self, message: dict) -> None:
        with contextlib.suppress(BrokenPipeError, ConnectionResetError):
            self._socket.sendall(json.dumps(message, allow_nan=False).encode() + b"\n")

    def receive(self) -> dict:
        """The next message; {"done": True} where the program has ended."""
        try:
            line = self._lines.readline()
        except ConnectionResetError:
            line = ""
        return json.loads(line) if line.endswith("\n") else {"done": True}

    def serve(self, host) -> None:
        """Answers until the search has ended."""
        self._host = host
        while True:
            message = self.receive()
            if "done" in message:
                return
            self._take(message)

    def report(self, call: int, score: float) -> bool:
        """Tells a score of a trial that runs; True: it shall end."""
        self.send({"report": call, "score": score})
        while True:
            message = self.receive()
            if "done" in message:
                raise RuntimeError("the search has ended: its program is gone")
            if "run" not in message and "prune" in message:
                return message["prune"]
            self._take(message)

    def _take(self, message: dict) -> None:
        host = self._host
        if "values" in message:
            self.parameters = tuple(Parameter.of(entry) for entry in message["values"])
            host.begin(self.parameters, message)
        elif "ask" in message:
            point = host.ask(message["ask"])
            answer = {"end": True} if point is None else {"point": self._clean(point)}
            self.send({"answer": answer})
        elif "tell" in message:
            host.tell(message["tell"])
        elif "prunes" in message:
            prune = host.prunes({**message, "trial": message["prunes"]})
            self.send({"answer": {} if prune is None else {"prune": bool(prune)}})
        elif "run" in message:
            call = self.call = message["run"]
            self.send({"ended": call, **host.run(message["words"], self)})

    def _clean(self, point) -> list:
        """A point as the program takes it: null for what is not chosen."""
        if isinstance(point, dict):
            point = [point.get(each.path) for each in self.parameters]
        point = list(point)
        if len(point) != len(self.parameters):
            raise ValueError(
                f"a point of this space has {len(self.parameters)} values, not {len(point)}"
            )
        clean: list = []
        for parameter, value in zip(self.parameters, point):
            if not parameter.is_active(clean):
                clean.append(None)
                continue
            try:
                number = float(value)
            except (TypeError, ValueError):
                number = float("nan")
            if not parameter.low <= number <= parameter.high or (
                parameter.kind != "float" and number != int(number)
            ):
                raise ValueError(
                    f"{value!r} is no value of {parameter.path}: {parameter.kind} from "
                    f"{parameter.low} to {parameter.high}"
                )
            clean.append(number if parameter.kind == "float" else int(number))
        return clean

    def __enter__(self):
        return self

    def __exit__(self, *_):
        """Hangs up, and waits for the program, which writes its results."""
        with contextlib.suppress(OSError):
            self._socket.shutdown(socket.SHUT_RDWR)
        try:
            self.status = self._process.wait()
        except BaseException:  # a second Ctrl-C: the journal is whole at any moment
            self._process.kill()
            self.status = self._process.wait()
            raise
        finally:
            for name, file in (("out", self._out), ("err", self._err)):
                file.seek(0)
                setattr(self, name, file.read().decode(errors="replace"))
            self._stack.close()

    def diagnostics(self) -> list[dict]:
        """What the program had to say, after it has ended."""
        return json.loads(program.first_document(self.out))["diagnostics"]

    @property
    def has_failed(self) -> bool:
        """Whether it found something wrong, or did not come to its end."""
        is_wrong = any(entry["severity"] == "error" for entry in self.diagnostics())
        return is_wrong or self.status not in (0, 1)

    def raise_failure(self) -> None:
        """Raises what the program found wrong."""
        document = program.first_document(self.out)
        text = "\n".join(_text_of(entry) for entry in json.loads(document)["diagnostics"])
        raise program.failure(self.status, text or self.err, document, self._shown_as)

    def result(self) -> dict:
        """What it printed at its end."""
        return json.loads(self.out.splitlines()[-1])


def _text_of(entry: dict) -> str:
    """A diagnostic as the terminal shows it, without the source's line."""
    code = f"[{entry['code']}]" if entry["code"] else ""
    text = f"{entry['severity']}{code}: {entry['message']}"
    if entry["file"]:
        text += f"\n --> {entry['file']}:{entry['line']}:{entry['column']}"
    for note in entry["notes"]:
        text += f"\n  = note: {note}"
    return text + (f"\n  = help: {entry['help']}" if entry["help"] else "")
