"""The program ``galatea policy …``, which knows what documents and spaces mean.

Comes in: arguments. Goes out: what it printed, or its diagnostics as an exception.
"""

import contextlib
import json
import os
import subprocess
import tempfile

from ..executable import program
from ..errors import exception_of

_KINDS = {3: 2, 4: 3}  # exit status: kind of the C API's errors; else the user's


def command(*arguments: str) -> list[str]:
    """The program with the arguments of `policy`."""
    return [program(), "policy", *arguments, "--color=never"]


def run(*arguments: str, shown_as: dict[str, str] | None = None) -> str:
    """What it prints on stdout. `shown_as`: {path: what stands for it in messages}."""
    done = subprocess.run(
        command(*arguments), stdin=subprocess.DEVNULL, capture_output=True, text=True
    )
    if done.returncode != 0:
        raise failure(done.returncode, done.stderr, diagnostics_json(*arguments), shown_as)
    return done.stdout


def diagnostics_json(*arguments: str) -> str:
    """The diagnostics of a command as the program's JSON; {"diagnostics": []} if it has none."""
    done = subprocess.run(
        command(*arguments, "--diagnostics=json"),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
    )
    return first_document(done.stdout)


def first_document(out: str) -> str:
    """The diagnostics of what a command printed with --diagnostics=json."""
    line = out.partition("\n")[0]
    return line if line.startswith('{"diagnostics"') else '{"diagnostics":[]}'


def failure(status: int, text: str, document: str, shown_as: dict[str, str] | None = None):
    """The exception of a command that failed: its text on stderr, its diagnostics as JSON."""
    for path, name in (shown_as or {}).items():
        text = text.replace(path, name)
        document = document.replace(json.dumps(path)[1:-1], json.dumps(name)[1:-1])
    errors = [
        entry for entry in json.loads(document)["diagnostics"] if entry["severity"] == "error"
    ]
    first = errors[0] if errors else {"code": "", "message": text.strip() or f"status {status}"}
    return exception_of(
        _KINDS.get(status, 1), first["code"] or "", first["message"], text, document
    )


@contextlib.contextmanager
def scratch():
    """A folder that goes when it is not needed any more."""
    with tempfile.TemporaryDirectory(prefix="galatea-policy-") as folder:
        yield folder


def write(path: str, text: str) -> str:
    """Writes a file in one step; gives its path."""
    part = f"{path}.{os.getpid()}.part"
    with open(part, "w", encoding="utf-8") as file:
        file.write(text)
    os.replace(part, path)
    return path
