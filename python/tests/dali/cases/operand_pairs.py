"""Arithmetic of every pair of element types, with constants of every type, and of unlike shapes."""

import operator

from . import CASES, each

DTYPES = "bool uint8 int8 uint16 int16 uint32 int32 uint64 int64 float32 float64".split()
SIGNS = {
    "add": operator.add,
    "sub": operator.sub,
    "mul": operator.mul,
    "div": operator.truediv,
    "floordiv": operator.floordiv,
    "pow": operator.pow,
    "mod": operator.mod,
    "and": operator.and_,
    "or": operator.or_,
    "xor": operator.xor,
    "left": operator.lshift,
    "right": operator.rshift,
    "equal": operator.eq,
    "unequal": operator.ne,
    "less": operator.lt,
    "less_equal": operator.le,
    "greater": operator.gt,
    "greater_equal": operator.ge,
}
FUNCTIONS = (
    "abs acos acosh asin asinh atan atanh cbrt ceil cos cosh exp fabs floor log log10 log2 rsqrt "
    "sin sinh sqrt tan tanh"
).split()
PAIRS = "atan2 min max pow fpow".split()


def shown(m, one):
    """Type and values: of floats four digits."""
    values = m.np.array(one.at(0)).ravel().tolist()
    rounded = [float(f"{v:.4g}") if isinstance(v, float) else v for v in values]
    return f"{one.dtype.name} {rounded}"


def gives(m, function, *arrays):
    """What a function of nodes gives for one sample; "refused" for an error."""

    def body():
        return function(*(m.feed([a]) for a in arrays))

    try:
        pipe = m.pipeline_def(batch_size=1, num_threads=1, device_id=None)(body)()
        return shown(m, pipe.run()[0])
    except Exception:
        return "refused"


def pairs(m, sign, left):
    a = m.np.array([7, 1, 0, 5], left)
    b = m.np.array([2, 1, 3, 4])
    return {right: gives(m, SIGNS[sign], a, b.astype(right)) for right in DTYPES}


def with_numbers(m, sign, left):
    """Constants of Python on either side, and of each element type."""
    a = m.np.array([7, 1, 2, 5], left)
    found = {}
    for shown_as, value in {"3": 3, "1.5": 1.5, "True": True, "-2": -2, "1000": 1000}.items():
        found[f"node {shown_as}"] = gives(m, lambda x, v=value: SIGNS[sign](x, v), a)
        found[f"{shown_as} node"] = gives(m, lambda x, v=value: SIGNS[sign](v, x), a)
    for kind in ("uint8", "int64", "float32", "float64"):
        constant = getattr(m.types.Constant(3), kind)()
        found[f"node {kind}"] = gives(m, lambda x, c=constant: SIGNS[sign](x, c), a)
    return found


def function_of_types(m, name):
    values = [0, 1, 1, 2] if name != "acosh" else [1, 2, 3, 1]
    return {
        dtype: gives(m, getattr(m.math, name), m.np.array(values, dtype)) for dtype in DTYPES
    }


def functions_of_pairs(m, name, left):
    a, b = m.np.array([7, 1, 0, 2], left), m.np.array([2, 1, 1, 3])
    return {right: gives(m, getattr(m.math, name), a, b.astype(right)) for right in DTYPES}


for _sign in SIGNS:
    for _left in DTYPES:
        for _kind in (pairs, with_numbers):
            CASES[f"operand_pairs.{_kind.__name__}[{_sign}-{_left}]"] = (
                lambda m, kind=_kind, sign=_sign, left=_left: kind(m, sign, left)
            )
for _name in FUNCTIONS:
    CASES[f"operand_pairs.function[{_name}]"] = lambda m, name=_name: function_of_types(m, name)
for _name in PAIRS:
    for _left in DTYPES:
        CASES[f"operand_pairs.functions[{_name}-{_left}]"] = (
            lambda m, name=_name, left=_left: functions_of_pairs(m, name, left)
        )

SHAPES = {
    "scalar": [(), (2, 3)],
    "one": [(1,), (2, 3)],
    "row": [(3,), (2, 3)],
    "column": [(2, 1), (2, 3)],
    "outer": [(2, 1), (1, 3)],
    "more_axes": [(4, 1, 3), (2, 1)],
    "unlike": [(2, 3), (3, 2)],
    "shorter": [(2,), (2, 3)],
    "empty": [(0, 3), (1, 3)],
    "empty_both": [(0,), (0,)],
    "empty_scalar": [(0, 2), ()],
    "six": [(2, 1, 2, 1, 2, 1), (1, 2, 1, 2, 1, 2)],
}


@each(**SHAPES)
def shapes(m, both):
    def body():
        a, b = (m.np.arange(int(m.np.prod(s)), dtype=m.np.int32).reshape(s) for s in both)
        x, y = (m.feed([v]) for v in (a, b))
        return x + y, x < y, m.math.max(x, y)

    return m.run(body, batch_size=1)


LAYOUTS = ("HW HW", "HW ", " HW", "HW WH", "HW W", "W HW", "HWC WC", "HWC HW", "HWC C", "HWC CHW")


@each(*LAYOUTS)
def layouts(m, both):
    left, right = both.split(" ")

    def body():
        extents = {"H": 2, "W": 3, "C": 2}
        nodes = []
        for layout in (left, right):
            shape = [extents[one] for one in layout or "HW"]
            value = m.np.ones(shape, m.np.uint8)
            nodes.append(m.feed([value], layout=layout))
        return nodes[0] + nodes[1]

    return m.run(body, batch_size=1)


CHAINS = {
    "negative_unsigned": lambda m, x: -x,
    "plus": lambda m, x: +x,
    "invert": lambda m, x: ~x,
    "chain": lambda m, x: (x + 1) * 2 - x // 2,
    "shift_by_node": lambda m, x: 1 << x,
    "power_of_two": lambda m, x: 2**x,
    "float_power": lambda m, x: x**0.5,
    "negative_power": lambda m, x: (x + 1) ** -1,
    "clamp_nodes": lambda m, x: m.math.clamp(x, x - 1, x + 1),
    "clamp_floats": lambda m, x: m.math.clamp(x, 0.5, 1.5),
    "min_three": lambda m, x: m.math.min(m.math.min(x, 3), 2),
    "compare_and": lambda m, x: (x > 1) & (x < 3),
    "compare_or": lambda m, x: (x < 1) | (x == 3),
    "boolean_sum": lambda m, x: (x > 1) + (x > 2),
    "boolean_product": lambda m, x: (x > 1) * 5,
    "boolean_difference": lambda m, x: (x > 1) - (x > 2),
    "list": lambda m, x: x + [1, 2, 3, 4],
    "floats": lambda m, x: x * [0.5, 1, 2, 4],
    "list_left": lambda m, x: [1, 2, 3, 4] - x,
    "array": lambda m, x: x + m.types.Constant(m.np.float32([1, 2, 3, 4]), device="cpu"),
    "text": lambda m, x: x + "1",
    "none": lambda m, x: x + None,
    "three_way": lambda m, x: 0 < x < 3,
    "in_list": lambda m, x: x in [1, 2],
    "matrix": lambda m, x: x @ x,
    "divmod": lambda m, x: divmod(x, 2),
    "round": lambda m, x: round(x),
    "in_place": lambda m, x: operator.iadd(x, 1),
}


@each(**{f"{name}-{dtype}": (name, dtype) for name in CHAINS for dtype in ("uint8", "int32")})
def chains(m, which):
    name, dtype = which
    return m.run(lambda: CHAINS[name](m, m.feed([m.np.array([0, 1, 2, 3], dtype)])), batch_size=1)
