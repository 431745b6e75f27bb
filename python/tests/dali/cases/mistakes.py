"""Mistakes in calls of operators and sources: the class of the error, and what its text names."""

from . import each


def told(function, *words):
    """What `function` gives. Its error goes on where its text has all `words`."""
    try:
        return function()
    except Exception as error:
        text = str(error)
        unsaid = [word for word in words if word not in text]
        if unsaid:
            return f"{type(error).__name__} does not say {unsaid}"
        raise


def shapes(m, body):
    """Types and shapes of what `body` makes of two pictures of 4 x 6 and two rows of floats."""
    pictures = [m.image(4, 6), m.image(4, 6, start=9)]
    rows = [m.np.arange(8, dtype="float32") / 8, m.np.arange(8, dtype="float32") - 3]

    def define():
        picture = m.fn.external_source(source=lambda: pictures, batch=True, layout="HWC")
        row = m.fn.external_source(source=lambda: rows, batch=True)
        return body(m, picture, row)

    pipe = m.pipeline_def(batch_size=2, num_threads=1, device_id=None, seed=3)(define)()
    return [[str(one.dtype), [list(s) for s in one.shape()]] for one in pipe.run()]


# What is called, and a word that the error's text has to have.
CALLS = {
    "resize_unknown": (lambda m, x, y: m.fn.resize(x, sizee=3), "sizee"),
    "resize_text": (lambda m, x, y: m.fn.resize(x, size="large"), ""),
    "resize_three_sizes": (lambda m, x, y: m.fn.resize(x, size=[3, 4, 5]), "size"),
    "resize_both": (lambda m, x, y: m.fn.resize(x, size=3, resize_x=4), "resize_x"),
    "resize_mode": (lambda m, x, y: m.fn.resize(x, size=3, mode="fit"), "mode"),
    "resize_filter": (lambda m, x, y: m.fn.resize(x, size=3, interp_type="cubic"), ""),
    "resize_of_a_row": (lambda m, x, y: m.fn.resize(y, size=3), ""),
    "flip_twice": (lambda m, x, y: m.fn.flip(x, x), "flip"),
    "flip_of_nothing": (lambda m, x, y: m.fn.flip(), "flip"),
    "flip_text": (lambda m, x, y: m.fn.flip(x, horizontal="yes"), ""),
    "cast_without_type": (lambda m, x, y: m.fn.cast(x), "dtype"),
    "cast_to_a_number": (lambda m, x, y: m.fn.cast(x, dtype=2.5), ""),
    "cast_to_a_text": (lambda m, x, y: m.fn.cast(x, dtype="float"), ""),
    "rotate_text": (lambda m, x, y: m.fn.rotate(x, angle="left"), ""),
    "rotate_without_angle": (lambda m, x, y: m.fn.rotate(x), "angle"),
    "crop_too_large": (lambda m, x, y: m.fn.crop(x, crop=(9, 9)), ""),
    "crop_text": (lambda m, x, y: m.fn.crop(x, crop="small"), ""),
    "crop_policy": (
        lambda m, x, y: m.fn.crop(x, crop=(9, 9), out_of_bounds_policy="wrap"),
        "wrap",
    ),
    "slice_of_nothing": (lambda m, x, y: m.fn.slice(x), ""),
    "slice_axis": (lambda m, x, y: m.fn.slice(x, start=[0], end=[1], axes=[5]), ""),
    "slice_lengths": (lambda m, x, y: m.fn.slice(x, start=[0], end=[1, 2], axes=[0]), ""),
    "transpose_twice": (lambda m, x, y: m.fn.transpose(x, perm=[0, 0, 1]), ""),
    "transpose_short": (lambda m, x, y: m.fn.transpose(x, perm=[1, 0]), ""),
    "transpose_outside": (lambda m, x, y: m.fn.transpose(x, perm=[0, 1, 5]), ""),
    "reshape_size": (lambda m, x, y: m.fn.reshape(x, shape=[5, 5]), ""),
    "reshape_two_unknown": (lambda m, x, y: m.fn.reshape(x, shape=[-1, -1]), ""),
    "reshape_layout": (lambda m, x, y: m.fn.reshape(x, shape=[72], layout="HW"), ""),
    "reshape_both": (lambda m, x, y: m.fn.reshape(x, shape=[72], rel_shape=[1]), "rel_shape"),
    "squeeze_size": (lambda m, x, y: m.fn.squeeze(x, axes=[0]), ""),
    "squeeze_outside": (lambda m, x, y: m.fn.squeeze(x, axes=[7]), ""),
    "expand_outside": (lambda m, x, y: m.fn.expand_dims(x, axes=[7]), ""),
    "expand_twice": (lambda m, x, y: m.fn.expand_dims(x, axes=[0, 0]), ""),
    "expand_nothing": (lambda m, x, y: m.fn.expand_dims(x), "axes"),
    "stack_outside": (lambda m, x, y: m.fn.stack(x, x, axis=7), "axis"),
    "stack_shapes": (lambda m, x, y: m.fn.stack(x, y), ""),
    "cat_outside": (lambda m, x, y: m.fn.cat(x, x, axis=7), "axis"),
    "cat_ranks": (lambda m, x, y: m.fn.cat(x, y), ""),
    "cat_axis_name": (lambda m, x, y: m.fn.cat(x, x, axis_name="Q"), "Q"),
    "sum_outside": (lambda m, x, y: m.fn.reductions.sum(x, axes=[4]), ""),
    "normalize_outside": (lambda m, x, y: m.fn.normalize(x, axes=[4]), ""),
    "uniform_one_end": (lambda m, x, y: m.fn.random.uniform(range=[1.0]), "range"),
    "uniform_three_ends": (lambda m, x, y: m.fn.random.uniform(range=[1.0, 2.0, 3.0]), "range"),
    "uniform_text": (lambda m, x, y: m.fn.random.uniform(range="wide"), ""),
    "uniform_no_values": (lambda m, x, y: m.fn.random.uniform(values=[]), ""),
    "uniform_device": (lambda m, x, y: m.fn.random.uniform(device="tpu"), "tpu"),
    "coin_outside": (lambda m, x, y: m.fn.random.coin_flip(probability=2.0), "probability"),
    "choice_of_nothing": (lambda m, x, y: m.fn.random.choice(0), ""),
    "choice_of_negative": (lambda m, x, y: m.fn.random.choice(-2), ""),
    "color_of_four": (
        lambda m, x, y: m.fn.color_space_conversion(
            x, image_type=m.types.RGB, output_type=m.types.ANY_DATA
        ),
        "",
    ),
    "color_without_type": (
        lambda m, x, y: m.fn.color_space_conversion(x, image_type=m.types.RGB),
        "output_type",
    ),
    "blur_of_nothing": (lambda m, x, y: m.fn.gaussian_blur(x), ""),
    "blur_negative": (lambda m, x, y: m.fn.gaussian_blur(x, sigma=-1.0), ""),
    "blur_even_window": (lambda m, x, y: m.fn.gaussian_blur(x, window_size=4), ""),
    "warp_without_matrix": (lambda m, x, y: m.fn.warp_affine(x), ""),
    "warp_short_matrix": (lambda m, x, y: m.fn.warp_affine(x, matrix=[1.0, 0.0]), "matrix"),
    "erase_lengths": (
        lambda m, x, y: m.fn.erase(x, anchor=[0.0, 0.0, 0.0], shape=[1.0, 1.0]),
        "",
    ),
    "table_lengths": (
        lambda m, x, y: m.fn.lookup_table(x, keys=[1, 2], values=[1.0]),
        "",
    ),
    "hot_of_no_classes": (lambda m, x, y: m.fn.one_hot(x, num_classes=0), ""),
    "element_outside": (lambda m, x, y: m.fn.element_extract(x, element_map=[9]), ""),
    "spectrum_of_a_picture": (lambda m, x, y: m.fn.spectrogram(x), ""),
    "spectrum_window": (lambda m, x, y: m.fn.spectrogram(y, nfft=4, window_length=9), ""),
    "spectrum_power": (lambda m, x, y: m.fn.spectrogram(y, nfft=4, power=3), "power"),
    "decibels_multiplier": (lambda m, x, y: m.fn.to_decibels(y, multiplier="ten"), ""),
    "emphasis_border": (
        lambda m, x, y: m.fn.preemphasis_filter(y, border="mirror"),
        "mirror",
    ),
    "pad_axis": (lambda m, x, y: m.fn.pad(x, axes=[5]), ""),
    "pad_shape": (lambda m, x, y: m.fn.pad(x, axes=[0], shape=[1, 2]), ""),
    "per_frame_of_a_picture": (lambda m, x, y: m.fn.per_frame(x), ""),
    "operand_text": (lambda m, x, y: x + "1", ""),
    "operand_none": (lambda m, x, y: x * None, ""),
    "index_outside": (lambda m, x, y: x[9], ""),
    "index_of_four_axes": (lambda m, x, y: x[0, 0, 0, 0], ""),
    "index_text": (lambda m, x, y: x["H"], ""),
    "step": (lambda m, x, y: x[::2], ""),
    "unknown_operator": (lambda m, x, y: m.fn.resise(x), "resise"),
    "name_number": (lambda m, x, y: m.fn.flip(x, name=3), "name"),
}


