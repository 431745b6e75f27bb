"""Cases of tensors of one value, of axes that come and go, of copies, bytes, points, boxes and sequences."""
import numpy as np

from recorder import Feed
from samples import SIZES, images, integers, rng

PRODUCTS = "float32 products in another order"
CORNERS = "DALI goes by the right and lower edge, and back"
FLOAT_TYPES = {"uint8": "UINT8", "int16": "INT16", "int64": "INT64", "float16": "FLOAT16", "float32": "FLOAT",
               "float64": "FLOAT64", "bool": "BOOL"}


def hwc(key=900, dtype="uint8", layout="HWC"):
    return {"x": Feed(images(SIZES, key=key, dtype=dtype, layout=layout), layout)}


def vectors(values, dtype=np.float32):
    return Feed([np.array(value, dtype) for value in values])


def add_fills(group):
    for name, value in (("zeros", 0), ("ones", 1)):
        for dtype, word in FLOAT_TYPES.items():
            group.case(f"{name}_{dtype}", f"x[0, 0, 0], fn.{name}(shape=[3, 5], dtype=types.{word})", hwc(),
                       expect=lambda x, d=dtype, v=value: (x[0, 0, 0], np.full((3, 5), v, d)))
        shapes = {"s": vectors([(2, 3), (1, 1), (0, 4), (5, 2)], np.int32)}
        group.case(f"{name}_per_sample", f"fn.{name}(shape=fn.reshape(s, shape=[2]))", shapes,
                   expect=lambda s, v=value: np.full(s, v, np.int32))
        group.case(f"{name}_number", f"x[0, 0, 0], fn.{name}()", hwc(),
                   expect=lambda x, v=value: (x[0, 0, 0], np.int32(v)))
        group.case(f"{name}_layout", f'x[0, 0, 0], fn.{name}(shape=[2, 3], layout="HW")', hwc())
        group.case(f"{name}_like", f"fn.{name}_like(x)", hwc(), expect=lambda x, v=value: np.full_like(x, v))
        group.case(f"{name}_like_float", f"fn.{name}_like(x, dtype=types.FLOAT)", hwc(layout="CHW"),
                   expect=lambda x, v=value: np.full_like(x, v, np.float32))
    values = {"v": vectors([(1, 2, 3), (4, 5, 6), (-7, 8, 300), (0, 0, 1)])}
    group.case("full_vector", "fn.full(v, shape=[2, 4, 3])", values,
               expect=lambda v: np.broadcast_to(v, (2, 4, 3)))
    group.case("full_column", "fn.full(v, shape=[3, 5])", {"v": vectors([[[1], [2], [3]]] * 3, np.int16)},
               expect=lambda v: np.broadcast_to(v, (3, 5)))
    group.case("full_number", "fn.full(v, shape=[7])", {"v": vectors([1.5, -2, 3])},
               expect=lambda v: np.full(7, v, np.float32))
    group.case("full_constant", "v, fn.full(3, shape=[2, 3])", values,
               expect=lambda v: (v, np.full((2, 3), 3, np.int32)))
    group.case("full_like_vector", "fn.full_like(x, v)", hwc() | values,
               expect=lambda x, v: np.broadcast_to(np.clip(v, 0, 255), x.shape))
    group.case("full_like_number", "fn.full_like(x, 7.75)", hwc(), expect=lambda x: np.full_like(x, 8))
    group.refused("refused_full_extent", "fn.full(v, shape=[3, 2])", values)
    group.refused("refused_zeros_layout", 'x, fn.zeros(shape=[2], layout="HW")', hwc())


