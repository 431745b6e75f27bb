#!/usr/bin/env python3
"""Runs benchmarks: ./dev bench [NAME...] [options]. Each prints a table and writes build/bench/NAME.json.

A benchmark is a file in bench/benches/ with DESCRIPTION and run(context). Peers run in an environment of their own (build/bench-env, pinned by
bench/requirements.txt), every contestant in a process of its own, in alternating rounds.
"""

import argparse
import importlib.util
import pathlib
import sys

import harness


def benches():
    found = {}
    for path in sorted((harness.ROOT / "bench/benches").glob("*.py")):
        spec = importlib.util.spec_from_file_location(path.stem, path)
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        found[path.stem.replace("_", "-")] = module
    return found


def numbers(text):
    try:
        values = [int(part) for part in text.split(",")]
    except ValueError:
        values = []
    if not values or min(values) < 1:
        raise argparse.ArgumentTypeError(f"'{text}' is not a list of positive numbers such as 1,2")
    return values


def main():
    known = benches()
    parser = argparse.ArgumentParser(prog="./dev bench", description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("names", nargs="*", metavar="NAME",
                        help="\n".join(f"{name}: {module.DESCRIPTION}" for name, module in known.items()))
    parser.add_argument("--photos", help="a folder with one sub-folder of JPEGs per class (default: the drawn samples)")
    parser.add_argument("--rounds", type=int, default=5, help="how often each contestant runs (default 5)")
    parser.add_argument("--epochs", type=int, default=3, help="epochs that are timed in a run (default 3)")
    parser.add_argument("--threads", type=numbers, default=[1, 2], help="numbers of threads, one table each (default 1,2)")
    parser.add_argument("--batch-size", type=int, default=64)
    parser.add_argument("--programs", default=harness.BUILD / "bin", type=pathlib.Path, help="where the built programs are (default build/bin)")
    parser.add_argument("--no-peers", action="store_true", help="only ours and the limit")
    args = parser.parse_args()
    if args.rounds < 1 or args.epochs < 1 or args.batch_size < 1:
        parser.error("--rounds, --epochs and --batch-size must be at least 1")
    for name in args.names:
        if name not in known:
            parser.error(f"no benchmark '{name}'; there are: {', '.join(known)}")
    chosen = args.names or list(known)
    args.no_peers = args.no_peers or not any(getattr(known[name], "HAS_PEERS", True) for name in chosen)
    context = harness.Context(args)
    for name in chosen:
        known[name].run(context)


if __name__ == "__main__":
    try:
        main()
    except harness.Failure as failure:
        sys.exit(f"bench: {failure}")
