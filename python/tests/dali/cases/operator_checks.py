"""Operators beside formulas in numpy: element types, layouts, per-sample arguments."""

import itertools

from . import all_of

PLAIN = "uint8 int32 float32".split()


def batch(m, shapes, dtype="uint8", low=0, high=100):
    """Random samples of these shapes."""
    rng = m.np.random.default_rng(7)
    return [m.np.asarray(rng.integers(low, high, shape)).astype(dtype) for shape in shapes]


def outputs(m, define, *fed, layouts=(), **options):
    """The outputs of a pipeline over inputs that are fed, as lists of arrays."""
    count = len(fed[0]) if fed else options.pop("batch_size", 3)
    settings = dict(batch_size=count, num_threads=2, device_id=None, seed=11, **options)
    pipe = m.Pipeline(**settings)
    with pipe:
        nodes = [
            m.fn.external_source(source=[one] * 3, layout=layouts[i] if i < len(layouts) else None)
            for i, one in enumerate(fed)
        ]
        made = define(*nodes)
        pipe.set_outputs(*made if isinstance(made, (list, tuple)) else (made,))
    pipe.build()
    return pipe.run()


def same(m, made, expected, error=0.0, layout=None):
    """Asserts samples, their types and the layout."""
    assert len(made) == len(expected), len(made)
    for i, want in enumerate(expected):
        got, want = m.np.array(made.at(i)), m.np.asarray(want)
        assert got.dtype == want.dtype, (got.dtype, want.dtype)
        assert got.shape == want.shape, (got.shape, want.shape)
        if error:
            m.np.testing.assert_allclose(
                got.astype("float64"), want.astype("float64"), atol=error, rtol=1e-5
            )
        else:
            m.np.testing.assert_array_equal(got, want)
    if layout is not None:
        assert made.layout() == layout, made.layout()


def pairs(*lists):
    return {"-".join(str(one) for one in found): found for found in itertools.product(*lists)}


@all_of(**pairs(PLAIN, ["int8", "uint16", "int64", "float32", "float64", "bool"]))
def cast(m, kinds):
    source, target = kinds
    fed = batch(m, [(3, 2), (1, 4), (0, 3)], source, 0, 90)
    names = dict(
        int8="INT8", uint16="UINT16", int64="INT64", float32="FLOAT", float64="FLOAT64", bool="BOOL"
    )
    (made,) = outputs(m, lambda x: m.fn.cast(x, dtype=getattr(m.types, names[target])), fed)
    same(m, made, [one.astype(target) for one in fed])


@all_of(**pairs(PLAIN, ["HWC", "CHW", "FHWC"], [(1, 0), (0, 1), (1, 1)]))
def flip(m, form):
    dtype, layout, (h, v) = form
    shapes = [(2, 3, 4), (3, 1, 2), (1, 5, 3)]
    shapes = [(2, *s) for s in shapes] if layout == "FHWC" else shapes
    fed = batch(m, shapes, dtype)
    (made,) = outputs(m, lambda x: m.fn.flip(x, horizontal=h, vertical=v), fed, layouts=[layout])
    axes = [layout.index(a) for a, on in (("W", h), ("H", v)) if on]
    same(m, made, [m.np.flip(one, axes) for one in fed], layout=layout)


@all_of(**pairs(PLAIN, [(0, 1), (1, 0), (2, 0, 1), (0, 3, 1, 2)]))
def transpose(m, form):
    dtype, perm = form
    fed = batch(m, [tuple(range(2 + i, 2 + i + len(perm))) for i in range(3)], dtype)
    layout = "ABCD"[: len(perm)]
    (made,) = outputs(m, lambda x: m.fn.transpose(x, perm=perm), fed, layouts=[layout])
    same(m, made, [one.transpose(perm) for one in fed], layout="".join(layout[i] for i in perm))


