"""Files of each format, decoded to RGB bytes, one thread, against Pillow, OpenCV and imagecodecs.

The first photographs are written in each format by Pillow, 16-bit TIFF by tifffile. There is no limit: the libraries that decode are what the
peers call, too. AVIF needs libheif here.
"""

import contest
import harness
import report

DESCRIPTION = "each picture format decoded to RGB, against Pillow, OpenCV and imagecodecs"
LIBRARIES = (("Pillow", "pillow"), ("OpenCV", "opencv"), ("imagecodecs", "imagecodecs"))


def run(context):
    args = context.args
    if context.no_peers:
        raise harness.Failure(f"decode: Pillow writes the files, and there are no peers: {context.no_peers}")
    folder = context.scratch / "formats"
    formats = harness.call_json(context.peer("decode/decode_peer.py", "--make", folder, "--photos", context.photos))["formats"]
    entries, rows = [], [["format", "images/s", "Pillow", "OpenCV", "imagecodecs", "galatea is faster than the fastest by"]]
    for name in formats:
        if not context.wants_case(name):
            continue
        ours = contest.Contestant("galatea", [context.program("pipeline_bench"), "bench/benches/decode.dali-dsl", "--pipeline", "train", "--set",
                                              f"data={folder / name}", "--threads", 1, "--batch-size", 16, "--epochs", args.epochs, "--warm-up",
                                              args.warm_up])
        peers = [contest.Contestant(shown, context.peer("decode/decode_peer.py", "--photos", folder / name, "--library", library, "--format", name,
                                                        "--epochs", args.epochs), is_peer=True) for shown, library in LIBRARIES]
        contest.run_rounds([ours, *peers], args.rounds, args.timeout)
        if ours.skipped:
            print(f"SKIPPED {name}: {report.short_reason(ours.skipped)}")
            continue
        ran = [peer for peer in peers if not peer.skipped]
        fastest = max(ran, key=lambda peer: peer.rate, default=None)
        faster = contest.ratio(ours, fastest) if fastest else None
        rows.append([name, f"{ours.rate:.0f}", *("-" if peer.skipped else f"{peer.rate:.0f}" for peer in peers), report.show_ratio(faster)])
        entries.append({"format": name, "images_per_second": ours.rate, "rounds": ours.rates,
                        "peers": [{"name": peer.name, "images_per_second": peer.rate, "skipped": peer.skipped, "versions": peer.versions}
                                  for peer in peers], "ours_by_fastest": faster})
    print(f"\ndecode: images/s, one thread; medians of {args.rounds} alternating rounds of {args.epochs} epochs")
    print(report.table(rows))
    report.write("decode", {"name": "decode", "machine": report.machine(), "formats": entries})
