"""The conditional example: half of the photographs become more colourful, the other half gets its edges drawn."""

import photo_bench

DESCRIPTION = "an if on data: saturation for half of the samples, edges for the others"
TOP, LEFT, HEIGHT, WIDTH = photo_bench.WINDOW
BENCH = photo_bench.PhotoBench("seed-conditional", DESCRIPTION, "bench/benches/seed_conditional.dali-dsl",
                               {"top": TOP, "left": LEFT, "height": HEIGHT, "width": WIDTH})


def run(context):
    photo_bench.run(context, BENCH)
