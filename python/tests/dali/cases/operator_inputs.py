"""What each operator takes and gives: element types, layouts, ranks, forms of inputs, batch sizes.

A case is an operator and a kind of input; its value says for each input of that kind the type, the
shapes and the layout that came out, or that the call was refused.
"""

from . import CASES

DTYPES = "uint8 int8 uint16 int16 uint32 int32 uint64 int64 float16 float32 float64 bool".split()
LAYOUTS = ("HWC", "CHW", "HW", "HWX", "FHW", "DHW", "ABC", "WHC", "HCW", "")

# Operators of one picture, each with arguments that most pictures allow. Of draws only types and
# shapes are equal.
PICTURES = {
    "blur": lambda m, x: m.fn.gaussian_blur(x, window_size=3),
    "brightness": lambda m, x: m.fn.brightness(x, brightness=2.0),
    "brightness_contrast": lambda m, x: m.fn.brightness_contrast(x, contrast=0.0),
    "cast": lambda m, x: m.fn.cast(x, dtype=m.types.INT16),
    "cast_like": lambda m, x: m.fn.cast_like(x, m.types.Constant(m.np.int32([1]), device="cpu")),
    "cat": lambda m, x: m.fn.cat(x, x, axis=1),
    "color_twist": lambda m, x: m.fn.color_twist(x, hue=20.0),
    "contrast": lambda m, x: m.fn.contrast(x, contrast=2.0),
    "copy": lambda m, x: m.fn.copy(x),
    "crop": lambda m, x: m.fn.crop(x, crop=(2, 3)),
    "crop_mirror_normalize": lambda m, x: m.fn.crop_mirror_normalize(x, crop=(2, 3), mean=[1.0]),
    "crop_mirror_bytes": lambda m, x: m.fn.crop_mirror_normalize(x, dtype=m.types.UINT8, mirror=1),
    "csc": lambda m, x: m.fn.color_space_conversion(
        x, image_type=m.types.RGB, output_type=m.types.GRAY
    ),
    "equalize": lambda m, x: m.fn.experimental.equalize(x),
    "erase": lambda m, x: m.fn.erase(x, anchor=[1, 1], shape=[2, 2], axes=[0, 1]),
    "erase_names": lambda m, x: m.fn.erase(x, anchor=[1, 1], shape=[2, 2], axis_names="HW"),
    "expand": lambda m, x: m.fn.expand_dims(x, axes=[0], new_axis_names="F"),
    "expand_unnamed": lambda m, x: m.fn.expand_dims(x, axes=[1]),
    "flip": lambda m, x: m.fn.flip(x, vertical=1),
    "full_like": lambda m, x: m.fn.full_like(x, 3),
    "grid_mask": lambda m, x: m.fn.grid_mask(x, tile=2, ratio=0.5),
    "hsv": lambda m, x: m.fn.hsv(x, hue=30.0, saturation=0.5),
    "hue": lambda m, x: m.fn.hue(x, hue=30.0),
    "jpeg": lambda m, x: m.fn.jpeg_compression_distortion(x, quality=50),
    "laplacian": lambda m, x: m.fn.laplacian(x, window_size=3),
    "lookup": lambda m, x: m.fn.lookup_table(x, keys=[1, 2], values=[7, 8], dtype=m.types.INT16),
    "max": lambda m, x: m.fn.reductions.max(x, axes=[0]),
    "mean": lambda m, x: m.fn.reductions.mean(x, axis_names="H", keep_dims=True),
    "min": lambda m, x: m.fn.reductions.min(x),
    "multi_paste": lambda m, x: m.fn.multi_paste(
        x, in_ids=m.types.Constant(m.np.int32([0, 0]), device="cpu"), output_size=[6, 6]
    ),
    "normalize": lambda m, x: m.fn.normalize(x, axes=[0, 1]),
    "normalize_batch": lambda m, x: m.fn.normalize(x, axes=[0, 1], batch=True),
    "one_hot": lambda m, x: m.fn.one_hot(x, num_classes=4),
    "ones_like": lambda m, x: m.fn.ones_like(x),
    "pad": lambda m, x: m.fn.pad(x, axes=[0], shape=[7], fill_value=3),
    "pad_aligned": lambda m, x: m.fn.pad(x, axes=[1], align=[8]),
    "paste": lambda m, x: m.fn.paste(x, ratio=2.0, fill_value=(1, 2, 3)),
    "reinterpret": lambda m, x: m.fn.reinterpret(x, layout="CWH"),
    "reshape": lambda m, x: m.fn.reshape(x, shape=[-1]),
    "reshape_relative": lambda m, x: m.fn.reshape(x, rel_shape=[0.5, 2, 1], layout="HWC"),
    "resize": lambda m, x: m.fn.resize(x, size=[5, 7]),
    "resize_nearest": lambda m, x: m.fn.resize(x, resize_x=5, interp_type=m.types.INTERP_NN),
    "resize_float": lambda m, x: m.fn.resize(x, resize_shorter=9, dtype=m.types.FLOAT),
    "resize_crop_mirror": lambda m, x: m.fn.resize_crop_mirror(x, size=[6, 6], crop=[4, 4]),
    "rms": lambda m, x: m.fn.reductions.rms(x),
    "rotate": lambda m, x: m.fn.rotate(x, angle=90.0),
    "saturation": lambda m, x: m.fn.saturation(x, saturation=0.5),
    "shape": lambda m, x: m.fn.shapes(x) if hasattr(m.fn, "shapes") else x.shape(),
    "slice": lambda m, x: m.fn.slice(x, 1, 2, axes=[0]),
    "slice_relative": lambda m, x: m.fn.slice(x, rel_start=[0.5], rel_end=[1.0], axis_names="W"),
    "sphere": lambda m, x: m.fn.sphere(x),
    "squeeze": lambda m, x: m.fn.squeeze(m.fn.expand_dims(x, axes=[0]), axes=[0]),
    "stack": lambda m, x: m.fn.stack(x, x, axis=1, axis_name="N"),
    "std_dev": lambda m, x: m.fn.reductions.std_dev(x, 1.0),
    "sum": lambda m, x: m.fn.reductions.sum(x, axes=[0, 1]),
    "sum_small": lambda m, x: m.fn.reductions.sum(x, dtype=m.types.INT16),
    "tensor_resize": lambda m, x: m.fn.experimental.tensor_resize(x, sizes=[3, 3], axes=[0, 1]),
    "transpose": lambda m, x: m.fn.transpose(x, perm=[2, 0, 1]),
    "transpose_named": lambda m, x: m.fn.transpose(x, perm=[1, 0, 2], output_layout="XYZ"),
    "transpose_plain": lambda m, x: m.fn.transpose(x, perm=[1, 0, 2], transpose_layout=False),
    "variance": lambda m, x: m.fn.reductions.variance(x, 1.0),
    "warp": lambda m, x: m.fn.warp_affine(x, matrix=(1, 0, 1, 0, 1, 0)),
    "water": lambda m, x: m.fn.water(x),
    "zeros_like": lambda m, x: m.fn.zeros_like(x),
    "index": lambda m, x: x[1],
    "index_last": lambda m, x: x[-1, ::2],
    "range": lambda m, x: x[1:, :2],
    "axis": lambda m, x: x[:, m.dali.newaxis("Q")],
    "negative": lambda m, x: -x,
    "absolute": lambda m, x: abs(x),
    "root": lambda m, x: m.math.sqrt(x),
    "clamp": lambda m, x: m.math.clamp(x, 3, 9),
    "halves": lambda m, x: x / 2,
    "whole_halves": lambda m, x: x // 2,
    "plus_float": lambda m, x: x + 0.5,
    "less": lambda m, x: x < 5,
    "source_info": lambda m, x: x.source_info(),
    "layout": lambda m, x: x.property("layout"),
    "permute": lambda m, x: m.fn.permute_batch(x, indices=[1, 0]),
    "per_frame": lambda m, x: m.fn.per_frame(x),
    "extract": lambda m, x: m.fn.element_extract(x, element_map=[0, 1]),
    "rearrange": lambda m, x: m.fn.sequence_rearrange(x, new_order=[1, 0, 1]),
    "coordinates": lambda m, x: m.fn.coord_transform(x, MT=[2, 0, 0, 0, 1, 0, 0, 0, 1]),
    "decibels": lambda m, x: m.fn.to_decibels(x),
    "preemphasis": lambda m, x: m.fn.preemphasis_filter(x),
    "quiet": lambda m, x: m.fn.nonsilent_region(x),
    "spectrogram": lambda m, x: m.fn.spectrogram(x, nfft=4),
    "power": lambda m, x: m.fn.power_spectrum(x, axis=0),
    "resample": lambda m, x: m.fn.audio_resample(x, scale=2.0),
    "shot": lambda m, x: m.fn.zeros_like(m.fn.noise.shot(x)),
    "pepper": lambda m, x: m.fn.zeros_like(m.fn.noise.salt_and_pepper(x)),
    "gaussian": lambda m, x: m.fn.zeros_like(m.fn.noise.gaussian(x, stddev=1.0)),
    "uniform_like": lambda m, x: m.fn.zeros_like(m.fn.random.uniform(x)),
    "coin_like": lambda m, x: m.fn.zeros_like(m.fn.random.coin_flip(x)),
    "random_crop": lambda m, x: m.fn.zeros_like(m.fn.random_resized_crop(x, size=[4, 4])),
    "debayer": lambda m, x: m.fn.experimental.debayer(x, blue_position=[0, 0]),
    "filter": lambda m, x: m.fn.experimental.filter(
        x, m.types.Constant(m.np.ones((3, 3), m.np.float32), device="cpu")
    ),
    "warp_perspective": lambda m, x: m.fn.experimental.warp_perspective(
        x, matrix=[1, 0, 0, 0, 1, 0, 0, 0, 1]
    ),
    "clahe": lambda m, x: m.fn.clahe(x, tiles_x=2, tiles_y=2, clip_limit=2.0),
    "flip_boxes": lambda m, x: m.fn.bb_flip(x, horizontal=1),
    "flip_points": lambda m, x: m.fn.coord_flip(x, flip_x=1),
    "find_shape": lambda m, x: m.fn.peek_image_shape(x),
    "mask_pixel": lambda m, x: m.fn.zeros_like(m.fn.segmentation.random_mask_pixel(x)),
    "select": lambda m, x: m.fn.segmentation.select_masks([x, x, x]),
}


