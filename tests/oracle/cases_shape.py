"""Cases of cast, cast_like, shapes, reductions, stack, cat, reshape, transpose and constants."""
import numpy as np

from recorder import TYPES, Feed
from samples import SIZES, images, integers, rng

ORDER = "float32 sums in another order"
TIES = "ties may round away from zero or to even"
INTEGERS = ["uint8", "uint16", "uint32", "uint64", "int8", "int16", "int32", "int64"]


def hwc(key=400, sizes=SIZES, layout="HWC", **options):
    return {"x": Feed(images(sizes, key=key, layout=layout, **options), layout)}


def feed(values, dtype, layout=None):
    return Feed([np.array(value, dtype) for value in values], layout)


def spread(dtype):
    """Values that reach both ends of every narrower type, without ties."""
    dtype = np.dtype(dtype)
    if dtype.kind == "b":
        return [np.array([True, False, True]), np.array([False]), np.array([True, True])]
    if dtype.kind == "f":
        values = [0.0, -0.0, 0.25, 0.75, -0.3, 1.7, 99.6, 127.4, 128.2, 255.3, 256.8, -127.6, -129.4, 32767.25,
                  -32769.0, 65504.0, -1.0]
        if dtype.itemsize > 2:
            values += [65536.0, 70000.25, 2147483520.0, -2147483648.0, 3e9, -3e9, 1e12, -1e12, 1e19, -1e19, 1e-20]
        array = np.array(values).astype(dtype)
        return [array, array[:5], array[5:]]
    info = np.iinfo(dtype)
    values = {v for v in (0, 1, -1, 2, 77, 127, 128, 129, 255, 256, 32767, 32768, 65535, 65536, 2**31 - 1, 2**31,
                          2**32 - 1, 2**32, 2**63 - 1, 2**63, info.min, info.max, -128, -129, -32768, -32769,
                          -2**31, -2**31 - 1) if info.min <= v <= info.max}
    array = np.array(sorted(values), dtype)
    return [array, array[:3], array[2:]]


def add_cast(group):
    for source in TYPES:
        for target in TYPES:
            exact = dict(tolerance=0)
            if target == "float16" or (source == "float16" and target != "bool"):
                exact = dict(tolerance=1e-3, kind="rel", why="float16 rounding")
            group.case(f"cast_{source}_to_{target}", f"fn.cast(x, dtype=types.{TYPES[target]})",
                       {"x": Feed(spread(source))}, **exact)
    ties = [np.array([0.5, 1.5, 2.5, -0.5, -1.5, -2.5, 3.5, 254.5, 127.5], np.float32)]
    for target in ("uint8", "int8", "int16", "int32", "int64"):
        group.case(f"cast_ties_float_to_{target}", f"fn.cast(x, dtype=types.{TYPES[target]})", {"x": Feed(ties)},
                   tolerance=1, why=TIES)
    group.case("cast_image", "fn.cast(x, dtype=types.FLOAT)", hwc())
    group.case("cast_keeps_layout", "fn.cast(x, dtype=types.INT16)", hwc(layout="CHW"))
    scalar = {"x": feed([3.2, -4.7, 300.0], np.float32)}
    group.case("cast_scalar", "fn.cast(x, dtype=types.UINT8)", scalar)
    for target in ("uint8", "float32", "int64", "float16"):
        group.case(f"cast_like_{target}", "fn.cast_like(x, a)", {
            "x": feed([3.2, -4.7, 300.0], np.float32), "a": feed([1, 2, 3], target)})
    group.case("cast_like_image", "fn.cast_like(x, a)", {
        "x": Feed(images(dtype="float32", key=401), "HWC"), "a": Feed(images(key=402), "HWC")}, tolerance=1, why=TIES)


def add_shapes(group):
    group.case("shapes_function", "fn.shapes(x)", hwc())
    group.case("shape_method", "x.shape()", hwc())
    for target in ("INT32", "UINT32", "INT64", "UINT64", "FLOAT", "FLOAT64"):
        group.case(f"shapes_{target.lower()}", f"fn.shapes(x, dtype=types.{target})", hwc())
    group.case("shape_of_vector", "x.shape()", {"x": Feed([np.zeros(n, np.int16) for n in (3, 0, 7)])})
    group.case("shape_of_scalar", "x.shape()", {"x": feed([1, 2, 3], np.int32)})
    group.case("shape_after_transpose", "fn.transpose(x, perm=[2, 0, 1]).shape()", hwc())
    group.case("shape_height", "x.shape()[0] * 2 + 1", hwc())


