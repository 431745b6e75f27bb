"""The Python package: imagenet-train through galatea.torch beside the C API and beside what people use; what a batch costs; numpy callables.

Every part compares outputs before it measures: the batches of galatea.torch are those of the C API bit for bit, sources give the same bytes through
DALI and through us.
"""

import statistics
from dataclasses import dataclass

import contest
import harness
import photo_bench
import report

DESCRIPTION = "imagenet-train, batches of 1, and external_source through the Python package, beside DALI's, torch's and SPDL's loaders"
PACKAGE = harness.BUILD / "python"
IMAGENET = "bench/benches/imagenet_train.dali-dsl"
BARE = "bench/benches/python_bare.dali-dsl"
TOP, LEFT, HEIGHT, WIDTH = photo_bench.WINDOW
FIXED = {"top": TOP, "left": LEFT, "height": HEIGHT, "width": WIDTH}
COMPARED_FILES = 32
DALI = "DALI, PyTorch iterator"
#: Of torch's DataLoader; the best number counts, also beside one thread of ours.
WORKERS = (0, 1, 2)
#: With torch's DataLoader: name, script, arguments.
DATA_LOADERS = (
    ("torchvision, Pillow", "photos/torchvision_peer.py", ("--form", "pil")),
    ("torchvision, tensors", "photos/torchvision_peer.py", ("--form", "tensor")),
    ("Albumentations, OpenCV", "photos/albumentations_peer.py", ()),
)
ITERATORS = (
    (DALI, "photos/dali_peer.py", ("--form", "pytorch")),
    ("SPDL", "photos/spdl_peer.py", ()),
)


def run(context):
    reason = context.no_peers if not context.args.no_peers else harness.prepare_environment()
    if reason:
        raise harness.Failure(f"galatea.torch needs torch, which build/bench-env has: {reason}")
    if not PACKAGE.is_dir():
        raise harness.Failure(f"{PACKAGE} is not built: Python needs its headers and the package nanobind, see ./dev build --help")
    result = {"name": "python", "machine": report.machine(), "batch_size": context.args.batch_size, "epochs": context.args.epochs,
              "rounds": context.args.rounds}
    charts = []
    if context.wants_case("imagenet-train"):
        result["imagenet-train"], charts = photographs(context)
    if context.wants_case("batches-of-1"):
        result["batches-of-1"] = batches_of_one(context)
    if context.wants_case("sources"):
        result["sources"] = sources(context)
    report.write("python", result, charts)


# ------------------------------------------------------------------------------------------------ photographs


def our_loader(context, file, threads, batch_size, *more):
    args = context.args
    return [*context.peer("../ours/loader_bench.py", file, "--package", PACKAGE, "--pipeline", "train", "--set", f"data={context.photos}", "--threads",
                          threads, "--batch-size", batch_size, "--epochs", args.epochs, "--warm-up", args.warm_up), *more]


def c_api(context, file, threads, batch_size, *more):
    args = context.args
    return [context.program("pipeline_bench"), file, "--pipeline", "train", "--set", f"data={context.photos}", "--threads", threads, "--batch-size",
            batch_size, "--epochs", args.epochs, "--warm-up", args.warm_up, *more]


def peer_command(context, script, threads, batch_size, *more):
    return context.peer(script, "--bench", "imagenet-train", "--photos", context.photos, "--threads", threads, "--batch-size", batch_size, "--epochs",
                        context.args.epochs, *more)


def as_dali(context, script, *arguments):
    """A peer's script with galatea.dali in DALI's place."""
    return context.peer("photos/as_dali.py", PACKAGE, harness.ROOT / "bench/peers" / script, *arguments)


def check_same_batches(context):
    """The first epoch over a few files, all bits of it, through the C API and through galatea.torch."""
    folder = context.scratch / "few"
    (folder / "all").mkdir(parents=True)
    for number, path in enumerate(photo_bench.photographs(context)[:COMPARED_FILES]):
        (folder / "all" / f"{number}{path.suffix}").symlink_to(path.resolve())
    dumps = []
    for name, command in (("c", [context.program("pipeline_bench"), IMAGENET]),
                          ("python", context.peer("../ours/loader_bench.py", IMAGENET, "--package", PACKAGE))):
        dumps.append(context.scratch / f"few-{name}.f32")
        harness.call_json([*command, "--pipeline", "train", "--set", f"data={folder}", "--batch-size", 12, "--epochs", 1, "--dump", dumps[-1]])
    first, second = (path.read_bytes() for path in dumps)
    # Both wrote their first epoch.
    if len(first) == 0 or first != second:
        raise harness.Failure("galatea.torch and the C API gave different batches: nothing was measured")


class BestOf:
    """Contestants of which the fastest counts, under its name."""

    def __init__(self, variants):
        self.variants = variants

    def best(self):
        measured = [one for one in self.variants if not one.skipped and one.rates]
        return max(measured, key=lambda one: one.rate) if measured else self.variants[0]


