"""Cases of what is put somewhere else: paste, and projective maps."""
import numpy as np

from recorder import Feed
from samples import images, rng

SIZES = [(13, 17), (7, 5), (21, 30), (1, 4)]
PLACES = "places in float32 on both sides, rounded differently"


def hwc(key=970, dtype="uint8", layout="HWC", sizes=SIZES, channels=3):
    return {"x": Feed(images(sizes, channels=channels, key=key, dtype=dtype, layout=layout), layout)}


def floats(*values):
    return Feed([np.array(value, np.float32) for value in values])


def pasted(image, ratio, fill, x=0.5, y=0.5, least=0.0):
    f = np.float32
    height, width = image.shape[:2]
    rows, columns = (max(int(f(ratio) * f(n)), int(least)) for n in (height, width))
    out = np.empty((rows, columns, image.shape[2]), image.dtype)
    out[:] = np.array(fill, image.dtype)
    top, left = int(f(y) * f(rows - height)), int(f(x) * f(columns - width))
    out[top:top + height, left:left + width] = image
    return out


def add_paste(group):
    group.case("paste", "fn.paste(x, ratio=1.5, fill_value=[10, 20, 30])", hwc(),
               expect=lambda x: pasted(x, 1.5, (10, 20, 30)))
    group.case("paste_same", "fn.paste(x, ratio=1.0, fill_value=[7])", hwc(), expect=lambda x: x)
    group.case("paste_corners", "fn.paste(x, ratio=1.37, fill_value=[9], paste_x=0.0, paste_y=1.0, n_channels=3)", hwc(971),
               expect=lambda x: pasted(x, 1.37, 9, 0, 1))
    group.case("paste_canvas", "fn.paste(x, ratio=1.2, fill_value=[1, 2, 3], min_canvas_size=19.7, paste_x=0.3)", hwc(972),
               expect=lambda x: pasted(x, 1.2, (1, 2, 3), 0.3, 0.5, 19.7))
    for channels in (1, 4):
        group.case(f"paste_{channels}", f"fn.paste(x, ratio=2.0, fill_value=[5], n_channels={channels})",
                   hwc(973, channels=channels), expect=lambda x: pasted(x, 2, 5))
    group.case("paste_per_sample", "fn.paste(x, ratio=r, fill_value=[3, 2, 1], paste_x=u, paste_y=v, min_canvas_size=m)",
               hwc(974) | {"r": floats(1, 1.9, 1.01, 4.4), "u": floats(0, 0.99, 0.5, 0.2), "v": floats(1, 0.1, 0.4, 0.7),
                           "m": floats(0, 12, 25.5, 3)},
               expect=lambda x, r, u, v, m: pasted(x, r, (3, 2, 1), u, v, m))
    for name, arguments in (("ratio", "ratio=0.9, fill_value=[1]"), ("place", "ratio=2.0, fill_value=[1], paste_x=1.1"),
                            ("canvas", "ratio=2.0, fill_value=[1], min_canvas_size=-1.0")):
        group.refused(f"refused_paste_{name}", f"fn.paste(x, {arguments})", hwc())


# An ordinary map, one that shrinks and turns, and one whose horizon lies in the picture.
MAPS = {"tilted": [0.9137, 0.1213, 1.3071, -0.1519, 1.1033, 0.7019, 0.00413, 0.01117, 1.0],
        "far": [-1.7093, 0.6031, 9.2017, 0.4019, 2.1039, -3.3021, -0.01013, 0.02011, 1.4],
        "horizon": [1.1029, 0.2011, -2.5033, 0.1017, 0.8093, 1.5041, 0.05119, -0.04327, 0.71]}


