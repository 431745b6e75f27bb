"""Cases of fn.tensor_resize, against formulas.tensor_resize, and nearest neighbours of volumes in fn.resize."""
import numpy as np

import formulas
from cases_resize import CODE, INTERP, resize_case, scalars, vectors
from recorder import Feed
from samples import SIZES, image, integers


def tensors(*shapes, dtype="float32", layout=None, key=0):
    """Smooth along every axis, and noise."""
    batch = []
    for n, shape in enumerate(shapes):
        side = int(np.prod(shape[1:]))
        batch.append(image(shape[0], side, 1, dtype, key + n).reshape(shape))
    return {"x": Feed(batch, layout)}


def ramps(*shapes, layout=None):
    """Each element tells where it is, below 2^24."""
    return {"x": Feed([np.arange(np.prod(shape), dtype=np.float32).reshape(shape) for shape in shapes], layout)}


def case(group, name, arguments, feeds, reference=None, **overrides):
    resize_case(group, "tensor_resize_" + name, arguments, feeds, reference, operator="tensor_resize", **overrides)


RAGGED = [(6, 7, 3), (9, 5, 3), (4, 4, 3), (1, 2, 3)]


def add_axes(group):
    for name, shapes, axes, sizes in (
            ("one_axis_of_1", [(9,), (4,), (1,)], [0], [5]), ("row_of_2", [(9, 4), (5, 3)], [0], [6]),
            ("column_of_2", [(4, 9), (3, 5)], [1], [6]), ("first_of_3", RAGGED, [0], [5]), ("middle_of_3", RAGGED, [1], [9]),
            ("last_of_3", RAGGED, [2], [5]), ("outer_of_3", RAGGED, [0, 1], [5, 6]), ("around_of_3", RAGGED, [0, 2], [5, 4]),
            ("all_of_3", RAGGED, [0, 1, 2], [5, 6, 2]), ("swapped", RAGGED, [1, 0], [5, 6]), ("from_the_end", RAGGED, [-1, -3], [5, 6]),
            ("inner_of_4", [(2, 5, 6, 3), (3, 4, 7, 2)], [1, 2], [7, 3]), ("three_of_4", [(2, 5, 6, 3), (3, 4, 7, 2)], [0, 1, 2], [4, 3, 8]),
            ("apart_in_5", [(2, 3, 4, 5, 3), (1, 4, 3, 2, 2)], [1, 3], [5, 4])):
        case(group, name, f"sizes={sizes}, axes={axes}", tensors(*shapes, key=900),
             lambda x, a=axes, s=sizes: formulas.tensor_resize(x, a, sizes=s))
    case(group, "one_number", "sizes=5", tensors((6, 7), (4, 9), key=910), lambda x: formulas.tensor_resize(x, [0, 1], sizes=[5, 5]))
    case(group, "names", 'sizes=[5, 9], axis_names="WH"', tensors(*RAGGED, layout="HWC", key=912),
         lambda x: formulas.tensor_resize(x, [1, 0], sizes=[5, 9]))
    case(group, "other_letters", 'sizes=[5], axis_names="T"', tensors((7, 2), (4, 2), layout="TC", key=914),
         lambda x: formulas.tensor_resize(x, [0], sizes=[5]))
    case(group, "no_axis", "sizes=5, axes=[]", tensors(*RAGGED, key=916), lambda x: x)


