"""Cases of fn.rotate about an axis and of fn.warp_affine with three rows: volumes."""
import numpy as np

import formulas
from recorder import Feed
from samples import rng

STEPS = "DALI steps along a row in float32 and rounds ties away from zero"
SIZES = [(5, 9, 7), (3, 4, 10), (1, 2, 3)]  # d, h, w
NEAREST = ", interp_type=types.INTERP_NN"


def volumes(key=0, dtype="uint8", channels=2):
    """Waves with a little noise."""
    samples = []
    for n, (d, h, w) in enumerate(SIZES):
        z, y, x = np.mgrid[0:d, 0:h, 0:w]
        wave = 0.5 + 0.2 * np.sin(0.9 * x + key) + 0.2 * np.cos(0.7 * y - 0.8 * z)
        unit = np.clip(wave[..., None] + 0.1 * rng(7000 + key, n).random((d, h, w, channels)), 0, 1)
        top = 255 if np.dtype(dtype).kind == "f" else np.iinfo(dtype).max
        samples.append(np.round(unit * top).astype(dtype))
    return {"x": Feed(samples, "DHWC")}


def each(values, dtype=np.float32):
    return Feed([np.array(value, dtype) for value in values])


def add_case(group, name, expression, feeds, reference):
    dtype = feeds["x"].samples[0].dtype
    if "INTERP_NN" in expression:
        group.case(name, expression, feeds, expect=reference)
    elif dtype.kind == "f" or "types.FLOAT" in expression or dtype.itemsize >= 4:
        group.case(name, expression, feeds, tolerance=2e-5, kind="range", why=STEPS, expect=reference)
    else:
        group.case(name, expression, feeds, tolerance=1, why=STEPS, mean_tolerance=0.15, expect=reference)


AXES = {"x": (1, 0, 0), "y": (0, 1, 0), "z": (0, 0, 1), "mixed": (1, -2, 0.5), "long": (0, 30, 40)}


def add_rotate(group):
    for axis_name, axis in AXES.items():
        for degrees, kinds in [(33.0, [("", "", True), ("_nearest", NEAREST, False)]), (-100.5, [("", "", True)])]:
            for suffix, more, linear in kinds:
                add_case(group, f"rotate_{axis_name}_{degrees:g}{suffix}", f"fn.rotate(x, angle={degrees}, axis={list(map(float, axis))}, fill_value=7{more})",
                         volumes(1), lambda x, a=axis, g=degrees, l=linear: formulas.rotate_volume(x, a, g, fill=7, linear=l))
    # Places on the border of pixels are left out: the noise of float32 decides about them.
    for degrees in (0.0, 90.0, 180.0, 270.0, 45.0):
        add_case(group, f"rotate_y_{degrees:g}", f"fn.rotate(x, angle={degrees}, axis=(0.0, 1.0, 0.0), fill_value=7)", volumes(2),
                 lambda x, g=degrees: formulas.rotate_volume(x, (0, 1, 0), g, fill=7))
    for name, arguments, options in [
            ("edge", "", {}), ("keep", ", keep_size=True", dict(keep_size=True)), ("keep_fill", ", keep_size=True, fill_value=300", dict(keep_size=True, fill=255)),
            ("size", ", size=[4, 6.5, 5.4], fill_value=128", dict(size=(4, 7, 5), fill=128)),
            ("size_and_keep", ", size=[2, 3, 4], keep_size=True", dict(size=(2, 3, 4)))]:
        add_case(group, "rotate_" + name, f"fn.rotate(x, angle=-25.0, axis=(1, 1, 1){arguments})", volumes(3),
                 lambda x, o=options: formulas.rotate_volume(x, (1, 1, 1), -25, **o))
    for dtype in ("int16", "int32", "float32"):
        add_case(group, f"rotate_{dtype}", "fn.rotate(x, angle=17.0, axis=(0, 1, 1), fill_value=3)", volumes(4, dtype),
                 lambda x: formulas.rotate_volume(x, (0, 1, 1), 17, fill=3))
    add_case(group, "rotate_to_float", "fn.rotate(x, angle=17.0, axis=(0, 1, 1), dtype=types.FLOAT)", volumes(4),
             lambda x: formulas.rotate_volume(x, (0, 1, 1), 17))
    angles, axes, sizes = [12, -100, 77], [(1, 0, 0.5), (0, 2, 0), (-1, 1, 1)], [(4, 5, 6.9), (1, 3, 2), (2, 2, 2.5)]
    add_case(group, "rotate_of_sample", "fn.rotate(x, angle=a, axis=v, fill_value=9)", volumes(5) | {"a": each(angles), "v": each(axes)},
             lambda x, a, v: formulas.rotate_volume(x, v, float(a), fill=9))
    add_case(group, "rotate_size_of_sample", "fn.rotate(x, angle=a, axis=v, size=s)", volumes(5) | {"a": each(angles), "v": each(axes), "s": each(sizes)},
             lambda x, a, v, s: formulas.rotate_volume(x, v, float(a), size=tuple(int(n) for n in s)))
    frames = {"x": Feed([np.stack([sample, sample[::-1]]) for sample in volumes(6)["x"].samples], "FDHWC")}
    group.case("rotate_frames", "fn.rotate(x, angle=40.0, axis=(1, 2, 0), fill_value=1)", frames, tolerance=1, why=STEPS, mean_tolerance=0.15,
               expect=lambda x: np.stack([formulas.rotate_volume(frame, (1, 2, 0), 40, fill=1) for frame in x]))
    turns = [[30, -100], [75, 10], [200, 44]]
    axes = [[(1, 0, 0.5), (0, 1, 0)], [(0, 2, 0), (1, 1, 1)], [(-1, 1, 1), (0, 0, 1)]]
    # Of frames that turn by angles of their own, the largest canvas: no formula, but the recorded one.
    each_frame = "fn.rotate(x, angle=fn.per_frame(fn.reshape(v, shape=[2])), axis=fn.per_frame(fn.reshape(a, shape=[2, 3])), fill_value=1)"
    group.case("rotate_each_frame", each_frame, frames | {"v": each(turns), "a": each(axes)}, tolerance=1, why=STEPS, mean_tolerance=0.15)
    shots = {"x": Feed([np.concatenate([sample[:1], sample[:1, ::-1], sample[-1:]]) for sample in volumes(11)["x"].samples], "FHWC")}
    for suffix, angle in [("", "fn.reshape(v, shape=[3])"), ("_of_any_number", "v")]:
        group.case("rotate_each_image" + suffix, f"fn.rotate(x, angle=fn.per_frame({angle}), fill_value=1)",
                   shots | {"v": each([[10, 20, 80], [45, -45, 3], [180, 90, 89]])}, tolerance=1, why=STEPS, mean_tolerance=0.15)
    images = {"x": Feed([sample[0] for sample in volumes(6)["x"].samples], "HWC")}
    group.case("rotate_image", "fn.rotate(x, angle=40.0, axis=(1, 2, 0), fill_value=1)", images, tolerance=1, why=STEPS, mean_tolerance=0.15,
               expect=lambda x: formulas.rotate(x, 40, fill=1))
    group.refused("refused_axis_of_two", "fn.rotate(x, angle=1.0, axis=(0, 1))", volumes())
    group.refused("refused_axis_of_none", "fn.rotate(x, angle=1.0, axis=(0, 0, 0))", volumes())
    group.refused("refused_size_of_two", "fn.rotate(x, angle=1.0, axis=(0, 0, 1), size=(3, 4))", volumes())


