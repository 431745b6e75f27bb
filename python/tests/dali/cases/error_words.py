"""Mistakes, by class and by the words that programs look for in the texts of their errors."""

from . import each
from .axes_and_extents import of
from .checked_programs import numbers
from .mistakes import told

CALLS = {
    "unknown_argument": lambda m, fn, x: fn.flip(x, horizontl=1),
    "unknown_operator": lambda m, fn, x: fn.fliip(x),
    "missing_argument": lambda m, fn, x: fn.cast(x),
    "two_missing": lambda m, fn, x: fn.rotate(x),
    "wrong_type_of_argument": lambda m, fn, x: fn.resize(x, size="a"),
    "wrong_type_of_bool": lambda m, fn, x: fn.reductions.sum(x, keep_dims="yes"),
    "list_for_scalar": lambda m, fn, x: fn.rotate(x, angle=[1.0, 2.0]),
    "scalar_for_dtype": lambda m, fn, x: fn.cast(x, dtype=m.np.float32),
    "node_for_constant": lambda m, fn, x: fn.reductions.sum(x, axes=x),
    "node_for_text": lambda m, fn, x: fn.reductions.sum(x, axis_names=x),
    "too_many_inputs": lambda m, fn, x: fn.flip(x, x, x),
    "too_few_inputs": lambda m, fn, x: fn.bbox_paste(),
    "text_as_input": lambda m, fn, x: fn.flip("abc"),
    "none_as_input": lambda m, fn, x: fn.flip(None),
    "list_as_input": lambda m, fn, x: fn.flip([x, None]),
    "gpu_without_a_device": lambda m, fn, x: fn.flip(x, device="gpu"),
    "unknown_device": lambda m, fn, x: fn.flip(x, device="tpu"),
    "mixed_of_flip": lambda m, fn, x: fn.flip(x, device="mixed"),
    "crop_outside": lambda m, fn, x: fn.crop(x, crop=(40, 40)),
    "crop_negative": lambda m, fn, x: fn.crop(x, crop=(-1, 2)),
    "crop_three_of_two": lambda m, fn, x: fn.crop(x, crop=(1, 2, 3)),
    "crop_position": lambda m, fn, x: fn.crop(x, crop=(2, 2), crop_pos_x=1.5),
    "resize_nothing": lambda m, fn, x: fn.resize(x),
    "resize_negative": lambda m, fn, x: fn.resize(x, size=[-3, 3]),
    "resize_both": lambda m, fn, x: fn.resize(x, resize_x=3, resize_shorter=4),
    "resize_roi_alone": lambda m, fn, x: fn.resize(x, size=3, roi_start=[0.0, 0.0]),
    "resize_layout": lambda m, fn, x: fn.resize(fn.reshape(x, layout="ABC"), size=[3, 3]),
    "transpose_twice": lambda m, fn, x: fn.transpose(x, perm=[0, 0, 1]),
    "transpose_layout": lambda m, fn, x: fn.transpose(x, perm=[2, 0, 1], output_layout="HW"),
    "reshape_volume": lambda m, fn, x: fn.reshape(x, shape=[7, 7]),
    "reshape_layout": lambda m, fn, x: fn.reshape(x, layout="HW"),
    "reshape_wild": lambda m, fn, x: fn.reshape(x, shape=[-1, -1, 3]),
    "reinterpret_size": lambda m, fn, x: fn.reinterpret(
        fn.cast(x, dtype=m.types.UINT8), dtype=m.types.FLOAT
    ),
    "squeeze_extent": lambda m, fn, x: fn.squeeze(x, axes=[0]),
    "squeeze_name": lambda m, fn, x: fn.squeeze(x, axis_names="Z"),
    "expand_twice": lambda m, fn, x: fn.expand_dims(x, axes=[0, 0]),
    "stack_extents": lambda m, fn, x: fn.stack(x, fn.slice(x, start=[0], end=[1], axes=[0])),
    "stack_types": lambda m, fn, x: fn.stack(x, fn.cast(x, dtype=m.types.UINT8)),
    "cat_extents": lambda m, fn, x: fn.cat(x, fn.slice(x, start=[0], end=[1], axes=[0]), axis=1),
    "cat_axis": lambda m, fn, x: fn.cat(x, x, axis=5),
    "broadcast": lambda m, fn, x: x + fn.slice(x, start=[0], end=[2], axes=[0]),
    "boolean_expected": lambda m, fn, x: ~x,
    "bits_of_floats": lambda m, fn, x: x & 1,
    "hue_channels": lambda m, fn, x: fn.hsv(fn.slice(x, start=[0], end=[2], axes=[2]), hue=3.0),
    "colour_channels": lambda m, fn, x: fn.color_space_conversion(
        fn.slice(x, start=[0], end=[2], axes=[2]), image_type=m.types.RGB, output_type=m.types.GRAY
    ),
    "mean_and_shift": lambda m, fn, x: fn.normalize(x, mean=[1.0, 2.0, 3.0], axes=[0]),
    "normalize_twice": lambda m, fn, x: fn.normalize(x, axes=[1, 1]),
    "normalize_ddof": lambda m, fn, x: fn.normalize(x, batch=True, mean=1.0, stddev=1.0, axes=[0]),
    "warp_matrix": lambda m, fn, x: fn.warp_affine(x, matrix=[1.0, 0, 0, 1]),
    "warp_size": lambda m, fn, x: fn.warp_affine(x, matrix=[1.0, 0, 0, 0, 1, 0], size=[-4, 4]),
    "blur_even": lambda m, fn, x: fn.gaussian_blur(x, window_size=4),
    "blur_nothing": lambda m, fn, x: fn.gaussian_blur(x),
    "laplacian_window": lambda m, fn, x: fn.laplacian(x, window_size=25),
    "erase_shapes": lambda m, fn, x: fn.erase(x, anchor=[0, 0], shape=[1], axes=[0, 1]),
    "uniform_range": lambda m, fn, x: fn.random.uniform(range=[3.0, 1.0]),
    "choice_sum": lambda m, fn, x: fn.random.choice(3, p=[0.2, 0.2, 0.2]),
    "choice_length": lambda m, fn, x: fn.random.choice(3, p=[0.5, 0.5]),
    "permute_outside": lambda m, fn, x: fn.permute_batch(x, indices=[7, 0, 1]),
    "permute_count": lambda m, fn, x: fn.permute_batch(x, indices=[0, 1]),
    "files_nowhere": lambda m, fn, x: fn.readers.file(file_root="/nonexistent/place")[0],
    "file_nowhere": lambda m, fn, x: fn.io.file.read("nonexistent.bin"),
    "shard_outside": lambda m, fn, x: fn.readers.file(files=["a", "b"], num_shards=2, shard_id=5)[
        0
    ],
    "decode_garbage": lambda m, fn, x: fn.decoders.image(
        fn.reshape(fn.cast(x, dtype=m.types.UINT8), shape=[-1])
    ),
    "decode_floats": lambda m, fn, x: fn.decoders.image(x),
    "decode_ranks": lambda m, fn, x: fn.decoders.image(fn.cast(x, dtype=m.types.UINT8)),
    "grid_tile": lambda m, fn, x: fn.grid_mask(x, ratio=0.5, angle=0.1, tile=-3),
    "jpeg_quality": lambda m, fn, x: fn.jpeg_compression_distortion(
        fn.cast(x, dtype=m.types.UINT8), quality=500
    ),
    "pad_align": lambda m, fn, x: fn.pad(x, axes=[0], align=[-2]),
    "get_property": lambda m, fn, x: fn.get_property(x, key="colour"),
    "external_without": lambda m, fn, x: fn.external_source(num_outputs=0),
}
# What a program would look for in their texts, of what both libraries say.
WORDS = {
    "unknown_argument": ("horizontl", "not", "Flip"),
    "unknown_operator": ("fliip", "has no attribute"),
    "missing_argument": ("dtype", "argument"),
    "two_missing": ("angle", "argument"),
    "node_for_constant": ("axes", "DataNode", "fn.reductions.sum"),
    "node_for_text": ("axis_names", "DataNode"),
    "too_many_inputs": ("fn.flip", "expects", "1", "3"),
    "too_few_inputs": ("fn.bbox_paste", "expects", "1", "0"),
    "text_as_input": ("fn.flip", "expected", "DataNode", "'str'"),
    "none_as_input": ("fn.flip", "DataNode", "'NoneType'"),
    "list_as_input": ("fn.flip", "DataNode", "'list'"),
    "unknown_device": ("tpu",),
    "crop_outside": (
        "fn.crop",
        "40",
    ),
    "crop_position": (
        "fn.crop",
        "1.5",
    ),
    "resize_nothing": ("fn.resize", "resize_x", "size", "resize_longer", "resize_shorter"),
    "resize_both": ("fn.resize", "resize_x", "resize_shorter"),
    "resize_roi_alone": ("roi_start", "roi_end", "together"),
    "resize_layout": ("ABC", "layout", "HWC"),
    "transpose_twice": ("fn.transpose", "perm"),
    "transpose_layout": ("fn.transpose", "layout"),
    "reshape_volume": (
        "fn.reshape",
        "60",
        "49",
    ),
    "reshape_layout": ("'HW'", "layout", "3"),
    "reshape_wild": ("negative",),
    "squeeze_extent": ("fn.squeeze",),
    "squeeze_name": ("'Z'", "layout"),
    "expand_twice": (
        "fn.expand_dims",
        "axis",
    ),
    "cat_extents": ("axis",),
    "cat_axis": (
        "axis",
        "5",
        "2",
    ),
    "broadcast": ("broadcast",),
    "boolean_expected": ("~",),
    "bits_of_floats": ("&",),
    "normalize_ddof": ("xes",),
    "warp_matrix": ("matrix", "6"),
    "warp_size": ("size",),
    "blur_even": ("window", "odd", "4"),
    "blur_nothing": ("sigma", "window_size"),
    "erase_shapes": ("anchor", "shape"),
    "uniform_range": ("range", "[3, 1)"),
    "choice_sum": ("robabilities", "1", "0.6"),
    "choice_length": ("p", "3", "2"),
    "permute_outside": ("ndices", "7", "3"),
    "permute_count": ("ndices", "2", "3"),
    "files_nowhere": ("/nonexistent/place",),
    "file_nowhere": ("io.file.read", "'str'"),
    "shard_outside": ("shard_id", "num_shards"),
    "decode_garbage": ("decoders.image",),
    "decode_floats": ("decoders.image",),
    "decode_ranks": ("decoders.image",),
    "grid_tile": ("ile", "positive"),
    "pad_align": ("align",),
    "get_property": ("colour", "property"),
    "external_without": ("num_outputs",),
}


@each(**{name: (name, call) for name, call in CALLS.items()})
def said(m, what):
    name, call = what
    words = WORDS.get(name, ())
    return told(lambda: of(m, lambda fn, x: call(m, fn, x), numbers(m), layout="HWC"), *words)
