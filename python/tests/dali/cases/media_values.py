"""Geometry, colour, filters, sound, boxes and noise: what results hold, and what is refused."""

from . import case, each
from .operator_values import of_images, values


def typed(m, given):
    """Arguments whose types and kinds of sampling are given by names."""
    return {
        key: getattr(m.types, one) if key in ("dtype", "interp_type") else one
        for key, one in given.items()
    }


# Geometry: nearest neighbours, of which every pixel is exact.

ROTATIONS = {
    "quarter": {"angle": 90.0},
    "half": {"angle": 180.0},
    "back": {"angle": -90.0},
    "full": {"angle": 360.0},
    "kept": {"angle": 90.0, "keep_size": True, "fill_value": 7.0},
    "sized": {"angle": 90.0, "size": [4, 4], "fill_value": 0.0},
    "floats": {"angle": 90.0, "dtype": "FLOAT"},
    "missing": {},
    "wrong_size": {"angle": 90.0, "size": [4]},
    "axis_of_picture": {"angle": 90.0, "axis": [0, 0, 1]},
}


@each(**ROTATIONS)
def rotate(m, given):
    return of_images(m, lambda x: m.fn.rotate(x, interp_type=m.types.INTERP_NN, **typed(m, given)))


WARPS = {
    "identity": {"matrix": [1, 0, 0, 0, 1, 0]},
    "shift": {"matrix": [1, 0, 2, 0, 1, 1], "fill_value": 9.0},
    "border": {"matrix": [1, 0, 2, 0, 1, 1]},
    "inverse": {"matrix": [1, 0, 2, 0, 1, 1], "inverse_map": False, "fill_value": 0.0},
    "scaled": {"matrix": [0.5, 0, 0, 0, 0.5, 0], "size": [12, 14]},
    "floats": {"matrix": [1, 0, 1, 0, 1, 0], "dtype": "FLOAT", "fill_value": 0.0},
    "short": {"matrix": [1, 0, 0]},
    "missing": {},
}


@each(**WARPS)
def warp(m, given):
    return of_images(
        m, lambda x: m.fn.warp_affine(x, interp_type=m.types.INTERP_NN, **typed(m, given))
    )


RESIZES = {
    "size": {"size": [3, 14]},
    "one_number": {"size": 4},
    "zero_keeps": {"size": [0, 14]},
    "x": {"resize_x": 14},
    "y": {"resize_y": 3},
    "both": {"resize_x": 3, "resize_y": 12},
    "shorter": {"resize_shorter": 12},
    "longer": {"resize_longer": 14},
    "limited": {"resize_shorter": 12, "max_size": 10},
    "mirrored": {"size": [6, -7]},
    "not_larger": {"size": [12, 7], "mode": "not_larger"},
    "not_smaller": {"size": [12, 7], "mode": "not_smaller"},
    "region": {"size": [4, 4], "roi_start": [0, 0], "roi_end": [4, 4]},
    "relative_region": {
        "size": [3, 3],
        "roi_start": [0, 0],
        "roi_end": [0.5, 0.5],
        "roi_relative": True,
    },
    "region_half_given": {"size": [4, 4], "roi_start": [0, 0]},
    "nothing": {},
    "twice": {"size": [4, 4], "resize_x": 4},
    "shorter_and_x": {"resize_shorter": 4, "resize_x": 4},
    "unknown_mode": {"size": [4, 4], "mode": "wide"},
    "three": {"size": [4, 4, 4]},
}


@each(**RESIZES)
def resize(m, given):
    return of_images(
        m, lambda x: m.fn.resize(x, interp_type=m.types.INTERP_NN, antialias=False, **given)
    )


@each(
    "INTERP_NN",
    "INTERP_LINEAR",
    "INTERP_CUBIC",
    "INTERP_LANCZOS3",
    "INTERP_TRIANGULAR",
    "INTERP_GAUSSIAN",
)
def resize_of_flat(m, kind):
    """A picture of one value keeps it under every kind of sampling."""
    flat = [m.np.full((5, 6, 3), 77, m.np.uint8)] * 2
    return values(
        m,
        lambda x: m.fn.resize(x, size=[8, 3], interp_type=getattr(m.types, kind)),
        flat,
        layouts=["HWC"],
    )


# Colour.

