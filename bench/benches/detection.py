"""Training of a detector on photographs: random_bbox_crop, only that decoded, 300 x 300, colours, mirror, normalise; boxes and classes along.

The boxes are made up: of eight that are the same for every photograph, the first 1 to 8 by its class.
"""

import photo_bench

DESCRIPTION = "decode, random_bbox_crop, resize, colour, mirror and normalise photographs, with boxes"
TOP, LEFT, HEIGHT, WIDTH = photo_bench.WINDOW
PEERS = tuple(peer for peer in photo_bench.PEERS if peer[0] in ("DALI", "Albumentations, OpenCV"))
BENCH = photo_bench.PhotoBench("detection", DESCRIPTION, "bench/benches/detection.dali-dsl",
                               {"top": TOP, "left": LEFT, "height": HEIGHT, "width": WIDTH, "brightness": 1.1, "contrast": 0.9, "saturation": 1.2,
                                "hue": 10.0}, peers=PEERS)


def run(context):
    photo_bench.run(context, BENCH)
