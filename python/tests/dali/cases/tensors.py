"""TensorCPU, TensorListCPU: constructors, access, exchange with numpy."""

from . import case, each

DTYPES = "uint8 uint16 uint32 uint64 int8 int16 int32 int64 float16 float32 float64 bool".split()


def numbers(m, dtype="float32", shape=(2, 3, 4)):
    return (m.np.arange(m.np.prod(shape)) % 7).reshape(shape).astype(dtype)


def ragged(m, dtype="int32"):
    return [m.np.full((i + 1, 2), i, dtype) for i in range(3)]


# One tensor.


@each(*DTYPES)
def tensor_of_array(m, dtype):
    tensor = m.tensors.TensorCPU(numbers(m, dtype), "HWC")
    return [tensor, tensor.dtype, tensor.shape(), tensor.layout()]


@case
def tensor_without_layout(m):
    tensor = m.tensors.TensorCPU(numbers(m))
    return [tensor.layout(), tensor.shape()]


@case
def tensor_of_a_scalar(m):
    tensor = m.tensors.TensorCPU(m.np.array(5, "int64"))
    return [tensor, tensor.shape(), tensor.dtype]


@case
def tensor_layout_of_wrong_length(m):
    return m.tensors.TensorCPU(numbers(m), "HW")


@case
def tensor_of_a_list(m):
    return m.tensors.TensorCPU([1, 2, 3])


@case
def tensor_of_text(m):
    return m.tensors.TensorCPU("abc")


@case
def tensor_of_nothing(m):
    return m.tensors.TensorCPU()


@case
def tensor_of_an_empty_array(m):
    tensor = m.tensors.TensorCPU(m.np.zeros((0, 3), "uint8"))
    return [tensor.shape(), m.np.array(tensor)]


@case
def tensor_as_array_shares_memory(m):
    array = numbers(m)
    tensor = m.tensors.TensorCPU(array, "HWC")
    array[0, 0, 0] = 99
    return float(m.np.array(tensor, copy=False)[0, 0, 0])


@case
def tensor_keeps_its_array_alive(m):
    tensor = m.tensors.TensorCPU(numbers(m).copy())
    return m.np.array(tensor)


@case
def tensor_of_a_strided_array(m):
    return m.raises(lambda: m.tensors.TensorCPU(numbers(m)[:, ::2]))


@case
def tensor_of_complex_numbers(m):
    return m.tensors.TensorCPU(m.np.zeros(3, "complex64"))


@case
def tensor_through_dlpack(m):
    return m.np.from_dlpack(m.tensors.TensorCPU(numbers(m)))


@case
def tensor_dlpack_device(m):
    return [int(part) for part in m.tensors.TensorCPU(numbers(m)).__dlpack_device__()]


@case
def tensor_array_interface(m):
    interface = m.tensors.TensorCPU(numbers(m)).__array_interface__
    return [interface["shape"], interface["typestr"], interface["version"]]


@case
def tensor_squeeze(m):
    tensor = m.tensors.TensorCPU(numbers(m, shape=(1, 3, 1)), "HWC")
    tensor.squeeze()
    return [tensor.shape(), tensor.layout()]


@each(0, 1, 2, -1)
def tensor_squeeze_axis(m, axis):
    tensor = m.tensors.TensorCPU(numbers(m, shape=(1, 3, 1)), "HWC")
    return [tensor.squeeze(axis), tensor.shape(), tensor.layout()]


@case
def tensor_data_ptr(m):
    array = numbers(m)
    return m.tensors.TensorCPU(array).data_ptr() == array.ctypes.data


@case
def tensor_source_info(m):
    return m.tensors.TensorCPU(numbers(m)).source_info()


@case
def tensor_property_layout(m):
    return m.tensors.TensorCPU(numbers(m), "HWC").get_property("layout")


@each(
    scalar=((), "int32", ""),
    empty=((0,), "float64", ""),
    line=((3,), "int32", "W"),
    plane=((2, 3), "uint8", "HW"),
    volume=((2, 2, 2), "float32", ""),
    long=((2000,), "int64", ""),
)
def tensor_text(m, given):
    shape, dtype, layout = given
    tensor = m.tensors.TensorCPU(m.np.arange(m.np.prod(shape)).reshape(shape).astype(dtype), layout)
    return [str(tensor), repr(tensor)]


@each(
    none=(0, ()),
    scalars=(3, ()),
    lines=(2, (30,)),
    planes=(2, (2, 2)),
    many=(17, (2,)),
    many_scalars=(20, ()),
    long=(6, (400,)),
    many_extents=(15, (1,) * 7),
    volumes=(2, (2, 1, 2)),
)
def list_text(m, given):
    count, shape = given
    data = m.np.arange(count * m.np.prod(shape), dtype="float32").reshape((count, *shape))
    batch = m.tensors.TensorListCPU(data, "HWC"[: len(shape)])
    return [str(batch), repr(batch)]


