"""What benchmarks share: processes that end with the run, the peers' environment, programs, scratch files."""

import contextlib
import hashlib
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
BUILD = ROOT / "build"
OUT = BUILD / "bench"
ENVIRONMENT = BUILD / "bench-env"


class Failure(Exception):
    """Something that ends the benchmark, or takes a contestant out of it, in words for the person who started it."""


def start(command, stdin=subprocess.DEVNULL, stderr=subprocess.PIPE):
    """A process in a group of its own, so that end() reaches what it starts too."""
    try:
        return subprocess.Popen([str(part) for part in command], stdin=stdin, stdout=subprocess.PIPE, stderr=stderr, text=True, cwd=ROOT,
                                start_new_session=True)
    except OSError as error:
        raise Failure(f"{command[0]} cannot be started: {error.strerror}") from None


def end(process):
    """Ends a process and all of its children."""
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    for stream in (process.stdin, process.stdout, process.stderr):
        # Text that was not written yet cannot be.
        with contextlib.suppress(OSError):
            if stream:
                stream.close()


def call(command, timeout=None):
    """Runs to the end; whatever interrupts the wait (Ctrl-C, a time limit) ends the process and its children."""
    process = start(command)
    try:
        out, err = process.communicate(timeout=timeout)
    except subprocess.TimeoutExpired:
        raise Failure(f"{' '.join(map(str, command))}\ndid not end within {timeout} seconds") from None
    finally:
        end(process)
    return subprocess.CompletedProcess(process.args, process.returncode, out, err)


def call_json(command, timeout=None):
    """The last line of what a contestant prints."""
    done = call(command, timeout)
    lines = done.stdout.strip().splitlines()
    if done.returncode != 0 or not lines:
        raise Failure(f"{' '.join(map(str, command))}\nended with status {done.returncode}:\n{last_words(done.stderr)}")
    try:
        return json.loads(lines[-1])
    except ValueError:
        raise Failure(f"{' '.join(map(str, command))}\nprinted what is no JSON: {lines[-1][:200]}") from None


def last_words(text):
    return text.strip()[-2000:] or "(it said nothing)"


class Context:
    """What a benchmark is given: arguments, programs, photographs, peers, and a folder for files that do not outlive the run."""

    def __init__(self, args):
        self.args = args
        OUT.mkdir(parents=True, exist_ok=True)
        self._photos = None
        self.no_peers = "" if not args.no_peers else "--no-peers"
        if not self.no_peers:
            self.no_peers = prepare_environment()
            if self.no_peers:
                print(f"bench: no peers: {self.no_peers}", file=sys.stderr)
        self.scratch = Path(tempfile.mkdtemp(prefix="run-", dir=OUT))

    def __enter__(self):
        return self

    def __exit__(self, *_):
        shutil.rmtree(self.scratch, ignore_errors=True)

    @property
    def photos(self):
        if self._photos is None:
            given = Path(self.args.photos).resolve() if self.args.photos else self.drawn_samples()
            if not given.is_dir():
                raise Failure(f"there is no folder {given}")
            self._photos = self.with_classes(given)
        return self._photos

    def with_classes(self, folder):
        """The folder; one whose JPEGs lie in it directly as the only class of another, since readers take classes from sub-folders."""
        flat = any(path.suffix.lower() in (".jpg", ".jpeg") and path.is_file() for path in folder.iterdir())
        if not flat or any(path.is_dir() for path in folder.iterdir()):
            return folder
        parent = self.scratch / "photographs"
        parent.mkdir()
        (parent / "all").symlink_to(folder, target_is_directory=True)
        return parent

    def program(self, name):
        path = self.args.programs.resolve() / name
        if not path.exists():
            raise Failure(f"{path} is not built; ./dev bench builds it")
        return path

    def drawn_samples(self):
        folder = BUILD / "samples"
        if not folder.is_dir():
            done = call([self.program("galatea-samples"), folder])
            if done.returncode != 0:
                raise Failure(f"the sample photographs cannot be drawn: {last_words(done.stderr)}")
        return folder

    def peer(self, script, *arguments):
        return [ENVIRONMENT / "bin/python", ROOT / "bench/peers" / script, *arguments]

    def wants_peer(self, name):
        return not self.args.no_peers and (not self.args.peers or any(part.lower() in name.lower() for part in self.args.peers))

    def wants_case(self, name):
        return not self.args.only or any(part.lower() in name.lower() for part in self.args.only)


def prepare_environment():
    """Installs the peers; returns why that is not possible, or nothing."""
    wanted = (ROOT / "bench/requirements.txt").read_bytes()
    stamp = ENVIRONMENT / "installed"
    key = hashlib.sha256(wanted).hexdigest()
    if stamp.exists() and stamp.read_text() == key:
        return ""
    print("bench: installing the peers (once; several gigabytes)", file=sys.stderr)
    if not (ENVIRONMENT / "bin/pip").exists():
        done = call([sys.executable, "-m", "venv", ENVIRONMENT])
        if done.returncode != 0:
            return f"no virtual environment can be made: {done.stderr.strip()[-300:]}"
    done = call([ENVIRONMENT / "bin/pip", "install", "--disable-pip-version-check", "-r", ROOT / "bench/requirements.txt"])
    if done.returncode != 0:
        return f"pip could not install bench/requirements.txt: {done.stderr.strip()[-300:]}"
    stamp.write_text(key)
    return ""


def jpeg_size(path):
    """(height, width) of a JPEG, or None."""
    data = path.read_bytes()
    at = 2
    while data[:2] == b"\xff\xd8" and at + 9 < len(data) and data[at] == 0xFF:
        marker, length = data[at + 1], int.from_bytes(data[at + 2:at + 4], "big")
        if 0xC0 <= marker <= 0xCF and marker not in (0xC4, 0xC8, 0xCC):
            return int.from_bytes(data[at + 5:at + 7], "big"), int.from_bytes(data[at + 7:at + 9], "big")
        at += 2 + length
    return None
