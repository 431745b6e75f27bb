"""Policy documents."""

import contextlib
import html
import json
import os
import re

from ..errors import Diagnostic
from . import program

__all__ = ["Document", "check", "known", "load"]

HEAD = {"format": "augment-policy", "version": 1}


class Document:
    """A policy as data: a table of augmentations and an expression over it (docs/policies.md).

    Called with an image inside of a pipeline's function it applies the policy; ``shape=[h, w]`` and
    other extras go to the operations that take them. A document never changes.
    """

    def __init__(self, data: dict, path: str | None = None):
        """`load` is for users: it checks. `path`: the file that the document was read from."""
        self._text = json.dumps(data)
        self.path = path

    @property
    def data(self) -> dict:
        """The document as plain values, as its JSON has them: a copy."""
        return json.loads(self._text)

    @property
    def name(self) -> str:
        """Its own name, else that of its file, else "policy"."""
        stem = os.path.basename(self.path or "policy").removesuffix(".json")
        return self.data.get("name") or stem

    def to_json(self) -> str:
        """The text of its file."""
        return self._run("convert")

    def to(self, target: str) -> str:
        """The policy in another form: "call", "torchvision", "timm", "pipeline" or "json".

        Raises galatea.UserError where the target cannot say what the document says.
        """
        return self._run("convert", "--to", target).rstrip("\n" if target != "pipeline" else "")

    def save(self, path) -> None:
        """Writes the document as a JSON file, and replaces what was there in one step."""
        program.write(os.fspath(path), self.to_json())

    def show(self) -> str:
        """A table for people: how often each augmentation runs, its parameter at each magnitude."""
        return self._run("show")

    def table(self) -> dict:
        """The numbers of `show`: ``galatea policy show --json`` (docs/command-line.md)."""
        return json.loads(self._run("show", "--json"))

    def diff(self, other) -> list[dict]:
        """What two policies do not have in common: path, left, right (JSON as text, or None)."""
        with self.as_file() as left, load(other).as_file() as right:
            out = program.run("diff", left, right, "--json")
        return json.loads(out)["differences"]

    def mutate(self, seed: int = 0, changes: int = 1) -> "Document":
        """A policy with small random changes, the same for a seed on every machine."""
        arguments = ("--seed", str(seed), "--changes", str(changes))
        return Document(json.loads(self._run("mutate", *arguments)))

    def microseconds(self, pictures, samples: int = 256, size: int | None = None) -> float:
        """What the policy alone takes a sample, over the pictures of a folder: microseconds.

        `samples` pictures at `size` x `size` pixels, each as one processor core needs it.
        """
        more = [] if size is None else ["--size", str(size)]
        out = self._run(
            "stats", "--data", os.fspath(pictures), "--samples", str(samples), "--json", *more
        )
        return json.loads(out)["microseconds_per_sample"]

    def __call__(self, *images, **extras):
        from ..trace import place as places
        from ..trace import recorder as recorders
        from ..trace.errors import TraceError
        from ..trace.expression import Apply, Call, Use

        place = places.caller()
        recorder = recorders.require(f"the policy {self.name!r}")
        if "imports" in self.data:
            raise TraceError(
                f"the policy {self.name!r} imports files, which the text of a pipeline cannot hold",
                place,
                "load it in a pipeline file, by `policy.load`",
            )
        recorder.modules.setdefault("galatea", set()).add("policy")
        data = recorder.value(self.data, place)
        policy = recorder.add(Call("policy.define", [("", data)]), place=place)
        arguments = [("", recorder.value(image, place)) for image in images]
        arguments += [(name, recorder.value(value, place)) for name, value in extras.items()]
        return recorder.add(Apply(Use(policy), arguments), place=place)

    @contextlib.contextmanager
    def as_file(self):
        """The path of a file with the document: its own, or one that goes behind the `with`."""
        if self.path is not None and "imports" in self.data:  # which lie beside it
            yield self.path
            return
        stem = os.path.basename(self.path or self.name).removesuffix(".json")
        with program.scratch() as folder:
            yield program.write(os.path.join(folder, f"{_file_name(stem)}.json"), self._text)

    def _run(self, name: str, *arguments: str) -> str:
        with self.as_file() as path:
            return program.run(name, path, *arguments, shown_as={path: self.path or "<policy>"})

    def __eq__(self, other):
        if not isinstance(other, Document):
            return NotImplemented
        return self.data == other.data

    def __hash__(self):
        return hash(json.dumps(self.data, sort_keys=True))

    def __repr__(self):
        rows = ", ".join(self.data.get("augmentations", ()))
        return f"<galatea.policy.Document {self.name!r}: {rows}>"

    def _repr_html_(self):
        return f"<pre>{html.escape(self.show())}</pre>"


