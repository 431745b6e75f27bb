"""Cases of arithmetic on nodes: promotion, broadcasting, every operator over pairs of types, and nvidia.dali.math."""
import numpy as np

from recorder import Feed
from samples import images, integers, rng

REL = "the last bits of float functions"
BOOLS, INTEGERS, FLOATS = ["bool"], ["uint8", "int8", "uint16", "int16", "uint32", "int32", "uint64", "int64"], [
    "float32", "float64"]
TYPES = BOOLS + INTEGERS + FLOATS


def operand(dtype, key, low=-100, high=100, zero=True, count=(6, 4, 1)):
    """A ragged batch of vectors; floats are exact in float16, so that sums are exact in float32."""
    batch = []
    for i, n in enumerate(count):
        random = rng(500 + key, i)
        dtype = np.dtype(dtype)
        if dtype.kind == "b":
            batch.append(random.integers(0, 2, n).astype(bool))
        elif dtype.kind == "f":
            values = random.integers(4 * low, 4 * high, n) / 4.0
            batch.append(np.where((values == 0) & (not zero), 1.25, values).astype(dtype))
        else:
            values = integers((n,), dtype, max(low, np.iinfo(dtype).min), min(high, np.iinfo(dtype).max), key * 10 + i)
            batch.append(np.where((values == 0) & (not zero), 3, values).astype(dtype))
    return Feed(batch)


def tuple_of(*expressions):
    return "return " + ", ".join(expressions)


def add_pairs(group):
    """Both orders of every pair of types; division apart, since it has a tolerance."""
    for i, a in enumerate(TYPES):
        for j, b in enumerate(TYPES):
            pair = {"x": operand(a, i), "y": operand(b, 20 + j, zero=False)}
            both_bool = a == b == "bool"
            has_float = a in FLOATS or b in FLOATS
            name = f"{a}_{b}"
            outputs = ["x * y"] if both_bool else ["x + y", "x - y", "x * y"]
            outputs += ["x < y", "x <= y", "x > y", "x >= y", "x == y", "x != y"]
            if not has_float:
                outputs += ["x & y", "x | y", "x ^ y"]
            if "bool" not in (a, b):
                outputs += ["math.min(x, y)", "math.max(x, y)"]
            group.case(f"pair_{name}", tuple_of(*outputs), pair)
            if b != "bool" and (j >= i or (i + j) % 3 == 0):  # a sample: division is not special in its types
                group.case(f"divide_{name}", tuple_of("x / y", "x // y", "x % y"), pair, tolerance=1e-6, kind="rel",
                           why="one rounding of the quotient")


def add_unary(group):
    for i, a in enumerate(TYPES):
        feeds = {"x": operand(a, 40 + i)}
        if a == "bool":
            group.case("unary_bool", tuple_of("+x", "~x"), feeds)
        elif a in FLOATS:
            group.case(f"unary_{a}", tuple_of("-x", "+x", "abs(x)"), feeds)
        else:
            group.case(f"unary_{a}", tuple_of("-x", "+x", "~x", "abs(x)"), feeds)
    group.case("unary_wraps", tuple_of("-x", "abs(x)"), {"x": Feed([np.array([-128, 127, 0, -1], np.int8)])})
    group.case("unary_unsigned_wraps", tuple_of("-x", "~x"), {"x": Feed([np.array([0, 1, 255], np.uint8)])})
    group.refused("refused_minus_bool", "-x", {"x": operand("bool", 1)})
    group.refused("refused_bitnot_float", "~x", {"x": operand("float32", 1)})


