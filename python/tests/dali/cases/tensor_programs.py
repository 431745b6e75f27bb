"""Tensors and lists of them: made of what, and what they say of themselves."""

import ctypes
import warnings

from . import case, each


def counted(m, *shape):
    return m.np.arange(m.np.prod(shape), dtype="float64").reshape(shape) / 4


SQUEEZES = [
    (None, (3, 5, 6), "ABC"), (None, (3, 1, 6), "ABC"), (1, (3, 1, 6), "ABC"),
    (-2, (3, 1, 6), "ABC"), (None, (1, 1, 6), "ABC"), (1, (1, 1, 6), "ABC"),
    (None, (1, 1, 1), "ABC"), (None, (1, 5, 1), "ABC"), (-1, (1, 5, 1), "ABC"),
    (0, (1, 5, 1), "ABC"), (None, (3, 5, 1), "ABC"), (0, (3, 5, 1), "ABC"), (5, (3, 1), "AB"),
    (-3, (3, 1), "AB"), (None, (1,), ""), (None, (), ""),
]  # fmt: skip


@case
def squeezes(m):
    def one(axis, shape, layout):
        tensor = m.tensors.TensorCPU(counted(m, *shape), layout)
        done = tensor.squeeze(axis)
        return [done, tensor.shape(), tensor.layout(), m.np.array(tensor).ravel().tolist()]

    return [m.attempt(lambda given=given: one(*given)) for given in SQUEEZES]


@case
def addresses(m):
    array = counted(m, 3, 5, 6)
    many = m.tensors.TensorListCPU(array, "HWC")
    one = m.tensors.TensorCPU(array, "HWC")

    def read(address):
        kind = ctypes.c_double * array.size
        return m.np.frombuffer(kind.from_address(address), "float64").reshape(array.shape)

    given = many[0].__array_interface__
    return [
        bool((read(one.data_ptr()) == array).all()),
        bool((read(many.data_ptr()) == array).all()),
        given["data"][0] == many[0].data_ptr(),
        given["data"][1],
        list(given["shape"]),
        str(m.np.dtype(given["typestr"])),
        many.as_tensor().data_ptr() == many.data_ptr(),
    ]


@case
def types_of_tensors(m):
    got = []
    for kind in m.types._all_types:
        array = m.np.zeros(1, m.types.to_numpy_type(kind))
        one = m.tensors.TensorCPU(array)
        got.append([kind.name, one.dtype == kind, m.tensors.TensorListCPU([one]).dtype == kind])
    return got


@case
def type_that_is_called(m):
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        kinds = [m.types.to_numpy_type(one) for one in m.types._all_types]
        got = [m.tensors.TensorCPU(m.np.zeros(1, kind)).dtype() for kind in kinds]
    return [got, [one.category.__name__ for one in seen]]


@case
def lists_of_tensors(m):
    arrays = [counted(m, 2, 3), counted(m, 1, 4), counted(m, 3, 1)]
    many = m.tensors.TensorListCPU([m.tensors.TensorCPU(one, "HW") for one in arrays])
    return [
        many,
        many.shape(),
        many.is_dense_tensor(),
        [m.np.array(one).shape for one in many],
        [many[i].shape() for i in (-1, 0, 2)],
        m.attempt(lambda: many[3]),
        m.attempt(lambda: many[-4]),
        len(many),
    ]


LISTS = {
    "nothing": lambda m: [],
    "two_types": lambda m: [m.np.zeros(1, "float32"), m.np.zeros(1, "int16")],
    "two_ranks": lambda m: [m.np.zeros(1), m.np.zeros((1, 1))],
    "numbers": lambda m: [1, 2, 3],
    "texts": lambda m: ["a"],
    "nothings": lambda m: [None],
    "tensor_and_array": lambda m: [m.tensors.TensorCPU(m.np.zeros(1)), m.np.ones(1)],
    "tuple": lambda m: (m.np.zeros(2), m.np.ones(2)),
    "list_of_lists": lambda m: [[1, 2], [3, 4]],
    "array": lambda m: m.np.zeros((2, 3)),
    "scalar": lambda m: m.np.float32(3),
    "zero_axis": lambda m: m.np.zeros((0, 3)),
    "zero_inside": lambda m: m.np.zeros((2, 0)),
    "big_endian": lambda m: m.np.zeros(2, ">i4"),
    "structured": lambda m: m.np.zeros(2, [("a", "i4")]),
    "dates": lambda m: m.np.zeros(2, "M8[s]"),
    "texts_of_numpy": lambda m: m.np.array(["a", "b"]),
    "objects": lambda m: m.np.array([None, {}]),
    "number": lambda m: 3,
    "none": lambda m: None,
}


@each(**LISTS)
def lists_of(m, make):
    return m.tensors.TensorListCPU(make(m))


@each(**{key: LISTS[key] for key in "array scalar zero_inside number none texts numbers".split()})
def tensors_of(m, make):
    return m.tensors.TensorCPU(make(m))


@each("HW", "ABCD", "", None, "hw", "H W", 3)
def layouts_of(m, layout):
    array = counted(m, 2, 3)

    def one(kind):
        made = kind(array, layout)
        return [made.layout(), m.attempt(lambda: made.property("layout"))]

    return [m.attempt(lambda: one(m.tensors.TensorCPU)),
            m.attempt(lambda: one(m.tensors.TensorListCPU))]  # fmt: skip


@case
def shapes_of_lists(m):
    shapes = [(3, 4, 5), (1, 8, 7, 6), (1,), (1, 1), (2, 0)]
    return [m.tensors.TensorListCPU(m.np.empty(one)).shape() for one in shapes]


@case
def back_to_numpy(m):
    one = m.tensors.TensorCPU(counted(m, 2, 3), "HW")
    many = m.tensors.TensorListCPU(counted(m, 2, 3), "W")
    return [
        m.np.array(one),
        m.np.asarray(one, dtype="float32"),
        m.np.array(one, copy=True),
        m.np.from_dlpack(one),
        many.as_array(),
        m.np.array(many.as_tensor()),
        m.attempt(lambda: m.np.array(many)),
        m.np.stack([m.np.array(x) for x in many]),
        m.np.sum(m.np.array(one)),
        m.attempt(lambda: float(m.np.array(many[0][0]))),
    ]


@case
def in_torch(m):
    import torch

    one = m.tensors.TensorCPU(counted(m, 2, 3), "HW")
    return [torch.from_dlpack(one), torch.as_tensor(m.np.array(one)), torch.from_dlpack(one).dtype
            is torch.float64]  # fmt: skip


@case
def of_torch(m):
    import torch

    made = torch.arange(6, dtype=torch.int16).reshape(2, 3)
    return [
        m.attempt(lambda: m.tensors.TensorCPU(made)),
        m.attempt(lambda: m.tensors.TensorListCPU(made)),
        m.attempt(lambda: m.tensors.TensorListCPU([made, made + 1])),
        m.attempt(lambda: m.tensors.TensorCPU(made.t())),
        m.attempt(lambda: m.tensors.TensorCPU(torch.utils.dlpack.to_dlpack(made))),
    ]