def load(source) -> Document:
    """The policy of a file, a dict, JSON text, or another spelling; what is wrong is raised.

    Spellings: the name of a published policy ("image_net"), a call ("rand_augment(n=2, m=9)",
    "RandAugment(num_ops=2)"), timm's strings ("rand-m9-mstd0.5-inc1"); `known` lists examples. Of a
    dict ``format`` and ``version`` may be left out. Raises galatea.UserError with all diagnostics.
    """
    if isinstance(source, Document):
        return source
    with _named(source) as (argument, path, shown_as):
        text = program.run("convert", argument, shown_as=shown_as)
        # Converting reads a document; validating calls what it imports, too.
        if '"imports"' in text:
            program.run("validate", argument, shown_as=shown_as)
    return Document(json.loads(text), path)


def check(source) -> list[Diagnostic]:
    """What is wrong with a policy, or strange about it, as diagnostics; [] if nothing."""
    with contextlib.ExitStack() as stack:
        if isinstance(source, Document):
            argument, shown_as = stack.enter_context(source.as_file()), {}
        else:
            argument, _, shown_as = stack.enter_context(_named(source))
        document = program.diagnostics_json("validate", argument)
    entries = json.loads(document)["diagnostics"]
    for entry in entries:
        entry["file"] = shown_as.get(entry["file"], entry["file"])
    return [Diagnostic.of(entry) for entry in entries]


def known() -> dict[str, str]:
    """{spelling: meaning}: published policies, and examples of each family of spellings."""
    policies = json.loads(program.run("list", "--json"))["policies"]
    return {entry["spelling"]: entry["meaning"] for entry in policies}


@contextlib.contextmanager
def _named(source):
    """(what the program takes, the user's path or None, names for messages) of a source."""
    if isinstance(source, dict):
        try:
            text = json.dumps({**HEAD, **source}, indent=2, allow_nan=False)
        except (TypeError, ValueError) as error:
            raise type(error)(f"the dict is no policy document: {error}") from None
    elif isinstance(source, str) and source.lstrip().startswith("{"):
        text = source
    elif isinstance(source, (str, os.PathLike)):
        name = os.fspath(source)
        # What begins with a dash is no option.
        argument = os.path.join(".", name) if name.startswith("-") else name
        is_file = name.endswith(".json") or os.path.exists(name)
        yield argument, name if is_file else None, {}
        return
    else:
        raise TypeError(
            f"a policy is a path, a spelling, JSON text, a dict or a Document, not "
            f"{type(source).__name__}"
        )
    with program.scratch() as folder:
        path = program.write(os.path.join(folder, "policy.json"), text)
        yield path, None, {path: "<policy>"}


def _file_name(name: str) -> str:
    """As the command line names policies."""
    return re.sub(r"[^A-Za-z0-9_.-]+", "-", name).strip("-") or "policy"


def as_path_or_document(source):
    """What a loader keeps of one of its `policies`: the path of a file, or a checked document."""
    if isinstance(source, (str, os.PathLike)):
        name = os.fspath(source)
        if name.endswith(".json") or os.path.exists(name):
            return name
    if isinstance(source, str) and not source.lstrip().startswith("{"):
        made = load(source)
        return Document({**made.data, "name": _file_name(source)})
    return load(source)


@contextlib.contextmanager
def as_paths(policies):
    """The paths of files that hold policies, while a program is compiled."""
    with contextlib.ExitStack() as stack:
        yield [
            stack.enter_context(each.as_file()) if isinstance(each, Document) else each
            for each in policies
        ]
