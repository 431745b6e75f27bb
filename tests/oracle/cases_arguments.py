"""Cases of arguments that each sample gives: axes, fill values, dimensions."""
import numpy as np

from recorder import Feed
from samples import SIZES, images

AXES = Feed([np.array(pair, np.int32) for pair in ((0, 1), (1, 0), (2, 0), (1, 2))])


def hwc(key=950, layout="HWC"):
    return {"x": Feed(images(SIZES, key=key, layout=layout)[:4], layout), "axes": AXES}


def per_sample(*values):
    return Feed([np.array(value, np.float32) for value in values])


def sliced(x, axes, start, shape):
    window = [slice(None)] * x.ndim
    for axis, first, count in zip(axes, start, shape):
        window[axis] = slice(first, first + count)
    return x[tuple(window)]


def padded(x, axes, shape, align=1, fill=0):
    extents = list(x.shape)
    for axis, wanted in zip(axes, shape):
        extents[axis] = -(-max(extents[axis], wanted) // align) * align
    return np.pad(x, [(0, new - old) for old, new in zip(x.shape, extents)], constant_values=fill)


def add_axes(group):
    group.case("slice_axes", "fn.slice(x, start=[0, 1], shape=[1, 1], axes=fn.reshape(axes, shape=[2]))", hwc(),
               expect=lambda x, axes: sliced(x, axes, (0, 1), (1, 1)))
    group.case("slice_axes_relative", "fn.slice(x, rel_end=[0.5, 1.0], axes=fn.reshape(axes, shape=[2]))", hwc())
    group.case("slice_axes_pad",
               "fn.slice(x, start=[-1, 2], shape=[4, 9], axes=fn.reshape(axes, shape=[2]), fill_values=[7], "
               'out_of_bounds_policy="pad")', hwc())
    group.case("slice_axes_trim",
               "fn.slice(x, start=[-1, 2], shape=[4, 9], axes=fn.reshape(axes, shape=[2]), "
               'out_of_bounds_policy="trim_to_shape")', hwc())
    group.case("pad_axes", "fn.pad(x, axes=fn.reshape(axes, shape=[2]), shape=[9, 40])", hwc(),
               expect=lambda x, axes: padded(x, axes, (9, 40)))
    group.case("pad_axes_align", "fn.pad(x, axes=fn.reshape(axes, shape=[2]), shape=[9, 40], align=4, fill_value=3)",
               hwc(), expect=lambda x, axes: padded(x, axes, (9, 40), 4, 3))
    group.case("pad_axes_batch", "fn.pad(x, axes=fn.reshape(axes, shape=[2]))", hwc())
    group.case("pad_axes_mixed", "fn.pad(x, axes=fn.reshape(axes, shape=[2]), shape=[5, -1])", hwc())


def add_fills(group):
    fills = {"x": hwc()["x"], "v": per_sample(7, 0, 255, 20)}
    group.case("pad_fill", "fn.pad(x, axes=[0, 1], shape=[30, 40], fill_value=v)", fills,
               expect=lambda x, v: padded(x, (0, 1), (30, 40), 1, int(v)))
    colours = {"x": hwc()["x"], "v": per_sample((1, 2, 3), (255, 0, 9), (4, 5, 6), (0, 0, 0))}
    group.case("erase_fill", "fn.erase(x, anchor=[0, 0], shape=[3, 2], fill_value=fn.reshape(v, shape=[3]))", colours,
               expect=lambda x, v: np.concatenate(
                   [np.concatenate([np.broadcast_to(v, x[:3, :2].shape), x[:3, 2:]], 1), x[3:]]))
    one = {"x": hwc()["x"], "v": per_sample((1,), (255,), (4,), (0,))}
    group.case("erase_fill_one", "fn.erase(x, anchor=[0, 0], shape=[3, 2], fill_value=fn.reshape(v, shape=[1]))", one)


def add_properties(group):
    plain = {"x": hwc()["x"], "v": per_sample((1, 2), (3, 4), (5, 6), (7, 8))}
    for key in ("layout", "source_info"):
        group.case(f"property_{key}", f'x[0, 0, 0], v[0], fn.get_property(x, key="{key}"), fn.get_property(v, key="{key}")', plain)
        group.case(f"property_{key}_method", f'x.property("{key}"), fn.transpose(x, perm=[2, 0, 1]).property("{key}")', plain)
    group.case("source_info_method", "x.source_info()", plain)


def add(group):
    add_properties(group)
    add_axes(group)
    add_fills(group)
