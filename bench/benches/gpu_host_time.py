"""What a batch on a GPU costs the host, without a GPU: the fake driver takes the calls and does nothing.

A program of three kernel calls a sample, as a policy has. Recording is done by the workers, sample by sample; enqueueing by whoever finishes the
batch: copies, launches, events; with launches as CUDA graphs, and one by one. The aim is 100 us for a batch of 32.
"""

import json

import harness

DESCRIPTION = "host time of a batch on a GPU, with the fake driver"
HAS_PEERS = False
THREADS = [1]
SIZES = [1, 8, 32, 128, 256]
LIMIT_US = 100


def run(context):
    print("\ngpu-host-time: " + DESCRIPTION + "\n", flush=True)
    rows = []
    for size in SIZES:
        rounds = {"true": [], "false": []}
        for _ in range(context.args.rounds):
            for graphs, done in rounds.items():
                done.append(harness.call_json([context.program("gpu_host_bench"), "--batch-size", size, "--graphs", graphs]))
        rows += [min(done, key=lambda row: row["enqueue_us"]) for done in rounds.values()]
    print("batch  graphs   enqueue us (median, least, without the fake's)   record us   driver calls   pinned taken   launches   uploads")
    for row in rows:
        print(f"{row['batch_size']:5}  {'yes' if row['graphs'] else 'no':>6}   {row['enqueue_us']:10.1f} {row['enqueue_least_us']:10.1f} {row['own_us']:10.1f}   {row['record_us']:30.1f}   "
              f"{row['driver_calls']:12}   {row['pinned_taken']:12}   {row['launches']:8}   {row['uploads']:7}")
    decodes = [
        min(
            (harness.call_json([context.program("gpu_host_bench"), "--decodes", "--batches", 60, "--batch-size", size])
             for _ in range(context.args.rounds)),
            key=lambda row: row["run_own_us"],
        )
        for size in (8, 32, 256)
    ]
    print("\ndecoded by nvJPEG, 375 x 500: microseconds of ours a batch, without the fake nvJPEG's")
    for row in decodes:
        print(f"{row['batch_size']:5}  workers {row['begin_own_us']:8.1f}   enqueueing {row['run_own_us']:8.1f}")
    (harness.OUT / "gpu-host-time.json").write_text(json.dumps({"program": rows, "decodes": decodes}, indent=1) + "\n")
    at = {row["graphs"]: row for row in rows if row["batch_size"] == 32}
    print(f"\na batch of 32 takes {at[True]['enqueue_us']:.0f} us to enqueue, {at[False]['enqueue_us']:.0f} us without graphs; the limit is {LIMIT_US}")
