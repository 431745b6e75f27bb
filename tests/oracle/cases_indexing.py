"""Cases of indexing and slicing of nodes."""
import numpy as np

from recorder import Feed
from samples import SIZES, images, rng


def hwc(key=600, layout="HWC"):
    return {"x": Feed(images(SIZES, key=key, layout=layout), layout)}


def scalars(values, dtype=np.int32):
    return Feed([np.array(value, dtype) for value in values])


CONSTANT = ["x[0]", "x[-1]", "x[1, 2]", "x[1, -1, 0]", "x[:, 1]", "x[:, :, 2]", "x[..., ]", "x[0:2]", "x[1:]",
            "x[:2]", "x[:-1]", "x[-2:]", "x[1:100]", "x[-100:1]", "x[:, 1:3]", "x[:, :, 0:1]", "x[:, :, :2]",
            "x[1, :, 1:]", "x[:, -2:, 1]", "x[0:1, 0:1, 0:1]", "x[2:1]", "x[::-1]", "x[:, ::-1]", "x[:, :, ::-1]",
            "x[::2]", "x[:, ::2]", "x[1::2, ::2]", "x[::-2]", "x[::-1, ::-1, ::-1]", "x[:, 3:0:-1]",
            "x[-1:0:-2, 1]", "x[::3, 1:, 0]", "x[:]", "x[:, :]", "x[0][1]", "x[0][1][2]", "x[1:][0]"]


def add_constant(group):
    for number, expression in enumerate(CONSTANT):
        if "..." in expression:
            continue
        group.case(f"index_{number:02}", expression, hwc())
    for layout, expression in (("CHW", "x[0]"), ("CHW", "x[:, 0]"), ("HW", "x[1]"), ("HW", "x[:, ::-1]")):
        group.case(f"index_{layout.lower()}_{'rows' if ',' in expression else 'plane'}", expression,
                   hwc(layout=layout))


def add_nodes(group):
    group.case("index_node", "x[a]", hwc() | {"a": scalars([0, 6, -1, 1])})
    group.case("index_node_second", "x[:, a]", hwc() | {"a": scalars([0, 4, -1, 2])})
    group.case("index_node_both", "x[a, b]", hwc() | {"a": scalars([0, 6, -1, 1]), "b": scalars([-1, 0, 7, -3])})
    group.case("index_node_range", "x[a:b]", hwc() | {"a": scalars([0, 2, -5, 1]), "b": scalars([3, 100, -1, 0])})
    group.case("index_node_start", "x[:, a:]", hwc() | {"a": scalars([0, 2, -5, 1])})
    group.case("index_node_end", "x[:a, 1:]", hwc() | {"a": scalars([0, 2, -5, 1])})
    for dtype in ("uint8", "int64", "uint16"):
        group.case(f"index_node_{dtype}", "x[a]", hwc() | {"a": scalars([0, 6, 3, 1], dtype)})
    group.case("index_computed", "x[x.shape()[0] // 2]", hwc())
    group.case("index_computed_window", "h = x.shape()[0]\nw = x.shape()[1]\nreturn x[h // 4:h - h // 4, :w // 2]", hwc())
    group.case("index_step_node_ends", "x[a::2]", hwc() | {"a": scalars([0, 2, -5, 1])})


def add_dtypes(group):
    for dtype in ("bool", "float16", "float64", "int64", "uint32", "int8"):
        samples = [rng(610, i).integers(0, 2 if dtype == "bool" else 100, shape).astype(dtype)
                   for i, shape in enumerate(((4, 3), (2, 5), (3, 1)))]
        group.case(f"index_{dtype}", "return x[1], x[:, 0], x[-2:, ::-1]", {"x": Feed(samples)})
    group.case("index_vector", "return x[0], x[-1], x[1:3], x[::-1]",
               {"x": Feed([np.arange(n, dtype=np.int32) * 3 for n in (4, 7, 3)])})
    group.case("newaxis_named", 'x[:, :, newaxis("C")]', hwc(layout="HW"))
    group.case("newaxis", "x[newaxis, :]", {"x": Feed([np.arange(n, dtype=np.int32) for n in (4, 7, 3)])})
    group.case("newaxis_front", 'x[newaxis("F")]', hwc())
    group.case("index_expression", "x[:, 1:] - x[:, :-1]", hwc())


def add_refusals(group):
    group.refused("refused_index_range", "x[2]", hwc())
    group.refused("refused_index_negative_range", "x[-3]", hwc())
    group.refused("refused_index_too_many", "x[0, 0, 0, 0]", hwc())
    group.refused("refused_index_float", "x[1.5]", hwc())
    group.refused("refused_index_string", 'x["a"]', hwc())
    group.refused("refused_index_ellipsis", "x[..., 0]", hwc())
    group.refused("refused_index_step_zero", "x[::0]", hwc())
    group.refused("refused_index_scalar", "x[0]", {"x": scalars([1, 2])})
    group.refused("refused_index_vector_node", "x[a]", hwc() | {"a": Feed([np.array([0, 1], np.int32)] * 4)})
    group.refused("refused_index_node_range", "x[a]", hwc() | {"a": scalars([0, 7, 1, 1])})


def add(group):
    for part in (add_constant, add_nodes, add_dtypes, add_refusals):
        part(group)
