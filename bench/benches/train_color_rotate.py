"""imagenet-train with a rotation of up to 15 degrees and a change of all colours before it normalises."""

import photo_bench

DESCRIPTION = "imagenet-train with rotate and color_twist"
TOP, LEFT, HEIGHT, WIDTH = photo_bench.WINDOW
BENCH = photo_bench.PhotoBench("train-color-rotate", DESCRIPTION, "bench/benches/train_color_rotate.dali-dsl",
                               {"top": TOP, "left": LEFT, "height": HEIGHT, "width": WIDTH, "angle": 11.0, "brightness": 1.1, "contrast": 0.9,
                                "saturation": 1.2, "hue": 10.0})


def run(context):
    photo_bench.run(context, BENCH)