def add_reductions(group):
    plain = ["axes=[0, 1]", "axes=0", "axes=[2]", "axes=[0, 1, 2]", "", "axes=[-1]", "axes=[-3, 1], keep_dims=True",
             'axis_names="HW"', 'axis_names="C", keep_dims=True', "keep_dims=True", "axes=[]"]
    for operator in ("min", "max", "sum", "mean"):
        options = dict(tolerance=1e-5, kind="rel", why=ORDER) if operator == "mean" else {}
        for number, arguments in enumerate(plain):
            separator = ", " if arguments else ""
            group.case(f"{operator}_{number}", f"fn.reductions.{operator}(x{separator}{arguments})", hwc(key=410),
                       **options)
        for dtype in INTEGERS + ["float32"]:
            limits = {}
            if dtype in ("int64", "uint64", "int32", "uint32"):  # no overflow of sums or of float32 means
                samples = [integers((h, w, 2), dtype, 0, 1000, key=i) for i, (h, w) in enumerate(SIZES)]
                limits = {"x": Feed(samples, "HWC")}
            feeds = limits or hwc(key=411, dtype=dtype)
            floating = operator == "mean" or (operator == "sum" and dtype == "float32")
            # Signed samples nearly cancel; hold the error against the largest result.
            group.case(f"{operator}_{dtype}", f"fn.reductions.{operator}(x, axes=[0, 1])", feeds,
                       **(dict(tolerance=1e-5, kind="range", why=ORDER) if floating else {}))
    group.case("sum_to_float", "fn.reductions.sum(x, axes=[0, 1], dtype=types.FLOAT)", hwc(key=412), tolerance=1e-5,
               kind="rel", why=ORDER)
    group.case("sum_to_uint64", "fn.reductions.sum(x, axes=[0, 1], dtype=types.UINT64)", hwc(key=412))
    group.case("mean_to_float", "fn.reductions.mean(x, dtype=types.FLOAT)", hwc(key=413), tolerance=1e-5, kind="rel",
               why=ORDER)
    group.case("min_chw", 'fn.reductions.min(x, axis_names="HW")', hwc(layout="CHW", key=414))
    group.case("max_vector", "fn.reductions.max(x)", {"x": feed([(3, -1, 2), (9, 4, 4), (-5, -6, -7)], np.int16)})
    group.case("mean_minus_mean", 'x - fn.reductions.mean(x, axis_names="HW", keep_dims=True)', hwc(key=415),
               tolerance=1e-5, kind="range", why=ORDER)
    group.refused("refused_sum_bool", "fn.reductions.sum(x)", {"x": feed([(True, False), (True, True)], bool)})
    group.refused("refused_mean_float64", "fn.reductions.mean(x)", {"x": feed([(1, 2), (3, 4)], np.float64)})
    group.refused("refused_sum_axis", "fn.reductions.sum(x, axes=[3])", hwc())
    group.refused("refused_sum_both_axes", 'fn.reductions.sum(x, axes=[0], axis_names="H")', hwc())
    group.refused("refused_sum_axis_names", 'fn.reductions.sum(x, axis_names="D")', hwc())
    group.refused("refused_sum_axis_twice", "fn.reductions.sum(x, axes=[0, 0])", hwc())


