"""imagenet-train with AutoAugment's ImageNet policy before it normalises."""

import policy_bench

DESCRIPTION = "imagenet-train with AutoAugment, against imagenet-train and DALI"
POLICIES = [policy_bench.Policy("autoaugment", "bench/benches/autoaugment.dali-dsl", share=0.92, by_dali=3.3)]


def run(context):
    policy_bench.run(context, "autoaugment", POLICIES)
