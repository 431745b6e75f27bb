"""Expressions on data nodes, `nvidia.dali.math`, constants in a pipeline."""

from . import case, each

A = [[1, 2, 3], [4, 5, 6]]
BINARY = {
    "add": lambda a, b: a + b,
    "sub": lambda a, b: a - b,
    "mul": lambda a, b: a * b,
    "truediv": lambda a, b: a / b,
    "floordiv": lambda a, b: a // b,
    "mod": lambda a, b: a % b,
    "pow": lambda a, b: a**b,
    "eq": lambda a, b: a == b,
    "ne": lambda a, b: a != b,
    "lt": lambda a, b: a < b,
    "le": lambda a, b: a <= b,
    "gt": lambda a, b: a > b,
    "ge": lambda a, b: a >= b,
}
BITS = {
    "and": lambda a, b: a & b,
    "or": lambda a, b: a | b,
    "xor": lambda a, b: a ^ b,
    "lshift": lambda a, b: a << b,
    "rshift": lambda a, b: a >> b,
}
UNARY = {
    "neg": lambda a: -a,
    "pos": lambda a: +a,
    "invert": lambda a: ~a,
    "abs": lambda a: abs(a),
}


def compute(m, function, *arrays):
    return m.run(lambda: function(*[m.feed(array) for array in arrays]))[0]


def array(m, dtype="int32", values=A):
    return m.np.array(values, dtype)


@each(**BINARY)
def of_integers(m, function):
    return compute(m, function, array(m), array(m, values=[[3, 2, 1], [2, 5, 7]]))


@each(**{name: f for name, f in BINARY.items() if name != "pow"})
def of_floats(m, function):
    return compute(
        m, function, array(m, "float32"), array(m, "float32", [[0.5, 2, 4], [8, 0.25, 6]])
    )


@each(**{name: f for name, f in BINARY.items() if name not in ("pow", "mod")})
def with_a_number_behind(m, function):
    return compute(m, lambda a: function(a, 2), array(m))


@each(**{name: f for name, f in BINARY.items() if name not in ("pow", "mod")})
def with_a_number_before(m, function):
    return compute(m, lambda a: function(12, a), array(m))


@each(**BITS)
def bits(m, function):
    return compute(m, function, array(m), array(m, values=[[3, 2, 1], [2, 5, 7]]))


@each(**BITS)
def bits_of_bytes(m, function):
    return compute(m, lambda a: function(a, 3), array(m, "uint8"))


@each(**UNARY)
def unary(m, function):
    return compute(m, function, array(m, values=[[1, -2, 3], [-4, 5, -6]]))


@each("uint8", "int8", "uint16", "int16", "uint32", "int64", "float32", "float64", "bool")
def promotion_with_int32(m, dtype):
    return compute(m, lambda a, b: a + b, array(m, dtype), array(m))


@each("uint8", "int64", "float64", "bool")
def promotion_with_a_float(m, dtype):
    return compute(m, lambda a: a * 0.5, array(m, dtype))


@each("int8", "int16", "uint16", "int64", "uint64", "float64")
def promotion_of_bytes(m, dtype):
    return compute(m, lambda a, b: a + b, array(m, "uint8"), array(m, dtype))


@case
def number_keeps_bytes(m):
    return compute(m, lambda a: a + 1, array(m, "uint8"))


@case
def typed_constant(m):
    return compute(m, lambda a: a + m.types.Constant(1).uint8(), array(m, "uint8"))


@case
def typed_constant_widens(m):
    return compute(m, lambda a: a + m.types.Constant(1).int16(), array(m, "uint8"))


@case
def list_operand(m):
    return compute(m, lambda a: a * [1, 10, 100], array(m))


@case
def array_operand(m):
    return compute(m, lambda a: m.np.array([1, 2, 3], "int32") + a, array(m))


@case
def broadcast_scalar_node(m):
    return compute(m, lambda a, b: a * b, array(m), array(m, values=[2, 3]))


@case
def broadcast_axes(m):
    return compute(
        m,
        lambda a, b: a + b,
        array(m, values=[[[1], [2]], [[3], [4]]]),
        array(m, values=[[[10, 20]], [[30, 40]]]),
    )


@case
def shapes_do_not_match(m):
    return compute(m, lambda a, b: a + b, array(m), array(m, values=[[1, 2], [3, 4]]))


