"""Validation on photographs: in order, shorter side to 256, centre crop of 224, normalise, planes of floats."""

import photo_bench

DESCRIPTION = "shorter side 256, centre crop 224, normalised"
BENCH = photo_bench.PhotoBench("imagenet-val", DESCRIPTION, "bench/benches/imagenet_val.dali-dsl", {})


def run(context):
    photo_bench.run(context, BENCH)
