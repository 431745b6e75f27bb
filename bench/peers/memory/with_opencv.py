"""OpenCV in the spelling that is fastest for the output: tables for what works on single bytes, one product for matrices of colours."""

import by_picture
import cv2
import geometry_maths
import numpy as np
import serve
from color_maths import LEVELS, MEAN, NORMALIZE, STD, twist_matrix
from geometry_maths import SIZE

VERSIONS = {"opencv": cv2.__version__}
cv2.setNumThreads(1)
spelled = by_picture.Spellings()


def measure(work):
    return by_picture.measure(work, spelled)


def with_output(call, shape, dtype):
    """For calls that need their output to be there."""
    call.output = (shape, dtype)
    return call


def table(values):
    return np.clip(np.rint(values), 0, 255).astype(np.uint8)


def chain_tables(p):
    """Tables before and after the matrices of color-chain."""
    before = table(np.float32(p["brightness"]) * LEVELS)
    before = table(np.float32(p["contrast"]) * (before.astype(np.float32) - 128) + 128)
    after = np.where(LEVELS < p["threshold"], LEVELS, 255 - LEVELS).astype(np.uint8) & p["mask"]
    return before, after


def chain(picture, out, p):
    before, after = chain_tables(p)
    out = cv2.LUT(picture, before, dst=out)
    out = cv2.transform(out, twist_matrix(saturation=float(p["saturation"])), dst=out)
    out = cv2.transform(out, twist_matrix(hue=float(p["hue"])), dst=out)
    return cv2.LUT(out, after, dst=out)


def normalize_planes(picture, out):
    cv2.split(cv2.transform(picture.astype(np.float32), NORMALIZE), [out[0], out[1], out[2]])
    return out


@spelled("color-chain bytes")
def _(work):
    return chain


@spelled("color-chain floats")
def _(work):
    def call(picture, out, p):
        return normalize_planes(chain(picture, None, p), out)
    return with_output(call, (3, work.height, work.width), np.float32)


def affine(matrix):
    """Our maps count from corners of pixels, OpenCV's from centres."""
    moved = matrix[:2].copy()
    moved[:, 2] += moved[:, :2].sum(axis=1) / 2 - 0.5
    return moved


def warp(picture, matrix, size, out=None):
    return cv2.warpAffine(picture, affine(matrix), size, dst=out, flags=cv2.INTER_LINEAR | cv2.WARP_INVERSE_MAP, borderMode=cv2.BORDER_CONSTANT)


@spelled("geometry-chain chain")
def _(work):
    def call(picture, out, p):
        crop, flip, shift, shear, turn = geometry_maths.matrices(p, work.height, work.width)
        for matrix in (turn, shear):
            picture = warp(picture, matrix, (work.width, work.height))
        # Flip and crop move whole pixels: they go with the translation, with the same result.
        return normalize_planes(warp(picture, shift @ flip @ crop, (SIZE, SIZE)), out)
    return with_output(call, (3, SIZE, SIZE), np.float32)


@spelled("geometry-chain composed")
def _(work):
    def call(picture, out, p):
        crop, flip, shift, shear, turn = geometry_maths.matrices(p, work.height, work.width)
        return normalize_planes(warp(picture, turn @ shear @ shift @ flip @ crop, (SIZE, SIZE)), out)
    return with_output(call, (3, SIZE, SIZE), np.float32)


# ---- per-op ----

def of_picture(name, call, only=None):
    spelled(name, only=only)(lambda work: lambda picture, out, p: call(picture, out))


def pointwise(name, values, scale, shift):
    """A table for bytes; one multiply and add for floats."""
    @spelled(name)
    def _(work):
        if work.element == "u8":
            levels = table(values(LEVELS))
            return lambda picture, out, p: cv2.LUT(picture, levels, dst=out)
        return lambda picture, out, p: affine_floats(picture, out, scale, shift)


def affine_floats(picture, out, scale, shift):
    if shift == 0:
        return cv2.multiply(picture, (scale, scale, scale, scale), dst=out)
    return cv2.addWeighted(picture, scale, picture, 0.0, shift, dst=out)


