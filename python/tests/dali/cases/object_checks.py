"""Tensors, tensor lists and nodes, as programs make and ask them."""

from . import case
from .checking import numbers, pipe_of, refused

# Tensors and tensor lists.


@case
def list_forms(m):
    t = m.tensors.TensorListCPU([m.np.full((2, 3), i, "uint8") for i in range(3)], layout="HW")
    return [
        len(t),
        t.dtype,
        t.layout(),
        t.shape(),
        t.is_dense_tensor(),
        t.at(1),
        t[2],
        t[-1],
        t.as_array(),
        t.as_tensor(),
        t.as_reshaped_tensor([3, 6]),
        [m.np.array(o).sum() for o in t],
    ]


@case
def list_of_ragged(m):
    t = m.tensors.TensorListCPU([m.np.ones((i, 3), "float32") for i in range(3)])
    return [
        t.shape(),
        t.is_dense_tensor(),
        m.raises(t.as_array),
        m.raises(t.as_tensor),
        m.raises(lambda: m.np.array(t)),
    ]


@case
def list_index_error(m):
    t = m.tensors.TensorListCPU(m.np.ones((2, 3)))
    refused(m, IndexError, "*out of range*", lambda: t[5])


@case
def list_at_error(m):
    t = m.tensors.TensorListCPU(m.np.ones((2, 3)))
    refused(m, (IndexError, RuntimeError), "*out*of*range*", lambda: t.at(5))


@case
def list_layout_error(m):
    refused(
        m,
        (RuntimeError, ValueError),
        "*",
        lambda: m.tensors.TensorListCPU(m.np.ones((2, 3)), layout="HWC"),
    )


@case
def list_types_error(m):
    refused(
        m,
        (TypeError, RuntimeError, ValueError),
        "*",
        lambda: m.tensors.TensorListCPU([m.np.ones(2, "uint8"), m.np.ones(2, "int32")]),
    )


@case
def list_ndim_error(m):
    refused(
        m,
        (TypeError, RuntimeError, ValueError),
        "*",
        lambda: m.tensors.TensorListCPU([m.np.ones(2), m.np.ones((2, 2))]),
    )


@case
def list_text(m):
    t = m.tensors.TensorListCPU(m.np.arange(4, dtype="int32").reshape(2, 2), layout="X")
    return [str(t), repr(t)]


@case
def tensor_text(m):
    t = m.tensors.TensorCPU(m.np.arange(4, dtype="float32").reshape(2, 2), layout="XY")
    return [str(t), repr(t)]


@case
def tensor_forms(m):
    t = m.tensors.TensorCPU(m.np.arange(6, dtype="int16").reshape(2, 3), layout="HW")
    return [
        t.shape(),
        t.dtype,
        t.layout(),
        m.np.array(t),
        m.np.asarray(t).dtype.name,
        t.squeeze() is not None,
        t.source_info(),
        isinstance(t.data_ptr(), int),
    ]


@case
def tensor_shares_memory(m):
    source = m.np.zeros(3, "int32")
    t = m.tensors.TensorCPU(source)
    source[1] = 7
    return m.np.array(t)


@case
def tensor_copied_out(m):
    import ctypes

    t = m.tensors.TensorCPU(m.np.arange(6, dtype="int32"))
    target = m.np.zeros(6, "int32")
    t.copy_to_external(ctypes.c_void_p(target.ctypes.data))
    return target


@case
def list_copied_out(m):
    import ctypes

    t = m.tensors.TensorListCPU(m.np.arange(6, dtype="int32").reshape(3, 2))
    target = m.np.zeros(6, "int32")
    t.copy_to_external(ctypes.c_void_p(target.ctypes.data))
    return target


@case
def tensor_of_dlpack(m):
    torch = __import__("torch")
    return m.tensors.TensorCPU(torch.utils.dlpack.to_dlpack(torch.arange(6).reshape(2, 3)), "AB")


@case
def list_of_dlpack(m):
    torch = __import__("torch")
    return m.tensors.TensorListCPU(torch.utils.dlpack.to_dlpack(torch.arange(6).reshape(2, 3)), "A")


@case
def list_to_torch(m):
    torch = __import__("torch")
    t = m.tensors.TensorListCPU(m.np.arange(6, dtype="int32").reshape(3, 2))
    return [torch.from_dlpack(t.as_tensor()), torch.from_dlpack(t[1])]


@case
def list_as_cpu(m):
    t = m.tensors.TensorListCPU(m.np.arange(6, dtype="int32").reshape(3, 2), layout="X")
    return [t.as_cpu() is t, t[0].as_cpu().shape(), hasattr(t, "as_gpu"), hasattr(t, "_as_gpu")]


@case
def list_of_a_generator(m):
    refused(
        m,
        (TypeError, RuntimeError),
        "*",
        lambda: m.tensors.TensorListCPU(m.np.ones(2) for _ in "ab"),
    )


@case
def list_of_other_tensors(m):
    t = m.tensors.TensorListCPU(
        [m.tensors.TensorCPU(m.np.ones((2, i), "uint8"), "HW") for i in (1, 2)]
    )
    return [t.layout(), t.shape()]


@case
def list_empty(m):
    t = m.tensors.TensorListCPU([])
    return [len(t), t.shape(), t.layout()]


@case
def outputs_as_tuple(m):
    found = pipe_of(m, lambda: (m.types.Constant(1), m.types.Constant(2))).run()
    return [type(found).__name__, len(found), type(found[0]).__name__]


@case
def types_of_kinds(m):
    return [
        m.types.to_numpy_type(m.types.INT16)().dtype.name,
        str(m.types.DALIDataType.FLOAT),
        m.types.DALIInterpType.INTERP_TRIANGULAR.name,
        m.types.SampleInfo(3, 1, 2, 0).idx_in_epoch,
        m.types.BatchInfo(2, 1).iteration,
    ]


# Nodes.


@case
def node_shape(m):
    def define():
        x = m.fn.external_source(source=lambda: numbers(m, 3, (2, 5)))
        return x.shape(), x.shape(dtype=m.types.FLOAT), x.property("layout")

    return pipe_of(m, define).run()


@case
def node_source_info(m):
    def define():
        x, _ = m.fn.readers.file(file_root=m.files(3))
        return x.property("source_info")

    return [bytes(m.np.array(o)).decode()[-9:] for o in pipe_of(m, define).run()[0]]


@case
def node_cpu(m):
    return pipe_of(
        m,
        lambda: (
            m.types.Constant(3).cpu()
            if hasattr(m.types.Constant(3), "cpu")
            else m.fn.random.coin_flip(probability=1.0).cpu()
        ),
    ).run()[0]


@case
def node_conditional(m):
    def define():
        x = m.fn.external_source(source=lambda: numbers(m, 3, ()))
        if x > 1:
            y = x * 10
        else:
            y = -x
        return y

    refused(m, TypeError, "*conditional*", lambda: pipe_of(m, define).build())


@case
def constants(m):
    return list(
        pipe_of(
            m,
            lambda: tuple(
                m.types.Constant(*a, **k)
                for a, k in [
                    ((3,), {}),
                    ((2.5,), {}),
                    ((True,), {}),
                    (([1, 2, 3],), {}),
                    (((1.5, 2),), {}),
                    ((m.np.uint8([[1, 2]]),), {}),
                    ((3,), dict(dtype=m.types.UINT8)),
                    (([1, 2, 3, 4],), dict(shape=(2, 2))),
                    ((2,), dict(shape=[3])),
                    ((m.np.zeros((2, 2, 1), "float32"),), dict(layout="HWC")),
                ]
            ),
        ).run()
    )
