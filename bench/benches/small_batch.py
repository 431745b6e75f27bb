"""imagenet-train with AutoAugment at batches of 1, 2, 4, ... 256: what is left of the throughput at 256."""

import math

import contest
import harness
import photo_bench
import report

NAME = "small-batch"
DESCRIPTION = "imagenet-train with AutoAugment at batches of 1 to 256, against 256"
SIZES = [1, 2, 4, 8, 16, 32, 64, 128, 256]
BENCH = photo_bench.PhotoBench("autoaugment", DESCRIPTION, "bench/benches/autoaugment.dali-dsl", {})
WARM_BATCHES = 16  # more than a run keeps at a time, so that all memory is there when the clock starts
PEERS = [("DALI", "dali_peer.py")]


def contestants(context, threads, size, num_files):
    warm_up = max(context.args.warm_up, math.ceil(WARM_BATCHES * size / num_files))
    ours = contest.Contestant(f"galatea, batch {size}", photo_bench.our_command(context, BENCH, threads, batch_size=size, warm_up=warm_up))
    peers = [contest.Contestant(f"{name}, batch {size}",
                                context.peer(f"photos/{script}", "--bench", BENCH.name, "--photos", context.photos, "--threads", threads,
                                             "--batch-size", size, "--epochs", context.args.epochs),
                                skipped=context.no_peers, is_peer=True) for name, script in PEERS if context.wants_peer(name)]
    return [ours, *peers]


def run(context):
    args = context.args
    files = photo_bench.photographs(context)
    sizes = [size for size in SIZES if not args.only or str(size) in args.only]
    if not sizes:
        raise harness.Failure(f"--only chooses among {SIZES}")
    result = {"name": NAME, "machine": report.machine(), "files": len(files), "epochs": args.epochs, "rounds": args.rounds, "tables": []}
    charts = []
    for threads in args.threads:
        by_size = [contestants(context, threads, size, len(files)) for size in sizes]
        contest.run_rounds([one for group in by_size for one in group], args.rounds, args.timeout)
        if by_size[-1][0].skipped:
            raise harness.Failure(by_size[-1][0].skipped)
        rows, entries = [["", "images/s", "CPU ms/image", f"of batch {sizes[-1]}", "galatea is faster by"]], []
        for group in by_size:
            for one, largest in zip(group, by_size[-1]):
                entry = {"name": one.name, "is_peer": one.is_peer, "skipped": one.skipped} if one.skipped else {
                    "name": one.name, "is_peer": one.is_peer, "images_per_second": one.rate, "rounds": one.rates, "cpu_ms_per_image": one.cpu_ms,
                    "of_largest": contest.ratio(one, largest), "ours_by_it": contest.ratio(group[0], one) if one.is_peer else None}
                entries.append(entry)
                rows.append([one.name, "SKIPPED", "", "", ""] if one.skipped else
                            [one.name, f"{one.rate:.0f}", f"{one.cpu_ms:.3f}" if one.cpu else "", report.show_ratio(entry["of_largest"]),
                             report.show_ratio(entry["ours_by_it"])])
        words = f"{NAME}: {len(files)} files, {threads} thread{'s' if threads > 1 else ''}"
        print(f"\n{words}; medians of {args.rounds} alternating rounds of {args.epochs} epochs (lowest - highest)")
        report.show(rows, entries)
        result["tables"].append({"threads": threads, "contestants": entries})
        charts.append((f"{words}: images/s", [(entry["name"], entry["images_per_second"], f"{entry['of_largest']['median']:.2f} of batch {sizes[-1]}")
                                              for entry in entries if not entry.get("skipped") and entry["of_largest"]]))
    report.write(NAME, result, charts)