pointwise("brightness", lambda v: np.float32(1.3) * v, 1.3, 0)
pointwise("contrast", lambda v: np.float32(1.3) * (v - 128) + 128, 1.3, 0.5 - 0.65)
pointwise("brightness_contrast", lambda v: np.float32(1.2) * (np.float32(1.3) * (v - 128) + 128), 1.56, 1.2 * (0.5 - 0.65))
pointwise("solarize", lambda v: np.where(v < 128, v, 255 - v), None, None)
pointwise("lookup_table", lambda v: (v * 7) % 256, None, None)
of_picture("invert", lambda picture, out: cv2.bitwise_not(picture, dst=out), only="u8")
of_picture("posterize", lambda picture, out: cv2.bitwise_and(picture, (240, 240, 240, 240), dst=out), only="u8")


def matrix(name, **parameters):
    @spelled(name)
    def _(work):
        m = twist_matrix(center=128.0 if work.element == "u8" else 0.5, **parameters)
        # Without an offset, three columns are less work than four.
        m = m if m[:, 3].any() else np.ascontiguousarray(m[:, :3])
        return lambda picture, out, p: cv2.transform(picture, m, dst=out)


matrix("saturation", saturation=1.4)
matrix("hue", hue=20.0)
matrix("hsv", hue=20.0, saturation=1.3, value=0.9)
matrix("color_twist", brightness=1.1, contrast=0.9, saturation=1.2, hue=10.0)
of_picture("gray", lambda picture, out: cv2.cvtColor(picture, cv2.COLOR_RGB2GRAY)[:, :, None], only="u8")
YCBCR = np.array([[0.25678824, 0.50412941, 0.09790588, 16], [-0.14822290, -0.29099279, 0.43921569, 128], [0.43921569, -0.36778831, -0.07142737, 128]],
                 np.float32)
of_picture("ycbcr", lambda picture, out: cv2.transform(picture, YCBCR, dst=out), only="u8")


@spelled("equalize", only="u8")
def _(work):
    def call(picture, out, p):
        channels = [cv2.equalizeHist(channel) for channel in cv2.split(picture)]
        return cv2.merge(channels, dst=out)
    return call


@spelled("erase")
def _(work):
    top, left, height, width = work.height // 4, work.width // 4, work.height // 2, work.width // 2

    def call(picture, out, p):
        if out is None:
            return picture
        np.copyto(out, picture)
        out[top:top + height, left:left + width] = 0
        return out
    return call


of_picture("flip horizontal", lambda picture, out: cv2.flip(picture, 1, dst=out))
of_picture("flip vertical", lambda picture, out: cv2.flip(picture, 0, dst=out))


@spelled("crop")
def _(work):
    top, left, height, width = work.height // 4, work.width // 4, work.height // 2, work.width // 2
    return lambda picture, out, p: picture[top:top + height, left:left + width]


of_picture("pad", lambda picture, out: cv2.copyMakeBorder(picture, 0, 32, 0, 32, cv2.BORDER_CONSTANT, dst=out, value=(0, 0, 0)))


@spelled("transpose CHW")
def _(work):
    def call(picture, out, p):
        cv2.split(picture, [out[0], out[1], out[2]])
        return out
    return with_output(call, (3, work.height, work.width), serve.ELEMENTS[work.element])


of_picture("cast f32", lambda picture, out: picture.astype(np.float32) if out is None else np.copyto(out, picture), only="u8")
of_picture("cast u8", lambda picture, out: cv2.convertScaleAbs(picture, dst=out, alpha=255.0), only="f32")


@spelled("crop_mirror_normalize")
def _(work):
    scale = 1.0 if work.element == "u8" else 255.0
    means, deviations = MEAN / scale, STD / scale

    def call(picture, out, p):
        cv2.split(cv2.transform(picture.astype(np.float32, copy=False), matrix_of), [out[0], out[1], out[2]])
        return out
    matrix_of = np.hstack([np.diag(1 / deviations), (-means / deviations)[:, None]]).astype(np.float32)
    return with_output(call, (3, work.height, work.width), np.float32)