def add_constants(group):
    """Python constants are INT32, FLOAT or BOOL."""
    for i, a in enumerate(TYPES):
        feeds = {"x": operand(a, 60 + i)}
        group.case(f"constant_int_{a}", tuple_of("x + 3", "3 - x", "x * -2", "x == 3", "x < 5", "7 >= x"), feeds)
        group.case(f"constant_float_{a}", tuple_of("x + 1.5", "0.5 - x", "x * 0.25", "x == 1.5", "x < 2.5"), feeds)
        group.case(f"constant_divide_{a}", tuple_of("x / 4", "x // 4", "x % 4", "x / 0.5"), feeds, tolerance=1e-6,
                   kind="rel", why="one rounding of the quotient")
        if a not in FLOATS:
            group.case(f"constant_bits_{a}", tuple_of("x & 6", "x | 9", "x ^ 5"), feeds)
            group.case(f"constant_shift_{a}", tuple_of("x << 2", "x >> 1"), feeds)
        if a != "bool":
            group.case(f"constant_bool_{a}", tuple_of("x + True", "x * False"), feeds)
    group.case("constant_list", "x + [1, 2, 3]", {"x": Feed([np.array([10, 20, 30], np.uint8)] * 2)})
    group.case("constant_typed", tuple_of("x + types.Constant(100, dtype=types.UINT8)",
                                          "x * types.Constant(2, dtype=types.INT8)"),
               {"x": Feed([np.array([200, 20, 3], np.uint8)])})
    ends = {"x": Feed([np.array([3, -3, 2**31, -2**63, 2**63 - 1], np.int64)])}
    group.case("constant_ends_int32", tuple_of("x + 2147483647", "x * -2147483648", "x < 2147483647", "-2147483648 - x"), ends)
    for name, value in (("beyond", 2**32), ("below", -2**31 - 1), ("max", 2**63 - 1), ("min", -2**63 + 1)):
        wide = f"types.Constant({value}, dtype=types.INT64)"
        group.case(f"constant_wide_{name}", tuple_of(f"x * {wide}", f"{wide} + x", f"x < {wide}", f"x == {wide}", f"x // {wide}",
                                                     f"x & {wide}"), ends)
    group.case("constant_list_wide", "x * types.Constant([4294967296, -4294967296, 1, 0, 2], dtype=types.INT64)", ends)
    group.case("constant_data_clamps", tuple_of(*(f"x + fn.constant(idata=[4294967296, -4294967296, 300, -1, 0]{dtype})" for dtype in (
        "", ", dtype=types.INT64", ", dtype=types.UINT8"))), ends)
    group.case("constant_float_ends", tuple_of("x * 1e300", "x + 3.5e38", "x * -1e300", "x * 4294967296.0"), ends)
    group.case("numpy_scalar_right", tuple_of(*(f"x + np.{name}(2)" for name in INTEGERS + ["float32", "bool_"])),
               {"x": Feed([np.array([200, 20, 3], np.uint8)])})
    group.case("numpy_scalar_left", tuple_of(*(f"np.{name}(2) + x" for name in INTEGERS + ["float32"])),
               {"x": Feed([np.array([200, 20, 3], np.uint8)])})
    group.case("numpy_scalar_wide", tuple_of("x * np.int64(4294967296)", "x < np.int64(-4294967296)", "x + np.array(4294967296)",
                                             "x - types.Constant(np.int64(4294967296))"), ends)
    for name, text in (("large_constant", "x + 3000000000"), ("large_product", "x * 4294967296"), ("large_comparison", "x < 4294967296"),
                       ("small_constant", "x * -4294967296"), ("constant_one_beyond", "x + 2147483648"),
                       ("constant_one_below", "x - -2147483649"), ("large_left", "4294967296 - x"), ("large_shifted", "x * (1 << 40)"),
                       ("large_array", "x * np.array([4294967296])"), ("large_numpy_scalar_left", "np.int64(4294967296) * x"),
                       ("large_typed", "x + types.Constant(300, dtype=types.UINT8)")):
        group.refused(f"refused_{name}", text, {"x": operand("int64", 3)})


