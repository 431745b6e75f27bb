"""Cases of fn.debayer, whose numbers on the CPU are OpenCV's."""
import numpy as np

import formulas
from recorder import Feed
from samples import images

PLACES = [[0, 0], [0, 1], [1, 0], [1, 1]]
VECTORS = dict(tolerance=1, why="OpenCV's vectors and the rest of its row round the share of a gradient differently")
EVEN = [(14, 18), (8, 10), (4, 6), (2, 2)]


def sensor(sizes=EVEN, layout="HW", **options):
    batch = images(sizes, layout="HW", **options)
    return Feed([x[..., None] for x in batch] if layout == "HWC" else batch, layout)


def add(group):
    for algorithm in ("bilinear_ocv", "edgeaware_ocv", "vng_ocv", "gray_ocv"):
        options = VECTORS if algorithm == "vng_ocv" else {}
        for place in PLACES:
            for dtype in ("uint8", "uint16"):
                if algorithm == "vng_ocv" and dtype == "uint16":
                    continue
                group.case(f"debayer_{algorithm}_{place[0]}{place[1]}_{dtype}", f'fn.debayer(x, blue_position={place}, algorithm="{algorithm}")',
                           {"x": sensor(dtype=dtype, key=1000)}, **options,
                           expect=lambda x, p=place, a=algorithm: formulas.debayer(x, p, a))
    group.case("debayer_default", "fn.experimental.debayer(x, blue_position=1)", {"x": sensor(key=1010)}, expect=lambda x: formulas.debayer(x, [1, 1]))
    group.case("debayer_hwc", "fn.debayer(x, blue_position=[0, 1])", {"x": sensor(layout="HWC", key=1012)},
               expect=lambda x: formulas.debayer(x[..., 0], [0, 1]))
    places = Feed([np.array(place, np.int32) for place in PLACES])
    group.case("debayer_per_sample", "fn.debayer(x, blue_position=p)", {"x": sensor(key=1014), "p": places}, expect=formulas.debayer)
    frames = Feed([np.stack(images([size] * 3, layout="HW", key=1016)) for size in ((6, 8), (4, 10))], "FHW")
    group.case("debayer_frames", "fn.debayer(x, blue_position=[1, 0])", {"x": frames},
               expect=lambda x: np.stack([formulas.debayer(frame, [1, 0]) for frame in x]))
    of_frames = Feed([np.array(PLACES[:3], np.int32), np.array(PLACES[1:], np.int32)])
    group.case("debayer_per_frame", "fn.debayer(x, blue_position=fn.per_frame(fn.reshape(p, shape=[3, 2])))", {"x": frames, "p": of_frames},
               expect=lambda x, p: np.stack([formulas.debayer(*one) for one in zip(x, p)]))
    feeds = {"x": sensor(key=1018)}
    for name, arguments in (("place", "blue_position=[0, 2]"), ("length", "blue_position=[0, 1, 1]"), ("algorithm", 'blue_position=0, algorithm="x"'),
                            ("for_gpus", 'blue_position=0, algorithm="default_npp"'), ("missing", "")):
        group.refused("refused_debayer_" + name, f"fn.debayer(x, {arguments})", feeds)
    group.refused("refused_debayer_vng_uint16", 'fn.debayer(x, blue_position=0, algorithm="vng_ocv")', {"x": sensor(dtype="uint16")})
    group.refused("refused_debayer_int16", "fn.debayer(x, blue_position=0)", {"x": sensor(dtype="int16")})
    group.refused("refused_debayer_rgb", "fn.debayer(x, blue_position=0)", {"x": Feed(images(EVEN), "HWC")})
    group.refused("refused_debayer_odd", "fn.debayer(x, blue_position=0)", {"x": sensor([(7, 8)])})
