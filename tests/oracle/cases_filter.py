"""Cases of fn.gaussian_blur, fn.laplacian and fn.filter."""
import numpy as np

import formulas
from recorder import Feed
from samples import SIZES, images

ONE_LEVEL = "ties and float32 rounding differ by at most one level"
ORDER = "float32 sums in another order"


def feeds_of(layout="HWC", key=300, **options):
    return {"x": Feed(images(SIZES, layout=layout, key=key, **options), layout)}


def feed(values, dtype):
    return Feed([np.array(value, dtype) for value in values])


def add_case(group, name, expression, feeds, reference, mean_tolerance=0.15):
    dtype = feeds["x"].samples[0].dtype
    if dtype.kind == "f" or "types.FLOAT" in expression:
        group.case(name, expression, feeds, tolerance=5e-6, kind="range", why=ORDER, expect=reference)
    elif dtype.itemsize >= 4:
        group.case(name, expression, feeds, tolerance=2e-6, kind="range", why=ORDER, expect=reference)
    else:
        group.case(name, expression, feeds, tolerance=1, why=ONE_LEVEL, mean_tolerance=mean_tolerance, expect=reference)


BLURS = [
    ("sigma", "sigma=1.0", dict(sigma=1)), ("sigma_small", "sigma=0.4", dict(sigma=0.4)),
    ("sigma_large", "sigma=3.3", dict(sigma=3.3)), ("window_3", "window_size=3", dict(size=3)),
    ("window_5", "window_size=5", dict(size=5)), ("window_11", "window_size=11", dict(size=11)),
    ("window_1", "window_size=1, sigma=1.0", dict(size=1, sigma=1)),
    ("both", "sigma=1.7, window_size=7", dict(sigma=1.7, size=7)),
    ("sigma_per_axis", "sigma=[0.5, 2.0]", dict(sigma=(0.5, 2))),
    ("window_per_axis", "window_size=[3, 9]", dict(size=(3, 9))),
    ("both_per_axis", "sigma=[2.5, 0.8], window_size=[5, 7]", dict(sigma=(2.5, 0.8), size=(5, 7))),
]


def add_blur(group):
    for name, arguments, options in BLURS:
        add_case(group, "gaussian_blur_" + name, f"fn.gaussian_blur(x, {arguments})", feeds_of(),
                 lambda x, o=options: formulas.gaussian_blur(x, **o))
    for dtype in ("int8", "int16", "uint16", "int32", "uint32", "float32"):
        add_case(group, f"gaussian_blur_{dtype}", "fn.gaussian_blur(x, sigma=1.2)", feeds_of(key=301, dtype=dtype),
                 lambda x: formulas.gaussian_blur(x, 1.2))
    add_case(group, "gaussian_blur_to_float", "fn.gaussian_blur(x, window_size=7, dtype=types.FLOAT)",
             feeds_of(key=302), lambda x: formulas.gaussian_blur(x, size=7))
    add_case(group, "gaussian_blur_chw", "fn.gaussian_blur(x, sigma=[0.7, 1.9])", feeds_of("CHW", key=303),
             lambda x: formulas.gaussian_blur(x, (0.7, 1.9), spatial=(1, 2)))
    add_case(group, "gaussian_blur_hw", "fn.gaussian_blur(x, sigma=[0.7, 1.9])", feeds_of("HW", key=304),
             lambda x: formulas.gaussian_blur(x, (0.7, 1.9)))
    for channels in (1, 4):
        add_case(group, f"gaussian_blur_{channels}_channels", "fn.gaussian_blur(x, sigma=1.5)",
                 feeds_of(key=305, channels=channels), lambda x: formulas.gaussian_blur(x, 1.5))
    add_case(group, "gaussian_blur_sigma_per_sample", "fn.gaussian_blur(x, sigma=a)",
             feeds_of(key=306) | {"a": feed([0.3, 1, 2.7, 1.1], np.float32)},
             lambda x, a: formulas.gaussian_blur(x, a))
    add_case(group, "gaussian_blur_window_per_sample", "fn.gaussian_blur(x, window_size=a)",
             feeds_of(key=307) | {"a": feed([3, 5, 9, 7], np.int32)},
             lambda x, a: formulas.gaussian_blur(x, size=a))
    add_case(group, "gaussian_blur_axes_per_sample", "fn.gaussian_blur(x, sigma=a)",
             feeds_of(key=308) | {"a": feed([(0.3, 1), (2, 1), (1, 2.7), (0.5, 0.5)], np.float32)},
             lambda x, a: formulas.gaussian_blur(x, a))
    group.refused("refused_gaussian_blur_nothing", "fn.gaussian_blur(x)", feeds_of())
    group.refused("refused_gaussian_blur_even", "fn.gaussian_blur(x, window_size=4)", feeds_of())
    group.refused("refused_gaussian_blur_negative", "fn.gaussian_blur(x, sigma=-1.0)", feeds_of())
    group.refused("refused_gaussian_blur_count", "fn.gaussian_blur(x, sigma=[1.0, 1.0, 1.0])", feeds_of())