@each(**CALLS)
def call(m, what):
    body, word = what
    return told(lambda: shapes(m, body), *[word] if word else [])


# Arguments of a source, for two samples of two numbers a batch.
SOURCES = {
    "unknown": ({"sourc": 1}, "sourc"),
    "device": ({"device": "tpu"}, "tpu"),
    "negative_outputs": ({"num_outputs": -1}, ""),
    "outputs_and_name": ({"num_outputs": 2, "name": "x"}, ""),
    "type": ({"dtype": "FLOAT64"}, ""),
    "type_text": ({"dtype": "float"}, ""),
    "ndim": ({"ndim": 3}, ""),
    "ndim_negative": ({"ndim": -1}, "ndim"),
    "layout_length": ({"layout": "HWC"}, ""),
    "layout_and_ndim": ({"layout": "HW", "ndim": 1}, ""),
    "layout_number": ({"layout": 3}, ""),
    "cycle_of_a_callable": ({"cycle": True}, "cycle"),
    "cycle_unknown": ({"cycle": "loop"}, "cycle"),
    "info_per_sample": ({"batch": False, "batch_info": True}, ""),
    "parallel_without_workers": ({"parallel": True}, ""),
    "prefetch_without_parallel": ({"prefetch_queue_depth": 2}, ""),
}