SLICES = {
    "all": lambda x: x[:],
    "from": lambda x: x[1:],
    "to": lambda x: x[:-1],
    "both": lambda x: x[1:3],
    "index": lambda x: x[0],
    "last": lambda x: x[-1],
    "second_axis": lambda x: x[:, 1:],
    "ellipsis": lambda x: x[..., 0],
    "mixed": lambda x: x[1, 1:, 0],
    "step": lambda x: x[::2],
    "back": lambda x: x[::-1],
    "nothing": lambda x: x[2:2],
    "beyond": lambda x: x[1:99],
}


@all_of(**{n: (n, f) for n, f in SLICES.items()})
def subscripts(m, form):
    name, take = form
    fed = batch(m, [(4, 3, 2), (3, 4, 5)], "int32")
    (made,) = outputs(m, take, fed)
    same(m, made, [take(one) for one in fed])


@all_of("start", "fixed", "negative", "both", "new_axis", "computed")
def subscripts_by_nodes(m, form):
    fed = batch(m, [(4, 3), (5, 6), (3, 3)], "float32")
    places = [m.np.array(one, "int32") for one in (0, 2, 1)]
    takes = {
        "start": lambda x, i: x[i:],
        "fixed": lambda x, i: x[i],
        "negative": lambda x, i: x[-1 - i],
        "both": lambda x, i: x[i : i + 2, :2],
        "new_axis": lambda x, i: x[:, m.dali.newaxis],
        "computed": lambda x, i: x[:, i],
    }
    (made,) = outputs(m, takes[form], fed, places)
    refs = {
        "new_axis": lambda x, i: x[:, None],
        "computed": lambda x, i: x[:, i],
    }
    reference = refs.get(form, takes[form])
    same(m, made, [reference(x, int(i)) for x, i in zip(fed, places)])


@all_of(**pairs(["uint8", "int32", "float32"], ["pad", "trim_to_shape", "error"], ["start", "rel"]))
def slice_policy(m, form):
    dtype, policy, how = form
    fed = batch(m, [(4, 6, 3), (6, 4, 3)], dtype)
    given = (
        dict(start=[-1, 2], shape=[4, 6])
        if how == "start"
        else dict(rel_start=[0.5, -0.5], rel_shape=[1.0, 1.0])
    )
    try:
        (made,) = outputs(
            m,
            lambda x: m.fn.slice(
                x, **given, axis_names="HW", out_of_bounds_policy=policy, fill_values=9
            ),
            fed,
            layouts=["HWC"],
        )
    except RuntimeError as error:
        assert policy == "error"
        return "out of bounds" in str(error)
    for i, one in enumerate(fed):
        h, w, _ = one.shape
        if how == "start":
            y0, x0, y1, x1 = -1, 2, 3, 8
        else:
            y0, x0, y1, x1 = h // 2, -w // 2, h // 2 + h, -w // 2 + w
        full = m.np.full((y1 - y0, x1 - x0, 3), 9, dtype)
        cy0, cy1, cx0, cx1 = max(y0, 0), min(y1, h), max(x0, 0), min(x1, w)
        full[cy0 - y0 : cy1 - y0, cx0 - x0 : cx1 - x0] = one[cy0:cy1, cx0:cx1]
        want = full if policy == "pad" else one[cy0:cy1, cx0:cx1]
        m.np.testing.assert_array_equal(m.np.array(made[i]), want)
    return made.layout()


@all_of(**pairs(["sum", "min", "max", "mean"], [None, 0, (0, 1), (1,), ()], [True, False]))
def reduction(m, form):
    name, axes, keep = form
    fed = batch(m, [(3, 4, 2), (1, 2, 5)], "float32", -20, 20)
    if axes == ():
        keep = False
    given = {} if axes is None else dict(axes=axes)
    (made,) = outputs(m, lambda x: getattr(m.fn.reductions, name)(x, keep_dims=keep, **given), fed)
    same(
        m,
        made,
        [m.np.asarray(getattr(m.np, name)(one, axis=axes, keepdims=keep)) for one in fed],
        error=1e-4,
    )