@case
def truth_value(m):
    return compute(m, lambda a: a if a > 1 else a + 1, array(m))


@case
def loop_over_a_node(m):
    return compute(m, lambda a: [x for x in a][0], array(m))


@case
def length_of_a_node(m):
    return m.raises(lambda: compute(m, lambda a: a + len(a), array(m)))


@case
def text_operand(m):
    return compute(m, lambda a: a + "x", array(m))


# Indices.


def volume(m):
    return m.np.arange(2 * 3 * 4, dtype="int32").reshape(1, 2, 3, 4).repeat(2, 0)


INDICES = {
    "first": lambda x: x[0],
    "last": lambda x: x[-1],
    "second_axis": lambda x: x[:, 1],
    "two": lambda x: x[1, 2],
    "all": lambda x: x[1, 2, 3],
    "range": lambda x: x[:, 1:3],
    "open": lambda x: x[:, :, 2:],
    "negative_range": lambda x: x[:, :, -3:-1],
    "empty": lambda x: x[:, 2:2],
    "whole": lambda x: x[:],
}


@each(**INDICES)
def index(m, function):
    return compute(m, function, volume(m))


@case
def index_by_a_node(m):
    return compute(m, lambda x, i: x[i], volume(m), m.np.array([1, 0], "int32"))


@case
def index_out_of_range(m):
    return compute(m, lambda x: x[5], volume(m))


@case
def index_of_too_many_axes(m):
    return compute(m, lambda x: x[0, 0, 0, 0], volume(m))


@each(text="a", number=1.5)
def index_of_a_wrong_type(m, value):
    return compute(m, lambda x: x[value], volume(m))


@case
def index_with_ellipsis(m):
    return compute(m, lambda x: x[..., 0], volume(m))


@case
def new_axis(m):
    return compute(m, lambda x: x[m.dali.newaxis, 0], volume(m))


@case
def new_axis_with_a_name(m):
    def body():
        x = m.feed(volume(m), layout="DHW")
        return x[:, :, :, m.dali.newaxis("C")]

    return m.run(body)[0]


# math.

FUNCTIONS = "sqrt rsqrt cbrt exp log log2 log10 floor ceil sin cos tan atan sinh cosh tanh".split()


@each(*FUNCTIONS)
def function(m, name):
    out = compute(m, getattr(m.math, name), array(m, "float32", [[0.25, 1.0, 2.5]] * 2))
    # Libraries differ in the last bits of what is not a power of two.
    return [[round(value, 4) for value in one["values"]] for one in out[0]["samples"]]


@each("min", "max")
def two(m, name):
    return compute(m, getattr(m.math, name), array(m), array(m, values=[[3, 2, 1], [2, 5, 7]]))


@case
def clamp(m):
    return compute(m, lambda a: m.math.clamp(a, 2, 5), array(m))


@each("pow", "fpow", "atan2")
def powers(m, name):
    out = compute(
        m,
        getattr(m.math, name),
        array(m, "float32", [[1, 2, 3]] * 2),
        array(m, "float32", [[2, 0.5, 1]] * 2),
    )
    return [[round(value, 4) for value in one["values"]] for one in out[0]["samples"]]


@case
def abs_of_integers(m):
    return compute(m, m.math.abs, array(m, values=[[1, -2, 3], [-4, 5, -6]]))


@case
def sqrt_of_integers(m):
    return compute(m, m.math.sqrt, array(m, values=[[1, 4, 9], [16, 25, 36]]))


# Constants.


def constant_output(m, make):
    def body():
        return m.feed(m.np.zeros((2, 1), "uint8")), make()

    return m.run(body)[0][1]


@each(one=1, half=0.5, yes=True, list=[1, 2, 3], floats=[1.0, 2.5], tuple=(4, 5))
def constant(m, value):
    return constant_output(m, lambda: m.types.Constant(value))


@case
def constant_array(m):
    return constant_output(m, lambda: m.types.Constant(m.np.arange(6, dtype="int16").reshape(2, 3)))


@case
def constant_with_dtype(m):
    return constant_output(m, lambda: m.types.Constant([1, 2], dtype=m.types.UINT8))


@case
def constant_with_shape(m):
    return constant_output(m, lambda: m.types.Constant(7, shape=(2, 2)))