def add_types(group):
    for dtype in ("uint8", "int16", "uint16"):
        for axes, sizes in (([0], [5]), ([1], [9]), ([0, 1], [5, 9]), ([0, 1, 2], [4, 5, 5])):
            case(group, f"{dtype}_{''.join(map(str, axes))}", f"sizes={sizes}, axes={axes}", tensors(*RAGGED, dtype=dtype, key=920),
                 lambda x, a=axes, s=sizes: formulas.tensor_resize(x, a, sizes=s))
    case(group, "uint8_to_float", "sizes=[5], axes=[1], dtype=types.FLOAT", tensors(*RAGGED, dtype="uint8", key=922),
         lambda x: formulas.tensor_resize(x, [1], sizes=[5]))
    for key, interp in INTERP.items():
        if key == "nn":
            continue
        code = CODE[key]
        # Of a Gaussian, an axis that keeps its extent has cases of its own, below.
        shapes = [shape for shape in RAGGED if shape[0] != 4] if key == "gaussian" else RAGGED
        case(group, key, f"sizes=[4, 9, 2], interp_type=types.{interp}", tensors(*shapes, key=924),
             lambda x, c=code: formulas.tensor_resize(x, [0, 1, 2], sizes=[4, 9, 2], min_filter=c, mag_filter=c))
    # DALI resamples a second axis, too, where one is named, and those between two; a Gaussian shows it.
    for name, axes, sizes in (("first", [0], [5]), ("last", [2], [5]), ("around", [0, 2], [5, 4]), ("none", [0, 1, 2], [6, 7, 3]),
                              ("kept", [0, 1, 2], [4, 9, 2])):
        shapes = {"none": [(6, 7, 3)], "kept": [(4, 4, 3)]}.get(name, [(6, 7, 3), (9, 8, 3)])
        case(group, "gaussian_" + name, f"sizes={sizes}, axes={axes}, interp_type=types.INTERP_GAUSSIAN", tensors(*shapes, key=925))
    case(group, "filters", "sizes=[4, 9], axes=[0, 1], min_filter=types.INTERP_CUBIC, mag_filter=types.INTERP_LANCZOS3",
         tensors(*RAGGED, key=926), lambda x: formulas.tensor_resize(x, [0, 1], sizes=[4, 9], min_filter=2, mag_filter=3))
    case(group, "no_antialias", "sizes=[3], axes=[0], antialias=False", tensors(*RAGGED, key=928),
         lambda x: formulas.tensor_resize(x, [0], sizes=[3], antialias=False))


def add_modes(group):
    for mode in ("default", "stretch", "not_larger", "not_smaller"):
        for key, sizes in (("both", [4, 9]), ("first", [4, 0]), ("second", [0, 9]), ("mirrored", [-4, 9])):
            case(group, f"{mode}_{key}", f'sizes={sizes}, axes=[0, 1], mode="{mode}"', tensors(*RAGGED[:3], key=930),
                 lambda x, s=sizes, m=mode: formulas.tensor_resize(x, [0, 1], sizes=s, mode=m))
        case(group, f"{mode}_max_size", f'sizes=[8, 0], axes=[0, 2], mode="{mode}", max_size=[7, 5]', tensors(*RAGGED[:3], key=932),
             lambda x, m=mode: formulas.tensor_resize(x, [0, 2], sizes=[8, 0], mode=m, max_size=[7, 5]))
    case(group, "one_of_three", "sizes=[4, 0, 0]", tensors(*RAGGED[:3], key=934), lambda x: formulas.tensor_resize(x, [0, 1, 2], sizes=[4, 0, 0]))
    for rounding in ("round", "truncate", "ceil"):
        case(group, f"sizes_{rounding}", f'sizes=[3.5, 5.4], axes=[0, 1], size_rounding="{rounding}"', tensors(*RAGGED[:3], key=936),
             lambda x, r=rounding: formulas.tensor_resize(x, [0, 1], sizes=[3.5, 5.4], rounding=r))
        # Extents that rounding takes back to the input's are left as they are there.
        case(group, f"scales_{rounding}", f'scales=[0.6, -1.7], axes=[0, 1], size_rounding="{rounding}"', tensors((6, 7, 3), (9, 4, 3), (8, 8, 2), key=938),
             lambda x, r=rounding: formulas.tensor_resize(x, [0, 1], scales=[0.6, -1.7], rounding=r))
    case(group, "scales_0", "scales=[0.5, 0], axes=[0, 1]", tensors(*RAGGED[:3], key=940),
         lambda x: formulas.tensor_resize(x, [0, 1], scales=[0.5, 0]))
    case(group, "tiny_scale", "scales=0.01, axes=[0]", tensors(*RAGGED[:3], key=942), lambda x: formulas.tensor_resize(x, [0], scales=[0.01]))


