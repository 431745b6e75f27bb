"""Cases of fn.rotate and fn.warp_affine."""
import numpy as np

import formulas
from recorder import Feed
from samples import SIZES, images

ONE_LEVEL = "DALI steps along a row in float32 and rounds ties away from zero"
STEPS = "DALI steps along a row in float32, which moves places by some 1e-6 of the extent"


def feeds_of(key=500, **options):
    return {"x": Feed(images(SIZES, key=key, **options), "HWC")}


def feed(values, dtype=np.float32):
    return Feed([np.array(value, dtype) for value in values])


def add_case(group, name, expression, feeds, reference):
    dtype = feeds["x"].samples[0].dtype
    if "INTERP_NN" in expression:
        group.case(name, expression, feeds, expect=reference)
    elif dtype.kind == "f" or "types.FLOAT" in expression or dtype.itemsize >= 4:
        group.case(name, expression, feeds, tolerance=2e-5, kind="range", why=STEPS, expect=reference)
    else:
        group.case(name, expression, feeds, tolerance=1, why=ONE_LEVEL, mean_tolerance=0.1, expect=reference)


NEAREST = ", interp_type=types.INTERP_NN"
ANGLES = [10.0, -33.3, 45.5, 73.0, 90.0, 121.7, 180.0, -90.0, 270.0, 359.0, 0.0, 1000.5]


def add_rotate(group):
    for angle in ANGLES:
        add_case(group, f"rotate_{angle:g}", f"fn.rotate(x, angle={angle}, fill_value=7)", feeds_of(),
                 lambda x, a=angle: formulas.rotate(x, a, fill=7))
        add_case(group, f"rotate_{angle:g}_nearest", f"fn.rotate(x, angle={angle}, fill_value=7{NEAREST})", feeds_of(),
                 lambda x, a=angle: formulas.rotate(x, a, fill=7, linear=False))
    for name, arguments, options in [
            ("edge", "", {}), ("keep", ", keep_size=True", dict(keep_size=True)),
            ("keep_fill", ", keep_size=True, fill_value=0", dict(keep_size=True, fill=0)),
            ("size", ", size=[9, 14], fill_value=128", dict(size=(9, 14), fill=128)),
            ("size_fraction", ", size=[8.5, 6.4], fill_value=128", dict(size=(9, 6), fill=128)),
            ("size_and_keep", ", size=[5, 6], keep_size=True", dict(size=(5, 6))),
            ("fill_clamped", ", fill_value=300", dict(fill=255)), ("fill_rounded", ", fill_value=20.7", dict(fill=21))]:
        add_case(group, "rotate_" + name, f"fn.rotate(x, angle=-25.0{arguments})", feeds_of(501),
                 lambda x, o=options: formulas.rotate(x, -25, **o))
    for dtype in ("int16", "int32", "float32"):
        add_case(group, f"rotate_{dtype}", "fn.rotate(x, angle=17.0, fill_value=3)", feeds_of(502, dtype=dtype),
                 lambda x: formulas.rotate(x, 17, fill=3))
        add_case(group, f"rotate_{dtype}_nearest", f"fn.rotate(x, angle=17.0, fill_value=3{NEAREST})",
                 feeds_of(502, dtype=dtype), lambda x: formulas.rotate(x, 17, fill=3, linear=False))
    add_case(group, "rotate_to_float", "fn.rotate(x, angle=17.0, dtype=types.FLOAT)", feeds_of(503),
             lambda x: formulas.rotate(x, 17))
    group.case("rotate_float_to_int", "fn.rotate(x, angle=17.0, dtype=types.UINT8)", feeds_of(503, dtype="float32"),
               tolerance=1, why=ONE_LEVEL, mean_tolerance=0.1, expect=lambda x: formulas.rotate(x, 17))
    for channels in (1, 2, 4, 5):
        add_case(group, f"rotate_{channels}_channels", "fn.rotate(x, angle=-50.0, fill_value=9)",
                 feeds_of(504, channels=channels), lambda x: formulas.rotate(x, -50, fill=9))
    add_case(group, "rotate_per_sample", "fn.rotate(x, angle=a, fill_value=9)",
             feeds_of(505) | {"a": feed([12, -100, 45, 135])}, lambda x, a: formulas.rotate(x, float(a), fill=9))
    add_case(group, "rotate_size_per_sample", "fn.rotate(x, angle=a, size=s)",
             feeds_of(506) | {"a": feed([12, -100, 44, 200]), "s": feed([(4, 5), (8.9, 3), (2, 2.5), (6, 7)])},
             lambda x, a, s: formulas.rotate(x, float(a), size=(int(s[0]), int(s[1]))))
    group.refused("refused_rotate_cubic", "fn.rotate(x, angle=1.0, interp_type=types.INTERP_CUBIC)", feeds_of())
    group.refused("refused_rotate_size", "fn.rotate(x, angle=1.0, size=[0, 3])", feeds_of())
    group.refused("refused_rotate_size_count", "fn.rotate(x, angle=1.0, size=[2, 3, 4])", feeds_of())
    group.refused("refused_rotate_nothing", "fn.rotate(x)", feeds_of())
    group.refused("refused_rotate_dtype", "fn.rotate(x, angle=1.0, dtype=types.INT16)", feeds_of())