COLOURS = {
    "brightness": lambda m, x: m.fn.brightness(x, brightness=1.5),
    "brightness_shift": lambda m, x: m.fn.brightness(x, brightness=0.5, brightness_shift=0.25),
    "brightness_float": lambda m, x: m.fn.brightness(x, brightness=0.3, dtype=m.types.FLOAT),
    "contrast": lambda m, x: m.fn.contrast(x, contrast=0.5, dtype=m.types.FLOAT),
    "contrast_centre": lambda m, x: m.fn.contrast(x, contrast=2.0, contrast_center=64.0),
    "both": lambda m, x: m.fn.brightness_contrast(
        x, brightness=0.5, contrast=2.0, dtype=m.types.FLOAT
    ),
    "both_integers": lambda m, x: m.fn.brightness_contrast(x, contrast=2.0, dtype=m.types.INT16),
    "saturation_none": lambda m, x: m.fn.saturation(x, saturation=1.0),
    "hue_none": lambda m, x: m.fn.hue(x, hue=0.0),
    "hsv_none": lambda m, x: m.fn.hsv(x),
    "hsv_value": lambda m, x: m.fn.hsv(x, value=0.5),
    "twist_none": lambda m, x: m.fn.color_twist(x),
    "gray": lambda m, x: m.fn.color_space_conversion(
        x, image_type=m.types.RGB, output_type=m.types.GRAY
    ),
    "swap": lambda m, x: m.fn.color_space_conversion(
        x, image_type=m.types.BGR, output_type=m.types.RGB
    ),
    "wrong_type": lambda m, x: m.fn.color_space_conversion(
        x, image_type=m.types.GRAY, output_type=m.types.RGB
    ),
    "hsv_of_gray": lambda m, x: m.fn.hsv(m.fn.slice(x, start=[0], end=[1], axes=[2])),
}


@each(**COLOURS)
def colour(m, body):
    return of_images(m, lambda x: body(m, x))


# Filters.

FILTERS = {
    "blur_sigma": lambda m, x: m.fn.gaussian_blur(x, sigma=1.0, dtype=m.types.FLOAT),
    "blur_window": lambda m, x: m.fn.gaussian_blur(x, window_size=3, dtype=m.types.FLOAT),
    "blur_axes": lambda m, x: m.fn.gaussian_blur(x, sigma=[0.5, 2.0], dtype=m.types.FLOAT),
    "blur_both": lambda m, x: m.fn.gaussian_blur(x, sigma=1.0, window_size=5, dtype=m.types.FLOAT),
    "blur_even": lambda m, x: m.fn.gaussian_blur(x, window_size=4),
    "blur_negative": lambda m, x: m.fn.gaussian_blur(x, sigma=-1.0),
    "blur_nothing": lambda m, x: m.fn.gaussian_blur(x),
    "blur_integers": lambda m, x: m.fn.gaussian_blur(x, sigma=1.0, dtype=m.types.INT32),
    "laplacian": lambda m, x: m.fn.laplacian(x, window_size=3, dtype=m.types.FLOAT),
    "laplacian_scaled": lambda m, x: m.fn.laplacian(
        x, window_size=5, scale=0.25, dtype=m.types.FLOAT
    ),
    "laplacian_normalized": lambda m, x: m.fn.laplacian(
        x, window_size=5, normalized_kernel=True, dtype=m.types.FLOAT
    ),
    "laplacian_even": lambda m, x: m.fn.laplacian(x, window_size=4),
    "laplacian_smoothing": lambda m, x: m.fn.laplacian(
        x, window_size=5, smoothing_size=1, dtype=m.types.FLOAT
    ),
    "erase": lambda m, x: m.fn.erase(x, anchor=[1.0, 2.0], shape=[2.0, 3.0], axes=(0, 1)),
    "erase_two": lambda m, x: m.fn.erase(
        x,
        anchor=[0.0, 0.0, 4.0, 4.0],
        shape=[1.0, 1.0, 2.0, 2.0],
        axes=(0, 1),
        fill_value=[1.0, 2.0, 3.0],
    ),
    "erase_normalized": lambda m, x: m.fn.erase(
        x, anchor=[0.5], shape=[0.5], axis_names="W", normalized=True
    ),
    "erase_centred": lambda m, x: m.fn.erase(
        x, anchor=[3.0, 3.0], shape=[2.0, 2.0], axis_names="HW", centered_anchor=True
    ),
    "erase_outside": lambda m, x: m.fn.erase(x, anchor=[9.0], shape=[3.0], axis_names="W"),
    "erase_lengths": lambda m, x: m.fn.erase(x, anchor=[1.0, 2.0], shape=[2.0], axes=(0, 1)),
    "cutout_missing": lambda m, x: m.fn.erase(x, shape=[2.0, 2.0], axes=(0, 1)),
    "jpeg_missing": lambda m, x: m.fn.jpeg_compression_distortion(x, quality=101),
    "grid_mask": lambda m, x: m.fn.grid_mask(x, tile=3, ratio=0.5, angle=0.0),
}


