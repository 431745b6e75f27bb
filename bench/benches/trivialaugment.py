"""imagenet-train with TrivialAugmentWide before it normalises."""

import policy_bench

DESCRIPTION = "imagenet-train with TrivialAugment, against imagenet-train and DALI"
POLICIES = [policy_bench.Policy("trivialaugment", "bench/benches/trivialaugment.dali-dsl", share=0.92, by_dali=2.8)]


def run(context):
    policy_bench.run(context, "trivialaugment", POLICIES)