MATRICES = {
    "identity": [1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0], "shift": [1, 0, 0, 2, 0, 1, 0, -1, 0, 0, 1, 1], "turned": [0, 0, 1, 0, 1, 0, 0, 0, 0, 1, 0, 0],
    "part": [1, 0, 0, 0.413, 0, 1, 0, 0.307, 0, 0, 1, 0.129], "mixed": [0.8137, -0.4051, 0.1322, 2.2019, 0.5077, 1.1033, -0.2118, -1.7191, 0.0731, 0.3017, 0.7703, 0.4093],
    "shrink": [2.3, 0, 0, 0.1, 0, 1.7, 0, 0.2, 0, 0, 1.4, 0.3]}


def add_warp_affine(group):
    for name, matrix in MATRICES.items():
        numbers = [float(m) for m in matrix]
        for suffix, more, options in [("", ", fill_value=42", dict(fill=42)), ("_edge", "", {}), ("_nearest", ", fill_value=42" + NEAREST, dict(fill=42, linear=False))]:
            add_case(group, f"warp_{name}{suffix}", f"fn.warp_affine(x, matrix={numbers}{more})", volumes(7),
                     lambda x, m=matrix, o=options: formulas.warp(x, m, **o))
        add_case(group, f"warp_{name}_forward", f"fn.warp_affine(x, matrix={numbers}, fill_value=42, inverse_map=False)", volumes(8),
                 lambda x, m=matrix: formulas.warp(x, formulas.inverse_map(m), fill=42))
    mixed = [np.array(MATRICES[name], np.float32).reshape(3, 4) for name in ("mixed", "part", "shrink")]
    for name, expression in [("argument", "fn.warp_affine(x, matrix=m, fill_value=1)"), ("input", "fn.warp_affine(x, m, fill_value=1)")]:
        add_case(group, "warp_by_" + name, expression, volumes(9) | {"m": Feed(mixed)}, lambda x, m: formulas.warp(x, m, fill=1))
    add_case(group, "warp_size", f"fn.warp_affine(x, matrix={[float(m) for m in MATRICES['mixed']]}, size=[2, 6.5, 0.4])", volumes(9),
             lambda x: formulas.warp(x, MATRICES["mixed"], size=(2, 7, 1)))
    add_case(group, "warp_float", f"fn.warp_affine(x, matrix={[float(m) for m in MATRICES['mixed']]}, fill_value=-5.5)", volumes(9, "float32"),
             lambda x: formulas.warp(x, MATRICES["mixed"], fill=-5.5))
    for name, transform in {"rotation": "fn.transforms.rotation(angle=30.0, axis=(1, 1, 0), center=(2, 3, 1))", "scale": "fn.transforms.scale(scale=(0.7, 1.2, 1.5))",
                            "shear": "fn.transforms.shear(shear=(0.1, 0.2, 0.3, -0.1, 0.2, 0.0))", "translation": "fn.transforms.translation(offset=(1.5, -0.5, 0.7))",
                            "combined": "fn.transforms.combine(fn.transforms.rotation(angle=-50.0, axis=(0, 1, 0)), fn.transforms.scale(scale=(1.1, 0.9, 1.3)))"}.items():
        add_case(group, "warp_by_" + name, f"fn.warp_affine(x, {transform}, fill_value=1, inverse_map=False)", volumes(10), None)
    group.refused("refused_warp_two_rows_of_numbers", "fn.warp_affine(x, matrix=[1.0, 0.0, 0.0, 0.0, 1.0, 0.0])", volumes())
    group.refused("refused_warp_singular", "fn.warp_affine(x, matrix=[1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0], inverse_map=False)", volumes())
    group.refused("refused_warp_of_image", "fn.warp_affine(x, matrix=[1.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0])",
                  {"x": Feed([sample[0] for sample in volumes()["x"].samples], "HWC")})


def add(group):
    add_rotate(group)
    add_warp_affine(group)
