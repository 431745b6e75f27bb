"""Independent float64 references for resampling, convolution and colour.

Written from the operators' definitions, slowly and obviously; make_operators.py checks DALI against them when it
records. In: one sample (HWC unless said) and plain arguments. Out: float64 values before rounding.
"""
import math

import numpy as np

NN, LINEAR, CUBIC, LANCZOS3, TRIANGULAR, GAUSSIAN = range(6)


def _half_away(value):
    return math.floor(abs(value) + 0.5) * (1 if value >= 0 else -1)


def _weight(kind, t, radius):
    """Unnormalised weight at distance t from the sample point."""
    t = abs(t)
    if kind in (LINEAR, TRIANGULAR):
        return max(0.0, 1 - t / radius)
    if kind == CUBIC:
        u = 2 * t / radius
        if u <= 1:
            return 1.5 * u**3 - 2.5 * u**2 + 1
        return -0.5 * u**3 + 2.5 * u**2 - 4 * u + 2 if u < 2 else 0.0
    if kind == LANCZOS3:
        u = 3 * t / radius
        return float(np.sinc(u) * np.sinc(u / 3)) if u < 3 else 0.0
    return math.exp(-((2 * t / radius) ** 2)) if t <= radius else 0.0


def _radius(kind, ratio, antialias):
    base = {LINEAR: 1.0, TRIANGULAR: 1.0, CUBIC: 2.0, LANCZOS3: 3.0, GAUSSIAN: 1.0}[kind]
    return base * ratio if antialias and ratio > 1 else base


def resample_axis(values, axis, lo, hi, count, min_filter, mag_filter, antialias=True):
    """Resamples one axis over the interval [lo, hi) to `count` cells."""
    values = np.moveaxis(np.asarray(values, np.float64), axis, 0)
    extent = values.shape[0]
    kind = min_filter if count < abs(hi - lo) else mag_filter
    step = (hi - lo) / count
    out = np.empty((count, *values.shape[1:]))
    for x in range(count):
        s = lo + (x + 0.5) * step
        if kind == NN:
            out[x] = values[min(max(math.floor(s), 0), extent - 1)]
            continue
        radius = _radius(kind, abs(step), antialias)
        # Half-open support: matters to the Gaussian, whose weight at its edge is not zero.
        first = math.ceil(s - 0.5 - radius)
        taps = range(first, first + math.ceil(2 * radius))
        weights = np.array([_weight(kind, k + 0.5 - s, radius) for k in taps])
        weights /= weights.sum()
        picked = values[np.clip(np.array(taps), 0, extent - 1)]
        out[x] = np.tensordot(weights, picked, (0, 0))
    return np.moveaxis(out, 0, axis)


def _requested(size, lengths, extents, mode, max_size):
    """Signed output lengths before rounding."""
    given = [d for d in range(len(lengths)) if size[d] != 0 and lengths[d] != 0]
    if not given:
        return list(lengths)
    scales = {d: size[d] / lengths[d] for d in given}
    if mode in ("default", "stretch"):
        factor = 1.0
        if mode == "default":
            factor = math.exp(sum(math.log(abs(s)) for s in scales.values()) / len(scales))
        out = [size[d] if d in scales else lengths[d] * factor for d in range(len(lengths))]
        if max_size:
            out = [math.copysign(min(abs(o), m), o) for o, m in zip(out, max_size)]
        return out
    pick = min if mode == "not_larger" else max
    scale = pick(abs(s) for s in scales.values())
    if max_size:
        scale = min([scale] + [m / length for m, length in zip(max_size, lengths)])
    return [math.copysign(length * scale, scales.get(d, 1)) for d, length in enumerate(lengths)]


def resize(values, size=None, mode="default", max_size=None, subpixel=True, roi_start=None, roi_end=None,
           relative=False, min_filter=LINEAR, mag_filter=LINEAR, antialias=True, spatial=(0, 1)):
    """fn.resize: `size` is outermost first, 0 meaning not given."""
    extents = [values.shape[a] for a in spatial]
    lo = [0.0] * len(extents) if roi_start is None else [float(v) for v in roi_start]
    hi = [float(e) for e in extents] if roi_end is None else [float(v) for v in roi_end]
    if relative:
        lo, hi = [v * e for v, e in zip(lo, extents)], [v * e for v, e in zip(hi, extents)]
    size = [float(v) for v in size]
    max_size = [max_size] * len(extents) if np.isscalar(max_size) else max_size
    for d in range(len(extents)):
        if abs(hi[d] - lo[d]) < 1e-3:  # an empty region is widened about its middle
            middle, sign = (lo[d] + hi[d]) / 2, -1 if hi[d] < lo[d] else 1
            lo[d], hi[d] = middle - sign * 5e-4, middle + sign * 5e-4
        if hi[d] < lo[d]:
            lo[d], hi[d], size[d] = hi[d], lo[d], -size[d] if size[d] else size[d]
    lengths = [h - low for h, low in zip(hi, lo)]
    wanted = _requested(size, lengths, extents, mode, max_size)
    out = values
    for d, axis in enumerate(spatial):
        count = max(1, _half_away(abs(wanted[d])))
        start, end = lo[d], hi[d]
        if subpixel and count != abs(wanted[d]):
            middle, half = (start + end) / 2, (end - start) / 2 * min(10.0, count / abs(wanted[d]))
            start, end = middle - half, middle + half
        if wanted[d] < 0:
            start, end = end, start
        out = resample_axis(out, axis, start, end, count, min_filter, mag_filter, antialias)
    return out