LAPLACIANS = [
    ("default", "", {}), ("window_5", "window_size=5", dict(window=5)),
    ("window_7", "window_size=7, normalized_kernel=True", dict(window=7, normalized=True)),
    ("normalized", "normalized_kernel=True", dict(normalized=True)),
    ("smoothing_1", "smoothing_size=1", dict(smoothing=1)),
    ("smoothing_5", "window_size=3, smoothing_size=5, scale=0.01", dict(smoothing=5, scale=0.01)),
    ("window_per_axis", "window_size=[3, 5], normalized_kernel=True", dict(window=(3, 5), normalized=True)),
    ("smoothing_per_axis", "window_size=5, smoothing_size=[1, 3], normalized_kernel=True",
     dict(window=5, smoothing=(1, 3), normalized=True)),
    ("all_per_axis", "window_size=[3, 5], smoothing_size=[5, 1], scale=[0.5, 0.25]",
     dict(window=(3, 5), smoothing=(5, 1), scale=(0.5, 0.25))),
    ("scale", "scale=0.125", dict(scale=0.125)), ("scale_per_axis", "scale=[0.5, -0.25]", dict(scale=(0.5, -0.25))),
]


def add_laplacian(group):
    for name, arguments, options in LAPLACIANS:
        separator = ", " if arguments else ""
        add_case(group, "laplacian_" + name, f"fn.laplacian(x{separator}{arguments})", feeds_of(key=310),
                 lambda x, o=options: formulas.laplacian(x, **o))
        add_case(group, "laplacian_float_" + name, f"fn.laplacian(x{separator}{arguments}, dtype=types.FLOAT)",
                 feeds_of(key=311), lambda x, o=options: formulas.laplacian(x, **o))
    for dtype in ("int16", "uint16", "int32", "float32"):
        add_case(group, f"laplacian_{dtype}", "fn.laplacian(x, window_size=5, normalized_kernel=True)",
                 feeds_of(key=312, dtype=dtype), lambda x: formulas.laplacian(x, 5, normalized=True),
                 mean_tolerance=0.25)  # weights are powers of two: ties are common, and a sample of nine has two
    add_case(group, "laplacian_chw", "fn.laplacian(x, window_size=[3, 5], scale=[0.25, 0.0625])",
             feeds_of("CHW", key=313),
             lambda x: formulas.laplacian(x, (3, 5), scale=(0.25, 0.0625), spatial=(1, 2)))
    add_case(group, "laplacian_hw", "fn.laplacian(x, smoothing_size=1)", feeds_of("HW", key=314),
             lambda x: formulas.laplacian(x, smoothing=1))
    add_case(group, "laplacian_one_channel", "fn.laplacian(x, scale=0.25)", feeds_of(key=315, channels=1),
             lambda x: formulas.laplacian(x, scale=0.25))
    add_case(group, "laplacian_window_per_sample", "fn.laplacian(x, window_size=a, normalized_kernel=True)",
             feeds_of(key=316) | {"a": feed([3, 5, 7, 3], np.int32)},
             lambda x, a: formulas.laplacian(x, int(a), normalized=True))
    add_case(group, "laplacian_scale_per_sample", "fn.laplacian(x, scale=a)",
             feeds_of(key=317) | {"a": feed([0.1, 1, 0.5, 2], np.float32)},
             lambda x, a: formulas.laplacian(x, scale=float(a)))
    group.refused("refused_laplacian_even", "fn.laplacian(x, window_size=4)", feeds_of())
    group.refused("refused_laplacian_scale_and_normalized", "fn.laplacian(x, scale=2.0, normalized_kernel=True)",
                  feeds_of())


