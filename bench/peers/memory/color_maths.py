"""Colour matrices and normalisation as the peers need them, from their definitions."""

import math

import numpy as np

LEVELS = np.arange(256, dtype=np.float32)
MEAN = np.array([123.675, 116.28, 103.53])
STD = np.array([58.395, 57.12, 57.375])
RGB_TO_YIQ = np.array([[.299, .587, .114], [.596, -.274, -.321], [.211, -.523, .311]])
YIQ_TO_RGB = np.linalg.inv(RGB_TO_YIQ)
#: Subtracts the mean and divides by the deviation in one product.
NORMALIZE = np.hstack([np.diag(1 / STD), (-MEAN / STD)[:, None]]).astype(np.float32)


def twist_matrix(brightness=1.0, contrast=1.0, saturation=1.0, hue=0.0, value=1.0, center=128.0):
    """brightness, contrast, saturation, hue and value as one matrix 3 x 4."""
    c, s = saturation * math.cos(math.radians(hue)), saturation * math.sin(math.radians(hue))
    turn = np.array([[1, 0, 0], [0, c, s], [0, -s, c]])
    matrix = brightness * contrast * value * (YIQ_TO_RGB @ turn @ RGB_TO_YIQ)
    offset = brightness * (center - center * contrast)
    return np.hstack([matrix, np.full((3, 1), offset)]).astype(np.float32)