@each(**FILTERS)
def filtered(m, body):
    return of_images(m, lambda x: body(m, x))


# Sound.


def waves(m):
    n = m.np.arange(64)
    return [m.np.sin(n * 0.4).astype(m.np.float32), m.np.cos(n[:48] * 1.1).astype(m.np.float32)]


def powers(m):
    return [
        (m.image(5, 6, 1)[..., 0] / 16).astype(m.np.float32),
        (m.image(5, 4, 1, 9)[..., 0] / 8).astype(m.np.float32),
    ]


SPECTRA = {
    "plain": {"nfft": 16, "window_length": 16, "window_step": 8},
    "magnitude": {"nfft": 16, "window_length": 16, "window_step": 8, "power": 1},
    "shorter_window": {"nfft": 16, "window_length": 10, "window_step": 5},
    "uncentred": {"nfft": 16, "window_length": 16, "window_step": 8, "center_windows": False},
    "no_reflection": {"nfft": 16, "window_length": 16, "window_step": 8, "reflect_padding": False},
    "times_first": {"nfft": 16, "window_length": 16, "window_step": 8, "layout": "tf"},
    "window": {"nfft": 8, "window_length": 8, "window_step": 4, "window_fn": [1.0] * 8},
    "wrong_window": {"nfft": 8, "window_length": 8, "window_step": 4, "window_fn": [1.0] * 5},
    "long_window": {"nfft": 8, "window_length": 16, "window_step": 4},
    "wrong_power": {"nfft": 8, "window_length": 8, "window_step": 4, "power": 3},
    "wrong_layout": {"nfft": 8, "window_length": 8, "window_step": 4, "layout": "xy"},
    "no_step": {"nfft": 8, "window_length": 8, "window_step": 0},
}


@each(**SPECTRA)
def spectrogram(m, given):
    return values(m, lambda x: m.fn.spectrogram(x, **given) + 100.0, waves(m))


MELS = {
    "plain": {"nfilter": 3, "sample_rate": 8000.0},
    "bounds": {"nfilter": 3, "sample_rate": 8000.0, "freq_low": 200.0, "freq_high": 3000.0},
    "htk": {"nfilter": 3, "sample_rate": 8000.0, "mel_formula": "htk"},
    "unnormalized": {"nfilter": 3, "sample_rate": 8000.0, "normalize": False},
    "wrong_formula": {"nfilter": 3, "sample_rate": 8000.0, "mel_formula": "bark"},
    "wrong_bounds": {"nfilter": 3, "sample_rate": 8000.0, "freq_low": 3000.0, "freq_high": 200.0},
    "high_bound": {"nfilter": 3, "sample_rate": 8000.0, "freq_high": 9000.0},
    "no_filter": {"nfilter": 0, "sample_rate": 8000.0},
}


@each(**MELS)
def mel(m, given):
    return values(m, lambda x: m.fn.mel_filter_bank(x, **given), powers(m), layouts=["ft"])


SOUNDS = {
    "decibels": lambda m, x: m.fn.to_decibels(x, multiplier=10.0, reference=1.0, cutoff_db=-80.0),
    "decibels_default": lambda m, x: m.fn.to_decibels(x),
    "decibels_cutoff": lambda m, x: m.fn.to_decibels(x, reference=4.0, cutoff_db=-3.0),
    "mfcc": lambda m, x: m.fn.mfcc(x, n_mfcc=3) + 1000.0,
    "mfcc_ortho": lambda m, x: m.fn.mfcc(x, n_mfcc=3, normalize=True) + 1000.0,
    "mfcc_first_type": lambda m, x: m.fn.mfcc(x, n_mfcc=3, dct_type=1) + 1000.0,
    "mfcc_third_type": lambda m, x: m.fn.mfcc(x, n_mfcc=3, dct_type=3) + 1000.0,
    "mfcc_liftered": lambda m, x: m.fn.mfcc(x, n_mfcc=3, lifter=4.0) + 1000.0,
    "mfcc_axis": lambda m, x: m.fn.mfcc(x, n_mfcc=3, axis=1) + 1000.0,
    "mfcc_fifth_type": lambda m, x: m.fn.mfcc(x, n_mfcc=3, dct_type=5),
    "mfcc_axis_outside": lambda m, x: m.fn.mfcc(x, n_mfcc=3, axis=4),
    "mfcc_ortho_first": lambda m, x: m.fn.mfcc(x, n_mfcc=3, dct_type=1, normalize=True),
}


