"""Benchmarks of automatic augmentation: imagenet-train with a policy before it normalises, against imagenet-train of ours and DALI's own policy.

Limit: our imagenet-train, the same threads and files: a policy should cost nothing. Outputs are drawn, so that they are not compared here; that each
augmentation makes what DALI makes is a test (tests/oracle).
"""

from dataclasses import dataclass

import contest
import photo_bench
import report

PLAIN = photo_bench.PhotoBench("imagenet-train", "", "bench/benches/imagenet_train.dali-dsl", {})


@dataclass
class Policy:
    """A .dali-dsl file with the pipeline `train`, and the name under which bench/peers/photos/dali_peer.py has the same."""
    name: str
    pipeline: str
    settings: tuple = ()  # of parameters: ("n=3", "m=15")
    share: float = 0.9  # of imagenet-train that is aimed at
    by_dali: float = 0  # how many times DALI's speed is aimed at


def heat_of(context, policy, threads):
    bench = photo_bench.PhotoBench(policy.name, "", policy.pipeline, {})
    settings = [part for one in policy.settings for part in ("--set", one)]
    return photo_bench.Heat(threads, contest.Contestant("limit: imagenet-train of ours", photo_bench.our_command(context, PLAIN, threads)),
                            contest.Contestant("galatea", photo_bench.our_command(context, bench, threads, *settings)),
                            [photo_bench.peer(context, "DALI", "dali_peer.py", policy.name, threads)] if context.wants_peer("DALI") else [])


def run(context, name, policies):
    args = context.args
    files = photo_bench.photographs(context)
    result = {"name": name, "machine": report.machine(), "files": len(files), "batch_size": args.batch_size, "epochs": args.epochs,
              "rounds": args.rounds, "tables": []}
    charts = []
    for policy in policies:
        heats = [heat_of(context, policy, threads) for threads in args.threads]
        photo_bench.compete(context, heats)
        for heat in heats:
            entries = photo_bench.show(context, policy.name, heat, f" aimed at: {policy.share} of imagenet-train, {policy.by_dali} times DALI;")
            result["tables"].append({"threads": heat.threads, "policy": policy.name, "settings": policy.settings, "contestants": entries})
            charts.append(heat.chart(policy.name))
    report.write(name, result, charts)