def add_axes(group):
    for number, (arguments, reference) in enumerate([
            ("axes=[0]", lambda x: x[None]), ("axes=3", lambda x: x[..., None]),
            ('axes=[0], new_axis_names="F"', lambda x: x[None]),
            ('axes=[4, 1], new_axis_names="XY"', lambda x: x[:, None, :, :, None]),
            ("axes=[1, 2, 3]", lambda x: x[:, None, None, None]), ("axes=[]", lambda x: x)]):
        group.case(f"expand_dims_{number}", f"fn.expand_dims(x, {arguments})", hwc(), expect=reference)
    group.case("expand_dims_number", 'fn.expand_dims(v, axes=[0], new_axis_names="F")', {"v": vectors([1, 2, 3])})
    group.case("expand_dims_fused", "fn.expand_dims(x * 2, axes=[0]) + 1", hwc(),
               expect=lambda x: (x.astype(np.int32) * 2 + 1)[None])
    for word, axes in (("negative", "[-1]"), ("twice", "[1, 1]"), ("far", "[5]")):
        group.refused(f"refused_expand_dims_{word}", f"fn.expand_dims(x, axes={axes})", hwc())
    group.refused("refused_expand_dims_names", 'fn.expand_dims(x, axes=[0, 1], new_axis_names="F")', hwc())
    unit = {"x": Feed([s[None, :, :, :1] for s in images(SIZES, key=901)], "FHWC")}
    for number, (arguments, reference) in enumerate([
            ("axes=[0]", lambda x: x[0]), ("axes=3", lambda x: x[..., 0]), ("axes=[3, 0]", lambda x: x[0, ..., 0]),
            ('axis_names="F"', lambda x: x[0]), ('axis_names="CF"', lambda x: x[0, ..., 0]), ("axes=[]", lambda x: x)]):
        group.case(f"squeeze_{number}", f"fn.squeeze(x, {arguments})", unit, expect=reference)
    group.refused("refused_squeeze_extent", "fn.squeeze(x, axes=[2])", unit)
    group.refused("refused_squeeze_both", 'fn.squeeze(x, axes=[0], axis_names="F")', unit)
    group.refused("refused_squeeze_nothing", "fn.squeeze(x)", unit)
    group.refused("refused_squeeze_twice", "fn.squeeze(x, axes=[0, 0])", unit)
    group.case("copy", "fn.copy(x)", hwc(), expect=lambda x: x)
    group.case("copy_fused", "fn.copy(x * 2) + 1", hwc(), expect=lambda x: x.astype(np.int32) * 2 + 1)


def add_bytes(group):
    rows = [(3, 8), (1, 16), (2, 0), (5, 8)]
    types = {"uint8": "UINT8", "int8": "INT8", "uint16": "UINT16", "int32": "INT32", "uint64": "UINT64"}
    for source in types:
        feeds = {"x": Feed([integers(shape, source, key=i) for i, shape in enumerate(rows)])}
        for target, word in types.items():
            group.case(f"reinterpret_{source}_{target}", f"fn.reinterpret(x, dtype=types.{word})", feeds,
                       expect=lambda x, t=target: x.view(t))
    floats = {"x": Feed([rng(902, i).random(shape, np.float32) for i, shape in enumerate(rows)])}
    group.case("reinterpret_float_int", "fn.reinterpret(x, dtype=types.INT32)", floats, expect=lambda x: x.view("int32"))
    group.case("reinterpret_float_bytes", "fn.reinterpret(x, dtype=types.UINT8)", floats,
               expect=lambda x: x.view("uint8"))
    group.case("reinterpret_and_back", "fn.reinterpret(fn.reinterpret(x, dtype=types.INT16), dtype=types.FLOAT)", floats,
               expect=lambda x: x)
    even = {"x": Feed([integers((4, 6), "uint8", key=i) for i in range(3)], "HW")}
    for number, (arguments, reference) in enumerate([
            ("dtype=types.INT16, shape=[2, 6]", lambda x: x.view("int16").reshape(2, 6)),
            ("dtype=types.INT16, shape=[3, -1]", lambda x: x.view("int16").reshape(3, 4)),
            ("dtype=types.INT16, rel_shape=[1, 0.5]", lambda x: x.view("int16")),
            ("dtype=types.INT16, rel_shape=[0.5, -1]", lambda x: x.reshape(2, 12).view("int16")),
            ("dtype=types.INT16, src_dims=[1, 0]", lambda x: x.reshape(6, 4).view("int16")),
            ("src_dims=[1, 0]", lambda x: x.reshape(6, 4)),
            ("dtype=types.INT8", lambda x: x.view("int8")),
            ("dtype=types.INT8, shape=[24]", lambda x: x.view("int8").reshape(24)),
            ('layout="YX"', lambda x: x), ("shape=[8, 3]", lambda x: x.reshape(8, 3))]):
        group.case(f"reinterpret_{number}", f"fn.reinterpret(x, {arguments})", even, expect=reference)
    group.case("reinterpret_number", "fn.reinterpret(v, dtype=types.INT32)", {"v": vectors([1.5, -2, 0.1])},
               expect=lambda v: v.view("int32"))
    group.refused("refused_reinterpret_rows", "fn.reinterpret(x, dtype=types.INT32)", even)
    group.refused("refused_reinterpret_volume", "fn.reinterpret(x, dtype=types.INT16, rel_shape=[1, 1])", even)
    group.refused("refused_reinterpret_nothing", "fn.reinterpret(x)", even)


def points(key, n, counts=(5, 1, 0, 12)):
    return [rng(903, key, i).random((count, n), np.float32) for i, count in enumerate(counts)]