MATRICES = [
    ("identity", [1, 0, 0, 0, 1, 0]), ("shift", [1, 0, 3, 0, 1, -2]), ("half", [1, 0, 0.5, 0, 1, 0.25]),
    ("shear", [1, 0.3, -1, 0.1, 1, 0.7]), ("shrink", [2.3, 0, 0.1, 0, 1.7, 0.2]), ("grow", [0.45, 0, 0, 0, 0.6, 0]),
    ("mirror", [-1, 0, 17, 0, 1, 0]), ("transpose", [0, 1, 0, 1, 0, 0]), ("flat", [0, 0, 2.5, 0, 0, 1.5]),
    ("far", [1, 0, 5000, 0, 1, 0]), ("mixed", [0.8137, -0.4051, 5.2019, 0.5077, 1.1033, -3.7191]),
]


def add_warp_affine(group):
    for name, matrix in MATRICES:
        for suffix, arguments, options in [("", ", fill_value=42", dict(fill=42)), ("_edge", "", {})]:
            for kind, more, linear in [("", "", True), ("_nearest", NEAREST, False)]:
                add_case(group, f"warp_affine_{name}{suffix}{kind}",
                         f"fn.warp_affine(x, matrix={[float(m) for m in matrix]}{arguments}{more})", feeds_of(510),
                         lambda x, m=matrix, o=options, l=linear: formulas.warp(x, m, linear=l, **o))
    for name, matrix in MATRICES:
        if name in ("flat", "far"):
            continue
        add_case(group, f"warp_affine_{name}_forward",
                 f"fn.warp_affine(x, matrix={[float(m) for m in matrix]}, fill_value=42, inverse_map=False)", feeds_of(511),
                 lambda x, m=matrix: formulas.warp(x, formulas.inverse_map(m), fill=42))
    mixed = [np.array(m, np.float32).reshape(2, 3) for _, m in MATRICES[3:7]]
    for name, body in [("argument", "matrix=m"), ("input", None)]:
        expression = "fn.warp_affine(x, m, fill_value=1)" if body is None else f"fn.warp_affine(x, {body}, fill_value=1)"
        add_case(group, "warp_affine_by_" + name, expression, feeds_of(512) | {"m": Feed(mixed)},
                 lambda x, m: formulas.warp(x, m, fill=1))
    for name, arguments, size in [("size", "size=[6, 9]", (6, 9)), ("size_fraction", "size=[2.5, 0.4]", (3, 1))]:
        add_case(group, "warp_affine_" + name, f"fn.warp_affine(x, matrix=[0.8137, -0.4051, 5.2019, 0.5077, 1.1033, -3.7191], {arguments})",
                 feeds_of(513), lambda x, s=size: formulas.warp(x, MATRICES[-1][1], size=s))
    add_case(group, "warp_affine_float", "fn.warp_affine(x, matrix=[0.8137, -0.4051, 5.2019, 0.5077, 1.1033, -3.7191], fill_value=-5.5)",
             feeds_of(514, dtype="float32"), lambda x: formulas.warp(x, MATRICES[-1][1], fill=-5.5))
    group.refused("refused_warp_affine_nothing", "fn.warp_affine(x)", feeds_of())
    group.refused("refused_warp_affine_count", "fn.warp_affine(x, matrix=[1.0, 0.0, 0.0, 1.0])", feeds_of())
    group.refused("refused_warp_affine_singular",
                  "fn.warp_affine(x, matrix=[1.0, 0.0, 0.0, 1.0, 0.0, 0.0], inverse_map=False)", feeds_of())
    group.refused("refused_warp_affine_shape", "fn.warp_affine(x, m)",
                  feeds_of() | {"m": feed([np.eye(3)] * 4)})


def add(group):
    add_rotate(group)
    add_warp_affine(group)