def add_joins(group):
    pair = hwc(key=420) | {"y": Feed(images(key=421), "HWC")}
    for axis in (0, 1, 2, 3, -1, -2):
        group.case(f"stack_axis_{axis}".replace("-", "minus_"), f"fn.stack(x, y, axis={axis})", pair)
    group.case("stack_default", "fn.stack(x, y)", pair)
    group.case("stack_axis_name", 'fn.stack(x, y, axis_name="F")', pair)
    group.case("stack_axis_name_last", 'fn.stack(x, y, axis=3, axis_name="N")', pair)
    group.case("stack_one", "fn.stack(x)", hwc(key=422))
    group.case("stack_three", "fn.stack(x, y, x, axis=1)", pair)
    scalars = {"x": feed([1.5, 2.5, 3.5], np.float32), "y": feed([-1, -2, -3], np.float32)}
    group.case("stack_scalars", "fn.stack(x, y, x)", scalars)
    group.case("stack_scalars_axis_name", 'fn.stack(x, y, axis_name="C")', scalars)
    wide = hwc(key=423) | {"y": Feed(images([(h, w + 3) for h, w in SIZES], key=424), "HWC")}
    tall = hwc(key=423) | {"y": Feed(images([(h + 2, w) for h, w in SIZES], key=424), "HWC")}
    deep = hwc(key=423) | {"y": Feed(images(SIZES, channels=2, key=424), "HWC")}
    for name, feeds, arguments in (
            ("0", tall, "axis=0"), ("default", tall, ""), ("1", wide, "axis=1"), ("2", deep, "axis=2"),
            ("minus_1", deep, "axis=-1"), ("minus_2", wide, "axis=-2"), ("name_w", wide, 'axis_name="W"'),
            ("name_c", deep, 'axis_name="C"')):
        group.case(f"cat_axis_{name}", f"fn.cat(x, y{', ' if arguments else ''}{arguments})", feeds)
    group.case("cat_three", "fn.cat(x, y, x, axis=1)", wide)
    for dtype in ("bool", "float16", "int64", "float64"):
        vectors = {"x": feed([(1, 0, 1), (0, 0, 1)], dtype), "y": feed([(1, 1), (0, 1)], dtype)}
        group.case(f"cat_{dtype}", "fn.cat(x, y)", vectors)
    group.case("cat_one_layout", "fn.cat(x, y, axis=2)",
               hwc(key=425) | {"y": Feed(images(key=426))})
    group.refused("refused_stack_shapes", "fn.stack(x, y)", wide)
    group.refused("refused_cat_shapes", "fn.cat(x, y, axis=0)", wide)
    group.refused("refused_cat_types", "fn.cat(x, y)",
                  {"x": feed([(1, 2), (3, 4)], np.int16), "y": feed([(1, 2), (3, 4)], np.int32)})
    group.refused("refused_stack_axis", "fn.stack(x, y, axis=5)", pair)


def add_reshape(group):
    def reshape(name, arguments, feeds=None):
        group.case("reshape_" + name, f"fn.reshape(x, {arguments})", feeds or hwc(key=430))

    even = hwc(key=431, sizes=[(4, 6), (2, 8), (10, 2), (6, 6)])
    reshape("flat", "shape=[-1]")
    reshape("infer_first", "shape=[-1, 3]")
    reshape("layout_only", 'layout="DHW"')
    reshape("layout_cleared", 'layout=""')
    reshape("shape_layout", 'shape=[1, -1, 3], layout="HWC"')
    reshape("rel_shape", "rel_shape=[0.5, 2, 1]", even)
    reshape("rel_shape_flat", "rel_shape=[-1, 3]")
    reshape("rel_shape_rank", "rel_shape=[0.5, 1, -1]", even)
    reshape("src_dims", "src_dims=[1, 0, 2]")
    reshape("src_dims_insert", 'src_dims=[0, 1, 2], layout="DHW"')
    reshape("src_dims_rel", "rel_shape=[1, 1, 1], src_dims=[0, -1, 1]", hwc(key=432, channels=1))
    reshape("src_dims_rel_half", "rel_shape=[0.5, 2, 1], src_dims=[0, 1, 2]", even)
    vectors = {"x": feed([range(12), range(12), range(12)], np.int32)}
    group.case("reshape_vector", "fn.reshape(x, shape=[3, 4])", vectors)
    group.case("reshape_per_sample", "fn.reshape(x, shape=a)",
               vectors | {"a": feed([(3, 4), (2, 6), (12, 1)], np.int32)})
    group.case("reshape_input", "fn.reshape(x, a)", vectors | {"a": feed([(3, 4), (2, 6), (12, 1)], np.int32)})
    group.case("reshape_input_shape", "fn.reshape(x, y.shape())", {
        "x": vectors["x"], "y": Feed([np.zeros(s, np.uint8) for s in ((3, 4), (2, 6), (12, 1))])})
    group.case("reshape_to_scalar", "fn.reshape(x, shape=[])", {"x": feed([[5], [6]], np.int16)})
    group.refused("refused_reshape_volume", "fn.reshape(x, shape=[5, 5])", hwc())
    group.refused("refused_reshape_two_unknown", "fn.reshape(x, shape=[-1, -1])", hwc())
    group.refused("refused_reshape_nothing", "fn.reshape(x)", hwc())
    group.refused("refused_reshape_both", "fn.reshape(x, shape=[-1], rel_shape=[1, 1, 1])", hwc())
    group.refused("refused_reshape_layout_rank", 'fn.reshape(x, layout="HW")', hwc())