def _reflect_101(indices, extent):
    if extent == 1:
        return np.zeros_like(indices)
    period = 2 * (extent - 1)
    indices = np.mod(indices, period)
    return np.where(indices < extent, indices, period - indices)


def border_indices(policy, start, count, extent):
    """Where the cells start .. start+count-1 of a window read from, under a border policy of fn.slice."""
    cells = np.arange(start, start + count)
    if policy in ("clamp", "edge"):
        return np.clip(cells, 0, extent - 1)
    if policy == "wrap":
        return cells % extent
    if policy == "reflect_101":
        return _reflect_101(cells, extent)
    cells = cells % (2 * extent)  # reflect_1001: the edge pixel is repeated
    return np.where(cells < extent, cells, 2 * extent - 1 - cells)


def convolve_axis(values, axis, window):
    """Correlation with a centred odd window, border reflect_101."""
    values = np.moveaxis(np.asarray(values, np.float64), axis, 0)
    extent, radius = values.shape[0], len(window) // 2
    out = np.zeros_like(values)
    for k, weight in enumerate(window):
        out += weight * values[_reflect_101(np.arange(extent) + k - radius, extent)]
    return np.moveaxis(out, 0, axis)


def gaussian_window(sigma=0.0, size=0):
    if not size:
        size = 2 * math.ceil(3 * sigma) + 1
    if not sigma:
        sigma = ((size - 1) / 2 - 1) * 0.3 + 0.8
    offsets = np.arange(size) - size // 2
    weights = np.exp(-(offsets**2) / (2.0 * sigma**2))
    return weights / weights.sum()


def gaussian_blur(values, sigma=(0, 0), size=(0, 0), spatial=(0, 1)):
    for axis, s, n in zip(spatial, np.broadcast_to(sigma, len(spatial)), np.broadcast_to(size, len(spatial))):
        values = convolve_axis(values, axis, gaussian_window(float(s), int(n)))
    return values


def _binomial(count):
    row = np.ones(1)
    for _ in range(count):
        row = np.convolve(row, [1.0, 1.0])
    return row


def place(i, n, border):
    """Where an index outside [0, n) is read."""
    if border == "clamp":
        return min(max(i, 0), n - 1)
    if border == "wrap":
        return i % n
    if border == "reflect_1001":
        i %= 2 * n
        return i if i < n else 2 * n - 1 - i
    if n == 1:
        return 0
    i %= 2 * (n - 1)
    return i if i < n else 2 * (n - 1) - i