@all_of(**pairs(["uint8", "int32", "float32"], ["std_dev", "variance", "rms", "mean_square"]))
def reduction_of_squares(m, form):
    dtype, name = form
    takes_mean = name in ("std_dev", "variance")
    fed = batch(m, [(3, 4, 2), (6, 2, 5)], dtype, 0, 40)
    (made,) = outputs(
        m,
        lambda x: getattr(m.fn.reductions, name)(
            x,
            *([m.fn.reductions.mean(x, axis_names="HW", keep_dims=True)] * takes_mean),
            axis_names="HW",
        ),
        fed,
        layouts=["HWC"],
    )
    refs = dict(
        std_dev=lambda x: x.std((0, 1)),
        variance=lambda x: x.var((0, 1)),
        rms=lambda x: (x**2).mean((0, 1)) ** 0.5,
        mean_square=lambda x: (x**2).mean((0, 1)),
    )
    same(m, made, [refs[name](x.astype("float64")).astype("float32") for x in fed], error=1e-2)


@all_of("mean", "std_dev", "both", "ddof", "center")
def reduction_with_mean(m, form):
    fed = batch(m, [(3, 4), (6, 2)], "float32", 0, 40)

    def define(x):
        center = m.fn.reductions.mean(x, axes=0, keep_dims=True)
        return {
            "mean": lambda: center,
            "std_dev": lambda: m.fn.reductions.std_dev(x, center, axes=0, keep_dims=True),
            "both": lambda: m.fn.reductions.variance(x, center, axes=0, keep_dims=True),
            "ddof": lambda: m.fn.reductions.std_dev(x, center, axes=0, keep_dims=True, ddof=1),
            "center": lambda: m.fn.reductions.variance(x, center * 0, axes=0, keep_dims=True),
        }[form]()

    (made,) = outputs(m, define, fed)
    refs = {
        "mean": lambda x: x.mean(0, keepdims=True),
        "std_dev": lambda x: x.std(0, keepdims=True),
        "both": lambda x: x.var(0, keepdims=True),
        "ddof": lambda x: x.std(0, keepdims=True, ddof=1),
        "center": lambda x: (x**2).mean(0, keepdims=True),
    }
    same(m, made, [refs[form](x) for x in fed], error=1e-3)


@all_of(**pairs(PLAIN, ["cat", "stack"], [0, 1, -1]))
def joined(m, form):
    dtype, name, axis = form
    first = batch(m, [(2, 3), (4, 1), (1, 5)], dtype)
    second = [one + 1 for one in first]
    (made,) = outputs(m, lambda x, y: getattr(m.fn, name)(x, y, axis=axis), first, second)
    join = m.np.concatenate if name == "cat" else m.np.stack
    same(m, made, [join([a, b], axis) for a, b in zip(first, second)])


@all_of(**pairs(["uint8", "float32"], ["HWC", "CHW", ""], ["all", "axes", "align", "shape"]))
def pad(m, form):
    dtype, layout, how = form
    fed = batch(m, [(3, 4, 2), (5, 2, 2)], dtype)
    given = dict(
        all={},
        axes=dict(axes=(0,)),
        align=dict(axes=(1,), align=4),
        shape=dict(axes=[1], shape=[7]),
    )[how]
    (made,) = outputs(m, lambda x: m.fn.pad(x, fill_value=5, **given), fed, layouts=[layout])
    extents = dict(
        all=[(5, 4, 2)] * 2,
        axes=[(5, 4, 2), (5, 2, 2)],
        align=[(3, 4, 2), (5, 4, 2)],
        shape=[(3, 7, 2), (5, 7, 2)],
    )[how]
    want = []
    for one, extent in zip(fed, extents):
        full = m.np.full(extent, 5, dtype)
        full[tuple(slice(0, n) for n in one.shape)] = one
        want.append(full)
    same(m, made, want, layout=layout)


