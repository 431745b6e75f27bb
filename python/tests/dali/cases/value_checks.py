"""What operators compute of values, beside numpy; draws, constants, samples without elements."""

from . import all_of
from .operator_checks import batch, outputs, pairs, same


@all_of("list", "int", "repeat", "node", "reverse")
def permuted(m, how):
    fed = batch(m, [(i + 1,) for i in range(4)])
    places = [m.np.array(i, "int32") for i in (3, 3, 0, 1)]
    given = dict(list=[1, 2, 3, 0], int=2, repeat=[1, 1, 1, 1], reverse=[3, 2, 1, 0])
    (made,) = outputs(m, lambda x, p: m.fn.permute_batch(x, indices=given.get(how, p)), fed, places)
    where = dict(int=[2] * 4, node=[3, 3, 0, 1]).get(how, given.get(how))
    same(m, made, [fed[i] for i in where])


@all_of(**pairs(["uint8", "float32"], ["chain", "twice", "nested", "constant"]))
def warped(m, form):
    dtype, how = form
    fed = batch(m, [(6, 8, 1), (5, 5, 1)], dtype)

    def define(x):
        t = m.fn.transforms
        shift = t.translation(offset=(2, 1))
        matrix = {
            "chain": lambda: t.translation(shift, offset=(-1, 0)),
            "twice": lambda: t.combine(shift, shift),
            "nested": lambda: t.scale(shift, scale=(2, 2), center=(0, 0)),
            "constant": lambda: m.types.Constant([1.0, 0, 1, 0, 1, 2], shape=[2, 3]),
        }[how]()
        return matrix, m.fn.warp_affine(
            x, matrix, fill_value=3, interp_type=m.types.INTERP_NN, inverse_map=True
        )

    matrix, made = outputs(m, define, fed, layouts=["HWC"])
    same_matrix = {
        "chain": [[1, 0, 1], [0, 1, 1]],
        "twice": [[1, 0, 4], [0, 1, 2]],
        "nested": [[2, 0, 4], [0, 2, 2]],
        "constant": [[1, 0, 1], [0, 1, 2]],
    }[how]
    m.np.testing.assert_allclose(m.np.array(matrix[0]), same_matrix)
    (a, _, dx), (_, b, dy) = same_matrix
    for i, one in enumerate(fed):
        h, w, _ = one.shape
        want = m.np.full_like(one, 3)
        for y in range(h):
            for x in range(w):
                sx, sy = int((x + 0.5) * a + dx), int((y + 0.5) * b + dy)
                if sx < w and sy < h:
                    want[y, x] = one[sy, sx]
        m.np.testing.assert_array_equal(m.np.array(made[i]), want)


@all_of(
    "coin", "uniform_range", "uniform_values", "normal", "shape", "like", "choice", "beta", "int"
)
def drawn(m, how):
    fed = batch(m, [(2, 3), (4, 1)])
    r = m.fn.random
    define = {
        "coin": lambda x: r.coin_flip(probability=0.5, shape=[4]),
        "uniform_range": lambda x: r.uniform(range=(3, 4), shape=(2, 2)),
        "uniform_values": lambda x: r.uniform(values=[1.0, 5.0], shape=7),
        "normal": lambda x: r.normal(mean=3, stddev=0.1),
        "shape": lambda x: r.uniform(shape=m.fn.shapes(x, dtype=m.types.INT32)),
        "like": lambda x: r.normal(x),
        "choice": lambda x: r.choice([2, 4, 8], shape=[5]),
        "beta": lambda x: r.beta(alpha=2.0, beta=3.0, shape=[3]),
        "int": lambda x: r.uniform(range=[0, 10], dtype=m.types.INT32, shape=[9]),
    }[how]
    (made,) = outputs(m, define, fed)
    whole = m.np.concatenate([m.np.array(one).ravel() for one in made]).astype("float64")
    return [made.dtype, made.shape(), made.layout(), bool(whole.min() >= -5 and whole.max() < 11)]


