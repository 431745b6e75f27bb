"""The score of a policy: `galatea policy search` runs this for each trial and reads the last line."""

import argparse
import pathlib
import statistics

from digits import Digits

SEEDS = range(3)  # training sets of the search; run.py judges with others


def main():
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("policy", type=pathlib.Path)
    arguments.add_argument("--galatea", required=True)
    arguments.add_argument("--work", type=pathlib.Path, required=True)
    arguments.add_argument("--copies", type=int, default=8)
    arguments.add_argument("--rounds", type=int, default=40)
    args = arguments.parse_args()
    digits = Digits(args.galatea, args.work, args.copies, args.rounds)
    print(statistics.mean(digits.validation(args.policy, seed) for seed in SEEDS))


if __name__ == "__main__":
    main()