def add_places(group):
    for alignment in ([0.0, 1.0], [0.25, 0.5]):
        for subpixel in (True, False):
            case(group, f"alignment_{alignment[0]}_{subpixel}".lower(), f"sizes=[3.4, 5.3], axes=[0, 1], alignment={alignment}, subpixel_scale={subpixel}",
                 tensors(*RAGGED[:3], key=950), lambda x, a=alignment, p=subpixel: formulas.tensor_resize(x, [0, 1], sizes=[3.4, 5.3], alignment=a, subpixel=p))
    case(group, "alignment_mirrored", "scales=[-0.7, 1.3], axes=[0, 1], alignment=0.2", tensors((6, 7, 3), (9, 5, 3), key=952),
         lambda x: formulas.tensor_resize(x, [0, 1], scales=[-0.7, 1.3], alignment=[0.2, 0.2]))
    case(group, "alignment_of_others", 'sizes=[4.3], axes=[0], alignment=[1], mode="not_smaller"', tensors((6, 7, 3), (9, 5, 3), key=954),
         lambda x: formulas.tensor_resize(x, [0], sizes=[4.3], alignment=[1], mode="not_smaller"))
    for name, start, end, relative in (("inside", [1, 0.5], [3.5, 2], False), ("relative", [0.1, 0.2], [0.9, 0.7], True),
                                       ("reversed", [3, 0], [1, 4], False), ("reversed_relative", [1, 1], [0, 0], True)):
        region = f"roi_start={start}, roi_end={end}, roi_relative={relative}"
        options = dict(start=start, end=end, relative=relative)
        case(group, f"region_{name}", f"sizes=[5, 6], axes=[0, 1], {region}", tensors(*RAGGED[:3], key=956),
             lambda x, o=options: formulas.tensor_resize(x, [0, 1], sizes=[5, 6], **o))
        case(group, f"region_{name}_scales", f"scales=[0.5, 1.5], axes=[1, 0], {region}", tensors(*RAGGED[:3], key=958),
             lambda x, o=options: formulas.tensor_resize(x, [1, 0], scales=[0.5, 1.5], **o))
        case(group, f"region_{name}_missing", f'sizes=[5, 0], axes=[0, 1], mode="not_larger", {region}', tensors(*RAGGED[:3], key=960),
             lambda x, o=options: formulas.tensor_resize(x, [0, 1], sizes=[5, 0], mode="not_larger", **o))
    group.case("resize_region_missing_mirrored", 'fn.resize(x, size=[5, 0], mode="not_smaller", roi_start=[1, 4], roi_end=[4, 1])',
               tensors(*RAGGED[:3], layout="HWC", key=962), tolerance=2e-5, kind="range", why="float32 sums in another order",
               expect=lambda x: formulas.tensor_resize(x, [0, 1], sizes=[5, 0], mode="not_smaller", start=[1, 4], end=[4, 1], of=[0, 1]))


def add_per_sample(group):
    feeds = tensors(*RAGGED[:3], key=970)
    case(group, "sizes_per_sample", "sizes=a, axes=[0, 1]", feeds | {"a": vectors([(3, 4), (0, 6), (-7, 2)])},
         lambda x, a: formulas.tensor_resize(x, [0, 1], sizes=a))
    case(group, "scales_per_sample", "scales=a, axes=[2, 0]", feeds | {"a": vectors([(2, 0.5), (1, 0.6), (3, -1)])},
         lambda x, a: formulas.tensor_resize(x, [2, 0], scales=a))
    case(group, "size_per_sample", "sizes=a, axes=[1]", feeds | {"a": scalars([4, 9, 2])}, lambda x, a: formulas.tensor_resize(x, [1], sizes=[a]))
    case(group, "region_per_sample", "sizes=[4, 5], axes=[0, 1], roi_start=a, roi_end=b", feeds | {
        "a": vectors([(1, 2), (0.5, 0), (3, 0)]), "b": vectors([(5, 4), (6, 4), (1, 4)])},
        lambda x, a, b: formulas.tensor_resize(x, [0, 1], sizes=[4, 5], start=a, end=b))
    case(group, "alignment_per_sample", "sizes=[4.6, 5.2], axes=[0, 1], alignment=a", tensors((6, 7, 3), (9, 8, 3), key=972) | {
        "a": vectors([(0, 1), (0.3, 0.6)])}, lambda x, a: formulas.tensor_resize(x, [0, 1], sizes=[4.6, 5.2], alignment=a))