@all_of(**pairs(["uint8", "int16", "float32", "int32"], [1, 3]))
def copied(m, form):
    dtype, rank = form
    fed = batch(m, [(3,) * rank, (0,) * rank], dtype)
    first, second, kind = outputs(
        m, lambda x: (m.fn.copy(x), x, m.fn.shapes(x)), fed, layouts=["HWC"[:rank]]
    )
    same(m, first, fed, layout="HWC"[:rank])
    same(m, second, fed)
    return kind


@all_of("zeros", "ones", "full", "like", "typed", "node", "value_like", "scalar")
def made_of_nothing(m, how):
    fed = batch(m, [(2, 3), (1, 2)], "int32")
    define = {
        "zeros": lambda x: m.fn.zeros(shape=(2, 2)),
        "ones": lambda x: m.fn.ones(shape=3, dtype=m.types.UINT8),
        "full": lambda x: m.fn.full(7.5, shape=(2,)),
        "like": lambda x: m.fn.zeros_like(x),
        "typed": lambda x: m.fn.ones_like(x, dtype=m.types.FLOAT),
        "node": lambda x: m.fn.full(m.fn.reductions.max(x), shape=(1, 2)),
        "value_like": lambda x: m.fn.full_like(x, 9),
        "scalar": lambda x: m.fn.zeros(shape=[]),
    }[how]
    (made,) = outputs(m, define, fed)
    return made


@all_of(**pairs(["int32", "float32", "uint8"], ["+", "-", "*", "/", "//", "%", "<", "==", "&"]))
def arithmetic(m, form):
    dtype, sign = form
    first, second = (
        batch(m, [(3, 2), (4,) * 2], dtype, 1, 50),
        batch(m, [(3, 2), (1, 4)], dtype, 1, 9),
    )
    import operator as o

    calls = {
        "+": o.add,
        "-": o.sub,
        "*": o.mul,
        "/": o.truediv,
        "//": o.floordiv,
        "%": o.mod,
        "<": o.lt,
        "==": o.eq,
        "&": o.and_,
    }
    made = outputs(
        m, lambda x, y: (calls[sign](x, y), calls[sign](x, 3), calls[sign](7, y)), first, second
    )
    return list(made)


@all_of(
    **pairs("sqrt rsqrt cbrt exp log log2 log10 abs fabs floor ceil sin tan tanh asinh".split())
)
def math_function(m, form):
    (name,) = form
    fed = batch(m, [(3, 2), (4,) * 2], "float32", 1, 9)
    (made,) = outputs(m, lambda x: getattr(m.math, name)(x), fed)
    ref = {"rsqrt": lambda x: 1 / x**0.5}.get(name) or getattr(m.np, name)
    same(m, made, [ref(x).astype("float32") for x in fed], error=1e-4)


@all_of("pow", "atan2", "min", "max", "clamp", "clamp_int", "max_const", "pow_int")
def math_of_two(m, how):
    x, y = batch(m, [(3, 2)] * 2, "float32", 1, 9), batch(m, [(3, 2)] * 2, "float32", 0, 3)
    define = {
        "pow": lambda a, b: a**b,
        "atan2": lambda a, b: m.math.atan2(a, b),
        "min": lambda a, b: m.math.min(a, b),
        "max": lambda a, b: m.math.max(a, b),
        "clamp": lambda a, b: m.math.clamp(a, 2, b + 3),
        "clamp_int": lambda a, b: m.math.clamp(m.fn.cast(a, dtype=m.types.INT32), 2, 5),
        "max_const": lambda a, b: m.math.max(a, 4),
        "pow_int": lambda a, b: m.fn.cast(a, dtype=m.types.INT32) ** 2,
    }[how]
    (made,) = outputs(m, define, x, y)
    want = {
        "pow": lambda a, b: a**b,
        "atan2": m.np.arctan2,
        "min": m.np.minimum,
        "max": m.np.maximum,
        "clamp": lambda a, b: m.np.clip(a, 2, b + 3),
        "clamp_int": lambda a, b: m.np.clip(a, 2, 5).astype("int32"),
        "max_const": lambda a, b: m.np.maximum(a, 4),
        "pow_int": lambda a, b: (a**2).astype("int32"),
    }[how]
    same(m, made, [want(a, b) for a, b in zip(x, y)], error=1e-4)