@spelled("normalize")
def _(work):
    def call(picture, out, p):
        # One mean of all channels.
        flat = picture.reshape(-1, 1)
        mean, deviation = (float(v[0, 0]) for v in cv2.meanStdDev(flat))
        source = picture if picture.dtype == np.float32 else picture.astype(np.float32)
        return cv2.addWeighted(source, 1 / deviation, source, 0.0, -mean / deviation, dst=out)
    return call


def resized(name, up, down, how):
    @spelled(name)
    def _(work):
        size = (work.width * up // down, work.height * up // down)
        return lambda picture, out, p: cv2.resize(picture, size, dst=out, interpolation=how)


resized("resize half", 1, 2, cv2.INTER_AREA)
resized("resize half nearest", 1, 2, cv2.INTER_NEAREST)
resized("resize half cubic", 1, 2, cv2.INTER_CUBIC)
resized("resize 1.5", 3, 2, cv2.INTER_LINEAR)


def warped(name, make, how):
    @spelled(name)
    def _(work):
        m = affine(make(work))
        size = (work.width, work.height)
        return lambda picture, out, p: cv2.warpAffine(picture, m, size, dst=out, flags=how | cv2.WARP_INVERSE_MAP, borderMode=cv2.BORDER_CONSTANT)


def turn(work):
    p = {"angle": 10.0, "shear": (0, 0), "offset": (0, 0), "flip": 0}
    return geometry_maths.matrices(p, work.height, work.width)[4]


warped("rotate", turn, cv2.INTER_LINEAR)
warped("rotate nearest", turn, cv2.INTER_NEAREST)
warped("warp_affine", lambda work: np.array([[0.9, 0.1, 5], [-0.1, 0.9, 5]]), cv2.INTER_LINEAR)
warped("shift", lambda work: np.array([[1.0, 0, 7], [0, 1, -4]]), cv2.INTER_LINEAR)
warped("shear", lambda work: np.array([[1, 0.15, 5], [0, 1, 0]]), cv2.INTER_LINEAR)
warped("warp_affine cubic", lambda work: np.array([[0.9, 0.1, 5], [-0.1, 0.9, 5]]), cv2.INTER_CUBIC)


def blurred(size, sigma):
    of_picture(f"gaussian_blur {size}", lambda picture, out: cv2.GaussianBlur(picture, (size, size), sigma, dst=out, borderType=cv2.BORDER_REFLECT_101))


blurred(3, 0.8)
blurred(5, 1.1)
blurred(15, 2.6)
for window in (3, 5):
    of_picture(f"laplacian {window}", lambda picture, out, window=window: cv2.Laplacian(
        picture, -1, dst=out, ksize=window, borderType=cv2.BORDER_REFLECT_101))
of_picture("mean", lambda picture, out: np.float32(cv2.mean(picture.reshape(-1, 1))[0]))
of_picture("max", lambda picture, out: picture.dtype.type(cv2.minMaxLoc(picture.reshape(-1, 1))[1]))
for window in (3, 5, 7):
    of_picture(f"median_blur {window}", lambda picture, out, window=window: cv2.medianBlur(picture, window, dst=out))
of_picture("dilate 3", lambda picture, out: cv2.dilate(picture, np.ones((3, 3), np.uint8), dst=out))
of_picture("erode 15", lambda picture, out: cv2.erode(picture, np.ones((15, 15), np.uint8), dst=out))


of_picture("debayer", lambda picture, out: cv2.cvtColor(np.ascontiguousarray(picture[..., 0]), cv2.COLOR_BayerGB2RGB, dst=out), only="u8")


@spelled("clahe", only="u8")
def _(work):
    clahe = cv2.createCLAHE(2.0, (8, 8))

    def call(picture, out, p):
        lab = cv2.cvtColor(picture, cv2.COLOR_RGB2Lab)
        lab[..., 0] = clahe.apply(lab[..., 0])
        return cv2.cvtColor(lab, cv2.COLOR_Lab2RGB, dst=out)
    return call


@spelled("clahe channels", only="u8")
def _(work):
    clahe = cv2.createCLAHE(2.0, (8, 8))
    return lambda picture, out, p: cv2.merge([clahe.apply(channel) for channel in cv2.split(picture)], out)
