"""What benchmarks share: the peers' environment, contestants and rounds, tables, JSON."""

import hashlib
import json
import os
import platform
import statistics
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
BUILD = ROOT / "build"
OUT = BUILD / "bench"
ENVIRONMENT = BUILD / "bench-env"


class Failure(Exception):
    """Something that ends the benchmark, in words for the person who started it."""


@dataclass
class Contestant:
    name: str
    command: list
    skipped: str = ""
    rates: list = field(default_factory=list)  # samples per second, one a round
    cpu: list = field(default_factory=list)  # seconds of all cores per sample, one a round; empty if not known
    versions: dict = field(default_factory=dict)

    @property
    def cpu_ms(self):
        return 1000 * statistics.median(self.cpu) if self.cpu else None

    @property
    def rate(self):
        return statistics.median(self.rates) if self.rates else None


def call(command, **options):
    return subprocess.run([str(part) for part in command], capture_output=True, text=True, cwd=ROOT, **options)


def call_json(command):
    """The last line of what a contestant prints."""
    done = call(command)
    if done.returncode != 0 or not done.stdout.strip():
        raise Failure(f"{' '.join(map(str, command))}\nended with status {done.returncode}:\n{done.stderr.strip()[-2000:]}")
    return json.loads(done.stdout.strip().splitlines()[-1])


class Context:
    def __init__(self, args):
        self.args = args
        OUT.mkdir(parents=True, exist_ok=True)
        self.photos = Path(args.photos).resolve() if args.photos else self.drawn_samples()
        if not self.photos.is_dir():
            raise Failure(f"there is no folder {self.photos}")
        self.no_peers = "" if not args.no_peers else "--no-peers"
        if not self.no_peers:
            self.no_peers = self.prepare_environment()
            if self.no_peers:
                print(f"bench: no peers: {self.no_peers}", file=sys.stderr)

    def program(self, name):
        path = self.args.programs.resolve() / name
        if not path.exists():
            raise Failure(f"{path} is not built; ./dev bench builds it")
        return path

    def drawn_samples(self):
        folder = BUILD / "samples"
        if not folder.is_dir():
            call([self.program("galatea-samples"), folder], check=True)
        return folder

    @staticmethod
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

    def peer(self, script, *arguments):
        return [ENVIRONMENT / "bin/python", ROOT / "bench/peers" / script, *arguments]


def run_rounds(contestants, rounds):
    """Each contestant once a round, in turn; whoever fails is out, with the reason."""
    for number in range(rounds):
        for contestant in contestants:
            if contestant.skipped:
                continue
            try:
                result = call_json(contestant.command)
            except Failure as failure:
                contestant.skipped = str(failure)
                continue
            contestant.rates.append(result["samples"] / result["seconds"])
            if "cpu_seconds" in result:
                contestant.cpu.append(result["cpu_seconds"] / result["samples"])
            contestant.versions = result.get("versions", {})
            print(f"  round {number + 1}: {contestant.name}: {contestant.rates[-1]:.0f}/s", file=sys.stderr)


def table(rows):
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    lines = []
    for row in rows:
        cells = [row[0].ljust(widths[0])] + [cell.rjust(width) for cell, width in zip(row[1:], widths[1:])]
        lines.append("  ".join(cells).rstrip())
    return "\n".join(lines)


def ratio(a, b):
    """Of two contestants, the median over rounds of a's rate by b's, and its extremes."""
    if not a.rates or len(a.rates) != len(b.rates):
        return None
    quotients = sorted(x / y for x, y in zip(a.rates, b.rates))
    return {"median": statistics.median(quotients), "min": quotients[0], "max": quotients[-1]}


def show_ratio(value):
    return "" if value is None else f"{value['median']:.2f} ({value['min']:.2f} - {value['max']:.2f})"


def machine():
    model = ""
    try:
        for line in Path("/proc/cpuinfo").read_text().splitlines():
            if line.startswith("model name"):
                model = line.split(":", 1)[1].strip()
                break
    except OSError:
        pass
    return {"cpu": model or platform.processor(), "cores": os.cpu_count(), "system": f"{platform.system()} {platform.release()}",
            "python": platform.python_version(), "load_at_start": os.getloadavg()[0]}


def write_json(name, value):
    path = OUT / f"{name}.json"
    path.write_text(json.dumps(value, indent=1) + "\n")
    return path


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