@all_of(**pairs(["HWC", "CHW"], [True, False], ["uint8", "float32"], ["mirror", "plain", "sample"]))
def normalized_crop(m, form):
    layout, pads, dtype, mirror = form
    fed = batch(m, [(6, 7, 3), (8, 5, 3)], dtype)
    flags = [m.np.array(one, "int32") for one in (1, 0)]
    mean, std = [1.0, 2.0, 3.0], [2.0, 4.0, 8.0]
    (made,) = outputs(
        m,
        lambda x, f: m.fn.crop_mirror_normalize(
            x,
            crop=(4, 4),
            output_layout=layout,
            pad_output=pads,
            mean=mean,
            std=std,
            mirror=f if mirror == "sample" else int(mirror == "mirror"),
        ),
        fed,
        flags,
        layouts=["HWC"],
    )
    want = []
    for i, one in enumerate(fed):
        y, x = (one.shape[0] - 4) / 2, (one.shape[1] - 4) / 2
        y, x = int(y + 0.5), int(x + 0.5)
        part = one[y : y + 4, x : x + 4].astype("float32")
        on = {"mirror": 1, "plain": 0, "sample": int(flags[i])}[mirror]
        part = part[:, ::-1] if on else part
        part = (part - m.np.float32(mean)) / m.np.float32(std)
        if pads:
            part = m.np.concatenate([part, m.np.zeros((4, 4, 1), "float32")], 2)
        want.append(m.np.ascontiguousarray(part.transpose(2, 0, 1) if layout == "CHW" else part))
    same(m, made, want, error=1e-5, layout=layout)


@all_of(**pairs(["uint8", "int16", "float32"], ["scalar", "node", "big"]))
def brightness(m, form):
    dtype, how = form
    fed = batch(m, [(2, 3, 3), (4, 1, 3)], dtype, 0, 120)
    factors = [m.np.array(f, "float32") for f in (0.5, 1.25)]
    (made,) = outputs(
        m,
        lambda x, f: m.fn.brightness(
            x, brightness={"scalar": 2.0, "node": f, "big": 100.0}[how], dtype=m.types.FLOAT
        ),
        fed,
        factors,
        layouts=["HWC"],
    )
    used = {"scalar": [2.0, 2.0], "node": factors, "big": [100.0, 100.0]}[how]
    same(m, made, [x.astype("float32") * m.np.float32(f) for x, f in zip(fed, used)], error=1e-3)


@all_of(**pairs([(2, 3), (1, 6), (6,), (3, 1, 2), (-1, 2)], ["HW", None]))
def reshape(m, form):
    shape, layout = form
    layout = "HWC"[: len(shape)] if layout else None
    fed = batch(m, [(3, 2), (2, 3), (6, 1)], "int32")
    (made,) = outputs(m, lambda x: m.fn.reshape(x, shape=shape, layout=layout), fed)
    same(m, made, [x.reshape(shape) for x in fed], layout=layout or "")


@all_of("rel", "src", "node", "dtype", "empty", "scalar", "layout", "rel_wild", "src_new")
def reshape_forms(m, form):
    shapes = [(0, 3), (0, 5)] if form == "empty" else [(2, 4), (6, 4)]
    fed = batch(m, shapes, "uint8")
    new = [m.np.array(s, "int32") for s in ((4, 2), (3, 8))]
    if form == "scalar":
        fed = batch(m, [(1, 1), (1,) * 2], "uint8")
    define = {
        "rel": lambda x, s: m.fn.reshape(x, rel_shape=[0.5, 2]),
        "src": lambda x, s: m.fn.reshape(x, src_dims=[1, 0]),
        "node": lambda x, s: m.fn.reshape(x, shape=s),
        "dtype": lambda x, s: m.fn.reinterpret(x, dtype=m.types.INT32),
        "empty": lambda x, s: m.fn.reshape(x, shape=[0, 2]),
        "scalar": lambda x, s: m.fn.reshape(x, shape=[]),
        "layout": lambda x, s: m.fn.reshape(x, layout="XY"),
        "rel_wild": lambda x, s: m.fn.reshape(x, rel_shape=[-1, 2]),
        "src_new": lambda x, s: m.fn.reshape(x, src_dims=[0, -1, 1]),
    }[form]
    (made,) = outputs(m, define, fed, new)
    return made


