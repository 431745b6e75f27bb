"""Rotate, shear, translate, flip, crop 224 and normalise pictures of 500 x 375: one operator after the other, and as one map composed by hand."""

import random

import contest
import memory_bench

DESCRIPTION = "rotate, shear, translate, flip, crop, normalise on pictures in memory"
FILE = "bench/benches/geometry_chain.dali-dsl"
FORM = memory_bench.Form("u8", 375, 500, 16)


def parameters():
    chance = random.Random(11)
    rows = range(memory_bench.PARAMETER_ROWS)
    return [memory_bench.Parameter("angle", "f32", (), [[chance.uniform(-15, 15)] for _ in rows]),
            memory_bench.Parameter("shear", "f32", (2,), [[chance.uniform(-0.2, 0.2), chance.uniform(-0.2, 0.2)] for _ in rows]),
            memory_bench.Parameter("offset", "f32", (2,), [[chance.uniform(-20, 20), chance.uniform(-20, 20)] for _ in rows]),
            memory_bench.Parameter("flip", "i32", (), [[chance.randrange(2)] for _ in rows])]


def cases():
    return [memory_bench.Case(f"geometry-chain {pipeline}", FILE, FORM, pipeline, planes=pipeline != "resample", parameters=parameters()) for pipeline in ("chain", "composed")]


def more(case, context, arena, threads):
    """Ours with leave to compose, and the limit that matters here: one bilinear map of the picture, bytes out."""
    resample = memory_bench.Case("resample", FILE, FORM, "resample", parameters=parameters())
    out = [contest.Contestant("limit: one bilinear map, bytes out", memory_bench.our_command(context, arena, resample, threads))]
    if case.pipeline == "chain":
        out.append(contest.Contestant("galatea, exact=False", memory_bench.our_command(context, arena, case, threads, "--inexact")))
    return out


def run(context):
    memory_bench.run_chain(context, "geometry-chain", cases(), more)
