"""imagenet-train with RandAugment before it normalises: two operations of magnitude 9, three of 15."""

import policy_bench

DESCRIPTION = "imagenet-train with RandAugment (2, 9 and 3, 15), against imagenet-train and DALI"
FILE = "bench/benches/randaugment.dali-dsl"
POLICIES = [policy_bench.Policy("randaugment-2-9", FILE, ("n=2", "m=9"), share=0.9, by_dali=3.9),
            policy_bench.Policy("randaugment-3-15", FILE, ("n=3", "m=15"), share=0.86, by_dali=4.5)]


def run(context):
    policy_bench.run(context, "randaugment", POLICIES)