WINDOW = np.array([[0.1, 0.2, -0.3], [0.4, 0.5, 0.6], [-0.2, 0.1, 0.05], [0.02, -0.1, 0.3]], np.float32)
FILTERS = [
    ("default", "", {}), ("anchor", "anchor=[0, 2]", dict(anchor=(0, 2))), ("anchor_one", "anchor=1", dict(anchor=(1, 1))),
    ("reflect_1001", 'border="reflect_1001"', dict(border="reflect_1001")), ("wrap", 'border="wrap"', dict(border="wrap")),
    ("clamp", 'border="clamp"', dict(border="clamp")), ("constant", 'border="constant"', dict(border="constant")),
    ("edge", 'border="edge"', dict(border="clamp")), ("reflect", 'border="reflect"', dict(border="reflect_1001")),
    ("fill", 'border="fill"', dict(border="constant")),
]


def add_filter(group):
    static = f"types.Constant(np.array({WINDOW.tolist()}, dtype=np.float32), device='cpu')"
    for name, arguments, options in FILTERS:
        add_case(group, "filter_" + name, f"import numpy as np\n---\nreturn fn.experimental.filter(x, {static}, {arguments})", feeds_of(key=330),
                 lambda x, o=options: formulas.correlate(x, WINDOW, **o))
    large = [(9, 8), (4, 3), (6, 11), (5, 5)]
    add_case(group, "filter_valid", f'import numpy as np\n---\nreturn fn.experimental.filter(x, {static}, mode="valid")',
             {"x": Feed(images(large, key=334), "HWC")}, lambda x: formulas.correlate(x, WINDOW, valid=True))
    fills = {"f": feed([7, 200, 0, 99], np.uint8)}
    add_case(group, "filter_fill_per_sample", f'import numpy as np\n---\nreturn fn.experimental.filter(x, {static}, f, border="constant")',
             feeds_of(key=338) | fills, lambda x, f: formulas.correlate(x, WINDOW, border="constant", fill=float(f)))
    add_case(group, "filter_to_float", f"import numpy as np\n---\nreturn fn.experimental.filter(x, {static}, dtype=types.FLOAT)", feeds_of(key=342),
             lambda x: formulas.correlate(x, WINDOW))
    for dtype in ("int16", "uint16", "float32"):
        add_case(group, f"filter_{dtype}", f"import numpy as np\n---\nreturn fn.experimental.filter(x, {static})", feeds_of(key=346, dtype=dtype),
                 lambda x: formulas.correlate(x, WINDOW))
    add_case(group, "filter_hw", f"import numpy as np\n---\nreturn fn.experimental.filter(x, {static})", feeds_of("HW", key=350),
             lambda x: formulas.correlate(x, WINDOW))
    index = {"i": feed([0, 1, 2, 1], np.int32)}
    tables = np.stack([WINDOW, WINDOW[::-1], WINDOW * 0.5])
    add_case(group, "filter_of_a_table",
             f"import numpy as np\n---\ntable = types.Constant(np.array({tables.tolist()}, dtype=np.float32), device='cpu')\n"
             "return fn.experimental.filter(x, table[i])", feeds_of(key=354) | index, lambda x, i: formulas.correlate(x, tables[int(i)]))
    group.refused("refused_filter_anchor", f"import numpy as np\n---\nreturn fn.experimental.filter(x, {static}, anchor=4)", feeds_of())
    group.refused("refused_filter_border", f'import numpy as np\n---\nreturn fn.experimental.filter(x, {static}, border="mirror")', feeds_of())
    group.refused("refused_filter_window", "return fn.experimental.filter(x, types.Constant([1.0, 2.0]))", feeds_of())


def add(group):
    add_blur(group)
    add_laplacian(group)
    add_filter(group)