def add_transpose(group):
    for name, perm in (("201", [2, 0, 1]), ("102", [1, 0, 2]), ("210", [2, 1, 0]), ("012", [0, 1, 2])):
        group.case(f"transpose_{name}", f"fn.transpose(x, perm={perm})", hwc(key=440))
    group.case("transpose_default", "fn.transpose(x)", hwc(key=441))
    group.case("transpose_layout_kept", "fn.transpose(x, perm=[1, 0, 2], transpose_layout=False)", hwc(key=442))
    group.case("transpose_output_layout", 'fn.transpose(x, perm=[2, 0, 1], output_layout="CHW")', hwc(key=443))
    group.case("transpose_no_layout", "fn.transpose(x, perm=[1, 0])",
               {"x": feed([((1, 2, 3), (4, 5, 6)), ((7, 8, 9), (1, 1, 2))], np.float64)})
    random = rng(444)
    cubes = [random.integers(0, 255, shape).astype(np.int16) for shape in ((2, 3, 4, 5), (1, 2, 3, 1), (3, 3, 2, 4))]
    group.case("transpose_four", "fn.transpose(x, perm=[3, 1, 0, 2])", {"x": Feed(cubes, "FHWC")})
    for dtype in ("bool", "float16", "uint64", "int8"):
        group.case(f"transpose_{dtype}", "fn.transpose(x, perm=[1, 0])",
                   {"x": feed([((1, 0, 1), (0, 0, 1)), ((1, 1, 1), (0, 1, 0))], dtype)})
    group.refused("refused_transpose_rank", "fn.transpose(x, perm=[1, 0])", hwc())
    group.refused("refused_transpose_repeated", "fn.transpose(x, perm=[0, 0, 2])", hwc())


def add_constants(group):
    def constant(name, expression):
        group.case("constant_" + name, f"return x, {expression}", {"x": feed([1, 2, 3], np.int32)})

    constant("int", "types.Constant(7)")
    constant("float", "types.Constant(1.25)")
    constant("bool", "types.Constant(True)")
    constant("u8", "types.Constant(200, dtype=types.UINT8)")
    constant("list", "types.Constant([1, 2, 3])")
    constant("float_list", "types.Constant([0.5, 1.5])")
    constant("typed_list", "types.Constant([1, 2, 3], dtype=types.INT16)")
    constant("shape", "types.Constant(3, shape=[2, 2], dtype=types.UINT8)")
    constant("layout", 'types.Constant([1, 2, 3], layout="C")')
    constant("fn_fdata", "fn.constant(fdata=[1.5, 2.5, 3.5])")
    constant("fn_idata", "fn.constant(idata=[1, 2, 3, 4], shape=[2, 2])")
    constant("fn_scalar", "fn.constant(idata=5, shape=[3], dtype=types.UINT8)")
    constant("fn_layout", 'fn.constant(fdata=[1.0, 2.0], dtype=types.FLOAT, layout="C")')
    group.case("constant_in_arithmetic", "return x * types.Constant(3, dtype=types.UINT8), x + types.Constant(0.5)",
               {"x": feed([1, 2, 250], np.uint8)})
    group.case("constant_vector_in_arithmetic", "x * types.Constant([1.0, 2.0, 0.5])", hwc(key=450))
    group.refused("refused_constant_nested", "return x, types.Constant([[1, 2], [3, 4]])", {"x": feed([1, 2], np.int32)})
    group.refused("refused_constant_both", "return x, fn.constant(fdata=[1.0], idata=[1])", {"x": feed([1, 2], np.int32)})


def add(group):
    for part in (add_cast, add_shapes, add_reductions, add_joins, add_reshape, add_transpose, add_constants):
        part(group)
