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
    u = 3 * t / radius
    return float(np.sinc(u) * np.sinc(u / 3)) if u < 3 else 0.0


def _gaussian_taps(lo, hi, count, x, radius):
    """The first pixel and the weights of a cell: a table of 65 values of exp(-(2 t / radius)^2), places in float32."""
    f = np.float32
    per_pixel = f(64) / (f(radius) * f(0.5) * f(math.sqrt(0.5)) * f(4) * f(math.sqrt(2)))
    step = (f(hi) - f(lo)) / f(count)
    place = f(x) * step + (f(lo) + (f(0.5) * step - f(0.5) - f(32) / per_pixel))
    first = math.ceil(place)
    taps = np.arange(first, first + math.ceil(f(64) / per_pixel))
    table = np.exp(-((np.arange(65) - 32) / 16) ** 2.0)
    return first, np.interp((taps - float(place)) * float(per_pixel), np.arange(66), [*table, 0], right=0)


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
        if kind == GAUSSIAN:
            first, weights = _gaussian_taps(lo, hi, count, x, radius)
        else:
            first = math.ceil(s - 0.5 - radius)
            weights = np.array([_weight(kind, k + 0.5 - s, radius) for k in range(first, first + math.ceil(2 * radius))])
        weights = weights / weights.sum()
        picked = values[np.clip(first + np.arange(len(weights)), 0, extent - 1)]
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


def tensor_resize(values, axes, sizes=None, scales=None, mode="default", max_size=None, subpixel=True, start=None, end=None,
                  relative=False, alignment=None, rounding="round", min_filter=LINEAR, mag_filter=LINEAR, antialias=True,
                  of=None):
    """fn.tensor_resize: lists speak of `axes`; all axes take part, or those of `of`."""
    of = list(range(values.ndim)) if of is None else of
    extents = {d: values.shape[d] for d in of}

    def spread(numbers, others):
        given = dict(zip((a % values.ndim for a in axes), numbers))
        return {d: float(given.get(d, others[d])) for d in of}

    def everywhere(number):
        return dict.fromkeys(of, number)

    size = spread(sizes, extents) if sizes is not None else {
        d: s * e for (d, s), e in zip(spread(scales, everywhere(1)).items(), extents.values())}
    lo = spread(start if start is not None else [], everywhere(0))
    hi = spread(end if end is not None else [], everywhere(1) if relative else extents)
    if relative:
        lo, hi = {d: lo[d] * extents[d] for d in of}, {d: hi[d] * extents[d] for d in of}
    for d in of:
        if hi[d] < lo[d]:
            lo[d], hi[d], size[d] = hi[d], lo[d], -size[d]  # a size of 0 becomes -0: mirrored where its ratio is given
    lengths = {d: hi[d] - lo[d] for d in of}
    limits = None if max_size is None else list(spread(max_size, everywhere(math.inf)).values())
    wanted = dict(zip(of, _requested(list(size.values()), list(lengths.values()), None, mode, limits)))
    if mode in ("not_larger", "not_smaller"):
        wanted = {d: math.copysign(w, size[d]) for d, w in wanted.items()}
    centre = everywhere(0.5) if alignment is None else spread(alignment, everywhere(0))
    for d in of:
        # DALI has the fractional extent in f32.
        fraction = float(np.float32(abs(wanted[d])))
        count = max(1, {"round": _half_away, "truncate": math.floor, "ceil": math.ceil}[rounding](fraction))
        first, last = (hi[d], lo[d]) if wanted[d] < 0 else (lo[d], hi[d])
        if subpixel and count != fraction:
            middle, factor = first + (last - first) * centre[d], min(10.0, count / fraction)
            first, last = middle + (first - middle) * factor, middle + (last - middle) * factor
        if (first, last, count) != (0, values.shape[d], values.shape[d]):
            values = resample_axis(values, d, first, last, count, min_filter, mag_filter, antialias)
    return values


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


def warp(values, matrix, size=None, fill=None, linear=True):
    """Output (x, y, …) shows the image or volume at M (x + 1/2, y + 1/2, …, 1)."""
    extents, channels = values.shape[:-1], values.shape[-1]
    rank = len(extents)
    size = size or extents
    out = np.zeros((*size, channels))
    rows = np.asarray(matrix, np.float64).reshape(rank, rank + 1)

    def pixel(place):
        if fill is not None and not all(0 <= i < n for i, n in zip(place, extents)):
            return np.full(channels, float(fill))
        return values[tuple(min(max(i, 0), n - 1) for i, n in zip(place, extents))].astype(np.float64)

    for index in np.ndindex(*size):
        centre = [i + 0.5 for i in reversed(index)]  # x first, as the rows
        place = (rows @ [*centre, 1])[::-1]
        if not linear:
            out[index] = pixel([math.floor(p) for p in place])
            continue
        before = [math.floor(p - 0.5) for p in place]
        for corner in np.ndindex(*(2,) * rank):
            shares = [t if c else 1 - t for c, t in zip(corner, place - 0.5 - before)]
            out[index] += np.prod(shares) * pixel([i + c for i, c in zip(before, corner)])
    return out


