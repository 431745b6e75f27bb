"""How far the schedules that the compiler chooses are from the best legal ones.

Each kernel of the examples is compiled with the chosen schedule and with others drawn at random; all run on the same calls. Printed: the chosen
one's time against the fastest, and what the fastest does differently.
"""

import json
import subprocess

import harness

DESCRIPTION = "the cost model's schedules against random legal ones, kernel by kernel"
HAS_PEERS = False
EXAMPLES = ["02_imagenet_train", "03_conditional", "04_choose_one", "05_blur_by_brightness", "06_two_views"]


def run(context):
    out = harness.OUT / "cost-model.json"
    command = [context.program("schedule_bench"), "--data", context.photos, "--json", out]
    command += [harness.ROOT / f"examples/{name}.dali-dsl" for name in EXAMPLES]
    print("\ncost-model: " + DESCRIPTION + "\n", flush=True)
    subprocess.run([str(part) for part in command], check=True)
    kernels = [entry for entry in json.loads(out.read_text()) if entry["forms"] > 1]
    far = [entry for entry in kernels if entry["of_best"] > 1.10]
    for entry in far:
        print(f"more than 10 % from the best: {entry['kernel']} of {entry['pipeline']}: {entry['best']}")