def add_wrapping(group):
    """Integer results wrap in the promoted type."""
    for dtype in INTEGERS:
        info = np.iinfo(dtype)
        ends = np.array([info.min, info.max, info.max // 2 + 1, 1], dtype)
        other = np.array([1, 1, 2, info.max], dtype)
        group.case(f"wrap_{dtype}", tuple_of("x + y", "x - y", "x * y"), {"x": Feed([ends]), "y": Feed([other])})
    signs = {"x": Feed([np.array([-1, -1, 5, 2**31 - 1], np.int32)]), "y": Feed([np.array([0, 2**32 - 1, 5, 2**31], np.uint32)])}
    group.case("compare_signs_32", tuple_of("x < y", "x > y", "x == y", "x != y", "x <= y", "x >= y"), signs)
    wide = {"x": Feed([np.array([-1, -1, 5, 2**63 - 1], np.int64)]),
            "y": Feed([np.array([0, 2**64 - 1, 5, 2**63], np.uint64)])}
    group.case("compare_signs_64", tuple_of("x < y", "x > y", "x == y", "x != y", "x <= y", "x >= y"), wide)


def add_division(group):
    signed = {"x": Feed([np.array([7, -7, 7, -7, 0, -1], np.int32)]), "y": Feed([np.array([3, 3, -3, -3, 5, 2], np.int32)])}
    group.case("divide_signs_int", tuple_of("x // y", "x % y"), signed)
    group.case("divide_signs_int8", tuple_of("x // y", "x % y"),
               {k: Feed([v.samples[0].astype(np.int8)]) for k, v in signed.items()})
    floats = {k: Feed([v.samples[0].astype(np.float32)]) for k, v in signed.items()}
    group.case("divide_signs_float", tuple_of("x // y", "x % y", "x / y"), floats, tolerance=1e-6, kind="rel",
               why="one rounding of the quotient")
    group.case("divide_by_zero_float", "x / y", {"x": Feed([np.array([1, -1, 0], np.float32)]),
                                                 "y": Feed([np.array([0, 0, 0], np.float32)])})
    group.case("divide_by_zero_int_true", "x / y", {"x": Feed([np.array([1, -1, 0], np.int32)]),
                                                    "y": Feed([np.array([0, 0, 0], np.int32)])})
    zero = {"x": Feed([np.array([1, 2], np.int32)]), "y": Feed([np.array([1, 0], np.int32)])}
    group.refused("refused_integer_division_by_zero", "x // y", zero)
    group.refused("refused_integer_remainder_by_zero", "x % y", zero)
    group.refused("refused_bool_plus_bool", "x + y", {"x": operand("bool", 1), "y": operand("bool", 2)})
    group.refused("refused_bits_float", "x & y", {"x": operand("int32", 1), "y": operand("float32", 2)})
    group.refused("refused_shapes", "x + y", {"x": operand("int32", 1), "y": operand("int32", 2, count=(5, 3, 2))})


def add_power(group):
    bases = np.array([2, -3, 0, 1, -1, 10, 7, 5], np.int32)
    exponents = np.array([10, 5, 0, 100, 7, 9, 3, -2], np.int32)
    for a in ("int8", "int32", "int64", "float32", "float64"):
        for b in ("uint8", "int32", "float32"):
            exps = np.abs(exponents) if b == "uint8" else exponents
            small = np.clip(exps, -2, 3)
            feeds = {"x": Feed([bases.astype(a)]), "y": Feed([(small if "float" in a + b else exps).astype(b)])}
            options = dict(tolerance=1e-5, kind="rel", why=REL) if "float" in a + b else {}
            group.case(f"power_{a}_{b}", "x ** y", feeds, **options)
    group.case("power_constants", tuple_of("x ** 2", "2 ** x", "x ** 3"),
               {"x": Feed([np.array([0, 1, 5, 9], np.uint8)])})
    group.case("power_float_constants", tuple_of("x ** 0.5", "x ** 2", "2.0 ** x", "x ** -1"),
               {"x": Feed([np.array([0.25, 1, 5, 9], np.float32)])}, tolerance=1e-5, kind="rel", why=REL)
    group.case("power_wraps", "x ** y", {"x": Feed([np.array([10, -3], np.int32)]), "y": Feed([np.array([12, 21], np.int32)])})


def add_shift(group):
    for a in INTEGERS:
        bits = np.iinfo(a).bits
        feeds = {"x": Feed([integers((5,), a, key=7)]), "y": Feed([np.array([0, 1, 2, bits - 1, bits // 2], a)])}
        group.case(f"shift_{a}", tuple_of("x << y", "x >> y"), feeds)


def add_broadcast(group):
    image = {"x": Feed(images(key=510), "HWC")}
    per_channel = Feed([np.array([1, 2, 3], np.int16) * (i + 1) for i in range(4)])
    group.case("broadcast_channel", "x * y", image | {"y": per_channel})
    group.case("broadcast_channel_layout", "x + y", image | {"y": Feed(per_channel.samples, "C")})
    group.case("broadcast_scalar_node", tuple_of("x * y", "y - x"),
               image | {"y": Feed([np.array(v, np.float32) for v in (0.5, 2, -1, 0)])})
    group.case("broadcast_scalar_u8", "x + y", image | {"y": Feed([np.array(v, np.uint8) for v in (5, 20, 255, 0)])})
    rows = Feed([sample[:, :1, :] for sample in images(key=511)], "HWC")
    columns = Feed([sample[:1, :, :] for sample in images(key=512)], "HWC")
    group.case("broadcast_rows", "x - y", image | {"y": rows})
    group.case("broadcast_rows_columns", "y + z", {"y": rows, "z": columns})
    group.case("broadcast_one_channel", "x & y", image | {"y": Feed(images(channels=1, key=513), "HWC")})
    group.case("broadcast_rank", "x + y", {"x": Feed([np.arange(3, dtype=np.int32)] * 2),
                                           "y": Feed([np.ones((2, 1), np.int32) * k for k in (1, 2)])})
    group.case("broadcast_layout_dropped", "x + y", {"x": Feed([np.arange(3, dtype=np.int32)] * 2, "C"),
                                                     "y": Feed([np.ones((2, 1), np.int32) * k for k in (1, 2)])})
    group.case("three_operands", "x * y + x - y * 2", image | {"y": per_channel})
    group.case("masks", "(x < 100) * x + (x >= 100) * (types.Constant(255, dtype=types.UINT8) - x)", image)
    group.case("blend", "fn.cast_like(0.25 * x + 0.75 * y, x)", image | {"y": Feed(images(key=514), "HWC")},
               tolerance=1, why="ties of the final conversion")
    group.refused("refused_layouts", "x + y", {"x": Feed([np.zeros((2, 3, 1), np.uint8)], "HWC"),
                                               "y": Feed([np.zeros((3, 1), np.uint8)], "HW")})


def add_math(group):
    domains = {"sqrt": (0, 100), "rsqrt": (0.5, 100), "cbrt": (-50, 50), "exp": (-5, 5), "log": (0.1, 100),
               "log2": (0.1, 100), "log10": (0.1, 100), "sin": (-10, 10), "cos": (-10, 10), "tan": (-1.4, 1.4),
               "asin": (-1, 1), "acos": (-1, 1), "atan": (-10, 10), "sinh": (-5, 5), "cosh": (-5, 5),
               "tanh": (-5, 5), "asinh": (-10, 10), "acosh": (1, 10), "atanh": (-0.9, 0.9), "fabs": (-10, 10),
               "floor": (-10, 10), "ceil": (-10, 10), "abs": (-10, 10)}
    for number, (function, (low, high)) in enumerate(domains.items()):
        exact = function in ("fabs", "floor", "ceil", "abs")
        options = {} if exact else dict(tolerance=2e-6, kind="rel", why=REL)
        for dtype in ("float32", "float64"):
            values = [(low + (high - low) * rng(520 + number, i).random(n)).astype(dtype) for i, n in enumerate((7, 3))]
            group.case(f"math_{function}_{dtype}", f"math.{function}(x)", {"x": Feed(values)}, **options)
        small = np.arange(max(int(np.ceil(low)), -4), min(int(high), 5) + 1)
        unsigned = np.arange(max(int(np.ceil(low)), 0), min(int(high), 5) + 1)
        if function == "atanh":
            small = unsigned = np.array([0])
        for dtype, values in (("int32", small), ("int8", small), ("uint8", unsigned), ("int64", small)):
            group.case(f"math_{function}_{dtype}", f"math.{function}(x)", {"x": Feed([values.astype(dtype)])}, **options)
    group.case("math_special", tuple_of("math.sqrt(x)", "math.log(x)", "math.exp(x)", "math.floor(x)"),
               {"x": Feed([np.array([-1, 0, -0.0, np.inf, -np.inf, np.nan], np.float32)])}, tolerance=2e-6, kind="rel",
               why=REL)
    for a, b in (("float32", "float32"), ("int32", "float32"), ("int16", "int32"), ("uint8", "int8"),
                 ("float64", "float32")):
        pair = {"x": operand(a, 80), "y": operand(b, 81, zero=False)}
        group.case(f"math_atan2_{a}_{b}", "math.atan2(x, y)", pair, tolerance=2e-6, kind="rel", why=REL)
        positive = {"x": operand(a, 82, 1, 9), "y": operand(b, 83, 0, 3)}
        options = dict(tolerance=1e-5, kind="rel", why=REL)
        group.case(f"math_pow_{a}_{b}", "math.pow(x, y)", positive, **(options if "float" in a + b else {}))
        group.case(f"math_fpow_{a}_{b}", "math.fpow(x, y)", positive, **options)
    for dtype in ("uint8", "int32", "float32"):
        feeds = {"x": operand(dtype, 84), "y": operand(dtype, 85), "z": operand(dtype, 86)}
        group.case(f"math_clamp_{dtype}", "math.clamp(x, y, z)", feeds)
        group.case(f"math_clamp_constants_{dtype}", tuple_of("math.clamp(x, 10, 50)", "math.clamp(x, -1.5, 30.25)"),
                   {"x": operand(dtype, 87)})
    group.case("math_min_max_constant", tuple_of("math.min(x, 5)", "math.max(x, 0.5)"), {"x": operand("int16", 88)})
    group.case("math_min_max_nan", tuple_of("math.min(x, y)", "math.max(x, y)"), {
        "x": Feed([np.array([np.nan, 1], np.float32)]), "y": Feed([np.array([1, np.nan], np.float32)])})
    group.refused("refused_sqrt_bool", "math.sqrt(x)", {"x": operand("bool", 9)})


def add(group):
    for part in (add_pairs, add_unary, add_constants, add_wrapping, add_division, add_power, add_shift,
                 add_broadcast, add_math):
        part(group)
