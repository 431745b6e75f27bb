"""Training on photographs: shuffled files, random resized crop, 224 x 224 antialiased, mirror, normalise, planes of floats.

Limit: reading the same files in the same order and decoding exactly the boxes that our run drew (bench/limit/decode_limit.cpp).
"""

import array
import os

import harness

DESCRIPTION = "random resized crop of photographs, 224 x 224, normalised"
PIPELINE = "bench/benches/imagenet_train.dali-dsl"
STD_LEVELS = (58.395, 57.12, 57.375)
WINDOW_HEIGHT, WINDOW_WIDTH, TOP, LEFT = 300, 330, 9, 21
FIXED_FILES = 32
PEERS = (
    ("DALI", "dali.py", ()),
    ("torchvision, Pillow", "torchvision_peer.py", ("--form", "pil")),
    ("torchvision, tensors", "torchvision_peer.py", ("--form", "tensor")),
    ("Albumentations, OpenCV (not antialiased)", "albumentations_peer.py", ()),
)


def run(context):
    args = context.args
    files = sorted(path for path in context.photos.glob("*/*") if path.suffix.lower() in (".jpg", ".jpeg"))
    if not files:
        raise harness.Failure(f"{context.photos} has no JPEG files in its sub-folders")
    result = {"name": "imagenet-train", "machine": harness.machine(), "files": len(files), "bytes": sum(path.stat().st_size for path in files),
              "batch_size": args.batch_size, "epochs": args.epochs, "rounds": args.rounds, "tables": []}
    if any(path.suffix.lower() not in (".jpg", ".jpeg") for path in context.photos.glob("*/*") if path.is_file()):
        raise harness.Failure(f"{context.photos} holds other files than JPEGs; the limit knows only those")
    result["differences"] = compare_outputs(context, files)
    for threads in args.threads:
        result["tables"].append(measure(context, threads, len(files)))
    path = harness.write_json("imagenet-train", result)
    print(f"written to {path.relative_to(harness.ROOT)}")


def our_command(context, threads, *more, program="pipeline_bench"):
    args = context.args
    return [context.program(program), PIPELINE, "--pipeline", "train", "--set", f"data={context.photos}", "--threads", threads,
            "--batch-size", args.batch_size, "--epochs", args.epochs, *more]


def record_boxes(context, threads):
    """The boxes of our run, and proof that recording did not change it: both runs give the same bits."""
    boxes = harness.OUT / f"imagenet-train-{threads}.boxes"
    recorded = harness.call_json(our_command(context, threads, "--record", boxes, "--root", context.photos, "--checksum",
                                            program="pipeline_record"))
    plain = harness.call_json(our_command(context, threads, "--checksum"))
    if recorded["checksum"] != plain["checksum"]:
        raise harness.Failure("two runs with one seed gave different batches: the recorded boxes are not those of the timed run")
    return boxes


def measure(context, threads, num_files):
    args = context.args
    boxes = record_boxes(context, threads)
    ours = harness.Contestant("galatea", our_command(context, threads))
    limit = harness.Contestant("limit: the same boxes, decoded only", [context.program("decode_limit"), "--boxes", boxes, "--threads", threads])
    peers = [harness.Contestant(name, context.peer(script, "--photos", context.photos, "--threads", threads, "--batch-size", args.batch_size,
                                                   "--epochs", args.epochs, *more), context.no_peers) for name, script, more in PEERS]
    everyone = [limit, ours, *peers]
    harness.run_rounds(everyone, args.rounds)
    for needed in (limit, ours):
        if needed.skipped:
            raise harness.Failure(needed.skipped)
    rows = [["", "images/s", "CPU ms/image", "of the limit", "galatea is faster by"]]
    entries = []
    for one in everyone:
        if one.skipped:
            rows.append([one.name, "SKIPPED", "", "", one.skipped.splitlines()[-1][:60]])
            entries.append({"name": one.name, "skipped": one.skipped})
            continue
        of_limit, faster = harness.ratio(one, limit), harness.ratio(ours, one)
        rows.append([one.name, f"{one.rate:.0f}", f"{one.cpu_ms:.3f}" if one.cpu else "", harness.show_ratio(of_limit), harness.show_ratio(faster) if one in peers else ""])
        entries.append({"name": one.name, "images_per_second": one.rate, "rounds": one.rates, "cpu_ms_per_image": one.cpu_ms, "of_limit": of_limit, "ours_by_it": faster,
                        "versions": one.versions})
    print(f"\nimagenet-train: {num_files} files, batch {args.batch_size}, {threads} thread{'s' if threads > 1 else ''}; medians of {args.rounds} "
          f"alternating rounds of {args.epochs} epochs (lowest - highest)")
    print(harness.table(rows))
    return {"threads": threads, "contestants": entries}


