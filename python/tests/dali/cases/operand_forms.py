"""What stands beside a batch in an expression: constants of every type, numbers, arrays."""

from . import each
from .axes_and_extents import of

DTYPES = "BOOL UINT8 INT8 UINT16 INT16 UINT32 INT32 UINT64 INT64 FLOAT FLOAT64".split()
SIGNS = {
    "add": lambda a, b: a + b,
    "sub": lambda a, b: a - b,
    "mul": lambda a, b: a * b,
    "div": lambda a, b: a / b,
    "floordiv": lambda a, b: a // b,
    "mod": lambda a, b: a % b,
    "and": lambda a, b: a & b,
    "or": lambda a, b: a | b,
    "xor": lambda a, b: a ^ b,
    "lt": lambda a, b: a < b,
    "eq": lambda a, b: a == b,
    "min": None,
    "pow": None,
}


def applied(m, sign, a, b):
    if SIGNS[sign] is None:
        return getattr(m.math, sign)(a, b)
    return SIGNS[sign](a, b)


def feed(m, kind="uint8"):
    return [m.np.array([1, 2, 7], kind), m.np.array([3, 1, 4], kind)]


@each(*[f"{sign}-{side}" for sign in SIGNS for side in ("right", "left")])
def constants(m, which):
    """Every type of a constant beside bytes, 16 bits and floats."""
    sign, side = which.split("-")
    got = {}
    for kind in ("uint8", "int16", "float32"):
        for dtype in DTYPES:
            constant = m.types.Constant(3, dtype=getattr(m.types, dtype))

            def body(fn, x, constant=constant):
                pair = (x, constant) if side == "right" else (constant, x)
                return applied(m, sign, *pair)

            def made(body=body, kind=kind):
                value = of(m, body, feed(m, kind))[0]["samples"][0]
                return [value["dtype"], value["values"]]

            got[f"{kind} {dtype}"] = m.attempt(made)
    return got


NUMBERS = {
    "np_uint8": lambda np: np.uint8(3),
    "np_int64": lambda np: np.int64(-3),
    "np_float32": lambda np: np.float32(2.5),
    "np_float64": lambda np: np.float64(2.5),
    "np_bool": lambda np: np.bool_(True),
    "bool": lambda np: True,
    "large": lambda np: 2**31,
    "larger": lambda np: 2**40,
    "too_large": lambda np: 2**70,
    "negative": lambda np: -1,
    "complex": lambda np: 1 + 2j,
    "none": lambda np: None,
    "text": lambda np: "3",
    "list": lambda np: [1, 2, 3],
    "tuple": lambda np: (1, 2, 3),
    "array_0": lambda np: np.array(3, "int16"),
    "array_1": lambda np: np.array([1, 2, 3], "int16"),
    "infinite": lambda np: float("inf"),
}


@each(**NUMBERS)
def numbers_beside(m, make):
    number = make(m.np)
    got = []
    for sign in ("add", "mul", "div", "eq"):
        for left in (True, False):

            def body(fn, x, sign=sign, left=left):
                return applied(m, sign, *((x, number) if left else (number, x)))

            def made(body=body):
                value = of(m, body, feed(m))[0]["samples"][0]
                return [value["dtype"], value["values"]]

            got.append(m.attempt(made))
    return got


CONSTANTS = {
    "list": lambda t: t.Constant([1, 2, 3]),
    "list_typed": lambda t: t.Constant([1, 2, 3], dtype=t.UINT8),
    "floats": lambda t: t.Constant([0.5, 1, 2]),
    "shaped": lambda t: t.Constant([1, 2, 3, 4, 5, 6], shape=(2, 3)),
    "shape_wrong": lambda t: t.Constant([1, 2, 3], shape=(2, 3)),
    "value_repeated": lambda t: t.Constant(7, shape=(2, 3)),
    "layout": lambda t: t.Constant([[1, 2, 3], [4, 5, 6]], layout="HW"),
    "ragged": lambda t: t.Constant([[1, 2, 3], [4, 5]]),
    "booleans": lambda t: t.Constant([True, False, True]),
    "nothing": lambda t: t.Constant([]),
    "text": lambda t: t.Constant("abc"),
    "device_cpu": lambda t: t.Constant([1, 2, 3], device="cpu"),
    "of_constant": lambda t: t.Constant(t.Constant(3)),
    "large": lambda t: t.Constant(2**31),
    "saturates": lambda t: t.Constant(300, dtype=t.UINT8),
    "negative_byte": lambda t: t.Constant(-1, dtype=t.UINT8),
    "fraction_as_integer": lambda t: t.Constant(2.5, dtype=t.INT32),
    "half": lambda t: t.Constant([1, 2, 3], dtype=t.FLOAT16),
}


