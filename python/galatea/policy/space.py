"""Search spaces."""

import contextlib
import json
import os

from . import program
from .conversation import Conversation, Parameter
from .document import HEAD, Document

__all__ = ["Space"]


class Space:
    """A policy document in which values may be choices: a path, a dict or JSON text.

    Raises galatea.UserError where the program finds it wrong.
    """

    def __init__(self, source):
        self._source = source.source if isinstance(source, Space) else source
        if isinstance(self._source, dict):
            self._text = json.dumps({**HEAD, **self._source}, indent=2)
        elif isinstance(self._source, str) and self._source.lstrip().startswith("{"):
            self._text = self._source
        elif isinstance(self._source, (str, os.PathLike)):
            self._text = None
        else:
            raise TypeError(f"a space is a path, a dict or JSON text, not {type(source).__name__}")
        self._parameters = None

    @property
    def source(self):
        """What it was made of."""
        return self._source

    @contextlib.contextmanager
    def as_file(self, folder: str):
        """(its path, how messages call it)."""
        if self._text is None:
            yield os.fspath(self._source), {}
        else:
            path = program.write(os.path.join(folder, "space.json"), self._text)
            yield path, {path: "<space>"}

    @property
    def parameters(self) -> tuple[Parameter, ...]:
        """What is searched, in the order of the text."""
        if self._parameters is None:
            self._one_trial(None)
        return self._parameters

    def at(self, point) -> Document:
        """The document at a point: a number for each parameter, anything for those without use."""
        document = self._one_trial(point)
        if document is None:
            raise ValueError(f"there is no policy at {list(point)!r}")
        return document

    def _one_trial(self, point):
        """The program's own reading of the space, and of one point of it."""
        host = _OnePoint(point)
        with program.scratch() as folder, self.as_file(folder) as (path, shown_as):
            arguments = ["--trials", "1", "--host-strategy", "one", "--host-objective", "none"]
            command = program.command("search", path, *arguments, "--json", "--diagnostics=json")
            conversation = Conversation(
                [*command, "--folder", os.path.join(folder, "search")], shown_as
            )
            with conversation:
                conversation.serve(host)
            if host.parameters is None:
                conversation.raise_failure()
        self._parameters = host.parameters
        return host.document


class _OnePoint:
    """A host that tries one point, or none."""

    def __init__(self, point):
        self._point = point
        self.parameters = None
        self.document = None

    def begin(self, parameters, greeting):
        self.parameters = parameters

    def ask(self, number):
        return self._point

    def tell(self, trial):
        pass

    def run(self, words, conversation):
        with open(words["policy"], encoding="utf-8") as file:
            self.document = Document(json.load(file))
        return {"score": 0}