@dataclass
class PythonHeat(photo_bench.Heat):
    """`limit` is the C API; of `choices` the best are the peers once all have run."""
    choices: list = None

    @property
    def everyone(self):
        return [self.limit, self.ours, *self.peers, *[one for choice in self.choices for one in choice.variants]]

    def settle(self):
        self.peers += [choice.best() for choice in self.choices]
        self.choices = []


def heat_of(context, threads, batch_size, differences):
    def peer(name, command, label=None):
        return contest.Contestant(label or name, command, skipped=context.no_peers, is_peer=True, difference=differences.get(name))

    drop_in = contest.Contestant("galatea.dali, PyTorch iterator", as_dali(context, "photos/dali_peer.py", *peer_command(
        context, "", threads, batch_size, "--form", "pytorch")[2:]), difference=differences.get("galatea.dali"))
    peers = [peer(name, peer_command(context, script, threads, batch_size, *more)) for name, script, more in ITERATORS if context.wants_peer(name)]
    choices = [BestOf([peer(name, peer_command(context, script, threads, batch_size, "--workers", workers, *more),
                            f"{name}, {report.counted(workers, 'worker')}") for workers in WORKERS])
               for name, script, more in DATA_LOADERS if context.wants_peer(name)]
    return PythonHeat(threads, contest.Contestant("C API, host in C++", c_api(context, IMAGENET, threads, batch_size)),
                      contest.Contestant("galatea.torch", our_loader(context, IMAGENET, threads, batch_size)), [drop_in, *peers], choices=choices)


def compared_peers():
    """For photo_bench.compare_outputs(): scripts that say how their pixels differ from ours."""
    of_torch = tuple((name, script.removeprefix("photos/"), more) for name, script, more in DATA_LOADERS)
    return ((DALI, "dali_peer.py", ()), ("SPDL", "spdl_peer.py", ()), *of_torch)


def photographs(context):
    args = context.args
    files = photo_bench.photographs(context)
    check_same_batches(context)
    differences = {}
    if not context.no_peers:
        bench = photo_bench.PhotoBench("imagenet-train", DESCRIPTION, IMAGENET, FIXED, compared_peers())
        differences = photo_bench.compare_outputs(context, bench, files)
    heats = [heat_of(context, threads, args.batch_size, differences) for threads in args.threads]
    photo_bench.compete(context, heats)
    tables, charts = [], []
    for heat in heats:
        heat.settle()
        entries = photo_bench.show(context, f"python: imagenet-train, {len(files)} files; 'the limit' is the C API", heat, " aim: 0.97;")
        tables.append({"threads": heat.threads, "contestants": entries})
        charts.append(heat.chart("python"))
    return tables, charts


# ------------------------------------------------------------------------------------------------ batches of 1


def batches_of_one(context):
    """What a batch takes through Python beyond what it takes through the C API: medians of the difference within rounds."""
    out = []
    for name, file in (("next to no work", BARE), ("imagenet-train", IMAGENET)):
        for threads in context.args.threads:
            direct = contest.Contestant(f"{name}: C API", c_api(context, file, threads, 1))
            ours = contest.Contestant(f"{name}: galatea.torch", our_loader(context, file, threads, 1))
            everyone = [direct, ours]
            if file == IMAGENET:
                command = peer_command(context, "photos/dali_peer.py", threads, 1, "--form", "pytorch")
                everyone.append(contest.Contestant(f"{name}: galatea.dali, PyTorch iterator", as_dali(context, "photos/dali_peer.py", *command[2:])))
                everyone.append(contest.Contestant(f"{name}: {DALI}", command, skipped=context.no_peers or
                                                   ("" if context.wants_peer(DALI) else "--peers"), is_peer=True))
            contest.run_rounds(everyone, context.args.rounds, context.args.timeout)
            for needed in (direct, ours):
                if needed.skipped:
                    raise harness.Failure(needed.skipped)
            rows = [["", "us/batch", "CPU us/batch", "more than the C API: us/batch", "CPU us/batch"]]
            for one in everyone:
                if one.skipped:
                    rows.append([one.name, "SKIPPED", "", "", ""])
                    out.append({"name": one.name, "threads": threads, "skipped": one.skipped})
                    continue
                clock = more_than(one, direct, lambda c: [1e6 / rate for rate in c.rates])
                cpu = more_than(one, direct, lambda c: [1e6 * seconds for seconds in c.cpu])
                rows.append([one.name, f"{1e6 / one.rate:.1f}", f"{1000 * one.cpu_ms:.1f}", "" if one is direct else show_span(clock),
                             "" if one is direct else show_span(cpu)])
                out.append({"name": one.name, "threads": threads, "us_per_batch": [1e6 / rate for rate in one.rates],
                            "cpu_us_per_batch": [1e6 * seconds for seconds in one.cpu], "more_us": clock, "more_cpu_us": cpu})
            print(f"\npython: batches of 1, {report.counted(threads, 'thread')}; aim: 30 us more at most; medians of {context.args.rounds} alternating "
                  "rounds (lowest - highest)\n" + report.table(rows))
    return out