def add_perspective(group):
    operator = "fn.experimental.warp_perspective"
    for name, numbers in MAPS.items():
        for filter in ("NN", "LINEAR", "CUBIC"):
            for origin in ("corner", "center"):
                exact = filter == "NN"
                group.case(f"perspective_{name}_{filter.lower()}_{origin}",
                           f"{operator}(x, matrix={numbers}, interp_type=types.INTERP_{filter}, pixel_origin=\"{origin}\", "
                           "fill_value=[10, 20, 30])", hwc(980),
                           **({} if exact else dict(tolerance=1, mean_tolerance=0.02, why=PLACES)))
    for mode in ("constant", "replicate", "reflect", "reflect_101", "wrap"):
        for filter in ("NN", "LINEAR", "CUBIC"):
            group.case(f"perspective_{mode}_{filter.lower()}",
                       f"{operator}(x, matrix={MAPS['tilted']}, interp_type=types.INTERP_{filter}, border_mode=\"{mode}\", "
                       "size=[16, 20])", hwc(984, sizes=SIZES[:3]),
                       **({} if filter == "NN" else dict(tolerance=1, mean_tolerance=0.02, why=PLACES)))
    for dtype in ("int16", "uint16", "float32"):
        for filter in ("NN", "LINEAR", "CUBIC"):
            if (dtype, filter) == ("int16", "LINEAR"):
                continue  # DALI rounds places to 1/32 of a pixel
            exact = filter == "NN"
            group.case(f"perspective_{dtype}_{filter.lower()}",
                       f"{operator}(x, matrix={MAPS['tilted']}, interp_type=types.INTERP_{filter}, fill_value=77)",
                       hwc(985, dtype=dtype),
                       **({} if exact else dict(tolerance=2e-3 if dtype == "float32" else 3, why=PLACES)))
    for channels in (1, 4):
        group.case(f"perspective_channels_{channels}", f"{operator}(x, matrix={MAPS['far']}, fill_value=40.6)",
                   hwc(986, channels=channels), tolerance=1, mean_tolerance=0.02, why=PLACES)
    group.case("perspective_channels_2", f"{operator}(x, matrix={MAPS['far']}, fill_value=40.6, interp_type=types.INTERP_CUBIC)",
               hwc(986, channels=2), tolerance=1, mean_tolerance=0.02, why=PLACES)
    for layout in ("HW", "CHW"):
        group.case(f"perspective_{layout.lower()}", f"{operator}(x, matrix={MAPS['far']})", hwc(987, layout=layout),
                   tolerance=1, mean_tolerance=0.02, why=PLACES)
    group.case("perspective_inverse", f"{operator}(x, matrix={MAPS['tilted']}, inverse_map=False, fill_value=3)", hwc(988),
               tolerance=1, mean_tolerance=0.02, why=PLACES)
    for size in ("[4.6, 0.4]", "[4.5, 3.5]", "[11]"):
        group.case(f"perspective_size_{size}", f"{operator}(x, matrix={MAPS['tilted']}, size={size})", hwc(989),
                   tolerance=1, mean_tolerance=0.02, why=PLACES)
    draws = rng(990)
    maps = [np.eye(3) + draws.normal(0, 1, (3, 3)) * [[0.2, 0.2, 3], [0.2, 0.2, 3], [0.01, 0.01, 0]] for _ in SIZES]
    matrices = Feed([m.astype(np.float32) for m in maps])
    sizes = Feed([np.array(s, np.float32) for s in ([7, 9.2], [12.7, 4.5], [3.5, 31], [5, 5])])
    group.case("perspective_input", f"{operator}(x, m, fill_value=[1, 2, 3])", hwc(990) | {"m": matrices},
               tolerance=1, mean_tolerance=0.02, why=PLACES)
    group.case("perspective_per_sample", f"{operator}(x, matrix=m, size=s)", hwc(990) | {"m": matrices, "s": sizes},
               tolerance=1, mean_tolerance=0.02, why=PLACES)
    for name, arguments in (("matrix", "matrix=[1, 2, 3]"), ("border", f"matrix={MAPS['far']}, border_mode=\"none\""),
                            ("origin", f"matrix={MAPS['far']}, pixel_origin=\"corners\""),
                            ("filter", f"matrix={MAPS['far']}, interp_type=types.INTERP_LANCZOS3"),
                            ("fill", f"matrix={MAPS['far']}, fill_value=[1, 2]")):
        group.refused(f"refused_perspective_{name}", f"{operator}(x, {arguments})", hwc())


def add(group):
    add_paste(group)
    add_perspective(group)
