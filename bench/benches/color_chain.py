"""Six colour operators in a row on decoded pictures of 500 x 375: as bytes, and normalised as planes of floats."""

import random

import memory_bench

DESCRIPTION = "brightness, contrast, saturation, hue, solarize, posterize on pictures in memory"
FILE = "bench/benches/color_chain.dali-dsl"
FORM = memory_bench.Form("u8", 375, 500, 16)


def parameters():
    chance = random.Random(7)

    def floats(name, low, high):
        return memory_bench.Parameter(name, "f32", (), [[chance.uniform(low, high)] for _ in range(memory_bench.PARAMETER_ROWS)])

    def picks(name, values):
        return memory_bench.Parameter(name, "u8", (), [[chance.choice(values)] for _ in range(memory_bench.PARAMETER_ROWS)])

    return [floats("brightness", 0.8, 1.2), floats("contrast", 0.8, 1.2), floats("saturation", 0.7, 1.3), floats("hue", -15, 15),
            picks("threshold", range(128, 256)), picks("mask", (0xF0, 0xF8, 0xFC, 0xFE))]


def cases():
    return [memory_bench.Case(f"color-chain {pipeline}", FILE, FORM, pipeline, planes=pipeline == "floats", parameters=parameters()) for pipeline in ("bytes", "floats")]


def run(context):
    memory_bench.run_chain(context, "color-chain", cases())
