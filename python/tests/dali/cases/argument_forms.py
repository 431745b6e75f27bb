"""Each argument that may differ from sample to sample, in every form in which it can be given.

A case is an operator and an argument; its value says for each form the type, layout, shapes and
mean that came out, or that the call was refused.
"""

from . import CASES
from .operator_inputs import told

# Operator, argument, value; then what else the call needs. `x` is a picture, `y` a sound, `b` holds
# points, `q` boxes.
PLACES = [
    ("brightness x", "brightness", 2.0),
    ("brightness x", "brightness_shift", 0.25),
    ("brightness_contrast x", "contrast", 2.0),
    ("brightness_contrast x", "contrast_center", 32.0),
    ("contrast x", "contrast", 2.0),
    ("color_twist x", "hue", 40.0),
    ("color_twist x", "saturation", 0.5),
    ("color_twist x", "brightness", 2.0),
    ("hsv x", "hue", 40.0),
    ("hsv x", "value", 0.5),
    ("hue x", "hue", 40.0),
    ("saturation x", "saturation", 0.5),
    ("gaussian_blur x", "sigma", 1.0),
    ("gaussian_blur x", "window_size", 3),
    ("laplacian x", "window_size", 3, dict(dtype="FLOAT")),
    ("laplacian x", "scale", 0.5, dict(window_size=3, dtype="FLOAT")),
    ("jpeg_compression_distortion x", "quality", 40),
    ("rotate x", "angle", 90.0),
    ("rotate x", "size", [8.0, 6.0], dict(angle=30.0)),
    ("rotate x", "fill_value", 3.0, dict(angle=30.0)),
    ("warp_affine x", "matrix", [1.0, 0.0, 1.0, 0.0, 1.0, 1.0]),
    ("warp_affine x", "size", [8.0, 6.0], dict(matrix=[1.0, 0.0, 1.0, 0.0, 1.0, 1.0])),
    ("flip x", "horizontal", 1),
    ("flip x", "vertical", 0),
    ("flip x", "depthwise", 0),
    ("resize x", "size", [8.0, 6.0]),
    ("resize x", "resize_x", 8.0),
    ("resize x", "resize_y", 8.0),
    ("resize x", "resize_shorter", 8.0),
    ("resize x", "resize_longer", 8.0),
    ("resize x", "roi_start", [1.0, 1.0], dict(roi_end=[3.0, 4.0], size=[4, 4])),
    ("resize x", "interp_type", 0, dict(size=[8, 6])),
    ("resize_crop_mirror x", "mirror", 1, dict(size=[8, 6], crop=[3, 3])),
    ("resize_crop_mirror x", "crop", [3.0, 3.0], dict(size=[8, 6])),
    ("crop x", "crop", [3.0, 2.0]),
    ("crop x", "crop_h", 3.0, dict(crop_w=2)),
    ("crop x", "crop_pos_x", 0.25, dict(crop=[3, 2])),
    ("crop x", "crop_pos_y", 1.0, dict(crop=[3, 2])),
    ("crop_mirror_normalize x", "mirror", 1),
    ("crop_mirror_normalize x", "crop", [3.0, 2.0]),
    ("crop_mirror_normalize x", "mean", [1.0, 2.0, 3.0]),
    ("crop_mirror_normalize x", "std", [1.0, 2.0, 4.0]),
    ("crop_mirror_normalize x", "scale", 2.0),
    ("slice x", "start", [1, 1], dict(shape=[2, 2], axes=[0, 1])),
    ("slice x", "end", [3, 3], dict(axes=[0, 1])),
    ("slice x", "shape", [2, 2], dict(axes=[0, 1])),
    ("slice x", "rel_start", [0.25, 0.25], dict(rel_end=[0.75, 0.75], axes=[0, 1])),
    ("slice x", "rel_shape", [0.5, 0.5], dict(axes=[0, 1])),
    ("slice x", "axes", [0, 1], dict(shape=[2, 2])),
    ("pad x", "shape", [9, 9], dict(axes=[0, 1])),
    ("pad x", "align", [4, 4], dict(axes=[0, 1])),
    ("pad x", "fill_value", 3.0, dict(axes=[0], shape=[9])),
    ("pad x", "axes", [0, 1], dict(shape=[9, 9])),
    ("erase x", "anchor", [1.0, 1.0], dict(shape=[2, 2], axes=[0, 1])),
    ("erase x", "shape", [2.0, 2.0], dict(anchor=[1, 1], axes=[0, 1])),
    ("erase x", "fill_value", 7.0, dict(anchor=[1, 1], shape=[2, 2], axes=[0, 1])),
    ("erase x", "axes", [0, 1], dict(anchor=[1, 1], shape=[2, 2])),
    ("paste x", "ratio", 2.0, dict(fill_value=[1, 2, 3])),
    ("paste x", "paste_x", 0.25, dict(fill_value=[1, 2, 3], ratio=2.0)),
    ("grid_mask x", "angle", 0.5, dict(tile=4, ratio=0.5)),
    ("grid_mask x", "ratio", 0.5, dict(tile=4)),
    ("grid_mask x", "tile", 4, dict(ratio=0.5)),
    ("reshape x", "shape", [2, 36]),
    ("reshape x", "rel_shape", [0.5, 2.0, 1.0]),
    ("reshape x", "src_dims", [1, 0, 2]),
    ("transpose x", "perm", [1, 0, 2]),
    ("expand_dims x", "axes", [0]),
    ("lookup_table x", "default_value", 3.0, dict(keys=[1], values=[2])),
    ("normalize x", "mean", 2.0),
    ("normalize x", "stddev", 2.0),
    ("normalize x", "scale", 2.0),
    ("one_hot y", "num_classes", 3),
    ("coord_transform b", "MT", [1.0, 0.0, 0.0, 1.0, 0.0, 1.0]),
    ("coord_transform b", "M", [2.0, 0.0, 0.0, 2.0]),
    ("coord_transform b", "T", [1.0, 2.0]),
    ("coord_transform b", "T", 1.0),
    ("coord_flip b", "flip_x", 1),
    ("coord_flip b", "center_x", 0.25),
    ("bb_flip q", "horizontal", 1),
    ("bb_flip q", "vertical", 1),
    ("bbox_paste q", "ratio", 2.0),
    ("bbox_paste q", "paste_x", 0.25, dict(ratio=2.0)),
    ("preemphasis_filter y", "preemph_coeff", 0.5),
    ("audio_resample y", "scale", 2.0),
    ("audio_resample y", "out_length", 5),
    ("audio_resample y", "in_rate", 2.0, dict(out_rate=4.0)),
    ("to_decibels y", "reference", 2.0),
    ("nonsilent_region y", "cutoff_db", -20.0),
    ("transforms.rotation", "angle", 30.0),
    ("transforms.rotation", "center", [1.0, 2.0], dict(angle=30.0)),
    ("transforms.scale", "scale", [2.0, 3.0]),
    ("transforms.scale", "center", [1.0, 2.0], dict(scale=[2.0, 3.0])),
    ("transforms.translation", "offset", [1.0, 2.0]),
    ("transforms.shear", "shear", [1.0, 2.0]),
    ("transforms.shear", "angles", [10.0, 20.0]),
    ("transforms.crop", "from_start", [0.5, 0.25]),
    ("transforms.crop", "to_end", [2.0, 3.0]),
    ("full", "shape", [2, 3], dict(fill_value=5)),
    ("zeros", "shape", [2, 3]),
    ("ones", "shape", [2]),
    ("random.uniform", "range", [3.0, 3.5], dict(zero=True)),
    ("random.uniform", "values", [3.0, 4.0], dict(zero=True)),
    ("random.uniform", "shape", [2, 3], dict(zero=True)),
    ("random.normal", "mean", 3.0, dict(zero=True)),
    ("random.normal", "stddev", 3.0, dict(zero=True)),
    ("random.coin_flip", "probability", 0.25, dict(zero=True)),
    ("random.beta", "alpha", 0.5, dict(zero=True)),
    ("noise.gaussian x", "mean", 3.0, dict(zero=True)),
    ("noise.gaussian x", "stddev", 3.0, dict(zero=True)),
    ("noise.shot x", "factor", 3.0, dict(zero=True)),
    ("noise.salt_and_pepper x", "prob", 0.5, dict(zero=True)),
    ("permute_batch x", "indices", [1, 0]),
    ("reductions.sum x", "axes", [0, 1]),
    ("stack x", "axis", 1),
    ("cat x", "axis", 1),
]