@each(**SOUNDS)
def sound(m, body):
    return values(m, lambda x: body(m, x), powers(m), layouts=["ft"])


@each(
    plain={},
    coefficient={"preemph_coeff": 0.5},
    zero={"border": "zero"},
    reflect={"border": "reflect"},
    unknown={"border": "wrap"},
)
def emphasis(m, given):
    return values(m, lambda x: m.fn.preemphasis_filter(x, **given) + 10.0, waves(m))


@each(
    plain={"cutoff_db": -10.0},
    reference={"reference_power": 1.0},
    window={"window_length": 8},
    reset={"reset_interval": 16, "window_length": 8},
    wrong={"window_length": -1},
)
def sounding_region(m, given):
    quiet = [
        m.np.concatenate([m.np.zeros(40, m.np.float32), one, m.np.zeros(30, m.np.float32)])
        for one in waves(m)
    ]
    return values(m, lambda x: m.fn.nonsilent_region(x, **{"window_length": 4, **given}), quiet)


# Points and boxes.

POINTS = {
    "matrix": {"M": [2.0, 0.0, 0.0, 3.0]},
    "matrix_and_shift": {"M": [0.0, 1.0, 1.0, 0.0], "T": [5.0, 6.0]},
    "joined": {"MT": [1.0, 0.0, 2.0, 0.0, 1.0, 3.0]},
    "number": {"M": 2.0},
    "shift": {"T": 1.5},
    "nothing": {},
    "projected": {"M": [1.0, 1.0]},
    "integers": {"M": 2.6, "dtype": "INT32"},
    "both": {"MT": [1.0, 0.0, 2.0, 0.0, 1.0, 3.0], "T": [1.0, 1.0]},
    "wrong": {"M": [1.0, 2.0, 3.0]},
}


@each(**POINTS)
def points(m, given):
    data = [m.np.float32([[1, 2], [3, 4]]), m.np.float32([[5, 6]])]
    return values(m, lambda x: m.fn.coord_transform(x, **typed(m, given)), data)


TRANSFORMS = {
    "translation": lambda t: t.translation(offset=[1.0, 2.0]),
    "scale": lambda t: t.scale(scale=[2.0, 3.0], center=[1.0, 1.0]),
    "scale_in_two": lambda t: t.scale(scale=2.0, ndim=2),
    "rotation": lambda t: t.rotation(angle=90.0),
    "rotation_centre": lambda t: t.rotation(angle=90.0, center=[1.0, 2.0]),
    "rotation_3d": lambda t: t.rotation(angle=30.0, axis=[0.0, 0.0, 1.0]),
    "shear": lambda t: t.shear(shear=[0.5, 0.0]),
    "shear_angles": lambda t: t.shear(angles=[45.0, 0.0]),
    "crop": lambda t: t.crop(
        from_start=[0.0, 0.0], from_end=[2.0, 2.0], to_start=[0.0, 0.0], to_end=[4.0, 6.0]
    ),
    "crop_absolute": lambda t: t.crop(
        from_start=2.0, from_end=0.0, to_start=[0.0, 0.0], to_end=[1.0, 1.0], absolute=True
    ),
    "combined": lambda t: t.combine(t.translation(offset=[1.0, 2.0]), t.scale(scale=[2.0, 2.0])),
    "combined_reversed": lambda t: t.combine(
        t.translation(offset=[1.0, 2.0]), t.scale(scale=[2.0, 2.0]), reverse_order=True
    ),
    "chained": lambda t: t.scale(t.translation(offset=[1.0, 2.0]), scale=[2.0, 2.0]),
    "combined_one": lambda t: t.combine(t.translation(offset=[1.0, 2.0])),
    "wrong_axis": lambda t: t.rotation(angle=30.0, axis=[0.0, 0.0]),
    "no_offset": lambda t: t.translation(),
    "wrong_centre": lambda t: t.scale(scale=[2.0, 3.0], center=[1.0]),
}


@each(**TRANSFORMS)
def transform(m, body):
    return [
        [one[0], one[2]] for one in values(m, lambda: body(m.fn.transforms) + 0.0, batch_size=1)[0]
    ]