def more_than(one, other, values):
    differences = sorted(a - b for a, b in zip(values(one), values(other), strict=True))
    return {"median": statistics.median(differences), "min": differences[0], "max": differences[-1]}


def show_span(value):
    return f"{value['median']:.1f} ({value['min']:.1f} - {value['max']:.1f})"


# ------------------------------------------------------------------------------------------------ sources

#: Size, samples in a batch.
SIZES = (("224", 64), ("1080p", 8))
#: What the callable gives, workers.
FORMS = (("sample", 0), ("batch", 0), ("list", 0), ("fresh", 0), ("sample", 1), ("sample", 2), ("list", 1), ("list", 2))
#: What becomes of it: handed on as it is; to 224 x 224, normalised planes of floats.
WORK = ("as-it-is", "resized")
WORDS = {"sample": "a sample a call", "batch": "an array a batch", "list": "a list a batch", "fresh": "a new array a batch"}
#: How far apart outputs of a resize may be, in levels: each rounds to bytes in between.
MOST_LEVELS = 1.01


def sources(context):
    """fn.external_source from a numpy callable: the same script with DALI's module, with ours in its place, and by galatea.Loader."""
    out = []
    for size, batch_size in SIZES:
        for work in WORK:
            for threads in context.args.threads:
                rows = [["", "DALI", "galatea.dali", "galatea.Loader", "galatea.dali is faster by", "galatea.Loader", "CPU us/sample of each"]]
                for form, workers in FORMS:
                    words = f"{WORDS[form]}, {report.counted(workers, 'worker') if workers else 'in process'}"
                    row, entry = source_row(context, words, (size, work, form, workers), batch_size, threads)
                    rows.append(row)
                    out.append(entry)
                print(f"\npython: numpy callables, {size}, {work}, batch {batch_size}, {report.counted(threads, 'thread')}; samples/s; medians of "
                      f"{context.args.rounds} alternating rounds (lowest - highest)\n" + report.table(rows))
    return out


def source_row(context, words, case, batch_size, threads):
    size, work, form, workers = case
    arguments = ("--size", size, "--work", work, "--form", form, "--workers", workers, "--threads", threads, "--batch-size", batch_size, "--seconds",
                 context.args.seconds)
    dali = contest.Contestant("DALI", context.peer("photos/numpy_sources.py", *arguments), is_peer=True,
                              skipped=context.no_peers or ("" if context.wants_peer("DALI") else "--peers"))
    ours = contest.Contestant("galatea.dali", as_dali(context, "photos/numpy_sources.py", *arguments))
    loader = contest.Contestant("galatea.Loader", context.peer("photos/numpy_sources.py", *arguments, "--loader", PACKAGE))
    everyone = [dali, ours, loader]
    compare_sources(context, everyone)
    contest.run_rounds(everyone, context.args.rounds, context.args.timeout, quiet=True)
    for one in (ours, loader):
        if one.skipped:
            raise harness.Failure(f"{one.name}, {words}: {one.skipped}")
    faster, loader_faster = contest.ratio(ours, dali), contest.ratio(loader, dali)
    cpu = ", ".join(f"{1000 * one.cpu_ms:.1f}" for one in everyone if one.cpu)
    row = [words, *["SKIPPED" if one.skipped else f"{one.rate:.0f}" for one in everyone], report.show_ratio(faster), report.show_ratio(loader_faster), cpu]
    entry = {"size": size, "work": work, "form": form, "workers": workers, "threads": threads, "batch_size": batch_size, "ours_by_dali": faster,
             "loader_by_dali": loader_faster,
             "contestants": [{"name": one.name, "skipped": one.skipped, "rounds": one.rates, "cpu_seconds_per_sample": one.cpu, "difference": one.difference}
                             for one in everyone]}
    return row, entry


def compare_sources(context, everyone):
    """The first batches of each against those of the first who is there: the same bytes, or as near as a resize of bytes is."""
    first, *others = [one for one in everyone if not one.skipped]
    file = context.scratch / "source.raw"
    harness.call_json([*first.command, "--dump", file], context.args.timeout)
    for one in others:
        one.difference = harness.call_json([*one.command, "--against", file], context.args.timeout)
        most = MOST_LEVELS if "resized" in one.command else 0
        if one.difference["largest"] > most:
            raise harness.Failure(f"{one.name} gives other batches than {first.name}: up to {one.difference['largest']} levels")
    file.unlink()
