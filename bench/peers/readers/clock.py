"""What every peer over containers shares: its arguments, the clock, the line of JSON that bench/run.py reads.

A peer is called with --form, --data (the folder of that form), --work bytes|train, --threads, --batch-size, --warm-up and --epochs. An epoch is
everything once; what is not timed are imports and making the loader, so that a cold run (--warm-up 0 --epochs 1) is timed from its first read.
"""

import argparse
import json
import time


def arguments():
    parser = argparse.ArgumentParser()
    parser.add_argument("--form", required=True)
    parser.add_argument("--data", required=True)
    parser.add_argument("--work", choices=["bytes", "train"], required=True)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--batch-size", type=int, default=64)
    parser.add_argument("--warm-up", type=int, default=1)
    parser.add_argument("--epochs", type=int, default=3)
    return parser.parse_args()


def report(run_epoch, args, versions):
    """run_epoch() runs one epoch and returns how many samples it delivered."""
    for _ in range(args.warm_up):
        run_epoch()
    begin, cpu_begin = time.perf_counter(), time.process_time()
    samples = sum(run_epoch() for _ in range(args.epochs))
    seconds, cpu_seconds = time.perf_counter() - begin, time.process_time() - cpu_begin
    print(json.dumps({"samples": samples, "seconds": seconds, "cpu_seconds": cpu_seconds, "versions": versions}))
