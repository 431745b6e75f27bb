"""Operators over axes and extents: every way to name axes, policies outside of a sample, fills."""

from . import each
from .checked_programs import numbers, run


def short(m, value):
    """Plain values; floats by four digits, which is what single precision of any order gives."""
    value = m.plain(value)
    if isinstance(value, float):
        return float(f"{value:.4g}")
    if isinstance(value, list):
        return [short(m, one) for one in value]
    if isinstance(value, dict):
        return {key: short(m, one) for key, one in value.items()}
    return value


def of(m, body, *feeds, layout="", **options):
    """What `body` makes of feeds of one batch each, the first of a layout."""
    feeds = feeds or (numbers(m),)

    def node(feed, of_layout):
        return m.fn.external_source(source=lambda: feed, batch=True, layout=of_layout)

    def define():
        rest = [node(feed, None) for feed in feeds[1:]]
        return body(m.fn, node(feeds[0], layout or None), *rest)

    return short(m, run(m, define, batch_size=len(feeds[0]), **options)[0])


def ragged(m, dtype="float32"):
    rng = m.np.random.default_rng(8)
    return [rng.integers(0, 90, (2 + i, 4, 3)).astype(dtype) for i in range(3)]


REDUCTIONS = {
    "all": ("sum", {}),
    "kept": ("sum", dict(keep_dims=True)),
    "axis": ("mean", dict(axes=1)),
    "axis_in_list": ("mean", dict(axes=[1], keep_dims=True)),
    "pair": ("max", dict(axes=(0, 2))),
    "pair_kept": ("min", dict(axes=(2, 0), keep_dims=True)),
    "negative": ("sum", dict(axes=-1)),
    "negative_pair": ("sum", dict(axes=[-1, 0])),
    "no_axes": ("sum", dict(axes=[])),
    "no_axes_kept": ("mean", dict(axes=[], keep_dims=True)),
    "name": ("mean", dict(axis_names="W")),
    "names": ("std_dev", dict(axis_names="HW", mean=80.0)),
    "names_kept": ("rms", dict(axis_names="CW", keep_dims=True)),
    "names_reversed": ("mean_square", dict(axis_names="WH")),
    "no_names": ("sum", dict(axis_names="")),
    "unknown_name": ("sum", dict(axis_names="D")),
    "name_and_axis": ("sum", dict(axis_names="H", axes=0)),
    "twice": ("sum", dict(axes=[0, 0])),
    "twice_negative": ("sum", dict(axes=[0, -3])),
    "outside": ("sum", dict(axes=3)),
    "outside_negative": ("sum", dict(axes=-4)),
    "of_double": ("sum", dict(dtype="FLOAT64")),
    "to_integer": ("mean", dict(dtype="INT32")),
    "sum_of_bytes": ("sum", dict(dtype="UINT64")),
    "max_typed": ("max", dict(dtype="FLOAT")),
    "ddof": ("variance", dict(mean=50.0, ddof=1)),
    "ddof_of_axis": ("std_dev", dict(mean=50.0, axes=[0], ddof=2)),
    "all_axes": ("sum", dict(axes=[0, 1, 2])),
    "fractional_axis": ("sum", dict(axes=1.5)),
    "text_axis": ("sum", dict(axes="H")),
}


@each(**REDUCTIONS)
def reduced(m, what):
    name, arguments = what
    if "dtype" in arguments:
        arguments = {**arguments, "dtype": getattr(m.types, arguments["dtype"])}
    kind = "uint8" if name in ("sum", "max") else "float32"

    reduce = getattr(m.fn.reductions, name)
    return of(m, lambda fn, x: reduce(x, **arguments), ragged(m, kind), layout="HWC")


