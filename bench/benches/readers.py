"""Reading: samples per second from each container, as bytes and with `imagenet-train` behind, from the page cache and from the disk; and a folder of
a million files until its first batch.

The data are the JPEGs of the photographs, again and again until there are FILES of them, written by `galatea data convert`. Cold: before each run the
system is told to forget the files (posix_fadvise), and the first epoch is timed.
"""

import os
import subprocess
import time
from dataclasses import dataclass

import contest
import harness
import report

DESCRIPTION = "samples per second of readers, warm and cold, and listing a million files"
FORMS = ("folder", "webdataset", "tfrecord", "recordio", "lmdb")
FILES = 2048
LISTED = 1_000_000
PIPELINES = "bench/benches/readers.dali-dsl"
#: Name, script in bench/peers/readers, the forms that it reads.
PEERS = (
    ("DALI", "dali_reader.py", FORMS),
    ("tf.data", "tf_reader.py", ("folder", "tfrecord")),
    ("webdataset", "torch_readers.py", ("webdataset",)),
    ("torchdata", "torch_readers.py", ("folder",)),
)


def make_data(context):
    """A folder of each form with the same samples."""
    photos = sorted(path for path in context.photos.glob("*/*") if path.suffix.lower() in (".jpg", ".jpeg"))
    if not photos:
        raise harness.Failure(f"{context.photos} has no JPEG files in its sub-folders")
    contents = [path.read_bytes() for path in photos]
    root = context.scratch / "data"
    for number in range(FILES):
        folder = root / "folder" / f"{number * 8 // FILES}"
        folder.mkdir(parents=True, exist_ok=True)
        (folder / f"{number:06}.jpg").write_bytes(contents[number % len(contents)])
    for form in FORMS[1:]:
        done = harness.call([context.program("galatea"), "data", "convert", root / "folder", "--to", form, "--out", root / form])
        if done.returncode != 0:
            raise harness.Failure(f"the data cannot be converted to {form}: {harness.last_words(done.stderr)}")
    os.sync()
    return root


def forget(folder):
    """Takes files out of the page cache."""
    for path in folder.rglob("*"):
        if path.is_file():
            descriptor = os.open(path, os.O_RDONLY)
            os.posix_fadvise(descriptor, 0, 0, os.POSIX_FADV_DONTNEED)
            os.close(descriptor)


@dataclass
class Reader(contest.Contestant):
    """A contestant whose data are forgotten first, where the run is to be cold."""
    data: harness.Path = None
    is_cold: bool = False

    def measure(self, timeout=None):
        if self.is_cold:
            forget(self.data)
        super().measure(timeout)


def ours(context, form, work, threads, is_cold, data):
    epochs = (0, 1) if is_cold else (context.args.warm_up, context.args.epochs)
    command = [context.program("pipeline_bench"), PIPELINES, "--pipeline", "bytes_only" if work == "bytes" else "train", "--set", f"form={form}",
               "--set", f"data={data / form}", "--threads", threads, "--batch-size", context.args.batch_size, "--warm-up", epochs[0], "--epochs", epochs[1],
               *(["--from-session"] if is_cold else [])]
    return Reader("galatea", command, data=data / form, is_cold=is_cold)


def peer(context, name, script, form, work, threads, is_cold, data):
    epochs = (0, 1) if is_cold else (1, context.args.epochs)
    command = context.peer(f"readers/{script}", "--form", form, "--data", data / form, "--work", work, "--threads", threads, "--batch-size",
                           context.args.batch_size, "--warm-up", epochs[0], "--epochs", epochs[1])
    return Reader(name, command, skipped=context.no_peers, is_peer=True, data=data / form, is_cold=is_cold)


def read_containers(context, result):
    data = make_data(context)
    for form in FORMS:
        for work in ("bytes", "train"):
            for is_cold in (False, True):
                for threads in context.args.threads:
                    heat = "cold" if is_cold else "warm"
                    case = f"{form}-{work}-{heat}-{threads}"
                    if not context.wants_case(case):
                        continue
                    us = ours(context, form, work, threads, is_cold, data)
                    everyone = [us, *(peer(context, name, script, form, work, threads, is_cold, data) for name, script, forms in PEERS
                                      if form in forms and context.wants_peer(name))]
                    contest.run_rounds(everyone, context.args.rounds, context.args.timeout)
                    if us.skipped:
                        raise harness.Failure(us.skipped)
                    rows, entries = report.standings(everyone, None, us)
                    print(f"\n{case}: {FILES} samples, batch {context.args.batch_size}; medians of {context.args.rounds} alternating rounds")
                    report.show(rows, entries)
                    result["tables"].append({"case": case, "form": form, "work": work, "cold": is_cold, "threads": threads, "contestants": entries})


LIST_PIPELINE = """from nvidia.dali import pipeline_def, fn


@pipeline_def(batch_size=64, num_threads=1)
def first(data: str):
    encoded, label = fn.readers.file(file_root=data, random_shuffle=True)
    return encoded, label
"""


def list_a_million(context, result):
    """Until the first batch, the whole process counted, against `find | sort` of the same folder."""
    root = context.scratch / "many"
    for number in range(1000):
        folder = root / f"{number:04}"
        folder.mkdir(parents=True)
        for file in range(LISTED // 1000):
            os.close(os.open(folder / f"{number:04}_{file:06}.jpg", os.O_WRONLY | os.O_CREAT))
    pipeline = context.scratch / "first.dali-dsl"
    pipeline.write_text(LIST_PIPELINE)
    our_command = [context.program("galatea"), "run", pipeline, "--set", f"data={root}", "--batches", "1"]
    find_command = ["bash", "-c", f"find {root} -type f | LC_ALL=C sort > /dev/null"]

    def seconds(command):
        begin = time.perf_counter()
        done = subprocess.run([str(part) for part in command], capture_output=True, text=True, cwd=harness.ROOT, check=False)
        if done.returncode != 0:
            raise harness.Failure(f"{command[0]} ended with status {done.returncode}: {harness.last_words(done.stderr)}")
        return time.perf_counter() - begin

    seconds(find_command)
    rounds = [(seconds(our_command), seconds(find_command)) for _ in range(context.args.rounds)]
    ratios = sorted(mine / theirs for mine, theirs in rounds)
    middle = ratios[len(ratios) // 2]
    print(f"\nlist: {LISTED} files in 1000 folders until the first batch: {sorted(mine for mine, _ in rounds)[len(rounds) // 2]:.2f} s, "
          f"find | sort {sorted(theirs for _, theirs in rounds)[len(rounds) // 2]:.2f} s, ratio {middle:.2f} ({ratios[0]:.2f} - {ratios[-1]:.2f})")
    result["list"] = {"files": LISTED, "rounds": rounds, "ratio": middle}


def run(context):
    result = {"name": "readers", "machine": report.machine(), "files": FILES, "rounds": context.args.rounds, "tables": []}
    if any(context.wants_case(f"{form}-{work}-{heat}-{threads}") for form in FORMS for work in ("bytes", "train") for heat in ("warm", "cold")
           for threads in context.args.threads):
        read_containers(context, result)
    if context.wants_case("list"):
        list_a_million(context, result)
    charts = [report.chart(f"readers, {table['case']}: samples/s", table["contestants"]) for table in result["tables"]]
    report.write("readers", result, charts)
