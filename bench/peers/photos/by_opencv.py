"""Operations in OpenCV that give what ours give, shared by the peer OpenCV and where Albumentations lacks one."""

import math

import cv2
import measure
import numpy as np

RGB_TO_YIQ = np.array([[.299, .587, .114], [.596, -.274, -.321], [.211, -.523, .311]])
YIQ_TO_RGB = np.linalg.inv(RGB_TO_YIQ)
#: Subtracts the mean and divides by the deviation in one product, u8 to f32.
NORMALIZE = np.hstack([np.diag([1 / s for s in measure.STD]), [[-m / s] for m, s in zip(measure.MEAN, measure.STD)]]).astype(np.float32)


def load(path):
    data = np.fromfile(path, dtype=np.uint8)
    return cv2.imdecode(data, cv2.IMREAD_COLOR_RGB)


def twist_matrix(brightness=1.0, contrast=1.0, saturation=1.0, hue=0.0):
    """brightness, contrast, saturation and hue as one matrix 3 x 4 over levels."""
    c, s = saturation * math.cos(math.radians(hue)), saturation * math.sin(math.radians(hue))
    turn = np.array([[1, 0, 0], [0, c, s], [0, -s, c]])
    matrix = brightness * contrast * (YIQ_TO_RGB @ turn @ RGB_TO_YIQ)
    offset = brightness * (128 - 128 * contrast)
    return np.hstack([matrix, np.full((3, 1), offset)]).astype(np.float32)


def rotate(image, angle):
    height, width = image.shape[:2]
    # OpenCV counts from centres of pixels, so the middle is half a pixel less.
    matrix = cv2.getRotationMatrix2D(((width - 1) / 2, (height - 1) / 2), angle, 1.0)
    return cv2.warpAffine(image, matrix, (width, height), flags=cv2.INTER_LINEAR)


def draw_edges(image):
    edges = cv2.Laplacian(image, cv2.CV_8U, ksize=5, borderType=cv2.BORDER_REFLECT_101)
    return cv2.addWeighted(image, 0.5, edges, 0.5, 0.0)


def saturation_or_edges(image, condition):
    return cv2.transform(image, twist_matrix(saturation=2.0)) if condition else draw_edges(image)


def normalize(image, out):
    """Planes of floats into `out`."""
    height, width = image.shape[:2]
    cv2.split(cv2.transform(image.astype(np.float32), NORMALIZE), [out[c].reshape(height, width) for c in range(3)])
    return out