def forms(m, value):
    """The value as constants, arrays, and nodes of each type and shape; what a value is not."""
    np = m.np
    array = np.array(value)

    def node(one, layout=None):
        return lambda: m.fn.external_source(source=lambda: [one, one], layout=layout)

    found = {
        "python": lambda: value,
        "tuple": lambda: tuple(value) if isinstance(value, list) else (value,),
        "list": lambda: value if isinstance(value, list) else [value],
        "integers": lambda: [int(v) for v in value] if isinstance(value, list) else int(value),
        "floats": lambda: [float(v) for v in value] if isinstance(value, list) else float(value),
        "numpy": lambda: array,
        "numpy_float32": lambda: array.astype(np.float32),
        "numpy_int64": lambda: array.astype(np.int64),
        "scalar_of_numpy": lambda: np.float32(array.ravel()[0]),
        "constant": lambda: m.types.Constant(array.astype(np.float32), device="cpu"),
        "constant_int": lambda: m.types.Constant(array.astype(np.int32), device="cpu"),
        "text": lambda: "wrong",
        "none": lambda: None,
        "dict": lambda: {"a": 1},
        "bool": lambda: True,
        "too_long": lambda: [*array.ravel().tolist()] * 4,
        "empty": lambda: [],
    }
    for dtype in ("float32", "int32", "int64", "float64", "uint8", "bool", "float16"):
        found[f"node {dtype}"] = node(array.astype(dtype))
    found["node of one axis"] = node(array.reshape(-1).astype(np.float32))
    found["node of two axes"] = node(array.reshape(1, -1).astype(np.float32))
    found["node of two values"] = node(np.stack([array, array]).astype(np.float32))
    found["node of nothing"] = node(np.zeros(0, np.float32))
    found["node with a layout"] = node(array.reshape(-1).astype(np.float32), "X")
    return found


