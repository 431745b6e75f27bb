"""Cases of fn.transforms.*."""
import numpy as np

from recorder import Feed

ROUNDING = "DALI computes matrices in float32"
ANGLES = [30.0, -77.5, 180.0, 400.0]


def feed(values, dtype=np.float32):
    return Feed([np.array(value, dtype) for value in values])


def matrices(n, key):
    random = np.random.Generator(np.random.PCG64([20241, n, key]))
    return Feed([random.uniform(-2, 2, (n, n + 1)).astype(np.float32) for _ in range(4)])


def join(first, second):
    """The matrix that applies `first`, then `second`."""
    def full(m):
        return np.vstack([np.asarray(m, np.float64), [0] * (len(m[0]) - 1) + [1]])

    return (full(second) @ full(first))[:-1]


def about(linear, center=None):
    linear = np.asarray(linear, np.float64)
    center = np.zeros(len(linear)) if center is None else np.asarray(center, np.float64)
    return np.column_stack([linear, center - linear @ center])


def turn(degrees, axis=None):
    angle = np.radians(np.float64(degrees))
    if axis is None:
        return [[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]]
    x, y, z = np.asarray(axis, np.float64) / np.linalg.norm(axis)
    cross = np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])
    return np.eye(3) + np.sin(angle) * cross + (1 - np.cos(angle)) * cross @ cross


def slant(values):
    values = np.asarray(values, np.float64).ravel()
    n = 2 if len(values) == 2 else 3
    out = np.eye(n)
    out[~np.eye(n, dtype=bool)] = values
    return out


def fit(start, end, to_start, to_end, absolute=False):
    start, end, to_start, to_end = np.broadcast_arrays(*(np.asarray(v, np.float64)
                                                         for v in (start, end, to_start, to_end)))
    if absolute:
        start, end = np.minimum(start, end), np.maximum(start, end)
        to_start, to_end = np.minimum(to_start, to_end), np.maximum(to_start, to_end)
    factor = (to_end - to_start) / (end - start)
    return np.column_stack([np.diag(factor), to_start - factor * start])


