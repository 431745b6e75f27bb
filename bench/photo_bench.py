"""Benchmarks over photographs: our pipeline, the decoding that it cannot avoid, and peers that make the same of the same files.

Limit: reading the same files in the same order and decoding exactly the boxes that our run decoded (bench/limit/decode_limit.cpp).
"""

import json
from dataclasses import dataclass

import contest
import harness
import report

FIXED_FILES = 32
#: The window of a picture that is compared with the peers, instead of a random one: top, left, height, width.
WINDOW = (9, 21, 300, 330)


#: Name, script in bench/peers/photos, arguments.
PEERS = (
    ("DALI", "dali_peer.py", ()),
    ("torchvision, Pillow", "torchvision_peer.py", ("--form", "pil")),
    ("torchvision, tensors", "torchvision_peer.py", ("--form", "tensor")),
    ("Albumentations, OpenCV", "albumentations_peer.py", ()),
    ("OpenCV", "opencv_peer.py", ()),
)


@dataclass
class PhotoBench:
    """A .dali-dsl file with the pipelines `train`, which is timed, and `fixed`, the same without chance, whose pixels are compared."""
    name: str
    what: str
    pipeline: str
    #: Parameters of `fixed`, which peers get too.
    fixed: dict
    peers: tuple = PEERS


def photographs(context):
    files = sorted(path for path in context.photos.glob("*/*") if path.is_file())
    if not files:
        raise harness.Failure(f"{context.photos} has no JPEG files in it or in its sub-folders")
    if any(path.suffix.lower() not in (".jpg", ".jpeg") for path in files):
        raise harness.Failure(f"{context.photos} holds other files than JPEGs; the limit knows only those")
    return files


def our_command(context, bench, threads, *more, program="pipeline_bench", epochs=None, batch_size=None, warm_up=None):
    args = context.args
    return [context.program(program), bench.pipeline, "--pipeline", "train", "--set", f"data={context.photos}", "--threads", threads,
            "--batch-size", batch_size or args.batch_size, "--epochs", epochs or args.epochs, "--warm-up", warm_up or args.warm_up, *more]


def record_boxes(context, bench, threads):
    """The boxes of our run, and proof that recording did not change it: both runs give the same bits."""
    boxes = context.scratch / f"{bench.name}-{threads}.boxes"
    recorded = harness.call_json(our_command(context, bench, threads, "--record", boxes, "--root", context.photos, "--checksum",
                                            program="pipeline_record"))
    plain = harness.call_json(our_command(context, bench, threads, "--checksum"))
    if recorded["checksum"] != plain["checksum"]:
        raise harness.Failure("two runs with one seed gave different batches: the recorded boxes are not those of the timed run")
    return boxes


def limit_of(context, bench, threads):
    return contest.Contestant("limit: the same boxes, decoded only",
                              [context.program("decode_limit"), "--boxes", record_boxes(context, bench, threads), "--threads", threads,
                               "--warm-up", context.args.warm_up])


def run(context, bench):
    args = context.args
    files = photographs(context)
    result = {"name": bench.name, "machine": report.machine(), "files": len(files), "bytes": sum(path.stat().st_size for path in files),
              "batch_size": args.batch_size, "epochs": args.epochs, "rounds": args.rounds, "tables": []}
    differences = {} if context.no_peers else compare_outputs(context, bench, files)
    heats = [heat_of(context, bench, threads, differences) for threads in args.threads]
    compete(context, heats)
    charts = []
    for heat in heats:
        result["tables"].append({"threads": heat.threads, "contestants": show(context, f"{bench.name}: {len(files)} files", heat)})
        charts.append(heat.chart(bench.name))
    if len(heats) > 1:
        result["scaling"] = scaling(heats[0], heats[-1])
    report.write(bench.name, result, charts)


@dataclass
class Heat:
    """Everyone who runs with one number of threads, and what they are held against."""
    threads: int
    limit: contest.Contestant
    ours: contest.Contestant
    peers: list
    entries: list = None  # of its table, once shown

    @property
    def everyone(self):
        return [self.limit, self.ours, *self.peers]

    def chart(self, name):
        return report.chart(f"{name}: images/s, {report.counted(self.threads, 'thread')}", self.entries)


