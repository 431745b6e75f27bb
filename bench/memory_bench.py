"""Benchmarks over pictures that lie in memory: ours through the C API, peers in processes that answer requests, the same bytes for all.

Everyone reads pictures where they lie, in one array that is more than small caches hold, and writes batches that go round in a ring of three; ours are
lent to the session as it runs (bench/ours/memory_bench.cpp).
"""

import array
import math
from dataclasses import dataclass, field

import contest
import harness
import report

ELEMENT_BYTES = {"u8": 1, "i32": 4, "f32": 4}
ARRAY_CODE = {"u8": "B", "i32": "i", "f32": "f"}
#: Inputs of a run take about so many bytes.
INPUT_BYTES = 96 << 20
#: Batches of different inputs, at least: more than are in flight (memory_bench.cpp).
LEAST_BATCHES = 9
PARAMETER_ROWS = 64

PEERS = ("DALI", "OpenCV", "Albumentations", "torchvision, tensors", "Pillow", "kornia")


@dataclass
class Form:
    """What goes in."""
    element: str
    height: int
    width: int
    batch_size: int

    @property
    def name(self):
        return f"{self.element} {self.height} x {self.width}"

    @property
    def sample_bytes(self):
        return self.height * self.width * 3 * ELEMENT_BYTES[self.element]

    @property
    def batches(self):
        return max(LEAST_BATCHES, math.ceil(INPUT_BYTES / self.sample_bytes / self.batch_size))

    @property
    def num_pictures(self):
        """Different pictures; they are repeated into the different buffers."""
        return max(4, min(16, (24 << 20) // self.sample_bytes))


@dataclass
class Parameter:
    """An input with a row of numbers per sample."""
    name: str
    element: str
    extents: tuple
    rows: list  # of lists of numbers


@dataclass
class Case:
    """One thing to be measured."""
    name: str  # how peers' spellings are found: bench/peers/memory/*.py
    file: object
    form: Form
    pipeline: str = ""
    exact: bool = True
    planes: bool = False  # what comes out are planes of normalised floats
    parameters: list = field(default_factory=list)
    #: What the limit reads and writes; the output's bytes are known once it was made.
    limit: str = "limit: as many bytes, read and written"
    read_share: float = 1  # how much of the input has to be read


class Arena:
    """Pictures in files, made once a run from the photographs."""

    def __init__(self, context):
        self.context = context
        self.made = {}

    def pictures(self, form):
        key = (form.element, form.height, form.width)
        if key not in self.made:
            context, target = self.context, self.context.scratch / f"pictures-{form.element}-{form.height}x{form.width}.raw"
            files = sorted(path for path in context.photos.glob("*/*") if path.suffix.lower() in (".jpg", ".jpeg"))
            if not files:
                raise harness.Failure(f"{context.photos} has no JPEG files in its sub-folders")
            chosen = [files[i * len(files) // form.num_pictures] for i in range(form.num_pictures)]
            listed = context.scratch / "pictures.txt"
            listed.write_text("".join(f"{path} 0\n" for path in chosen))
            harness.call_json([context.program("pipeline_bench"), "bench/ours/pictures.dali-dsl", "--pipeline", form.element, "--epochs", 1,
                               "--batch-size", 4, "--dump", target, "--set", f"file_list={listed}", "--set", f"height={form.height}",
                               "--set", f"width={form.width}"])
            self.made[key] = target
        return self.made[key]

    def rows(self, parameter):
        path = self.context.scratch / f"parameter-{parameter.name}.raw"
        with path.open("wb") as out:
            for row in parameter.rows:
                array.array(ARRAY_CODE[parameter.element], row).tofile(out)
        return path


class Servers:
    """The peers' processes, one each for the whole run."""

    def __init__(self, context):
        self.context = context
        self.by_name = {name: contest.Server(context.peer("memory/serve.py", "--peer", name)) for name in PEERS if context.wants_peer(name)}

    def __enter__(self):
        return self.by_name

    def __exit__(self, *_):
        for server in self.by_name.values():
            server.close()


def our_command(context, arena, case, threads, *more):
    form = case.form
    extents = f"{form.height}x{form.width}x3"
    inputs = ["--input", f"image={form.element}:{extents}:{arena.pictures(form)}"]
    for parameter in case.parameters:
        inputs += ["--input", f"{parameter.name}={parameter.element}:{'x'.join(map(str, parameter.extents))}:{arena.rows(parameter)}"]
    return [context.program("memory_bench"), case.file, *(["--pipeline", case.pipeline] if case.pipeline else []), *inputs,
            "--threads", threads, "--batch-size", form.batch_size, "--batches", form.batches, "--seconds", context.args.seconds,
            *([] if case.exact else ["--inexact"]), *more]


def request(context, arena, case, threads, against):
    form = case.form
    return {"case": case.name, "element": form.element, "height": form.height, "width": form.width, "pictures": str(arena.pictures(form)),
            "batch_size": form.batch_size, "batches": form.batches, "threads": threads, "seconds": context.args.seconds, "file": str(case.file),
            "pipeline": case.pipeline, "against": str(against), "planes": case.planes,
            "parameters": {parameter.name: {"element": parameter.element, "extents": parameter.extents, "path": str(arena.rows(parameter))}
                           for parameter in case.parameters}}


def measure(context, arena, servers, case, threads, more=(), quiet=False):
    """Ours, the limit and the peers in turns; `more`: further contestants of ours. Returns all of them, the limit and ours first."""
    form, args = case.form, context.args
    dump = context.scratch / "output.raw"
    # What comes out is looked at once, outside of the rounds.
    harness.call_json(our_command(context, arena, case, threads, "--dump", dump), args.timeout)
    bytes_out = dump.stat().st_size // form.batch_size
    limit = contest.Contestant(case.limit, [context.program("stream_limit"), "--in", int(form.sample_bytes * case.read_share), "--out", bytes_out,
                                            "--threads", threads, "--batch-size", form.batch_size, "--distinct", form.batch_size * form.batches,
                                            "--seconds", args.seconds])
    ours = contest.Contestant("galatea", our_command(context, arena, case, threads))
    peers = [contest.Contestant(name, server=server, request=request(context, arena, case, threads, dump), skipped=context.no_peers, is_peer=True)
             for name, server in servers.items()]
    everyone = [limit, ours, *more, *peers]
    contest.run_rounds(everyone, args.rounds, args.timeout, quiet)
    dump.unlink()
    for needed in (limit, ours):
        if needed.skipped:
            raise harness.Failure(needed.skipped)
    return everyone


def run_chain(context, name, cases, extra=lambda case, context, arena, threads: ()):
    """A benchmark of a few cases, each with a table per number of threads."""
    result = {"name": name, "machine": report.machine(), "rounds": context.args.rounds, "seconds": context.args.seconds, "tables": []}
    arena, charts = Arena(context), []
    with Servers(context) as servers:
        for case in cases:
            if not context.wants_case(case.name):
                continue
            for threads in context.args.threads:
                everyone = measure(context, arena, servers, case, threads, extra(case, context, arena, threads))
                rows, entries = report.standings(everyone, everyone[0], everyone[1])
                words = f"{case.name}: {case.form.name}, batch {case.form.batch_size}, {report.counted(threads, 'thread')}"
                print(f"\n{words}; medians of {context.args.rounds} alternating rounds (lowest - highest)")
                report.show(rows, entries)
                result["tables"].append({"case": case.name, "threads": threads, "batch_size": case.form.batch_size, "contestants": entries})
                charts.append(report.chart(f"{words}: images/s", entries))
    report.write(name, result, charts)