@case
def constant_with_layout(m):
    return constant_output(
        m, lambda: m.types.Constant(m.np.zeros((2, 2, 3), "uint8"), layout="HWC")
    )


@each(number=3, float=0.25, yes=False, list=[1, 2], array="array")
def returned_as_it_is(m, value):
    return constant_output(m, lambda: m.np.arange(4, dtype="uint8") if value == "array" else value)


@case
def constant_operator(m):
    return constant_output(m, lambda: m.fn.constant(fdata=[1.5, 2.5], shape=[2]))


@case
def constant_operator_of_integers(m):
    return constant_output(m, lambda: m.fn.constant(idata=[1, 2, 3, 4], shape=[2, 2]))


@each("min", "max", "pow", "fpow", "atan2")
def function_of_a_bool_and_a_number(m, name):
    function = getattr(m.math, name)
    flags, given = m.np.array([True, False]), []
    for dtype in ("uint8", "int32", "float32"):

        def body():
            a = m.fn.external_source(source=lambda: [flags] * 2)
            b = m.fn.external_source(source=lambda: [m.np.array([1, 2], dtype)] * 2)
            return function(a, b), function(b, a)

        batch = m.run(body)[0]
        given.append([[one["samples"][0]["dtype"], one["samples"][0]["values"]] for one in batch])
    for result in given:
        for dtype, values in result:
            values[:] = [round(value, 5) for value in values]
    return given


@each("min", "pow", "atan2", "sqrt")
def function_of_bools(m, name):
    function = getattr(m.math, name)

    def body():
        a = m.fn.external_source(source=lambda: [m.np.array([True])] * 2)
        return function(a) if name == "sqrt" else function(a, a)

    return m.run(body)


@each(*"int64 uint64 float64 int32 float16 uint8".split())
def scalars_of_numpy(m, dtype):
    """Constants of 64 bits become narrower ones, but not in arithmetic."""
    np = m.np
    scalar, array = np.dtype(dtype).type(1), np.array(1, dtype)

    def body():
        node = m.fn.constant(idata=[2], shape=[])
        outputs = [scalar, array, m.fn.copy(scalar), m.fn.copy(array)]
        outputs += [m.types.Constant(one, device="cpu") for one in (scalar, array)]
        if dtype not in ("float64", "float16"):  # DALI fails
            outputs += [node + scalar, m.types.Constant(scalar), m.types.Constant(array)]
        if dtype != "float16":
            outputs.append(node + array)
        return tuple(outputs)

    return m.run(body)


@each(*"int64 uint64 float32 int32 float16 uint8 bool".split())
def constants_of_numpy_with_a_type(m, dtype):
    """The type that was asked for stays, of numbers and of arrays."""
    np = m.np
    kind = m.types.to_dali_type(dtype)

    def body():
        values = [np.array(1), np.int64(1), np.array([1, 0]), np.array([[1.0]]), 1, [1, 0]]
        return tuple(m.types.Constant(one, dtype=kind, device="cpu") for one in values)

    return m.run(body)


@each(
    min=lambda m, x, a: m.math.min(x, a),
    max=lambda m, x, a: m.math.max(a, x),
    clamp=lambda m, x, a: m.math.clamp(x, a, 9),
    pow=lambda m, x, a: m.math.pow(x, a),
    atan2=lambda m, x, a: m.math.atan2(a, x),
)
def functions_of_arrays(m, function):
    """Arrays as operands of functions are constants, of numpy and of torch."""
    found = []
    arrays = [m.np.array([3, 1, 2], "uint8"), m.np.float32([3, 1, 2]), m.np.array(2, "uint8")]
    for array in arrays:

        def body():
            return function(m, m.fn.constant(idata=[1, 2, 3], dtype=m.types.UINT8), array)

        found.append(m.run(body))
    return found


@case
def tensors_of_torch(m):
    import torch

    def body():
        x = m.fn.constant(idata=[1, 2, 3], dtype=m.types.UINT8)
        tensor = torch.tensor([5, 1, 7], dtype=torch.uint8)
        return (
            m.fn.cat(x, tensor),
            x + tensor,
            m.math.min(x, tensor),
            m.types.Constant(torch.tensor([1, 2]), device="cpu"),
            m.types.Constant(torch.tensor([1.5]), device="cpu"),
        )

    return m.run(body)