SLICES = {
    "pad": dict(start=[-1], end=[3], axes=[0], out_of_bounds_policy="pad"),
    "pad_filled": dict(start=[1], end=[9], axes=[1], out_of_bounds_policy="pad", fill_values=[9.0]),
    "pad_channels": dict(
        start=[1, 1],
        end=[9, 7],
        axes=[0, 1],
        out_of_bounds_policy="pad",
        fill_values=[9.0, 8.0, 7.0],
    ),
    "pad_two_fills": dict(
        start=[1], end=[9], axes=[0], out_of_bounds_policy="pad", fill_values=[9.0, 8.0]
    ),
    "trim": dict(start=[-2], end=[30], axes=[0], out_of_bounds_policy="trim_to_shape"),
    "trim_shape": dict(start=[1], shape=[30], axes=[1], out_of_bounds_policy="trim_to_shape"),
    "error": dict(start=[-2], end=[3], axes=[0], out_of_bounds_policy="error"),
    "error_default": dict(start=[0], end=[30], axes=[0]),
    "wrong_policy": dict(start=[0], end=[3], axes=[0], out_of_bounds_policy="clip"),
    "start_alone": dict(start=[1], axes=[1]),
    "end_alone": dict(end=[2], axes=[0]),
    "shape_alone": dict(shape=[2], axes=[0]),
    "relative": dict(rel_start=[0.25], rel_end=[0.75], axes=[1]),
    "relative_shape": dict(rel_start=[0.25, 0.5], rel_shape=[0.5, 0.5], axis_names="WH"),
    "mixed": dict(start=[1], rel_end=[1.0], axes=[0]),
    "start_twice": dict(start=[1], rel_start=[0.1], axes=[0]),
    "end_and_shape": dict(start=[1], end=[2], shape=[1], axes=[0]),
    "all_axes": dict(start=[0, 1, 0], end=[2, 3, 2], axes=[]),
    "names_in_order": dict(start=[1, 0], end=[3, 2], axis_names="WH"),
    "negative_axis": dict(start=[0], end=[2], axes=[-1]),
    "whole_numbers": dict(start=1, end=2, axes=[0]),
    "empty": dict(start=[1], end=[1], axes=[0]),
    "backwards": dict(start=[2], end=[1], axes=[0]),
    "typed": dict(start=[0], end=[1], axes=[0], dtype="INT16"),
}


@each(**SLICES)
def sliced(m, arguments):
    if "dtype" in arguments:
        arguments = {**arguments, "dtype": getattr(m.types, arguments["dtype"])}
    return of(m, lambda fn, x: fn.slice(x, **arguments), numbers(m), layout="HWC")


POSITIONAL = {
    "normalized": ([0.0, 0.25], [0.5, 0.5], {}),
    "absolute": (
        [1.0, 0.0],
        [2.0, 3.0],
        dict(normalized_anchor=False, normalized_shape=False),
    ),
    "anchor_absolute": ([1.0, 0.0], [0.5, 0.5], dict(normalized_anchor=False)),
    "axes": ([0.0], [0.5], dict(axes=[0])),
    "names": ([0.0, 0.0], [0.5, 1.0], dict(axis_names="HW")),
    "lengths": ([0.0], [0.5, 0.5], {}),
    "outside": ([0.5, 0.5], [1.0, 1.0], {}),
    "outside_padded": ([0.5, 0.5], [1.0, 1.0], dict(out_of_bounds_policy="pad")),
    "three": ([0.0, 0.0, 0.0], [1.0, 1.0, 0.5], {}),
}


@each(**POSITIONAL)
def sliced_by_inputs(m, what):
    anchor, shape, arguments = what
    count = 3
    return of(
        m,
        lambda fn, x, a, s: fn.slice(x, a, s, **arguments),
        numbers(m),
        [m.np.array(anchor, "float32")] * count,
        [m.np.array(shape, "float32")] * count,
        layout="HWC",
    )


PADS = {
    "default": {},
    "axes": dict(axes=[0]),
    "names": dict(axis_names="HW", fill_value=3),
    "shape": dict(axes=[0, 1], shape=[7, 7], fill_value=-1),
    "shape_smaller": dict(axes=[0], shape=[1]),
    "align": dict(axes=[0], align=[4]),
    "align_each": dict(axes=[0, 1], align=[4, 5], fill_value=1.5),
    "align_one_for_two": dict(axes=[0, 1], align=[8]),
    "align_and_shape": dict(axes=[0], shape=[5], align=[4]),
    "align_lengths": dict(axes=[0], align=[4, 4]),
    "align_zero": dict(axes=[0], align=[0]),
    "negative_axis": dict(axes=[-1], align=[4]),
    "shape_unknown": dict(axes=[0, 1], shape=[-1, 9]),
    "outside": dict(axes=[4]),
    "shape_lengths": dict(axes=[0], shape=[5, 5]),
}


@each(**PADS)
def padded(m, arguments):
    return of(m, lambda fn, x: fn.pad(x, **arguments), ragged(m), layout="HWC")


HOTS = {
    "default": ({}, "int32"),
    "classes": (dict(num_classes=4), "int64"),
    "bytes": (dict(num_classes=4, dtype="UINT8"), "uint8"),
    "values": (dict(num_classes=3, on_value=7.0, off_value=-2.0), "int32"),
    "axis_first": (dict(num_classes=3, axis=0), "int32"),
    "axis_second": (dict(num_classes=3, axis=1), "int32"),
    "axis_last": (dict(num_classes=3, axis=-1), "int32"),
    "axis_outside": (dict(num_classes=3, axis=5), "int32"),
    "named": (dict(num_classes=3, axis_name="C"), "int32"),
    "named_first": (dict(num_classes=3, axis=0, axis_name="C"), "int32"),
    "long_name": (dict(num_classes=3, axis_name="CC"), "int32"),
    "of_floats": (dict(num_classes=3), "float32"),
    "outside_of_classes": (dict(num_classes=1), "int32"),
    "no_classes": (dict(num_classes=0), "int32"),
    "boolean": (dict(num_classes=2, dtype="BOOL"), "int32"),
}