def gives(m, operator, arrays, layout):
    """Type, layout, shapes and mean of what an operator gives; "refused" for an error."""

    def body():
        x = m.fn.external_source(source=lambda: arrays, layout=layout)
        made = operator(m, x)
        return tuple(made) if isinstance(made, (list, tuple)) else made

    return told(m, body, len(arrays))


def told(m, body, batch_size):
    """Type, layout, shapes and mean of each output of a pipeline; "refused" for an error."""
    options = {"batch_size": batch_size, "num_threads": 1, "device_id": None, "seed": 5}
    try:
        outputs = m.pipeline_def(**options)(body)().run()
    except Exception:
        return "refused"
    return [
        f"{one.dtype.name} {one.layout()} {[tuple(s) for s in one.shape()]} {middle(m, one)}"
        for one in outputs
    ]


def middle(m, batch):
    """The mean of all elements, to two digits."""
    samples = [m.np.array(batch.at(i)).astype(m.np.float64).ravel() for i in range(len(batch))]
    if not any(map(len, samples)):
        return "empty"
    return f"{m.np.concatenate(samples).mean().round(4) + 0.0:.2g}"


def values(m, shape, dtype, start=0):
    count = int(m.np.prod(shape))
    return ((m.np.arange(count) * 7 + start) % 101).reshape(shape).astype(dtype)