@each(one_line=4, lines=5, shortened=40)
def text_of_shapes(m, count):
    arrays = [m.np.ones((480, i + 1, 3, 11), m.np.uint8) for i in range(count)]
    return repr(m.tensors.TensorListCPU(arrays, layout="FHWC"))


@case
def ragged_list_text(m):
    return str(m.tensors.TensorListCPU([m.np.arange(i + 1) for i in range(3)]))


@case
def methods_of_a_tensor(m):
    tensor = m.tensors.TensorCPU(m.np.arange(6, dtype="int32").reshape(2, 3))
    copy = tensor._make_copy()
    copy.reinterpret(m.types.FLOAT)
    given = [tensor.ndim(), tensor.get_property("layout"), copy.dtype, tensor.dtype]
    for layout in ("HW", "", "C", None):
        given.append(m.raises(lambda: tensor.set_layout(layout)))
        given.append(tensor.layout())
    given += [
        m.raises(lambda: tensor.reinterpret(m.types.INT16)),
        copy.data_ptr() != tensor.data_ptr(),
    ]
    return [*given, m.raises(lambda: tensor.reinterpret(3))]


@case
def methods_of_a_list(m):
    lists = m.tensors.TensorListCPU
    batch = lists(m.np.arange(6, dtype="int32").reshape(2, 3))
    copy = batch._make_copy()
    batch.set_layout("C")
    copy.reinterpret(m.types.FLOAT)
    wrong = [
        m.raises(lambda: batch.set_layout("CC")),
        m.raises(lambda: batch.reinterpret(m.types.INT8)),
    ]
    arrays = [m.np.arange(3), m.np.arange(2)]
    return [
        [batch.ndim(), batch.layout(), copy.layout(), copy.dtype, batch.dtype, *wrong],
        m.plain(lists.broadcast(m.tensors.TensorCPU(m.np.arange(3), "X"), 2)),
        m.plain(lists.from_dlpack_list(arrays, layout="X")),
    ]


# Lists.


@each(*DTYPES)
def list_of_array(m, dtype):
    made = m.tensors.TensorListCPU(numbers(m, dtype), layout="HW")
    return [made, made.dtype, made.shape(), made.layout(), len(made)]


@case
def list_of_array_without_layout(m):
    made = m.tensors.TensorListCPU(numbers(m))
    return [made.layout(), made.shape()]


@case
def list_of_arrays(m):
    made = m.tensors.TensorListCPU(ragged(m), layout="AB")
    return [made, made.dtype, made.shape(), made.layout(), len(made)]


@case
def list_of_tensors(m):
    made = m.tensors.TensorListCPU([m.tensors.TensorCPU(one, "AB") for one in ragged(m)])
    return [made, made.layout()]


@case
def list_of_tensors_with_layout(m):
    made = m.tensors.TensorListCPU([m.tensors.TensorCPU(one) for one in ragged(m)], "XY")
    return [made, made.layout()]


@case
def list_of_lists(m):
    return m.tensors.TensorListCPU([[1, 2], [3, 4]])


@case
def list_of_nothing(m):
    made = m.tensors.TensorListCPU([])
    return [len(made), made.shape()]


@case
def list_of_mixed_dtypes(m):
    return m.tensors.TensorListCPU([m.np.zeros(2, "int32"), m.np.zeros(2, "float32")])


@case
def list_of_mixed_ranks(m):
    return m.tensors.TensorListCPU([m.np.zeros(2, "int32"), m.np.zeros((2, 2), "int32")])


@case
def list_of_wrong_layout(m):
    return m.tensors.TensorListCPU(numbers(m), layout="HWC")


@case
def list_of_a_scalar(m):
    return m.tensors.TensorListCPU(m.np.array(1, "int32"))


@case
def list_of_scalars(m):
    made = m.tensors.TensorListCPU(m.np.arange(4, dtype="int32"))
    return [made, made.shape()]


@each(0, 2, -1)
def list_at(m, index):
    return m.np.array(m.tensors.TensorListCPU(ragged(m)).at(index))


@each(3, -4)
def list_at_out_of_range(m, index):
    return m.tensors.TensorListCPU(ragged(m)).at(index)


@each(0, 2, -1)
def list_item(m, index):
    return m.np.array(m.tensors.TensorListCPU(ragged(m))[index])


@each(3, -4)
def list_item_out_of_range(m, index):
    return m.tensors.TensorListCPU(ragged(m))[index]


@case
def list_item_is_a_tensor(m):
    item = m.tensors.TensorListCPU(ragged(m), layout="AB")[1]
    return [type(item).__name__, item.layout(), item.shape(), item.dtype]


@case
def list_at_is_an_array(m):
    return type(m.tensors.TensorListCPU(ragged(m)).at(1)).__name__


@case
def list_iterates(m):
    return [m.np.array(one) for one in m.tensors.TensorListCPU(ragged(m))]


