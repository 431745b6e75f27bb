"""The augmentations of images by name: `rotate(image, magnitude_bin=5, num_magnitude_bins=11)`.

Data are bytes, HWC or FHWC. `rotate.augmentation(mag_range=(0, 45))` is a changed copy. Their
formulas, ranges and names are DALI's; see docs/auto-augment.md.
"""

from __future__ import annotations

import numpy as np

from .. import fn, types
from ..names import getter
from .core import augmentation

# Warps, about the top left corner. `fill_value` is what lies outside; None repeats the edge.


def warp_x_param(magnitude):
    """A magnitude along x."""
    return [magnitude, 0]


def warp_y_param(magnitude):
    """A magnitude along y."""
    return [0, magnitude]


def _warp(data, matrix, fill_value, interp_type):
    return fn.warp_affine(
        data, matrix=matrix, fill_value=fill_value, interp_type=interp_type, inverse_map=False
    )


def _translate(data, offset, fill_value, interp_type):
    return _warp(data, fn.transforms.translation(offset=offset), fill_value, interp_type)


@augmentation(mag_range=(0, 0.3), randomly_negate=True, mag_to_param=warp_x_param)
def shear_x(data, shear, fill_value=128, interp_type=None):
    """Shears rows."""
    return _warp(data, fn.transforms.shear(shear=shear), fill_value, interp_type)


@augmentation(mag_range=(0, 0.3), randomly_negate=True, mag_to_param=warp_y_param)
def shear_y(data, shear, fill_value=128, interp_type=None):
    """Shears columns."""
    return _warp(data, fn.transforms.shear(shear=shear), fill_value, interp_type)


@augmentation(mag_range=(0.0, 1.0), randomly_negate=True, mag_to_param=warp_x_param)
def translate_x(data, rel_offset, shape, fill_value=128, interp_type=None):
    """Moves along x by a part of the width, `shape[1]`."""
    return _translate(data, rel_offset * shape[1], fill_value, interp_type)


@augmentation(
    mag_range=(0, 250), randomly_negate=True, mag_to_param=warp_x_param, name="translate_x"
)
def translate_x_no_shape(data, offset, fill_value=128, interp_type=None):
    """Moves along x by pixels."""
    return _translate(data, offset, fill_value, interp_type)


@augmentation(mag_range=(0.0, 1.0), randomly_negate=True, mag_to_param=warp_y_param)
def translate_y(data, rel_offset, shape, fill_value=128, interp_type=None):
    """Moves along y by a part of the height, `shape[0]`."""
    return _translate(data, rel_offset * shape[0], fill_value, interp_type)


@augmentation(
    mag_range=(0, 250), randomly_negate=True, mag_to_param=warp_y_param, name="translate_y"
)
def translate_y_no_shape(data, offset, fill_value=128, interp_type=None):
    """Moves along y by pixels."""
    return _translate(data, offset, fill_value, interp_type)


@augmentation(mag_range=(0, 30), randomly_negate=True)
def rotate(data, angle, fill_value=128, interp_type=None, rotate_keep_size=True):
    """Turns by degrees about the centre."""
    return fn.rotate(
        data,
        angle=angle,
        fill_value=fill_value,
        interp_type=interp_type,
        keep_size=rotate_keep_size,
    )


# Colours. Statistics are those of an image, or of a frame of a sequence.


def shift_enhance_range(magnitude):
    """Magnitudes from -1 to 1 as factors from 0 to 2."""
    return 1 + magnitude


def _extreme(reduction, data):
    return reduction(data, axis_names="HW", keep_dims=True)


@augmentation(mag_range=(0, 0.9), randomly_negate=True, mag_to_param=shift_enhance_range)
def brightness(data, parameter):
    """Scales all."""
    return fn.brightness(data, brightness=parameter)


@augmentation(mag_range=(0, 0.9), randomly_negate=True, mag_to_param=shift_enhance_range)
def contrast(data, parameter):
    """Scales about the mean grey."""
    grey = np.array([0.299, 0.587, 0.114], np.float32)
    weighted = _extreme(fn.reductions.mean, data) * types.Constant(grey, device="cpu")
    center = fn.reductions.sum(weighted, axis_names="C", keep_dims=True)
    return fn.cast_like(center + (data - center) * parameter, data)


@augmentation(mag_range=(0, 0.9), randomly_negate=True, mag_to_param=shift_enhance_range)
def color(data, parameter):
    """Scales about the pixel's grey."""
    return fn.saturation(data, saturation=parameter)


def sharpness_kernel(magnitude):
    """A window of 3 x 3 from smoothing (-1) over nothing (0) to sharpening (1)."""
    itself = np.zeros((3, 3), np.float32)
    itself[1, 1] = 1
    smooth = (np.ones((3, 3), np.float32) + 4 * itself) / 13
    return ((1 + magnitude) * itself - magnitude * smooth).astype(np.float32)


def sharpness_kernel_shifted(magnitude):
    """The same for magnitudes from 0 to 2."""
    return sharpness_kernel(magnitude - 1)


@augmentation(
    mag_range=(0, 0.9), randomly_negate=True, mag_to_param=sharpness_kernel, param_device="auto"
)
def sharpness(data, kernel):
    """Smooths or sharpens by a window."""
    return fn.filter(data, kernel)


def poster_mask_uint8(magnitude):
    """The mask that keeps so many of the highest bits, at least one."""
    bits = int(np.clip(np.round(magnitude), 1, 8))
    return np.uint8(256 - 2 ** (8 - bits))


@augmentation(mag_range=(0, 4), mag_to_param=poster_mask_uint8, param_device="auto")
def posterize(data, mask):
    """Keeps so many of the highest bits."""
    return data & mask


def _chosen(condition, data, otherwise):
    """`data` where the condition holds, else `otherwise`; both bytes."""
    return condition * data + (condition ^ True) * otherwise


def _inverted(data):
    return types.Constant(255, dtype=types.UINT8) - data


@augmentation(mag_range=(256, 0), param_device="auto")
def solarize(data, threshold):
    """Inverts from a threshold on."""
    return _chosen(data < threshold, data, _inverted(data))


def solarize_add_shift(shift):
    """What is added, as a byte below 128."""
    if shift >= 128:
        raise ValueError(f"solarize_add adds less than 128, not {shift}")
    return np.uint8(shift)


@augmentation(mag_range=(0, 110), param_device="auto", mag_to_param=solarize_add_shift)
def solarize_add(data, shift):
    """Adds to what is below 128."""
    is_dark = data < types.Constant(128, dtype=types.UINT8)
    return _chosen(is_dark ^ True, data, data + shift)


@augmentation
def invert(data, _):
    """255 - x."""
    return _inverted(data)


@augmentation
def equalize(data, _):
    """Equalizes the histogram of each channel."""
    return fn.equalize(data)


@augmentation
def auto_contrast(data, _):
    """Stretches each channel to 0 … 255; one of a single value stays."""
    low = _extreme(fn.reductions.min, data)
    high = _extreme(fn.reductions.max, data)
    span = high - low
    varies = span > 0
    # A channel of one value: minus 0, times 255 / 255.
    span = _chosen(varies, span, types.Constant(255, dtype=types.UINT8))
    return fn.cast_like((data - low * varies) * (255 / span), data)


@augmentation
def identity(data, _):
    """The same data."""
    return data


__getattr__ = getter("auto_aug.augmentations")