EMPTY = {
    "flip": lambda m, x: m.fn.flip(x),
    "cast": lambda m, x: m.fn.cast(x, dtype=m.types.FLOAT),
    "transpose": lambda m, x: m.fn.transpose(x, perm=[2, 0, 1]),
    "crop": lambda m, x: m.fn.crop(x, crop=(0, 0)),
    "pad": lambda m, x: m.fn.pad(x, fill_value=1),
    "sum": lambda m, x: m.fn.reductions.sum(x, axes=0),
    "stack": lambda m, x: m.fn.stack(x, x),
    "cat": lambda m, x: m.fn.cat(x, x),
    "arithmetic": lambda m, x: x + 1,
    "slice": lambda m, x: m.fn.slice(x, start=[0], shape=[0], axes=[0]),
    "normalize": lambda m, x: m.fn.normalize(x),
    "brightness": lambda m, x: m.fn.brightness(x, brightness=2.0),
    "hsv": lambda m, x: m.fn.hsv(x, hue=20.0),
    "erase": lambda m, x: m.fn.erase(x, anchor=[0], shape=[1], axes=[0]),
    "shapes": lambda m, x: m.fn.shapes(x),
    "one_hot": lambda m, x: m.fn.one_hot(x, num_classes=3),
    "rotate": lambda m, x: m.fn.rotate(x, angle=10.0),
    "blur": lambda m, x: m.fn.gaussian_blur(x, window_size=3),
    "cmn": lambda m, x: m.fn.crop_mirror_normalize(x, mean=[1.0], std=[2.0]),
    "grid": lambda m, x: m.fn.grid_mask(x, ratio=0.5, angle=0.0, tile=4),
    "jpeg": lambda m, x: m.fn.jpeg_compression_distortion(x, quality=50),
    "equalize": lambda m, x: m.fn.equalize(x),
    "expand": lambda m, x: m.fn.expand_dims(x, axes=0),
    "lookup": lambda m, x: m.fn.lookup_table(x, keys=[1], values=[2]),
    "noise": lambda m, x: m.fn.noise.gaussian(x),
    "permute": lambda m, x: m.fn.permute_batch(x, indices=[0, 0]),
    "math": lambda m, x: m.math.sqrt(x),
    "max": lambda m, x: m.fn.reductions.max(x, axes=2),
    "sphere": lambda m, x: m.fn.sphere(x),
    "water": lambda m, x: m.fn.water(x),
    "warp": lambda m, x: m.fn.warp_affine(x, matrix=[1.0, 0, 0, 0, 1, 0]),
    "color": lambda m, x: m.fn.color_space_conversion(
        x, image_type=m.types.RGB, output_type=m.types.GRAY
    ),
    "laplacian": lambda m, x: m.fn.laplacian(x),
}


# Where DALI crashes, or refuses what has a plain result.
NOT_EMPTY = ("rotate", "blur", "laplacian", "jpeg", "equalize", "color")


@all_of(**{name: (name, call) for name, call in EMPTY.items() if name not in NOT_EMPTY})
def empty_samples(m, form):
    _, call = form
    fed = [m.np.zeros((0, 4, 3), "uint8")] * 2
    (made,) = outputs(m, lambda x: call(m, x), fed, layouts=["HWC"])
    return made


@all_of(**{name: (name, call) for name, call in EMPTY.items() if name not in NOT_EMPTY})
def partly_empty_samples(m, form):
    name, call = form
    fed = [m.np.zeros((0, 4, 3), "uint8"), m.np.ones((3, 4, 3), "uint8")]
    (made,) = outputs(m, lambda x: call(m, x), fed, layouts=["HWC"])
    return [made.shape(), made.dtype, made.layout()]