@each(**HOTS)
def hot(m, what):
    arguments, kind = what
    if "dtype" in arguments:
        arguments = {**arguments, "dtype": getattr(m.types, arguments["dtype"])}
    feed = [m.np.array([[0, 1, 2], [2, 1, 0]], kind), m.np.array([[1, 1, 1]], kind)]
    return of(m, lambda fn, x: fn.one_hot(x, **arguments), feed, layout="HW")


@each("scalars", "rows", "scalars_named")
def hot_of(m, kind):
    arguments = dict(axis_name="C") if kind.endswith("named") else {}
    feed = [m.np.array(i, "int32") for i in range(3)]
    if kind == "rows":
        feed = [one.reshape(1) for one in feed]
    return of(m, lambda fn, x: fn.one_hot(x, num_classes=4, **arguments), feed)


TABLES = {
    "floats": (dict(keys=[1, 3], values=[10.0, 30.5]), "uint8"),
    "default": (dict(keys=[1], values=[5.0], default_value=-1.0), "int32"),
    "typed": (dict(keys=[0, 2], values=[5.0, 250.0], dtype="UINT8"), "uint8"),
    "typed_from_floats": (dict(keys=[0, 2], values=[5.7, -3.2], dtype="INT16"), "int64"),
    "lengths": (dict(keys=[1, 2], values=[5.0]), "uint8"),
    "negative_key": (dict(keys=[-1], values=[5.0]), "int16"),
    "large_key": (dict(keys=[70000], values=[5.0]), "int32"),
    "of_floats": (dict(keys=[1], values=[5.0]), "float32"),
    "of_half": (dict(keys=[1], values=[5.0], dtype="FLOAT16"), "int8"),
    "twice": (dict(keys=[1, 1], values=[5.0, 6.0]), "uint8"),
    "nothing": ({}, "uint8"),
    "large_values": (dict(keys=[1], values=[300.0], dtype="UINT8"), "uint8"),
}


@each(**TABLES)
def looked_up(m, what):
    arguments, kind = what
    if "dtype" in arguments:
        arguments = {**arguments, "dtype": getattr(m.types, arguments["dtype"])}
    feed = [m.np.arange(6).reshape(2, 3).astype(kind), m.np.arange(2).astype(kind).reshape(1, 2)]
    return of(m, lambda fn, x: fn.lookup_table(x, **arguments), feed, layout="HW")


SEQUENCES = {
    "reversed": dict(new_order=[2, 1, 0]),
    "repeated": dict(new_order=[0, 0, 1, 1, 2]),
    "one": dict(new_order=[1]),
    "number": dict(new_order=1),
    "outside": dict(new_order=[0, 3]),
    "negative": dict(new_order=[-1]),
    "nothing": dict(new_order=[]),
    "missing": {},
}


@each(**SEQUENCES)
def rearranged(m, arguments):
    feed = [m.np.arange(12, dtype="uint8").reshape(3, 2, 2, 1) + i for i in range(2)]
    return of(m, lambda fn, x: fn.sequence_rearrange(x, **arguments), feed, layout="FHWC")


@each("HWC", "FHWC", "HFWC", "")
def rearranged_layout(m, layout):
    feed = [m.np.arange(12, dtype="uint8").reshape(3, 2, 2, 1)]
    if layout == "HWC":
        feed = [one[..., 0] for one in feed]
    return of(m, lambda fn, x: fn.sequence_rearrange(x, new_order=[1, 0]), feed, layout=layout)


@each("per_sample", "ranks", "float_order")
def rearranged_by(m, kind):
    feed = [m.np.arange(12, dtype="uint8").reshape(3, 2, 2, 1) + i for i in range(2)]
    orders = {
        "per_sample": [m.np.array([1, 0], "int32"), m.np.array([2], "int32")],
        "ranks": [m.np.array([[1, 0]], "int32")] * 2,
        "float_order": [m.np.array([1, 0], "float32")] * 2,
    }[kind]
    return of(
        m, lambda fn, x, o: fn.sequence_rearrange(x, new_order=o), feed, orders, layout="FHWC"
    )
