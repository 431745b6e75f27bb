"""Training on photographs: shuffled files, random resized crop, 224 x 224 antialiased, mirror, normalise, planes of floats."""

import photo_bench

DESCRIPTION = "random resized crop of photographs, 224 x 224, normalised"
TOP, LEFT, HEIGHT, WIDTH = photo_bench.WINDOW
BENCH = photo_bench.PhotoBench("imagenet-train", DESCRIPTION, "bench/benches/imagenet_train.dali-dsl",
                               {"top": TOP, "left": LEFT, "height": HEIGHT, "width": WIDTH})


def run(context):
    photo_bench.run(context, BENCH)