def add_points(group):
    for n in (1, 2, 3):
        feeds = {"p": Feed(points(n, n))}
        mirror = np.array([True, False, True])[:n]
        group.case(f"coord_flip_{n}", "fn.coord_flip(p, flip_z=1)", feeds,
                   expect=lambda p, m=mirror: np.where(m, np.float32(1) - p, p))
    two = {"p": Feed(points(4, 2))}
    group.case("coord_flip_center", "fn.coord_flip(p, flip_y=1, center_x=2.5, center_y=-0.25)", two,
               expect=lambda p: np.array([5, -0.5], np.float32) - p)
    group.case("coord_flip_layout", 'fn.coord_flip(p, layout="yx", center_x=0.75)', two,
               expect=lambda p: np.where([False, True], np.float32(1.5) - p, p))
    per_sample = {"a": vectors([0, 1, 2, 1], np.int32), "b": vectors([1, 0, 0, 1], np.int32),
                  "c": vectors([0.5, 3, -2, 0])}
    group.case("coord_flip_per_sample", "fn.coord_flip(p, flip_x=a, flip_y=b, center_x=c)", two | per_sample,
               expect=lambda p, a, b, c: np.where([a != 0, b != 0], np.array([2 * c, 1], np.float32) - p, p))
    group.refused("refused_coord_flip_layout", 'fn.coord_flip(p, layout="xx")', two)
    group.refused("refused_coord_flip_four", "fn.coord_flip(p)", {"p": Feed(points(5, 4))})

    boxes = {"p": Feed(points(6, 4))}

    def flipped(p, horizontal, vertical, corners):
        out = p.copy()
        for axis, flip in ((0, horizontal), (1, vertical)):
            if flip and corners:
                out[:, axis], out[:, axis + 2] = 1 - p[:, axis + 2], 1 - p[:, axis]
            elif flip:
                out[:, axis] = 1 - (p[:, axis] + p[:, axis + 2])
        return out

    for corners in (False, True):
        limits = {} if corners else dict(tolerance=2.5e-7, why=CORNERS)
        for horizontal, vertical in ((1, 0), (0, 1), (1, 1), (0, 0)):
            group.case(f"bb_flip_{corners}_{horizontal}{vertical}".lower(),
                       f"fn.bb_flip(p, ltrb={corners}, horizontal={horizontal}, vertical={vertical})", boxes,
                       expect=lambda p, a=(horizontal, vertical, corners): flipped(p, *a), **limits)
    group.case("bb_flip_default", "fn.bb_flip(p)", boxes, tolerance=2.5e-7, why=CORNERS,
               expect=lambda p: flipped(p, True, False, False))
    group.case("bb_flip_per_sample", "fn.bb_flip(p, ltrb=True, horizontal=a, vertical=b)", {
        "p": boxes["p"], "a": per_sample["a"], "b": per_sample["b"]}, expect=lambda p, a, b: flipped(p, a, b, True))
    group.refused("refused_bb_flip_integers", "fn.bb_flip(p)", {"p": Feed([np.ones((2, 4), np.int32)] * 2)})

    def case(name, arguments, feeds, matrix, offset, **options):
        options = options or dict(tolerance=1e-6, kind="range", why=PRODUCTS)
        group.case("coord_transform_" + name, f"fn.coord_transform(p{arguments})", feeds,
                   expect=lambda p, *_: p.astype(np.float64) @ np.array(matrix, np.float64).T + np.array(offset), **options)

    square, tall = [[1.5, -2], [0.25, 4]], [[1, 2], [-3, 0.5], [0, 1]]
    case("identity", "", two, np.eye(2), 0)
    case("square", ", M=[1.5, -2, 0.25, 4]", two, square, 0)
    case("tall", ", M=[1, 2, -3, 0.5, 0, 1]", two, tall, 0)
    case("row", ", M=[1.5, -2]", two, square[:1], 0)
    case("offset", ", T=[3, -4]", two, np.eye(2), [3, -4])
    case("one_offset", ", T=3.0", two, np.eye(2), 3)
    case("square_offset", ", M=[1.5, -2, 0.25, 4], T=[3, -4]", two, square, [3, -4])
    case("tall_offset", ", M=[1, 2, -3, 0.5, 0, 1], T=[3, -4, 5]", two, tall, [3, -4, 5])
    case("joined", ", MT=[1.5, -2, 3, 0.25, 4, -4]", two, square, [3, -4])
    case("scaled", ", M=2.5", two, 2.5 * np.eye(2), 0)
    case("scaled_list", ", M=[2.5], T=[1.0]", two, 2.5 * np.eye(2), 1)
    case("scaled_joined", ", MT=2.5", two, 2.5 * np.eye(2), 0)
    case("three", ", M=[1, 0, 2, 0, 1, -1]", {"p": Feed(points(7, 3))}, [[1, 0, 2], [0, 1, -1]], 0)
    integer = {"p": Feed([integers((6, 2), "int16", -100, 100, key=i) for i in range(3)])}
    case("integers_to_float", ", M=[1.5, -2, 0.25, 4]", integer, square, 0)
    case("integers", ", M=[2, -1, 3, 1], T=[1, -7], dtype=types.INT16", integer, [[2, -1], [3, 1]], [1, -7], tolerance=0)
    image = hwc(key=904)
    group.case("coord_transform_colours", "fn.coord_transform(x, M=[0, 0, 1, 0, 1, 0, 1, 0, 0], dtype=types.UINT8)", image,
               expect=lambda x: x[..., ::-1])
    scale = {"p": two["p"], "m": vectors([2, -1, 0.5, 3])}
    group.case("coord_transform_scale_per_sample", "fn.coord_transform(p, M=m)", scale,
               expect=lambda p, m: p * m)
    group.case("coord_transform_turn",
               "fn.coord_transform(p, MT=fn.transforms.rotation(angle=m, center=[0.5, 0.5]))", scale,
               tolerance=1e-6, kind="range", why=PRODUCTS)
    group.case("coord_transform_matrix_per_sample", "fn.coord_transform(p, M=fn.reshape(m, shape=[2, 2]), T=fn.reshape(t, shape=[2]))", {
        "p": two["p"], "m": vectors([square, [[1, 2], [3, 4]], square, [[0, 1], [1, 0]]]),
        "t": vectors([(1, 2), (3, 4), (-5, 6), (0, 0)])},
               expect=lambda p, m, t: p.astype(np.float64) @ m.T.astype(np.float64) + t, tolerance=1e-6, kind="range", why=PRODUCTS)
    group.refused("refused_coord_transform_count", "fn.coord_transform(p, M=[1, 2, 3])", two)
    group.refused("refused_coord_transform_offset", "fn.coord_transform(p, T=[1, 2, 3])", two)
    group.refused("refused_coord_transform_both", "fn.coord_transform(p, MT=1.0, M=1.0)", two)