def add_nearest(group):
    """Whole and other factors, where adding up steps goes elsewhere than products do: 10 to 69, 31 to 245."""
    exact = dict(tolerance=0, why="", kind="abs")
    for name, shapes, axes, sizes in (
            ("1", [(10,), (31,)], [0], [69]), ("row", [(10, 4), (31, 3)], [0], [69]), ("column", [(4, 10), (3, 31)], [1], [69]),
            ("first", [(10, 2, 3), (31, 2, 3)], [0], [245]), ("middle", [(2, 10, 3), (3, 31, 2)], [1], [245]),
            ("last", [(2, 3, 10), (2, 2, 31)], [2], [245]), ("outer", [(10, 31, 2), (31, 10, 2)], [0, 1], [69, 69]),
            ("around", [(10, 2, 31), (31, 3, 10)], [0, 2], [69, 69]), ("all", [(10, 5, 4), (4, 10, 7)], [0, 1, 2], [69, 23, 9]),
            ("channels_stay", [(10, 31, 3), (31, 10, 3)], [0, 1, 2], [69, 23, 3]), ("rows_stay", [(8, 10, 3), (8, 31, 3)], [0, 1], [8, 69]),
            ("inner_of_4", [(2, 10, 31, 3), (2, 31, 10, 3)], [1, 2], [69, 69])):
        case(group, "nearest_" + name, f"sizes={sizes}, axes={axes}, interp_type=types.INTERP_NN", ramps(*shapes), **exact)
    for name, axes, sizes, start, end in (("2", [0, 1], [69, 23], [0.11, 0.2], [0.83, 0.91]), ("mirrored", [0, 1], [23, 69], [0.83, 0.2], [0.11, 0.91]),
                                          ("3", [0, 1, 2], [23, 7, 11], [0.11, 0.2, 0.3], [0.83, 0.91, 0.8]),
                                          ("3_mirrored", [0, 1, 2], [7, 69, 5], [0.83, 0.91, 0.3], [0.11, 0.2, 0.8])):
        case(group, "nearest_region_" + name, f"sizes={sizes}, axes={axes}, roi_start={start}, roi_end={end}, roi_relative=True, interp_type=types.INTERP_NN",
             ramps((10, 31, 12), (31, 10, 9), (23, 17, 5)), **exact)
    for axis, sizes in enumerate(([69, 4, 5], [4, 69, 5], [4, 5, 69])):
        shapes = [tuple(10 + 3 * n if d == axis else 3 for d in range(3)) + (1,) for n in range(3)]
        group.case(f"resize_nearest_volume_{axis}", f"fn.resize(x, size={sizes}, interp_type=types.INTERP_NN)", ramps(*shapes, layout="DHWC"))


def add_refusals(group):
    feeds = tensors(*RAGGED, key=980)
    for name, arguments in (("both", "sizes=[4, 4], scales=[1, 1], axes=[0, 1]"), ("none", "axes=[0]"), ("scales_mode", 'scales=0.5, mode="not_larger"'),
                            ("twice", "sizes=[3, 4], axes=[1, 1]"), ("range", "sizes=3, axes=[3]"), ("letters", 'sizes=3, axis_names="D"'),
                            ("length", "sizes=[3, 4], axes=[1]"), ("mode", 'sizes=3, mode="larger"'), ("rounding", 'sizes=3, size_rounding="floor"'),
                            ("start", "sizes=3, roi_start=0.0"), ("dtype", "sizes=3, dtype=types.INT16")):
        group.refused("refused_tensor_resize_" + name, f"fn.tensor_resize(x, {arguments})", feeds)
    group.refused("refused_tensor_resize_int32", "fn.tensor_resize(x, sizes=3)", {"x": Feed([integers((4, 5), "int32")])})


def add(group):
    for part in (add_axes, add_types, add_modes, add_places, add_per_sample, add_nearest, add_refusals):
        part(group)
