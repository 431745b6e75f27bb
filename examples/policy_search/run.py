"""Searches a policy for a small classifier, and compares it with RandAugment and with none on pictures that the search
has not seen.

    ./dev run examples/policy_search          # installs what it trains with, builds galatea, runs this

Everything lies in build/policy_search: found.json, search.html, results.json.
"""

import argparse
import json
import pathlib
import shlex
import statistics
import subprocess
import sys
import time

from digits import HERE, NUM_TRAIN, Digits, parts

RAND_AUGMENT = "rand_augment(n=2, m=9, shape=shape, fill_value=0)"
FIRST_SEED = 100  # of the training sets that judge; the search has 0, 1, 2
ROOT = HERE.parents[1]


def galatea(args, *words):
    subprocess.run([str(word) for word in (args.galatea, *words)], check=True)


def search(args):
    objective = [sys.executable, HERE / "objective.py", "--galatea", args.galatea, "--work", args.work]
    objective += ["--copies", args.copies, "--rounds", args.rounds]
    galatea(args, "policy", "search", HERE / "space.json", "--strategy", "evolution", "--seed", 1, "--trials", args.trials,
            "--jobs", args.jobs, "--timeout", 300, "--folder", args.work / "search", "-o", args.work / "found.json",
            "--report", args.work / "search.html", "--objective",
            " ".join(shlex.quote(str(word)) for word in objective) + " {policy}")


def judge(args):
    """By policy: the share recognised of the test part, for each seed."""
    galatea(args, "policy", "convert", RAND_AUGMENT, "-o", args.work / "rand_augment.json")
    policies = [HERE / "none.json", args.work / "rand_augment.json", args.work / "found.json"]
    digits = Digits(args.galatea, args.work, args.copies, args.rounds)
    scores = {policy.stem: [] for policy in policies}
    for seed in range(FIRST_SEED, FIRST_SEED + args.seeds):
        for name, score in digits.test(policies, seed).items():
            scores[name].append(score)
    return scores


def table(scores):
    lines = [f"{'policy':14}  {'mean':>7}  {'spread':>7}  {'least':>7}  {'most':>7}  {'over none':>9}"]
    for name, values in scores.items():
        gain = statistics.mean(a - b for a, b in zip(values, scores["none"]))
        lines.append(f"{name:14}  {100 * statistics.mean(values):6.2f}%  {100 * statistics.stdev(values):6.2f}%  "
                     f"{100 * min(values):6.2f}%  {100 * max(values):6.2f}%  {100 * gain:+8.2f}%")
    return "\n".join(lines)


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--galatea", default=ROOT / "build/bin/galatea", help="the program")
    arguments.add_argument("--work", type=pathlib.Path, default=ROOT / "build/policy_search", help="where everything is written")
    arguments.add_argument("--trials", type=int, default=60)
    arguments.add_argument("--seeds", type=int, default=10, help="training sets that judge")
    arguments.add_argument("--jobs", type=int, default=2)
    arguments.add_argument("--copies", type=int, default=8, help="passes over a training set that are kept")
    arguments.add_argument("--rounds", type=int, default=40, help="rounds of training over these")
    args = arguments.parse_args()
    if args.seeds < 2:
        arguments.error("a spread needs two seeds")
    args.work = args.work.resolve()
    args.work.mkdir(parents=True, exist_ok=True)
    began = time.monotonic()
    search(args)
    searched = time.monotonic()
    scores = judge(args)
    seconds = {"search": searched - began, "judging": time.monotonic() - searched}
    (args.work / "results.json").write_text(json.dumps({"scores": scores, "seconds": seconds}) + "\n")
    print(f"\n{args.seeds} training sets of {NUM_TRAIN} pictures, {len(parts()[1])} test pictures, "
          f"{seconds['search']:.0f} s of search, {seconds['judging']:.0f} s of judging\n\n{table(scores)}")


if __name__ == "__main__":
    main()
