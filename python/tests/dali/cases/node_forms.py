"""What a data node can be asked for: operators, indices, functions of math, and what it refuses."""

import copy

from . import case, each


def run(m, body):
    """The outputs of `body(m, x)` for a node of floats of extents [3, 4]."""
    data = m.np.arange(24, dtype="float32").reshape(2, 3, 4)
    return m.run(lambda: body(m, m.feed(data)))


def whole(m, x):
    """The node as whole numbers."""
    return m.fn.cast(x, dtype=m.types.INT32)


def place(m, x):
    """A node that is an index."""
    return whole(m, x[0, 1])


def in_place(m, x):
    y = x
    y += 1
    y *= 2
    return y, x


def as_a_key(m, x):
    return {id(x): x}[id(x)]


@each(
    shapes=lambda m, x: (x.shape(), x.shape(dtype=m.types.FLOAT)),
    layout=lambda m, x: x.property("layout"),
    on_the_host=lambda m, x: x.cpu(),
    signs=lambda m, x: (-x, +x),
    powers=lambda m, x: (x**2, 2**x, x**0.5),
    remainder=lambda m, x: x % 3,
    floors=lambda m, x: (x // 2, 7 // (x + 1)),
    comparisons=lambda m, x: (x < 3, 3 < x, x == 3, x != 3, x >= 1, x <= 2.5),
    bits=lambda m, x: (whole(m, x) & 3, whole(m, x) | 8, whole(m, x) ^ 1),
    shifted=lambda m, x: whole(m, x) << 1,
    inverted=lambda m, x: ~x,
    truth=lambda m, x: bool(x),
    length=lambda m, x: len(x),
    iterated=lambda m, x: list(x),
    as_int=lambda m, x: int(x),
    membership=lambda m, x: 1 in x,
    key=as_a_key,
    copied=lambda m, x: copy.copy(x),
    copied_deeply=lambda m, x: copy.deepcopy(x),
    divided=lambda m, x: whole(m, x) / 2,
    matrices=lambda m, x: x @ x,
    divmod=lambda m, x: divmod(x, 2),
    rounded=lambda m, x: round(x),
    in_place=in_place,
    anded=lambda m, x: x and x,
    negated=lambda m, x: not x,
    text_beside=lambda m, x: x + "a",
    nothing_beside=lambda m, x: x + None,
    list_beside=lambda m, x: x + [1, 2, 3, 4],
    numbers_beside=lambda m, x: (x + 1, 1 + x, x - True, 2.5 * x),
    constants_beside=lambda m, x: (
        x + m.types.Constant(3), m.types.Constant(3) * x, x / m.types.Constant(2)
    ),
    broadcast=lambda m, x: (x + x[0], x + x[0:1], x[:, 0:1] * x),
    broadcast_of_others=lambda m, x: x + x[0, 0:2],
)  # fmt: skip
def operators(m, body):
    return run(m, body)


@each(
    numbers=lambda m, x: (x[0], x[-1], x[:, 1], x[0, 0], x[2, -1]),
    slices=lambda m, x: (x[:], x[0:1, ::1], x[:, 1:-1], x[-2:], x[:, -3:-1]),
    steps=lambda m, x: x[:, ::2],
    backwards=lambda m, x: x[:, ::-1],
    new_axes=lambda m, x: (x[m.dali.newaxis], x[:, m.dali.newaxis, 1]),
    ellipsis=lambda m, x: x[..., 0],
    nodes=lambda m, x: (x[place(m, x)], x[:, place(m, x) :]),
    truth=lambda m, x: (x[True], x[False, True]),
    real=lambda m, x: x[1.0],
    nothing=lambda m, x: (x[None], x[None, 1]),
    list=lambda m, x: x[[0, 1]],
    too_many=lambda m, x: x[0, 0, 0],
    outside=lambda m, x: x[7],
    of_numpy=lambda m, x: x[m.np.int64(1)],
    text=lambda m, x: x["a"],
    empty=lambda m, x: x[2:1],
    node_of_floats=lambda m, x: x[x[0, 1]],
    node_with_axes=lambda m, x: x[whole(m, x[0])],
)
def indices(m, body):
    return run(m, body)


@each(
    limits=lambda m, x: (m.math.clamp(x, 2, 5), m.math.min(x, 3), m.math.max(1, x)),
    by_name=lambda m, x: (
        m.math.clamp(value=x, lo=1, hi=2), m.math.clamp(x, 1, hi=2), m.math.pow(base=x, exponent=2),
        m.math.min(left=x, right=2), m.math.floor(input=x), m.math.fpow(exponent=2, base=x),
    ),
    by_a_wrong_name=lambda m, x: m.math.floor(x=x),
    by_name_twice=lambda m, x: m.math.clamp(x, 1, 2, value=x),
    steps=lambda m, x: (m.math.floor(x), m.math.ceil(x), m.math.fabs(-x), m.math.abs(-x)),
    exact=lambda m, x: (m.math.exp(x * 0), m.math.pow(x, 2), m.math.fpow(x, 2), m.math.sqrt(x * x)),
    zeros=lambda m, x: [
        getattr(m.math, name)(x * 0) for name in "sin tan asin atan sinh tanh asinh atanh".split()
    ],
    ones=lambda m, x: [getattr(m.math, name)(x * 0) for name in ("cos", "cosh")],
    of_whole_numbers=lambda m, x: (m.math.abs(whole(m, x)), m.math.floor(whole(m, x))),
    of_a_number=lambda m, x: m.math.sqrt(4),
    of_text=lambda m, x: m.math.sqrt("x"),
    of_nothing=lambda m, x: m.math.sqrt(),
    of_too_many=lambda m, x: m.math.min(x, x, x),
)  # fmt: skip
def functions_of_math(m, body):
    return run(m, body)


@case
def elements_of_lists(m):
    """What a list of tensors is made of."""
    np, make = m.np, m.tensors.TensorListCPU
    return [
        m.attempt(lambda one=one: [make(one).shape(), make(one).dtype.name])
        for one in (
            [np.float32(1), np.float32(2)],
            np.float32([1, 2]),
            [np.bool_(True)],
            [np.zeros((2, 1)), np.zeros((1, 1))],
            [1, 2],
            [[1, 2]],
            [None],
        )
    ]


@case
def broadcasts(m):
    np, lists = m.np, m.tensors.TensorListCPU
    tensor = m.tensors.TensorCPU(np.ones((2, 3), "float32"), "HW")
    return [
        m.attempt(lambda: lists.broadcast(tensor, 3)),
        m.attempt(lambda: lists.broadcast(np.ones(2, "int8"), 2)),
        m.attempt(lambda: lists.broadcast(tensor, 0).shape()),
        m.attempt(lambda: lists.broadcast("x", 1)),
    ]


@case
def numbers_of_enumerations(m):
    t = m.types
    return [
        int(t.FLOAT), t.DALIDataType(9).name, t.DALIDataType.FLOAT.value, t.INTERP_LINEAR.name,
        t.RGB.name, t.DALIImageType.RGB == t.RGB, hash(t.FLOAT) == hash(t.DALIDataType.FLOAT),
        sorted(t.DALIImageType.__members__),
        sorted(t.PipelineAPIType.__members__), t.CPU_ONLY_DEVICE_ID,
        m.attempt(lambda: t.FLOAT < t.INT64),
    ]  # fmt: skip


@each(
    shape=lambda x: x.shape(device="cpu"),
    shape_of_a_type=lambda x: x.shape(dtype=None, device="cpu"),
    shape_by_position=lambda x: x.shape("cpu"),
    property=lambda x: x.property("layout", device="cpu"),
    property_by_position=lambda x: x.property("layout", "cpu"),
    source=lambda x: x.source_info(device="cpu"),
    wrong_device=lambda x: x.shape(device="tpu"),
    wrong_device_of_a_property=lambda x: x.property("layout", device="tpu"),
)
def questions_to_a_node(m, call):
    return m.run(lambda: call(m.feed([m.image(2, 3)], layout="HWC")), batch_size=1)