@case
def list_as_array(m):
    return m.tensors.TensorListCPU(numbers(m)).as_array()


@case
def list_as_array_ragged(m):
    return m.tensors.TensorListCPU(ragged(m)).as_array()


@case
def list_as_array_of_equal_samples(m):
    return m.tensors.TensorListCPU([m.np.full((2, 2), i, "uint8") for i in range(3)]).as_array()


@case
def list_as_tensor(m):
    tensor = m.tensors.TensorListCPU(numbers(m), layout="HW").as_tensor()
    return [tensor, tensor.shape(), tensor.layout(), tensor.dtype]


@case
def list_as_tensor_ragged(m):
    return m.tensors.TensorListCPU(ragged(m)).as_tensor()


@case
def list_as_reshaped_tensor(m):
    tensor = m.tensors.TensorListCPU(numbers(m)).as_reshaped_tensor([4, 6])
    return [tensor.shape(), m.np.array(tensor)]


@case
def list_as_reshaped_tensor_of_wrong_size(m):
    return m.tensors.TensorListCPU(numbers(m)).as_reshaped_tensor([5, 5])


@case
def list_is_dense(m):
    return [
        m.tensors.TensorListCPU(numbers(m)).is_dense_tensor(),
        m.tensors.TensorListCPU(ragged(m)).is_dense_tensor(),
    ]


@case
def list_as_cpu(m):
    return m.tensors.TensorListCPU(ragged(m)).as_cpu()


@case
def list_reset(m):
    made = m.tensors.TensorListCPU(ragged(m))
    made.reset()
    return len(made)


@case
def list_of_list(m):
    return m.tensors.TensorListCPU(m.tensors.TensorListCPU(ragged(m), layout="AB"), "CD").layout()


@case
def list_dlpack_device(m):
    made = m.tensors.TensorListCPU(numbers(m))
    return [int(part) for part in made.as_tensor().__dlpack_device__()]


@case
def list_shape_of_one(m):
    return m.tensors.TensorListCPU(numbers(m)).shape()[1]


@case
def list_text(m):
    text = str(m.tensors.TensorListCPU(numbers(m, shape=(2, 2)), layout="W"))
    return ["TensorListCPU" in text, "W" in text]


@case
def list_source_info(m):
    return m.tensors.TensorListCPU(numbers(m)).at(0).shape


@case
def list_property_layout(m):
    made = m.tensors.TensorListCPU(numbers(m), layout="HW")
    return made[0].get_property("layout")


@case
def list_equal_dtypes(m):
    made = m.tensors.TensorListCPU(numbers(m, "uint8"))
    return [made.dtype == m.types.UINT8, made.dtype != m.types.FLOAT, made[0].dtype == made.dtype]


@case
def list_copies_or_shares(m):
    array = numbers(m)
    made = m.tensors.TensorListCPU(array)
    array[1, 0, 0] = 77
    return float(made.at(1)[0, 0])


@case
def names_in_backend(m):
    return [
        m.backend.TensorCPU is m.tensors.TensorCPU,
        m.backend.TensorListCPU is m.tensors.TensorListCPU,
        hasattr(m.backend, "TensorGPU"),
        hasattr(m.backend, "TensorListGPU"),
    ]


# What a pipeline gives.


def output(m, data, **options):
    pipe = m.Pipeline(batch_size=len(data), num_threads=1, device_id=None)
    with pipe:
        pipe.set_outputs(m.fn.external_source(source=[data], **options))
    pipe.build()
    return pipe.run()


@case
def output_kind(m):
    outputs = output(m, numbers(m), layout="HW")
    return [type(outputs).__name__, type(outputs[0]).__name__, len(outputs)]


@each(*DTYPES)
def output_dtype(m, dtype):
    out = output(m, numbers(m, dtype), layout="HW")[0]
    return [out, out.dtype, out.layout(), out.shape()]


@case
def output_ragged(m):
    out = output(m, ragged(m))[0]
    return [out, out.shape(), out.is_dense_tensor(), m.raises(out.as_array)]


@case
def output_as_array(m):
    return output(m, numbers(m))[0].as_array()


@case
def output_as_tensor(m):
    tensor = output(m, numbers(m), layout="HW")[0].as_tensor()
    return [type(tensor).__name__, tensor.layout(), tensor.shape(), m.np.array(tensor)]


@case
def output_through_dlpack(m):
    return m.np.from_dlpack(output(m, numbers(m))[0].as_tensor())


@case
def output_item(m):
    out = output(m, ragged(m))[0]
    return [m.np.array(out[1]), out.at(2), len(out)]


@case
def output_feeds_another_pipeline(m):
    first = output(m, ragged(m), layout="AB")[0]
    pipe = m.Pipeline(batch_size=3, num_threads=1, device_id=None)
    with pipe:
        pipe.set_outputs(m.fn.external_source(name="x"))
    pipe.build()
    pipe.feed_input("x", first)
    return pipe.run()[0]