def heat_of(context, bench, threads, differences):
    return Heat(threads, limit_of(context, bench, threads), contest.Contestant("galatea", our_command(context, bench, threads)),
                [peer(context, name, script, bench.name, threads, *more, difference=differences.get(name)) for name, script, more in bench.peers
                 if context.wants_peer(name)])


def peer(context, name, script, bench_name, threads, *more, difference=None):
    """A peer's program of bench/peers/photos as a contestant."""
    args = context.args
    return contest.Contestant(name, context.peer(f"photos/{script}", "--bench", bench_name, "--photos", context.photos, "--threads", threads,
                                                 "--batch-size", args.batch_size, "--epochs", args.epochs, *more),
                              skipped=context.no_peers, is_peer=True, difference=difference)


def compete(context, heats):
    """Runs the rounds of all heats as one: who runs with one thread and with two does so one after the other in each round, so that how much two
    threads gain does not depend on what the machine did minutes apart. Nothing counts without the limit and ours."""
    args = context.args
    in_turn = [one for group in zip(*(heat.everyone for heat in heats), strict=True) for one in group]
    contest.run_rounds(in_turn, args.rounds, args.timeout)
    for heat in heats:
        for needed in (heat.limit, heat.ours):
            if needed.skipped:
                raise harness.Failure(needed.skipped)


def show(context, headline, heat, aims=""):
    """Prints a heat's table under its headline; returns, and keeps, its entries."""
    args = context.args
    rows, heat.entries = report.standings(heat.everyone, heat.limit, heat.ours)
    print(f"\n{headline}, batch {args.batch_size}, {report.counted(heat.threads, 'thread')};{aims} medians of {args.rounds} alternating rounds of "
          f"{args.epochs} epochs (lowest - highest)")
    report.show(rows, heat.entries)
    return heat.entries


def scaling(few, many):
    """How much faster each is in the heat with many threads than in that with few: ratios within rounds."""
    pairs = zip(few.everyone, many.everyone, strict=True)
    out = {one.name: ratio for one, other in pairs if (ratio := contest.ratio(other, one))}
    rows = [[f"{many.threads} threads by {few.threads}", ""], *([name, report.show_ratio(value)] for name, value in out.items())]
    print("\n" + report.table(rows))
    return out


def compare_outputs(context, bench, files):
    """Each peer's pixels of `fixed` against ours, in levels of 8-bit colour, by the peer's name."""
    top, left, height, width = WINDOW
    sizes = ((path, harness.jpeg_size(path)) for path in files)
    large = [path for path, size in sizes if size and size[0] >= top + height and size[1] >= left + width][:FIXED_FILES]
    if not large:
        print(f"output differences: SKIPPED: no file is as large as {top + height} x {left + width}")
        return {}
    listed = context.scratch / "fixed.txt"
    # The label is the number of the file: what `fixed` decides by it, peers can decide too.
    listed.write_text("".join(f"{path} {i}\n" for i, path in enumerate(large)))
    our_file = context.scratch / "fixed.f32"
    parameters = [part for name, value in bench.fixed.items() for part in ("--set", f"{name}={json.dumps(value)}")]
    harness.call_json([context.program("pipeline_bench"), bench.pipeline, "--pipeline", "fixed", "--batch-size", len(large), "--epochs", 1,
                       "--dump", our_file, "--set", f"file_list={listed}", *parameters])
    out = {}
    for name, script, more in bench.peers:
        if not context.wants_peer(name):
            continue
        try:
            out[name] = harness.call_json(context.peer(f"photos/{script}", "--bench", bench.name, "--fixed", listed, "--parameters",
                                                       json.dumps(bench.fixed), "--against", our_file, *more), context.args.timeout)
        except harness.Failure as failure:
            print(f"bench: {name}: outputs are not compared: {report.short_reason(str(failure))}", file=harness.sys.stderr)
    print(f"\n{bench.name}: differences in levels of 255 are those of `fixed`, {len(large)} files, with {bench.fixed or 'no parameters'}")
    return out