@each(**CONSTANTS)
def constants_made(m, make):
    return of(m, lambda fn, x: x + make(m.types), feed(m))


@each(**CONSTANTS)
def constants_as_outputs(m, make):
    constant = make(m.types)
    return of(m, lambda fn, x: (x, constant), feed(m))[1]


ARRAYS = {
    "scalar_sample": lambda np: [np.array(2, "int32"), np.array(5, "int32")],
    "one": lambda np: [np.array([2], "int32"), np.array([5], "int32")],
    "column": lambda np: [np.array([[1], [2]], "int32")] * 2,
    "two": lambda np: [np.array([1, 2], "int32")] * 2,
    "mixed_ranks": lambda np: [np.array([1, 2, 3], "float32")] * 2,
    "empty": lambda np: [np.zeros(0, "int32")] * 2,
    "row_of_empty": lambda np: [np.zeros((0, 3), "int32")] * 2,
}


@each(**ARRAYS)
def arrays_beside(m, make):
    got = []
    for sign in ("add", "lt", "div"):

        def body(fn, x, y, sign=sign):
            return applied(m, sign, x, y), applied(m, sign, y, x)

        got.append(m.attempt(lambda body=body: of(m, body, feed(m), make(m.np))))
    return got


UNARY = {
    "negative": lambda m, x: -x,
    "positive": lambda m, x: +x,
    "inverted": lambda m, x: ~x,
    "absolute": lambda m, x: abs(x),
    "power": lambda m, x: x**2,
    "power_of": lambda m, x: 2**x,
    "matmul": lambda m, x: x @ x,
    "shift": lambda m, x: x << 1,
    "divmod": lambda m, x: divmod(x, 2),
    "round": lambda m, x: round(x),
    "truth": lambda m, x: x if x else x,
    "and": lambda m, x: x and x,
    "not": lambda m, x: not x,
    "in": lambda m, x: 1 in x,
    "chained": lambda m, x: 0 < x < 3,
    "float": lambda m, x: float(x),
    "int": lambda m, x: int(x),
    "length": lambda m, x: len(x),
    "loop": lambda m, x: [one for one in x][0],
    "index": lambda m, x: x[0],
    "index_negative": lambda m, x: x[-1],
    "index_outside": lambda m, x: x[9],
    "slice": lambda m, x: x[1:],
    "slice_step": lambda m, x: x[::2],
    "slice_backwards": lambda m, x: x[::-1],
    "newaxis": lambda m, x: x[None],
    "newaxis_last": lambda m, x: x[:, m.dali.newaxis],
    "newaxis_named": lambda m, x: x[:, m.dali.newaxis("C")],
    "ellipsis": lambda m, x: x[..., 0],
    "two_indices": lambda m, x: x[0, 0],
    "index_float": lambda m, x: x[1.5],
    "index_text": lambda m, x: x["a"],
    "index_list": lambda m, x: x[[0, 1]],
    "index_node": lambda m, x: x[x[0] % 2],
    "assign": lambda m, x: x.__setitem__(0, 1),
    "call": lambda m, x: x(),
    "shape": lambda m, x: x.shape(),
    "attribute": lambda m, x: x.size,
}


@each(**UNARY)
def operations_of_a_node(m, make):
    return of(m, lambda fn, x: make(m, x), feed(m, "int32"))