@each(**SOURCES)
def source(m, what):
    given, word = what
    given = dict(given)
    if given.get("dtype") == "FLOAT64":
        given["dtype"] = m.types.FLOAT64

    def batch():
        return m.np.ones((2, 2), "int32")

    def run():
        pipe = m.Pipeline(batch_size=2, num_threads=1, device_id=None)
        with pipe:
            made = m.fn.external_source(source=batch, **given)
            pipe.set_outputs(*made if isinstance(made, list) else [made])
        return [one.layout() for one in pipe.run()]

    return told(run, *[word] if word else [])


OPTIONS = {
    "threads": ({"num_threads": 0}, "num_threads"),
    "threads_negative": ({"num_threads": -1}, "num_threads"),
    "batch_text": ({"batch_size": "two"}, ""),
    "device_text": ({"device_id": "first"}, ""),
    "seed_text": ({"seed": "lucky"}, ""),
    "queue_zero": ({"prefetch_queue_depth": 0}, ""),
    "unknown": ({"threads": 2}, "threads"),
    "types_of_wrong_kind": ({"output_dtype": "float"}, ""),
    "ndim_of_wrong_kind": ({"output_ndim": "two"}, ""),
}


@each(**OPTIONS)
def option(m, what):
    given, word = what
    settings = {"batch_size": 2, "num_threads": 1, "device_id": None, **given}

    def run():
        pipe = m.Pipeline(**settings)
        with pipe:
            pipe.set_outputs(m.types.Constant(m.np.float32([1.0])))
        pipe.build()
        return len(pipe.run()[0])

    return told(run, *[word] if word else [])