@all_of(**pairs(["HWC", "ABCD"], [[0], [1], [0, 1], [2]]))
def dims_added(m, form):
    layout, axes = form
    fed = batch(m, [tuple(range(1, 1 + len(layout)))] * 2)
    (made,) = outputs(
        m,
        lambda x: m.fn.expand_dims(x, axes=axes, new_axis_names="XYZ"[: len(axes)]),
        fed,
        layouts=[layout],
    )
    same(m, made, [m.np.expand_dims(x, axes) for x in fed])
    return made.layout()


@all_of(**pairs(["axes", "names"], [0, 1, 3]))
def dims_removed(m, form):
    how, place = form
    shape = [2, 3, 4]
    shape.insert(place, 1)
    fed = batch(m, [tuple(shape)] * 2)
    layout = "HWC"[:place] + "X" + "HWC"[place:]
    given = dict(axes=dict(axes=place), names=dict(axis_names="X"))
    (made,) = outputs(m, lambda x: m.fn.squeeze(x, **given[how]), fed, layouts=[layout])
    same(m, made, [x.squeeze(place) for x in fed], layout="HWC")


@all_of(**pairs(["uint8", "float32"], [(5, 5), (8, 3), (2, 9)], ["hwc", "chw", "rank"]))
def resize_nearest(m, form):
    dtype, size, how = form
    shapes = [(4, 6, 3), (10, 9, 3)]
    layout = "HWC"
    if how == "chw":
        shapes, layout = [(3, 4, 6), (3, 10, 9)], "CHW"
    if how == "rank":
        shapes, layout = [(2, 4, 6, 3), (1, 10, 9, 3)], "FHWC"
    fed = batch(m, shapes, dtype)
    (made,) = outputs(
        m,
        lambda x: m.fn.resize(x, size=size, interp_type=m.types.INTERP_NN),
        fed,
        layouts=[layout],
    )
    for i, one in enumerate(fed):
        h, w = one.shape[layout.index("H")], one.shape[layout.index("W")]
        ys = ((m.np.arange(size[0]) + 0.5) * h / size[0]).astype(int)
        xs = ((m.np.arange(size[1]) + 0.5) * w / size[1]).astype(int)
        want = one.take(ys, layout.index("H")).take(xs, layout.index("W"))
        assert m.np.array(made[i]).shape == want.shape
        assert (m.np.array(made[i]) == want).mean() > 0.8
    return [made.layout(), made.dtype]


@all_of(*"x y shorter longer size mode max roi scale_none save node".split())
def resize_extents(m, how):
    fed = batch(m, [(40, 60, 1), (30, 20, 1)])
    sides = [m.np.array(s, "float32") for s in (10, 35)]
    define = {
        "x": lambda x, s: m.fn.resize(x, resize_x=12),
        "y": lambda x, s: m.fn.resize(x, resize_y=12.5),
        "shorter": lambda x, s: m.fn.resize(x, resize_shorter=10),
        "longer": lambda x, s: m.fn.resize(x, resize_longer=10),
        "size": lambda x, s: m.fn.resize(x, size=[0, 11]),
        "mode": lambda x, s: m.fn.resize(x, size=[20, 20], mode="not_larger"),
        "max": lambda x, s: m.fn.resize(x, resize_shorter=40, max_size=50),
        "roi": lambda x, s: m.fn.resize(
            x, size=[10, 10], roi_start=[0.1, 0.2], roi_end=[0.5, 0.6], roi_relative=True
        ),
        "scale_none": lambda x, s: m.fn.resize(x, resize_x=12, subpixel_scale=False),
        "save": lambda x, s: m.fn.resize(x, resize_x=12, save_attrs=True),
        "node": lambda x, s: m.fn.resize(x, resize_x=s, resize_y=0.0),
    }[how]
    made = outputs(m, define, fed, sides, layouts=["HWC"])
    return [made[0].shape(), *[m.plain(one) for one in made[1:]]]