def rotate(image, degrees, size=None, keep_size=False, fill=None, linear=True):
    height, width, _ = image.shape
    if size is None:
        size = (height, width) if keep_size else rotated_size(height, width, degrees)
    angle = math.radians(degrees)
    turn = np.array([[math.cos(angle), -math.sin(angle)], [math.sin(angle), math.cos(angle)]])
    offset = np.array([width, height]) / 2 - turn @ (np.array([size[1], size[0]]) / 2)
    return warp(image, np.column_stack([turn, offset]), size, fill, linear)


def rotation_about(axis, degrees):
    """The right-handed rotation about (x, y, z), by the exponential of its generator."""
    x, y, z = np.asarray(axis, np.float64) / np.linalg.norm(axis)
    cross = np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])
    angle = math.radians(degrees)
    return np.eye(3) + math.sin(angle) * cross + (1 - math.cos(angle)) * cross @ cross


def rotated_volume_size(extents, axis, degrees):
    """d, h, w of the smallest canvas; the parity is that of the extent with the largest share, its own of equal ones."""
    share = np.abs(rotation_about(axis, degrees))
    of = np.array(extents[::-1])
    canvas = []
    for i in range(3):
        length = math.ceil(share[i] @ of - 0.01)
        like = i
        for j in range(3):
            like = j if np.float32(share[i, j]) > np.float32(share[i, like]) else like
        canvas.append(length + (length - of[like]) % 2)
    return tuple(canvas[::-1])


def rotate_volume(volume, axis, degrees, size=None, keep_size=False, fill=None, linear=True):
    extents = volume.shape[:-1]
    if size is None:
        size = extents if keep_size else rotated_volume_size(extents, axis, degrees)
    turn = rotation_about(axis, degrees).T
    offset = np.array(extents[::-1]) / 2 - turn @ (np.array(size[::-1]) / 2)
    return warp(volume, np.column_stack([turn, offset]), size, fill, linear)


def inverse_map(matrix):
    elements = np.asarray(matrix, np.float64).ravel()
    rank = 2 if elements.size == 6 else 3
    full = np.vstack([elements.reshape(rank, rank + 1), np.eye(rank + 1)[rank]])
    return np.linalg.inv(full)[:rank]


def debayer(values, blue_position, algorithm="bilinear_ocv"):
    """fn.debayer of an HW image, whose outermost pixels repeat their neighbours inside; integers."""
    height, width = values.shape
    out = np.zeros((height, width, 1 if algorithm == "gray_ocv" else 3), np.int64)
    if min(height, width) < 3:
        return out
    if algorithm == "vng_ocv" and min(height, width) >= 8:
        return _debayer_by_gradients(values.astype(np.int64), blue_position, out)
    for y in range(1, height - 1):
        for x in range(1, width - 1):
            c = int(values[y, x])
            left, right, up, down = (int(values[y + dy, x + dx]) for dy, dx in ((0, -1), (0, 1), (-1, 0), (1, 0)))
            corners = sum(int(values[y + dy, x + dx]) for dy in (-1, 1) for dx in (-1, 1))
            blue_row, blue_column = (y - 1) % 2 == blue_position[0], (x - 1) % 2 == blue_position[1]
            is_green = blue_row != blue_column
            if algorithm == "gray_ocv":
                # Fixed point: 0.299, 0.587 and 0.114 of 2^14.
                red, green, blue = 4899, 9617, 1868
                own, other = (blue, red) if blue_row else (red, blue)
                total = 2 * (2 * c * green + (left + right) * own + (up + down) * other) if is_green else (
                    4 * c * own + (left + right + up + down) * green + corners * other)
                out[y, x, 0] = (total + (1 << 15)) >> 16
                continue
            if algorithm == "edgeaware_ocv":
                across, along = (left + right + 1) >> 1, (up + down + 1) >> 1
                green = along if abs(left - right) > abs(up - down) else across
                diagonal = (corners + 2) >> 2
            else:
                across, along = (left + right + 1) >> 1, (up + down + 1) >> 1
                green, diagonal = (left + right + up + down + 2) >> 2, (corners + 2) >> 2
            own, other, green = (across, along, c) if is_green else (c, diagonal, green)
            out[y, x] = (other, green, own) if blue_row else (own, green, other)
    out[:, 0], out[:, -1] = out[:, 1], out[:, -2]
    out[0], out[-1] = out[1], out[-2]
    return out