def add_sequences(group):
    frames = {"x": Feed([integers((n, 5, 4, 3), "uint8", key=n) for n in (4, 6, 4)], "FHWC")}
    group.case("element_extract_three",
               "a, b, c = fn.element_extract(x, element_map=[0, 3, 0])\nreturn a, b, c", frames,
               expect=lambda x: (x[0], x[3], x[0]))
    group.case("element_extract_one", "fn.element_extract(x, element_map=2)", frames, expect=lambda x: x[2])
    group.case("element_extract_plain", "fn.element_extract(x, element_map=[1])",
               {"x": Feed([s[..., 0, 0] for s in frames["x"].samples])}, expect=lambda x: x[1])
    for name, order in (("order", [3, 0, 0]), ("backwards", [3, 2, 1, 0]), ("longer", [0, 1, 2, 3, 2, 1, 0]), ("one", [2])):
        group.case(f"rearrange_{name}", f"fn.sequence_rearrange(x, new_order={order})", frames,
                   expect=lambda x, o=order: x[o])
    group.case("rearrange_per_sample", "fn.sequence_rearrange(x, new_order=fn.reshape(o, shape=[3]))",
               frames | {"o": vectors([(0, 1, 2), (5, 5, 4), (3, 0, 1)], np.int32)}, expect=lambda x, o: x[o])
    group.case("rearrange_fused", "fn.sequence_rearrange(x * 2, new_order=[1, 0, 3]) + 1", frames,
               expect=lambda x: x[[1, 0, 3]].astype(np.int32) * 2 + 1)
    for name in ("element_extract(x, element_map=[4])", "element_extract(x, element_map=[-1])",
                 "sequence_rearrange(x, new_order=[6])", "sequence_rearrange(x, new_order=[-1])",
                 "sequence_rearrange(x, new_order=[])"):
        group.refused("refused_" + "".join(c if c.isalnum() else "_" for c in name), f"fn.{name}", frames)
    image = hwc()
    group.refused("refused_element_extract_image", "fn.element_extract(x, element_map=[0])", image)
    group.refused("refused_rearrange_image", "fn.sequence_rearrange(x, new_order=[0])", image)


def add(group):
    add_fills(group)
    add_axes(group)
    add_bytes(group)
    add_points(group)
    add_sequences(group)