@all_of(**pairs(["all", "axes", "batch", "mean", "stddev", "scale"], ["float32", "uint8"]))
def normalize(m, form):
    how, dtype = form
    fed = batch(m, [(4, 5, 2), (3, 2, 2)], dtype)
    given = {
        "all": {},
        "axes": dict(axes=[0, 1]),
        "batch": dict(batch=True),
        "mean": dict(mean=10.0),
        "stddev": dict(stddev=4.0),
        "scale": dict(scale=64.0, shift=128.0),
    }[how]
    (made,) = outputs(m, lambda x: m.fn.normalize(x, **given), fed, layouts=["HWC"])
    every = m.np.concatenate([x.ravel() for x in fed]).astype("float64")
    want = []
    for x in fed:
        x = x.astype("float64")
        axis = (0, 1) if how == "axes" else None
        mean = x.mean(axis, keepdims=True) if how != "batch" else every.mean()
        mean = 10.0 if how == "mean" else mean
        sigma = ((x - mean) ** 2).mean(axis, keepdims=True) ** 0.5
        sigma = every.std() if how == "batch" else 4.0 if how == "stddev" else sigma
        y = (x - mean) / sigma
        want.append((y * 64 + 128 if how == "scale" else y).astype("float32"))
    same(m, made, want, error=2e-3)


@all_of(**pairs(["uint8", "int32", "float32"], [0.0, 2.5], [True, False]))
def erase(m, form):
    dtype, value, normalized = form
    fed = batch(m, [(6, 8, 3), (4, 4, 3)], dtype)
    given = (
        dict(anchor=(0.25, 0.5), shape=(0.5, 0.5), normalized=True)
        if normalized
        else dict(anchor=(1, 2), shape=(2, 3))
    )
    (made,) = outputs(
        m, lambda x: m.fn.erase(x, axis_names="HW", fill_value=value, **given), fed, layouts=["HWC"]
    )
    want = []
    for x in fed:
        x, (h, w, _) = x.copy(), x.shape
        if normalized:
            y0, x0, y1, x1 = (int(v) for v in (h * 0.25, w * 0.5, h * 0.75, w))
        else:
            y0, x0, y1, x1 = 1, 2, 3, 5
        x[y0:y1, x0:x1] = m.np.array(value).astype(dtype)
        want.append(x)
    if dtype == "float32" or value == 0.0:
        same(m, made, want)
    return made.dtype


@all_of(**pairs(["uint8", "int32", "int64"], [-1, 4], [(0.0, 1.0), (-2.0, 7.5)]))
def one_hot(m, form):
    dtype, axis, (off, on) = form
    axis = 0 if axis == 4 else axis
    fed = batch(m, [(2, 3), (1,) * 2], dtype, 0, 5)
    (made,) = outputs(
        m, lambda x: m.fn.one_hot(x, num_classes=5, axis=axis, off_value=off, on_value=on), fed[:1]
    )
    hot = m.np.where(fed[0][..., None] == m.np.arange(5), on, off).astype("float32")
    same(m, made, [m.np.moveaxis(hot, -1, axis)])


@all_of("found", "default", "types", "float", "empty")
def lookup(m, how):
    fed = batch(m, [(2, 3), (4, 1)], "int64" if how == "types" else "uint8", 0, 6)
    if how == "empty":
        fed = batch(m, [(0, 3), (0, 1)])
    given = dict(keys=[1, 3, 5], values=[10, 30, 50])
    if how == "float":
        given = dict(keys=[1, 3], values=[0.5, 0.25], default_value=-0.5)
    if how == "default":
        given["default_value"] = 99
    if how == "types":
        given["dtype"] = m.types.INT16
    (made,) = outputs(m, lambda x: m.fn.lookup_table(x, **given), fed)
    return made
