#!/usr/bin/env python3
"""Runs benchmarks: ./dev bench [NAME...] [options]. Each prints tables and writes build/bench/NAME.json and NAME.svg.

A benchmark is a file in bench/benches/ with DESCRIPTION and run(context). Peers run in an environment of their own (build/bench-env, pinned by
bench/requirements.txt), contestants in turns.
"""

import argparse
import importlib.util
import pathlib
import signal
import sys

import harness


def benches():
    found = {}
    for path in sorted((harness.ROOT / "bench/benches").glob("*.py")):
        spec = importlib.util.spec_from_file_location(path.stem, path)
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        if hasattr(module, "DESCRIPTION"):
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


def names(text):
    return [part for part in text.split(",") if part]


def arguments(known, words=None):
    parser = argparse.ArgumentParser(prog="./dev bench", description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("names", nargs="*", metavar="NAME",
                        help="\n".join(f"{name}: {module.DESCRIPTION}" for name, module in known.items()))
    parser.add_argument("--photos", help="a folder of JPEGs, or with one sub-folder of them per class (default: the drawn samples)")
    parser.add_argument("--rounds", type=int, default=5, help="how often each contestant runs (default 5)")
    parser.add_argument("--warm-up", type=int, default=3, help="epochs of ours and of the limit that come before those that are timed (default 3)")
    parser.add_argument("--epochs", type=int, default=3, help="epochs that are timed in a run over photographs (default 3)")
    parser.add_argument("--seconds", type=float, default=0.3, help="how long a run over pictures in memory is timed (default 0.3)")
    parser.add_argument("--threads", type=numbers, help="numbers of threads, one table each (default 1,2; per-op: 1)")
    parser.add_argument("--batch-size", type=int, default=64, help="of benchmarks over photographs (default 64)")
    parser.add_argument("--programs", default=harness.BUILD / "bin", type=pathlib.Path, help="where the built programs are (default build/bin)")
    parser.add_argument("--no-peers", action="store_true", help="only ours and the limit")
    parser.add_argument("--peers", type=names, default=[], help="only peers whose names contain one of these, such as dali,opencv")
    parser.add_argument("--only", type=names, default=[], help="only cases whose names contain one of these, such as hue,flip (per-op, chains)")
    parser.add_argument("--timeout", type=float, default=600, help="seconds until a contestant counts as hanging (default 600)")
    args = parser.parse_args(words)
    if args.rounds < 1 or args.epochs < 1 or args.batch_size < 1 or args.warm_up < 1:
        parser.error("--rounds, --epochs, --warm-up and --batch-size must be at least 1")
    if args.seconds <= 0 or args.timeout <= 0:
        parser.error("--seconds and --timeout must be positive")
    for name in args.names:
        if name not in known:
            parser.error(f"no benchmark '{name}'; there are: {', '.join(known)}")
    return args


def main():
    # As Ctrl-C: contestants and scratch files go too.
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    known = benches()
    args = arguments(known)
    chosen = args.names or list(known)
    args.no_peers = args.no_peers or not any(getattr(known[name], "HAS_PEERS", True) for name in chosen)
    threads = args.threads
    with harness.Context(args) as context:
        failed = []
        for name in chosen:
            args.threads = threads or getattr(known[name], "THREADS", [1, 2])
            try:
                known[name].run(context)
            except harness.Failure as failure:
                # The others do not need this one.
                failed.append(name)
                print(f"bench: {name}: {failure}", file=sys.stderr)
    if failed:
        raise harness.Failure(f"failed: {', '.join(failed)}")


if __name__ == "__main__":
    try:
        main()
    except harness.Failure as failure:
        sys.exit(f"bench: {failure}")
    except KeyboardInterrupt:
        sys.exit(130)