def _debayer_by_gradients(v, blue_position, out):
    """Chang, Cheung and Pan, "Color filter array recovery using a threshold-based variable number of gradients", 1999, in
    OpenCV's integers; the image is mirrored about its outermost pixels."""
    height, width = v.shape
    v = np.pad(v, 2, mode="reflect")

    def at(y, x):
        return int(v[y + 2, x + 2])

    for y in range(height):
        for x in range(width):
            blue_row = (y - 1) % 2 == blue_position[0]
            is_green = blue_row != ((x - 1) % 2 == blue_position[1])

            def p(dy, dx, y=y, x=x):
                return at(y + dy, x + dx)

            def row(k, dy, dx, p=p):
                """OpenCV's tables of differences around a pixel."""
                q = lambda a, b: p(dy + a, dx + b)
                n2, n3 = abs(q(-1, 1) - q(1, -1)) * 2, abs(q(-1, -1) - q(1, 1)) * 2
                return (abs(q(-1, -1) - q(1, -1)) + 2 * abs(q(-1, 0) - q(1, 0)) + abs(q(-1, 1) - q(1, 1)),
                        abs(q(-1, -1) - q(-1, 1)) + 2 * abs(q(0, -1) - q(0, 1)) + abs(q(1, -1) - q(1, 1)), n2, n3,
                        n2 + abs(q(-1, 0) - q(0, -1)) + abs(q(1, 0) - q(0, 1)), n3 + abs(q(-1, 0) - q(0, 1)) + abs(q(1, 0) - q(0, -1)),
                        (q(-1, 0) + q(0, -1) + q(0, 1) + q(1, 0)) >> 1)[k]

            grads = [row(0, -1, 0) + row(0, 0, 0), row(0, 0, 0) + row(0, 1, 0), row(1, 0, -1) + row(1, 0, 0), row(1, 0, 0) + row(1, 0, 1)]
            if is_green:
                grads += [sum(row(2, a, b) for a in (-1, 0) for b in (0, 1)), sum(row(2, a, b) for a in (0, 1) for b in (-1, 0)),
                          sum(row(3, a, b) for a in (-1, 0) for b in (-1, 0)), sum(row(3, a, b) for a in (0, 1) for b in (0, 1))]
                # own colour of the row, green, the other colour: of north, south, west, east, ne, sw, nw, se
                parts = [(p(-2, -1) + p(-2, 1), p(-2, 0) + p(0, 0), 2 * p(-1, 0)), (p(2, -1) + p(2, 1), p(2, 0) + p(0, 0), 2 * p(1, 0)),
                         (2 * p(0, -1), p(0, -2) + p(0, 0), p(-1, -2) + p(1, -2)), (2 * p(0, 1), p(0, 2) + p(0, 0), p(-1, 2) + p(1, 2)),
                         (p(-2, 1) + p(0, 1), 2 * p(-1, 1), p(-1, 0) + p(-1, 2)), (p(2, -1) + p(0, -1), 2 * p(1, -1), p(1, 0) + p(1, -2)),
                         (p(-2, -1) + p(0, -1), 2 * p(-1, -1), p(-1, -2) + p(-1, 0)), (p(2, 1) + p(0, 1), 2 * p(1, 1), p(1, 2) + p(1, 0))]
            else:
                grads += [row(4, -1, 1) + row(4, 0, 0), row(4, 0, 0) + row(4, 1, -1), row(5, -1, -1) + row(5, 0, 0), row(5, 0, 0) + row(5, 1, 1)]
                parts = [(p(-2, 0) + p(0, 0), 2 * p(-1, 0), p(-1, -1) + p(-1, 1)), (p(2, 0) + p(0, 0), 2 * p(1, 0), p(1, -1) + p(1, 1)),
                         (p(0, -2) + p(0, 0), 2 * p(0, -1), p(-1, -1) + p(1, -1)), (p(0, 2) + p(0, 0), 2 * p(0, 1), p(-1, 1) + p(1, 1)),
                         (p(-2, 2) + p(0, 0), row(6, -1, 1), 2 * p(-1, 1)), (p(2, -2) + p(0, 0), row(6, 1, -1), 2 * p(1, -1)),
                         (p(-2, -2) + p(0, 0), row(6, -1, -1), 2 * p(-1, -1)), (p(2, 2) + p(0, 0), row(6, 1, 1), 2 * p(1, 1))]
            limit = min(grads) + max(max(grads) // 2, 1)
            taken = [part for grad, part in zip(grads, parts) if grad < limit]
            own, green, other = (sum(part[k] for part in taken) for k in range(3))
            scale = np.float32(0.5) / np.float32(len(taken))
            step = lambda to, base: int(np.rint(np.float32(to - base) * scale))
            c = p(0, 0)
            own, green, other = (c + step(own, green), c, c + step(other, green)) if is_green else (c, c + step(green, own), c + step(other, own))
            out[y, x] = np.clip((other, green, own) if blue_row else (own, green, other), 0, 255)
    return out