def correlate(values, window, anchor=(-1, -1), border="reflect_101", fill=0.0, valid=False):
    """fn.filter on HW or HWC: out(y, x) = sum of window(j, i) * in(y + j - anchor_y, x + i - anchor_x)."""
    values = np.asarray(values, np.float64)
    rows, columns = window.shape
    ay, ax = [n // 2 if a < 0 else a for a, n in zip(np.broadcast_to(anchor, 2), window.shape)]
    height, width = values.shape[:2]
    out_h, out_w = (height - rows + 1, width - columns + 1) if valid else (height, width)
    oy, ox = (0, 0) if valid else (ay, ax)
    out = np.zeros((out_h, out_w) + values.shape[2:])
    for y in range(out_h):
        for x in range(out_w):
            for j in range(rows):
                for i in range(columns):
                    v, u = y + j - oy, x + i - ox
                    outside = not (0 <= v < height and 0 <= u < width)
                    value = fill if outside and border == "constant" else values[place(v, height, border), place(u, width, border)]
                    out[y, x] += window[j, i] * value
    return out


def laplacian(values, window=3, smoothing=None, scale=1.0, normalized=False, spatial=(0, 1)):
    """fn.laplacian: the sum over axes of scaled second derivatives, smoothed along the other axes."""
    n = len(spatial)
    window = [int(w) for w in np.broadcast_to(window, n)]
    if smoothing is not None:
        smoothing = [int(s) for s in np.broadcast_to(smoothing, n)]
    scales = [float(s) for s in np.broadcast_to(scale, n)]
    total = 0.0
    for d in range(n):
        # A given smoothing size belongs to the axis that is smoothed; the default is the derivative's own size.
        part, sizes = np.asarray(values, np.float64), 0
        for other in range(n):
            if other == d:
                kernel = np.convolve(_binomial(window[d] - 3), [1.0, -2.0, 1.0])
            else:
                kernel = _binomial((window[d] if smoothing is None else smoothing[other]) - 1)
            sizes += len(kernel)
            part = convolve_axis(part, spatial[other], kernel)
        total = total + part * (2.0 ** (-sizes + n + 2) if normalized else scales[d])
    return total


def half_range(dtype):
    dtype = np.dtype(dtype)
    if dtype.kind == "f":
        return 0.5
    bits = dtype.itemsize * 8
    return 2.0 ** (bits - 1) if dtype.kind == "u" else 2.0 ** (bits - 2)


def brightness_contrast(values, brightness=1.0, shift=0.0, contrast=1.0, center=None, out=None):
    out = np.dtype(out or values.dtype)
    top = 1.0 if out.kind == "f" else float(np.iinfo(out).max)
    center = half_range(values.dtype) if center is None else center
    v = values.astype(np.float64)
    return shift * top + brightness * (center + contrast * (v - center))


RGB_TO_YIQ = np.array([[0.299, 0.587, 0.114], [0.596, -0.274, -0.321], [0.211, -0.523, 0.311]])


def color_twist(values, hue=0.0, saturation=1.0, value=1.0, brightness=1.0, contrast=1.0):
    """hue, saturation, hsv and color_twist: one affine map of RGB (last axis)."""
    h = math.radians(hue)
    rotation = np.array([[1, 0, 0], [0, math.cos(h), math.sin(h)], [0, -math.sin(h), math.cos(h)]])
    chroma = np.diag([1, saturation, saturation])
    matrix = np.linalg.inv(RGB_TO_YIQ) @ rotation @ chroma @ RGB_TO_YIQ * value
    half = 0.5 if values.dtype.kind == "f" else 128.0
    offset = brightness * (half - half * contrast)
    return brightness * contrast * (values.astype(np.float64) @ matrix.T) + offset


def rotated_size(height, width, degrees):
    """Extents of the smallest canvas, of the parity of the input's extents that lie along it."""
    radians = float(np.float32(degrees) * np.float32(math.pi / 180))  # float32 decides at 45 degrees
    cosine, sine = abs(math.cos(radians)), abs(math.sin(radians))
    out_w = math.ceil(cosine * width + sine * height - 0.01)
    out_h = math.ceil(cosine * height + sine * width - 0.01)
    along_w, along_h = (width, height) if sine <= cosine else (height, width)
    return out_h + (out_h - along_h) % 2, out_w + (out_w - along_w) % 2


def warp(image, matrix, size=None, fill=None, linear=True):
    """Output (x, y) shows the image at M (x + 1/2, y + 1/2, 1)."""
    height, width, channels = image.shape
    rows, columns = size or (height, width)
    out = np.zeros((rows, columns, channels))

    def pixel(x, y):
        if fill is not None and not (0 <= x < width and 0 <= y < height):
            return np.full(channels, float(fill))
        return image[min(max(y, 0), height - 1), min(max(x, 0), width - 1)].astype(np.float64)

    for j in range(rows):
        for i in range(columns):
            x, y = np.asarray(matrix, np.float64).reshape(2, 3) @ [i + 0.5, j + 0.5, 1]
            if not linear:
                out[j, i] = pixel(math.floor(x), math.floor(y))
                continue
            x, y = x - 0.5, y - 0.5
            x0, y0 = math.floor(x), math.floor(y)
            tx, ty = x - x0, y - y0
            above = pixel(x0, y0) * (1 - tx) + pixel(x0 + 1, y0) * tx
            below = pixel(x0, y0 + 1) * (1 - tx) + pixel(x0 + 1, y0 + 1) * tx
            out[j, i] = above * (1 - ty) + below * ty
    return out


def rotate(image, degrees, size=None, keep_size=False, fill=None, linear=True):
    height, width, _ = image.shape
    if size is None:
        size = (height, width) if keep_size else rotated_size(height, width, degrees)
    angle = math.radians(degrees)
    turn = np.array([[math.cos(angle), -math.sin(angle)], [math.sin(angle), math.cos(angle)]])
    offset = np.array([width, height]) / 2 - turn @ (np.array([size[1], size[0]]) / 2)
    return warp(image, np.column_stack([turn, offset]), size, fill, linear)


def inverse_map(matrix):
    full = np.vstack([np.asarray(matrix, np.float64).reshape(2, 3), [0, 0, 1]])
    return np.linalg.inv(full)[:2]