def types(m, operator):
    """Each element type, two pictures of unlike size."""
    return {
        dtype: gives(m, operator, [values(m, (4, 6, 3), dtype), values(m, (5, 4, 3), dtype)], "HWC")
        for dtype in DTYPES
    }


def layouts(m, operator):
    """The same extents under each layout."""
    return {
        layout: gives(m, operator, [values(m, (4, 6, 3)[: len(layout) or 3], "uint8")], layout)
        for layout in LAYOUTS
    }


def ranks(m, operator):
    """From scalars to five axes, without a layout, then films and volumes."""
    shapes = [(), (5,), (4, 6), (4, 6, 3), (2, 4, 6, 3), (2, 2, 4, 6, 3)]
    found = {str(s): gives(m, operator, [values(m, s, "float32")], None) for s in shapes}
    for layout in ("FHWC", "FCHW", "DHWC", "CDHW", "FDHWC"):
        shape = [{"F": 2, "D": 3, "H": 4, "W": 6, "C": 3}[letter] for letter in layout]
        found[layout] = gives(m, operator, [values(m, shape, "uint8")], layout)
    return found


def channels(m, operator):
    """Pictures of one to five channels, of one pixel, of one row."""
    shapes = [(4, 6, count) for count in (1, 2, 3, 4, 5)] + [(1, 1, 3), (1, 6, 3), (4, 1, 3)]
    return {str(s): gives(m, operator, [values(m, s, "uint8")], "HWC") for s in shapes}


def empty(m, operator):
    """Samples without elements."""
    shapes = [(0, 6, 3), (4, 0, 3), (4, 6, 0), (0, 0, 3)]
    return {str(s): gives(m, operator, [values(m, s, "uint8")], "HWC") for s in shapes}


for _name, _operator in PICTURES.items():
    for _kind in (types, layouts, ranks, channels, empty):
        CASES[f"operator_inputs.{_kind.__name__}[{_name}]"] = (
            lambda m, kind=_kind, operator=_operator: kind(m, operator)
        )
