"""Where the last bit shows: nearest neighbours, relative positions, truncation, sums of many floats, constants."""
import numpy as np

from recorder import Feed

NN = "interp_type=types.INTERP_NN"
# Whole and other factors, both ways; sums of steps drift furthest where there are many rows.
LENGTHS = [(150, 68), (224, 256), (256, 224), (333, 500), (640, 480), (1080, 224), (1080, 720), (1920, 224),
           (375, 256), (3000, 2000), (2000, 3000), (513, 171), (97, 970), (1, 7), (7, 1)]


def scalars(values, dtype=np.float32):
    return Feed([np.array(value, dtype) for value in values])


def ramp(length, along):
    """Every pixel holds its place."""
    shape = [1, 1, 1]
    shape[along] = length
    return np.arange(length, dtype=np.uint16).reshape(shape)


def labels(rng, height, width):
    """A label map: any pixel that is taken from elsewhere shows."""
    return rng.integers(0, 256, (height, width, 1)).astype(np.uint8)


def add_lengths(group):
    for along, name in ((0, "rows"), (1, "columns")):
        sizes = [[1, 1] for _ in LENGTHS]
        for size, (_, to) in zip(sizes, LENGTHS):
            size[along] = to
        feeds = {"x": Feed([ramp(length, along) for length, _ in LENGTHS], "HWC"), "size": scalars(sizes)}
        group.case(f"nearest_{name}", f"fn.resize(x, size=size, {NN})", feeds)
        mirrored = scalars([[-size[0], -size[1]] for size in sizes])
        group.case(f"nearest_{name}_mirrored", f"fn.resize(x, size=size, {NN})", {"x": feeds["x"], "size": mirrored})


def add_masks(group):
    rng = np.random.Generator(np.random.PCG64([8, 1]))
    extents = [(40, 52), (37, 61), (64, 64), (53, 29)]
    x = Feed([labels(rng, *e) for e in extents], "HWC")
    low = [(rng.uniform(0, 0.4) * h, rng.uniform(0, 0.4) * w) for h, w in extents]
    high = [(rng.uniform(0.6, 0.95) * h, rng.uniform(0.6, 0.95) * w) for h, w in extents]
    start, end = scalars(low), scalars(high)
    relative_start = scalars([(0.2, 0.35), (0.45, 0.1), (0.15, 0.3), (0.35, 0.05)])
    relative_end = scalars([(0.9, 0.85), (0.95, 0.55), (0.65, 0.7), (0.85, 0.95)])
    whole = scalars([(20, 26), (74, 61), (128, 32), (26, 58)])
    fractional = scalars([(20.4, 26.6), (70.25, 33.3), (100.7, 31.4), (18.2, 58.9)])
    one = scalars([13.5, 20.0, 47.3, 71.0])
    feeds = dict(x=x, start=start, end=end, rel_start=relative_start, rel_end=relative_end, whole=whole,
                 fractional=fractional, one=one)
    roi, relative = "roi_start=start, roi_end=end", "roi_start=rel_start, roi_end=rel_end, roi_relative=True"
    for name, arguments in (
            ("whole", "size=whole"), ("fractional", "size=fractional"),
            ("fractional_as_asked", "size=fractional, subpixel_scale=False"),
            ("region", f"size=whole, {roi}"), ("region_fractional", f"size=fractional, {roi}"),
            ("region_mirrored", "size=fractional, roi_start=end, roi_end=start"),
            ("region_relative", f"size=fractional, {relative}"), ("shorter", "resize_shorter=one"),
            ("shorter_of_region", f"resize_shorter=one, {roi}"), ("longer", "resize_longer=one"),
            ("not_smaller", "size=fractional, mode='not_smaller'"), ("not_larger", "size=whole, mode='not_larger'"),
            ("at_most", "resize_shorter=one, max_size=(33, 41)"), ("one_side", "resize_x=one"),
            ("planes", "size=whole")):
        image = "fn.transpose(x, perm=[2, 0, 1], output_layout='CHW')" if name == "planes" else "x"
        group.case(f"nearest_masks_{name}", f"fn.resize({image}, {arguments}, {NN})", feeds)
    group.case("nearest_masks_then_crop", f"fn.crop(fn.resize(x, size=whole, {NN}), crop=(9, 7), crop_pos_y=0.8)", feeds)
    group.case("nearest_where_it_shrinks", "fn.resize(x, size=[16, 16], min_filter=types.INTERP_NN, "
               "mag_filter=types.INTERP_LINEAR)", feeds)