def compare_outputs(context, files):
    """Each peer's pixels of one fixed window against ours, in levels of 8-bit colour."""
    if context.no_peers:
        return []
    large = [path for path in files if fits(harness.jpeg_size(path))][:FIXED_FILES]
    if not large:
        print(f"output differences: SKIPPED: no file is as large as {TOP + WINDOW_HEIGHT} x {LEFT + WINDOW_WIDTH}")
        return []
    listed = harness.OUT / "imagenet-train-fixed.txt"
    listed.write_text("".join(f"{path} 0\n" for path in large))
    our_file = harness.OUT / "imagenet-train-galatea.f32"
    harness.call_json([context.program("pipeline_bench"), PIPELINE, "--pipeline", "fixed", "--batch-size", len(large), "--epochs", 1, "--dump", our_file,
                       *(part for name, value in dict(file_list=listed, top=TOP, left=LEFT, height=WINDOW_HEIGHT, width=WINDOW_WIDTH).items()
                         for part in ("--set", f"{name}={value}"))])
    ours = floats(our_file)
    rows, out = [["output against galatea's, levels of 255", "mean", "largest"]], []
    for number, (name, script, more) in enumerate(PEERS):
        theirs_file = harness.OUT / f"imagenet-train-peer{number}.f32"
        done = harness.call(context.peer(script, "--fixed", listed, TOP, LEFT, WINDOW_HEIGHT, WINDOW_WIDTH, "--out", theirs_file, *more))
        theirs = floats(theirs_file) if done.returncode == 0 else []
        if len(theirs) != len(ours):
            reason = done.stderr.strip().splitlines()[-1:] or [f"{len(theirs)} numbers instead of {len(ours)}"]
            rows.append([name, "SKIPPED", reason[0][:60]])
            out.append({"name": name, "skipped": reason[0]})
            continue
        mean, largest = difference(ours, theirs)
        rows.append([name, f"{mean:.4f}", f"{largest:.2f}"])
        out.append({"name": name, "mean_levels": mean, "max_levels": largest})
    print(f"\nimagenet-train: the window [{TOP}, {TOP + WINDOW_HEIGHT}) x [{LEFT}, {LEFT + WINDOW_WIDTH}) of {len(large)} files")
    print(harness.table(rows))
    return out


def fits(size):
    return size is not None and size[0] >= TOP + WINDOW_HEIGHT and size[1] >= LEFT + WINDOW_WIDTH


def floats(path):
    values = array.array("f")
    with open(path, "rb") as file:
        values.fromfile(file, os.path.getsize(path) // 4)
    return values


def difference(ours, theirs):
    """Mean and largest difference; planes of a picture follow each other, one per channel."""
    plane = 224 * 224
    total = largest = 0.0
    for start in range(0, len(ours), plane):
        scale = STD_LEVELS[start // plane % 3]
        levels = [abs(a - b) for a, b in zip(ours[start:start + plane], theirs[start:start + plane])]
        total += scale * sum(levels)
        largest = max(largest, scale * max(levels))
    return total / len(ours), largest