BOXES = {
    "flip": lambda m, b: m.fn.bb_flip(b),
    "flip_both": lambda m, b: m.fn.bb_flip(b, horizontal=1, vertical=1),
    "flip_ltrb": lambda m, b: m.fn.bb_flip(b, ltrb=True),
    "points_flip": lambda m, b: m.fn.coord_flip(m.fn.reshape(b, shape=[-1, 2]), layout="xy"),
    "points_flip_y": lambda m, b: m.fn.coord_flip(
        m.fn.reshape(b, shape=[-1, 2]), flip_x=0, flip_y=1, center_y=1.0
    ),
    "points_wrong_layout": lambda m, b: m.fn.coord_flip(b, layout="xy"),
    "paste": lambda m, b: m.fn.bbox_paste(b, ratio=2.0, paste_x=0.5, paste_y=0.25),
    "paste_without_ratio": lambda m, b: m.fn.bbox_paste(b),
    "flip_of_points": lambda m, b: m.fn.bb_flip(m.fn.reshape(b, shape=[-1, 2])),
}


@each(**BOXES)
def boxes(m, body):
    data = [
        m.np.float32([[0.1, 0.2, 0.3, 0.4], [0.5, 0.5, 0.25, 0.5]]),
        m.np.float32([[0, 0, 1, 1]]),
    ]
    return values(m, lambda b: body(m, b), data)


# Noise and draws that leave data as it is, or have one outcome.

QUIET = {
    "gaussian": lambda m, x: m.fn.noise.gaussian(x, mean=0.0, stddev=0.0),
    "gaussian_mean": lambda m, x: m.fn.noise.gaussian(x, mean=3.0, stddev=0.0),
    "gaussian_negative": lambda m, x: m.fn.noise.gaussian(x, stddev=-1.0),
    "salt": lambda m, x: m.fn.noise.salt_and_pepper(x, prob=0.0),
    "all_salt": lambda m, x: m.fn.noise.salt_and_pepper(x, prob=1.0, salt_vs_pepper=1.0),
    "all_pepper": lambda m, x: m.fn.noise.salt_and_pepper(x, prob=1.0, salt_vs_pepper=0.0),
    "salt_value": lambda m, x: m.fn.noise.salt_and_pepper(
        x, prob=1.0, salt_vs_pepper=1.0, salt_val=9.0
    ),
    "salt_wrong": lambda m, x: m.fn.noise.salt_and_pepper(x, prob=1.5),
    "shot": lambda m, x: m.fn.noise.shot(x, factor=0.0),
    "uniform_one": lambda m, x: m.fn.random.uniform(x, values=[4.0]),
    "uniform_both": lambda m, x: m.fn.random.uniform(x, values=[4.0], range=[0.0, 1.0]),
    "uniform_backwards": lambda m, x: m.fn.random.uniform(x, range=[2.0, 1.0]),
    "normal_still": lambda m, x: m.fn.random.normal(x, mean=2.0, stddev=0.0),
    "normal_integers": lambda m, x: m.fn.random.normal(
        x, mean=2.6, stddev=0.0, dtype=m.types.INT32
    ),
    "coin_sure": lambda m, x: m.fn.random.coin_flip(x, probability=1.0, dtype=m.types.UINT8),
    "coin_shape": lambda m, x: m.fn.random.coin_flip(shape=[2, 3], probability=0.0),
    "shape_twice": lambda m, x: m.fn.random.coin_flip(x, shape=[2, 3]),
    "permute": lambda m, x: m.fn.permute_batch(x, indices=[1, 0]),
    "permute_one": lambda m, x: m.fn.permute_batch(x, indices=[0, 0]),
    "permute_outside": lambda m, x: m.fn.permute_batch(x, indices=[0, 5]),
    "jitter_still": lambda m, x: m.fn.jitter(x, nDegree=1),
    "sphere": lambda m, x: m.fn.sphere(x, interp_type=m.types.INTERP_NN),
    "water_still": lambda m, x: m.fn.water(x, ampl_x=0.0, ampl_y=0.0),
    "roi_whole": lambda m, x: m.fn.shapes(m.fn.random_resized_crop(x, size=[3, 4])),
}


@each(**QUIET)
def quiet(m, body):
    return of_images(m, lambda x: body(m, x))


@case
def pasted_pieces(m):
    def body(x):
        return m.fn.multi_paste(
            x,
            in_ids=m.np.int32([0, 0]),
            output_size=[8, 8],
            out_anchors=m.np.int32([[0, 0], [3, 3]]),
            in_anchors=m.np.int32([[0, 0], [1, 1]]),
            shapes=m.np.int32([[2, 2], [3, 4]]),
        )

    return of_images(m, body)