def gives(m, place, argument, value, others):
    name, _, letter = place.partition(" ")
    others = {k: getattr(m.types, v) if k == "dtype" else v for k, v in others.items()}
    zero = others.pop("zero", False)
    np = m.np
    inputs = {
        "x": ([m.image(4, 6), m.image(4, 6, start=9)], "HWC"),
        "y": ([np.float32([0, 1, 2, 1, 0, 0.5]), np.float32([1, 0, 2, 2, 1, 0.5])], None),
        "b": ([np.float32([[1, 2], [3, 4]])] * 2, None),
        "q": ([np.float32([[0.1, 0.2, 0.3, 0.4]])] * 2, None),
    }

    def body():
        function = m.fn
        for part in name.split("."):
            function = getattr(function, part)
        given = []
        if letter:
            arrays, layout = inputs[letter]
            given = [m.fn.external_source(source=lambda: arrays, layout=layout)]
        made = function(*given, **others, **{argument: value()})
        made = tuple(made) if isinstance(made, (list, tuple)) else (made,)
        return tuple(m.fn.zeros_like(one) for one in made) if zero else made

    return told(m, body, 2)


def each_form(m, place, argument, value, others):
    return {
        form: gives(m, place, argument, one, others) for form, one in forms(m, value).items()
    }


for _place, _argument, _value, *_others in PLACES:
    _label = f"{_place.split(' ')[0]}-{_argument}"
    while f"argument_forms.each_form[{_label}]" in CASES:
        _label += "+"
    CASES[f"argument_forms.each_form[{_label}]"] = (
        lambda m, p=_place, a=_argument, v=_value, o=(_others or [{}])[0]: each_form(m, p, a, v, o)
    )
