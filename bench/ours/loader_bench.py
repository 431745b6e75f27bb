"""Runs a pipeline through galatea.torch and measures whole epochs, as pipeline_bench does through the C API.

--package: the folder with our package. --dump FILE writes the first output of the first epoch, raw. Prints a line of JSON.
"""

import argparse
import json
import sys
import time


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("file")
    parser.add_argument("--package", required=True)
    parser.add_argument("--pipeline")
    parser.add_argument("--set", action="append", default=[], metavar="NAME=VALUE")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--batch-size", type=int, default=64)
    parser.add_argument("--epochs", type=int, default=3)
    parser.add_argument("--warm-up", type=int, default=1)
    parser.add_argument("--seed", type=int, default=42)
    parser.add_argument("--dump")
    args = parser.parse_args()
    sys.path.insert(0, args.package)

    import galatea.torch
    import torch

    torch.set_num_threads(1)
    loader = galatea.torch.Loader(args.file, pipeline=args.pipeline, parameters=dict(one.split("=", 1) for one in args.set), tiers="best",
                                  num_threads=args.threads, batch_size=args.batch_size, seed=args.seed)
    if args.dump:
        with open(args.dump, "wb") as file:
            for batch in loader:
                batch[0].numpy().tofile(file)
        print("{}")
        return

    def run_epoch():
        return sum(batch[0].shape[0] for batch in loader)

    for _ in range(args.warm_up):
        run_epoch()
    begin, cpu_begin = time.perf_counter(), time.process_time()
    samples = sum(run_epoch() for _ in range(args.epochs))
    print(json.dumps({"samples": samples, "seconds": time.perf_counter() - begin, "cpu_seconds": time.process_time() - cpu_begin,
                      "versions": {"galatea": galatea.version(), "torch": torch.__version__}}))


main()