def add_relative(group):
    extents = [150, 250, 350, 1130, 850, 1180, 495]
    line = Feed([np.arange(extent, dtype=np.int32) for extent in extents])
    start = scalars([[v] for v in (0.05, 0.35, 0.15, 0.08891935, 0.20770605, 0.42, 0.65)])
    end = scalars([[v] for v in (0.45, 0.65, 0.95, 0.45, 0.38, 0.75, 0.85)])
    shape = scalars([[v] for v in (0.45, 0.3, 0.38, 0.45, 0.35, 0.35, 0.05)])
    first = Feed([np.array([v], np.int32) for v in (1, 2, 3, 4, 5, 6, 7)])
    feeds = dict(x=line, a=start, b=end, s=shape, n=first)
    for name, arguments in (("start_end", "rel_start=a, rel_end=b"), ("start_shape", "rel_start=a, rel_shape=s"),
                            ("end", "rel_end=b"), ("shape", "start=n, rel_shape=s"),
                            ("start", "rel_start=a, shape=n"), ("inputs", "a, s"),
                            ("anchor", "a, fn.cast(n, dtype=types.FLOAT), normalized_shape=False"),
                            ("extent", "fn.cast(n, dtype=types.FLOAT), s, normalized_anchor=False")):
        group.case(f"relative_{name}", f"fn.slice(x, {arguments}, axes=[0])", feeds)
    wide = {"x": Feed([np.zeros((10, 20), np.uint8), np.zeros((30, 28), np.uint8)])}  # 5 and 14, not 4 and 13
    group.case("relative_reshape", "fn.shapes(fn.reshape(x, rel_shape=[0.45, -1]))", wide)


def add_truncation(group):
    values = [-1e9, -300, -128.7, -1.5, -0.7, -0.5, 0, 0.49, 0.5, 0.51, 1.5, 2.5, 99.999, 127.6, 200.7, 254.5, 255.2,
              255.9, 256, 300.5, 1e9, np.inf, -np.inf, np.nan]
    x = Feed([np.array(values, np.float32).reshape(1, -1, 1), np.float32([[[3.99]]])], "HWC")
    half = Feed([np.array([-3.5, 0.5, 1.5, 254.9, 300], np.float16).reshape(1, -1, 1)], "HWC")
    byte, pad = "dtype=types.UINT8", "out_of_bounds_policy='pad', fill_values=[7.8]"
    for name, body, feed in (
            ("crop", f"fn.crop(x, {byte})", x), ("crop_half", f"fn.crop(x, {byte})", half),
            ("crop_pad", f"fn.crop(x, crop=(2, 30), {pad}, {byte})", x),
            ("crop_edge", f"fn.crop(x, crop=(2, 30), out_of_bounds_policy='edge', {byte})", x),
            ("slice", f"fn.slice(x, start=0, shape=1, axis_names='W', {byte})", x),
            ("slice_pad", f"fn.slice(x, start=-2, shape=28, axis_names='W', {pad}, {byte})", x),
            ("fill", f"fn.crop(x, crop=(2, 30), {pad})", Feed([np.int16([[[5], [-6]]])], "HWC"))):
        group.case(f"truncated_{name}", body, {"x": feed})


def add_sums(group):
    """A thousandth of a large picture's mean was lost when it was summed in 16 lanes of f32."""
    x = Feed([np.float32([[[0.1]]]), np.float32([[[123.456]]])], "HWC")
    large = f"fn.resize(x, size=[1080, 1920], {NN})"
    exact = dict(tolerance=2e-6, kind="rel", why="DALI sums in f32, by pairs")
    for name, expression in (
            ("mean", "fn.reductions.mean(y)"), ("sum", "fn.reductions.sum(y)"),
            ("mean_square", "fn.reductions.mean_square(y)"), ("rms", "fn.reductions.rms(y)"),
            ("rows", "fn.reductions.mean(y, axis_names='H')"),
            ("variance", "fn.reductions.variance(y, fn.reductions.mean(y) * 2)"),
            ("std_dev", "fn.reductions.std_dev(y, fn.reductions.mean(y) * 2)"),
            ("normalize", "fn.reductions.max(fn.normalize(y, stddev=0.001, shift=1000))")):
        options = dict(exact)
        if name == "rows":
            expression = f"fn.reductions.max({expression})"
        if name == "normalize":  # what is left of the mean, in thousandths
            options = dict(tolerance=0.1, why="what DALI's own sum is off by")
        group.case(f"sum_of_many_{name}", f"y = {large}\nreturn {expression}", {"x": x}, **options)


def add_constants(group):
    x = Feed([np.uint8([[[1]]]), np.uint8([[[2]]])], "HWC")
    group.case("constant_outputs", "return x, [1, 2, 3], [1, 2.5], [True, False], 5, (7, 8), [4], []", {"x": x})


def add(group):
    add_lengths(group)
    add_masks(group)
    add_relative(group)
    add_truncation(group)
    add_sums(group)
    add_constants(group)
