"""What a person waits for before the first image: the process, checking a large file, compiling a pipeline.

Bounds: a valid file of 50,000 lines is checked within 2 s; staging and passes of examples/02_imagenet_train take at most 20 ms; from process start to
the first batch (16 samples, two threads) that example takes at most 300 ms with no kernel kept from before, and 50 ms with all; a pipeline with a policy
at most 400 ms with none. The wide file has tens of thousands of random outputs: what is quadratic in the graph shows there.
"""

import json
import resource
import statistics
import time

import harness
import report

DESCRIPTION = "process start, checking 50,000 lines, staging and compiling, the first batch"
LINES = 50_000
OUTPUTS = 49_000
HAS_PEERS = False
TRAIN = "examples/02_imagenet_train.dali-dsl"
POLICIES = ("autoaugment", "randaugment", "trivialaugment", "timm", "timm_3a", "timm_augmix", "augmix")
COLD, KEPT = "cold first batch", "first batch, kernels kept"
FILES = {"imagenet-train": TRAIN} | {name: f"bench/benches/{name}.dali-dsl" for name in POLICIES}
BOUNDS = {"check of 50,000 lines": 2.0, "staging and passes": 0.020, "timm: staging and passes": 0.020, f"imagenet-train: {COLD}": 0.3,
          f"imagenet-train: {KEPT}": 0.05} | {f"{name}: {COLD}": 0.4 for name in POLICIES}


def large_file(folder):
    """Functions with arithmetic, loops, strings and operators, as a generated policy has them, and a pipeline that calls each of them."""
    lines = ["from nvidia.dali import pipeline_def, fn, types", ""]
    names = []
    while len(lines) < LINES - 3000:
        name = f"step_{len(names)}"
        names.append(name)
        lines += [f"def {name}(image, strength=0.{len(names) % 90 + 10}):",
                  f'    """Step {len(names)} of the policy."""',
                  "    values = [strength * i for i in range(4)]",
                  "    if strength > 0.5:",
                  "        scale = 1 + values[1] / 10",
                  "    else:",
                  "        scale = 1 - values[2] / 10",
                  f'    label = f"{name}: {{scale:.3f}}"',
                  "    assert len(label) > 3, label",
                  "    image = image * scale + values[3]",
                  "    return image",
                  ""]
    lines += ["@pipeline_def(batch_size=8)", "def train(data: str = 'build/samples'):", "    encoded, label = fn.readers.file(file_root=data)",
              "    image = fn.decoders.image(encoded)"]
    remaining = LINES - len(lines) - 1
    lines += [f"    image = {names[i % len(names)]}(image)" for i in range(remaining)] + ["    return image, label"]
    path = folder / "start-up.dali-dsl"
    path.write_text("\n".join(lines) + "\n")
    return path


def wide_file(folder):
    """A pipeline with many random outputs and no reader."""
    path = folder / "start-up-wide.dali-dsl"
    path.write_text(f"""from nvidia.dali import pipeline_def, fn

@pipeline_def(batch_size=1)
def wide():
    return tuple([fn.random.uniform() for _ in range({OUTPUTS})])
""")
    return path


def processor_seconds():
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def timed(command):
    """Seconds of one process on the clock and of all cores, and what it printed."""
    begin, used = time.perf_counter(), processor_seconds()
    done = harness.call(command)
    seconds = (time.perf_counter() - begin, processor_seconds() - used)
    if done.returncode != 0:
        raise harness.Failure(f"{' '.join(map(str, command))}\nended with status {done.returncode}:\n{(done.stderr + done.stdout).strip()[-2000:]}")
    return seconds, done.stdout


def first_batch(context, file, *options):
    return timed([context.program("galatea"), "run", file, "--set", f"data={context.photos}", "--batch-size", 16, "--threads", 2, "--batches", 1, *options])[0]


def run(context):
    galatea = context.program("galatea")
    large, wide = large_file(context.scratch), wide_file(context.scratch)
    trace = context.scratch / "start-up-trace.json"
    wide_name = f"check of {OUTPUTS:,} random outputs"
    rows = {name: [] for name in ("process start", "check of 50,000 lines", wide_name, "staging and passes", "timm: staging and passes")}
    for name, file in FILES.items():
        rows |= {f"{name}: {COLD}": [], f"{name}: {KEPT}": []}
        # One batch with the first tier would keep some kernels only.
        first_batch(context, harness.ROOT / file, "--tiers", "best")
    for _ in range(context.args.rounds):
        for name, file in FILES.items():
            rows[f"{name}: {COLD}"].append(first_batch(context, harness.ROOT / file, "--cache", "off"))
            rows[f"{name}: {KEPT}"].append(first_batch(context, harness.ROOT / file))
        rows["process start"].append(timed([galatea, "--help"])[0])
        rows["check of 50,000 lines"].append(timed([galatea, "check", large])[0])
        rows[wide_name].append(timed([galatea, "check", "--limit", f"nodes={2 * OUTPUTS}", wide])[0])
        first_batch(context, harness.ROOT / "bench/benches/timm.dali-dsl", "--trace", trace)
        rows["timm: staging and passes"].append((compile_seconds(trace, ("stage", "passes")), None))
        first_batch(context, harness.ROOT / TRAIN, "--trace", trace)
        rows["staging and passes"].append((compile_seconds(trace, ("stage", "passes")), None))
    print("\nstart-up: medians of", context.args.rounds, "rounds")
    shown, entries = [["", "ms", "CPU ms", "bound"]], []
    for name, rounds in rows.items():
        clock = [seconds for seconds, _ in rounds]
        cpu = [seconds for _, seconds in rounds if seconds is not None]
        median, bound = statistics.median(clock), BOUNDS.get(name)
        cpu_median = statistics.median(cpu) if cpu else None
        shown.append([name, f"{1000 * median:.1f}", f"{1000 * cpu_median:.1f}" if cpu else "", f"{1000 * bound:.0f}" if bound else ""])
        entries.append({"name": name, "seconds": median, "cpu_seconds": cpu_median, "rounds": clock, "bound": bound})
    print(report.table(shown))
    bars = [(entry["name"], 1000 * entry["seconds"], f"bound: {1000 * entry['bound']:.0f}" if entry["bound"] else "") for entry in entries]
    report.write("start-up", {"name": "start-up", "machine": report.machine(), "lines": LINES, "entries": entries}, [("start-up: milliseconds", bars)])


def compile_seconds(trace, names):
    events = json.loads(trace.read_text())
    events = events["traceEvents"] if isinstance(events, dict) else events
    found = [event["dur"] for event in events if event.get("cat") == "compile" and event["name"] in names]
    if len(found) != len(names):
        raise harness.Failure(f"{trace} does not hold {', '.join(names)} once each")
    return sum(found) / 1e6