def add(group):
    def case(name, expression, feeds, reference):
        group.case(name, expression, feeds, tolerance=2e-6, kind="range", why=ROUNDING, expect=reference)

    angle, point = {"a": feed(ANGLES)}, {"c": feed([(1, 2), (0, 0), (-3.5, 40), (7, 0.25)])}
    two, three = {"m": matrices(2, 1)}, {"m": matrices(3, 2)}
    axis = {"u": feed([(1, 2, 3), (0, 0, 1), (-1, 0, 0.5), (4, -4, 1)])}
    case("rotation", "fn.transforms.rotation(angle=a)", angle, lambda a: about(turn(a)))
    case("rotation_center", "fn.transforms.rotation(angle=a, center=[5.0, 6.0])", angle,
         lambda a: about(turn(a), (5, 6)))
    case("rotation_center_per_sample", "fn.transforms.rotation(angle=a, center=c)", angle | point,
         lambda a, c: about(turn(a), c))
    case("rotation_center_one", "fn.transforms.rotation(angle=a, center=[5.0])", angle, lambda a: about(turn(a), (5, 5)))
    case("rotation_joined", "fn.transforms.rotation(m, angle=a)", two | angle, lambda m, a: join(m, about(turn(a))))
    case("rotation_joined_reverse", "fn.transforms.rotation(m, angle=a, reverse_order=True)", two | angle,
         lambda m, a: join(about(turn(a)), m))
    case("rotation_axis", "fn.transforms.rotation(angle=a, axis=[1.0, 2.0, 3.0])", angle,
         lambda a: about(turn(a, (1, 2, 3))))
    case("rotation_axis_per_sample", "fn.transforms.rotation(m, angle=a, axis=u, center=[1.0, -2.0, 3.0])",
         three | angle | axis, lambda m, a, u: join(m, about(turn(a, u), (1, -2, 3))))
    case("scale", "fn.transforms.scale(scale=c)", point, lambda c: about(np.diag(c)))
    case("scale_center", "fn.transforms.scale(scale=[2.0, 0.3], center=c)", point, lambda c: about(np.diag([2, 0.3]), c))
    case("scale_one", "fn.transforms.scale(scale=a)", angle, lambda a: about([[a]]))
    case("scale_ndim", "fn.transforms.scale(scale=a, ndim=3)", angle, lambda a: about(np.diag([a] * 3)))
    case("scale_joined", "fn.transforms.scale(m, scale=[2.0, -3.0, 0.5])", three,
         lambda m: join(m, about(np.diag([2, -3, 0.5]))))
    case("scale_one_joined", "fn.transforms.scale(m, scale=2.5, reverse_order=True)", two,
         lambda m: join(about(np.diag([2.5, 2.5])), m))
    case("translation", "fn.transforms.translation(offset=c)", point, lambda c: np.column_stack([np.eye(2), c]))
    case("translation_one", "fn.transforms.translation(offset=a)", angle, lambda a: [[1, a]])
    case("translation_joined", "fn.transforms.translation(m, offset=c)", two | point,
         lambda m, c: join(m, np.column_stack([np.eye(2), c])))
    case("translation_joined_reverse", "fn.transforms.translation(m, offset=[1.0, 2.0, 3.0], reverse_order=True)", three,
         lambda m: join(np.column_stack([np.eye(3), [1, 2, 3]]), m))
    case("shear", "fn.transforms.shear(shear=c, center=[1.0, 2.0])", point, lambda c: about(slant(c), (1, 2)))
    case("shear_angles", "fn.transforms.shear(angles=s)", {"s": feed([(10, 0), (-45, 60), (0, 0), (80, 3)])},
         lambda s: about(slant(np.tan(np.radians(s.astype(np.float64))))))
    case("shear_six", "fn.transforms.shear(m, shear=[0.1, 0.2, 0.3, 0.4, 0.5, 0.6])", three,
         lambda m: join(m, about(slant([0.1, 0.2, 0.3, 0.4, 0.5, 0.6]))))
    shears = [np.arange(6).reshape(3, 2) * 0.1 * k for k in range(1, 5)]
    case("shear_matrix", "fn.transforms.shear(shear=s)", {"s": feed(shears)}, lambda s: about(slant(s)))
    case("crop", "fn.transforms.crop(from_start=c, from_end=[50.0, 60.0], to_start=[0.0, 1.0], to_end=[2.0, 9.0])", point,
         lambda c: fit(c, (50, 60), (0, 1), (2, 9)))
    case("crop_broadcast", "fn.transforms.crop(from_start=c, from_end=90.0)", point, lambda c: fit(c, 90, 0, 1))
    case("crop_one", "fn.transforms.crop(from_end=a)", angle, lambda a: fit(0, [a], 0, 1))
    for name, flag in (("crop_mirrored", False), ("crop_absolute", True)):
        case(name, f"fn.transforms.crop(from_start=c, from_end=[-9.0, 90.0], to_end=[3.0, -4.0], absolute={flag})", point,
             lambda c, f=flag: fit(c, (-9, 90), 0, (3, -4), f))
    case("crop_joined", "fn.transforms.crop(m, to_end=[3.0, 4.0])", two, lambda m: join(m, fit(0, 1, 0, (3, 4))))
    other = {"k": matrices(2, 3)}
    case("combine", "fn.transforms.combine(m, k)", two | other, join)
    case("combine_reverse", "fn.transforms.combine(m, k, reverse_order=True)", two | other, lambda m, k: join(k, m))
    case("combine_three", "fn.transforms.combine(m, fn.transforms.scale(scale=[2.0, 3.0]), k)", two | other,
         lambda m, k: join(join(m, about(np.diag([2, 3]))), k))
    case("combine_space", "fn.transforms.combine(m, fn.transforms.scale(scale=[2.0, 3.0, 4.0]))", three,
         lambda m: join(m, about(np.diag([2, 3, 4]))))
    group.refused("refused_rotation_rank", "fn.transforms.rotation(m, angle=1.0)", three)
    group.refused("refused_rotation_axis", "fn.transforms.rotation(angle=a, axis=[1.0, 2.0])", angle)
    group.refused("refused_shear_both", "fn.transforms.shear(shear=c, angles=c)", point)
    group.refused("refused_shear_neither", "fn.transforms.shear(m)", two)
    group.refused("refused_shear_angle", "fn.transforms.shear(angles=a)", {"a": feed([(91, 0)] * 4)})
    group.refused("refused_shear_count", "fn.transforms.shear(shear=a)", {"a": feed([(1, 2, 3, 4)] * 4)})
    group.refused("refused_combine_ranks", "fn.transforms.combine(m, k)", two | {"k": matrices(3, 4)})
    group.refused("refused_crop_counts", "fn.transforms.crop(from_start=c, from_end=[1.0, 2.0, 3.0])", point)
    group.refused("refused_translation_one", "fn.transforms.translation(m, offset=2.0)", two)
