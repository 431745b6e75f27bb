"""What programs ask of operators, schemas, types and tensor lists; arguments of older programs."""

import warnings

from . import each
from .checked_programs import fed, run

# Introspection.

LOOKED_AT = {
    "doc_resize": lambda m: "interp_type" in m.fn.resize.__doc__,
    "doc_class": lambda m: "interp_type" in m.ops.Resize.__doc__,
    "doc_call": lambda m: "data" in m.ops.Resize.__call__.__doc__,
    "name": lambda m: [m.fn.resize.__name__, m.fn.readers.file.__name__],
    "module": lambda m: [m.fn.resize.__module__.split(".", 1)[-1].endswith("fn")],
    "qualname": lambda m: m.fn.random.uniform.__qualname__,
    "class_name": lambda m: [m.ops.Resize.__name__, m.ops.readers.File.__name__],
    "schema_name": lambda m: [m.ops.Resize.schema_name, m.ops.readers.File.schema_name],
    "schema": lambda m: type(m.ops.Resize(resize_x=3).schema).__name__,
    "spec": lambda m: type(m.ops.Resize(resize_x=3).spec).__name__,
    "device": lambda m: m.ops.Resize(resize_x=3).device,
    "is_op": lambda m: callable(m.fn.resize) and hasattr(m.fn, "_to_snake_case"),
    "snake": lambda m: [
        m.fn._to_snake_case(n) for n in ("CropMirrorNormalize", "MFCC", "TFRecord", "OneHot")
    ],
    "registry_cpu": lambda m: [
        n in m.ops._registry.cpu_ops() for n in ("Resize", "readers__File", "Nothing")
    ],
    "registry_mixed": lambda m: "decoders__Image" in m.ops._registry.mixed_ops(),
    "registry_gpu": lambda m: isinstance(m.ops._registry.gpu_ops(), set),
    "op_name": lambda m: [m.ops._op_name(n) for n in ("readers__File", "Resize", "MFCC")],
    "get_schema": lambda m: m.backend.GetSchema("Resize").MaxNumInput(),
    "try_schema": lambda m: m.backend.TryGetSchema("Nothing"),
    "schema_arguments": lambda m: [
        "size" in m.backend.GetSchema("Resize").GetArgumentNames(),
        m.backend.GetSchema("Resize").HasArgument("size"),
        m.backend.GetSchema("Resize").IsTensorArgument("size"),
        m.backend.GetSchema("Resize").IsDeprecated(),
        m.backend.GetSchema("Resize").MinNumInput(),
    ],
    "schema_unknown": lambda m: m.backend.GetSchema("Nothing"),
    "version": lambda m: m.dali.__version__.split(".")[0],
    "type_equal": lambda m: [m.types.UINT8 == m.types.DALIDataType.UINT8, m.types.UINT8 == 0],
    "type_int": lambda m: [int(m.types.FLOAT), int(m.types.UINT8), int(m.types.INT64)],
    "type_text": lambda m: [str(m.types.FLOAT), repr(m.types.FLOAT), m.types.FLOAT.name],
    "type_order": lambda m: m.types.FLOAT < m.types.UINT8,
    "type_sum": lambda m: m.types.FLOAT + 1,
    "type_of_number": lambda m: m.types.DALIDataType(0),
    "type_of_wrong_number": lambda m: m.types.DALIDataType(555),
    "type_hash": lambda m: {m.types.FLOAT: 1}[m.types.DALIDataType.FLOAT],
    "type_members": lambda m: sorted(m.types.DALIDataType.__members__)[:8],
    "type_value": lambda m: [m.types.FLOAT.value, m.types.INTERP_CUBIC.value],
    "to_numpy": lambda m: [m.types.to_numpy_type(m.types.FLOAT16).__name__],
    "from_numpy": lambda m: [
        m.types.to_dali_type(m.np.dtype("int16")) if hasattr(m.types, "to_dali_type") else None
    ],
    "scalar_constant": lambda m: [
        type(m.types.Constant(3)).__name__,
        m.types.Constant(3).dtype,
        m.types.Constant(2.5).dtype,
        m.types.Constant(True).dtype,
        m.types.Constant(3, dtype=m.types.INT8).value,
    ],
    "constant_parts": lambda m: [int(m.types.Constant(3)), float(m.types.Constant(2.5))],
    "image_types": lambda m: [int(m.types.RGB), int(m.types.GRAY), str(m.types.YCbCr)],
    "interp": lambda m: [m.types.INTERP_NN, str(m.types.INTERP_LANCZOS3)],
    "pipeline_api": lambda m: str(m.types.PipelineAPIType.BASIC),
    "impl_tensor": lambda m: m.load("backend_impl").TensorCPU is m.tensors.TensorCPU,
    "impl_list": lambda m: m.load("backend").TensorListCPU is m.tensors.TensorListCPU,
    "impl_types": lambda m: m.load("backend_impl").types.DALIDataType is m.types.DALIDataType,
    "data_node": lambda m: m.load("data_node").DataNode.__name__,
    "check": lambda m: m.load("data_node")._check("text"),
    "pipeline_module": lambda m: sorted(
        n
        for n in dir(m.load("pipeline"))
        if n in ("Pipeline", "pipeline_def", "DataNode", "do_not_convert")
    ),
}


ASKED = {
    "BoxEncoder": ["means", "offset", "scale"],
    "readers__File": ["file_filters", "shard_id", "files", "seed"],
    "Slice": ["axes", "axis_names", "start", "fill_values"],
    "Resize": ["size", "interp_type", "resize_x", "antialias", "mode", "device", "nothing"],
    "Rotate": ["angle", "keep_size", "fill_value"],
    "readers__TFRecord": ["features", "index_path"],
    "CropMirrorNormalize": ["mean", "dtype", "output_layout", "crop_pos_x", "output_dtype"],
    "LookupTable": ["keys", "default_value"],
}


@each(*ASKED)
def arguments_of_schemas(m, name):
    schema = m.backend.GetSchema(name)
    questions = (
        "HasArgument HasArgumentDefaultValue GetArgumentDefaultValueString IsDeprecatedArg "
        "IsArgumentOptional IsTensorArgument"
    ).split()
    return [
        [argument, question, m.attempt(lambda: getattr(schema, question)(argument))]
        for argument in ASKED[name]
        for question in questions
    ]


@each(**LOOKED_AT)
def looked_at(m, look):
    return look(m)


# Deprecated arguments still work, with a warning.


def warned(m, function):
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        value = m.attempt(function)
    kinds = {
        one.category.__name__
        for one in seen
        if "dali" in str(one.message).lower() or "arg" in str(one.message)
    }
    return [value, sorted(kinds & {"DeprecationWarning", "UserWarning"})]


def picture(m):
    return fed(m, "uint8")


OLD = {
    "output_dtype": lambda m: m.fn.crop_mirror_normalize(picture(m), output_dtype=m.types.FLOAT),
    "image_type": lambda m: m.fn.crop(picture(m), crop=(2, 2), image_type=m.types.RGB),
    "cmn_image_type": lambda m: m.fn.crop_mirror_normalize(picture(m), image_type=m.types.RGB),
    "resize_image_type": lambda m: m.fn.resize(picture(m), size=[2, 2], image_type=m.types.RGB),
    "seed": lambda m: m.fn.flip(picture(m), seed=3),
    "preserve": lambda m: m.fn.flip(picture(m), preserve=True),
    "bytes_hint": lambda m: m.fn.flip(picture(m), bytes_per_sample_hint=[100]),
    "coin_flip": lambda m: m.fn.coin_flip(probability=1.0),
    "uniform": lambda m: m.fn.uniform(range=[3.0, 3.5]) < 4,
    "normal_distribution": lambda m: m.fn.normal_distribution(mean=3.0, stddev=0.0),
    "pad_output": lambda m: m.fn.crop_mirror_normalize(picture(m), pad_output=True),
    "interp": lambda m: m.fn.warp_affine(
        picture(m), matrix=[1.0, 0, 0, 0, 1, 0], output_dtype=m.types.FLOAT
    ),
    "squeeze": lambda m: m.fn.reinterpret(picture(m), rel_shape=[1, 1, 1]),
    "color_twist": lambda m: m.fn.color_twist(picture(m), brightness=0.5, image_type=m.types.RGB),
    "dump": lambda m: m.fn.random.uniform(range=(1, 1.0001), dtype=m.types.INT32),
}


@each(**OLD)
def old_arguments(m, make):
    return warned(m, lambda: run(m, lambda: make(m))[0][0].as_array())


# Tensor lists as tests make and take them.

LISTS = {
    "shape_of": lambda m, t: [t(m.np.zeros((2, 3), "uint8")).shape(), len(t(m.np.zeros((2, 3))))],
    "layout": lambda m, t: t(m.np.zeros((2, 3, 4), "uint8"), layout="HW").layout(),
    "layout_wrong": lambda m, t: t(m.np.zeros((2, 3, 4), "uint8"), layout="HWC"),
    "of_list": lambda m, t: t([m.np.zeros((2, i)) for i in range(3)]).shape(),
    "of_tensors": lambda m, t: t([m.tensors.TensorCPU(m.np.ones((2, i + 1))) for i in range(2)]).at(
        1
    ),
    "layout_of_tensors": lambda m, t: t(
        [m.tensors.TensorCPU(m.np.ones((2, 2)), "HW") for _ in range(2)]
    ).layout(),
    "layouts_differ": lambda m, t: t(
        [m.tensors.TensorCPU(m.np.ones((2, 2)), one) for one in ("HW", "AB")]
    ).layout(),
    "layout_of_the_first": lambda m, t: t(
        [m.tensors.TensorCPU(m.np.ones((2, 2)), one) for one in ("HW", "")]
    ).layout(),
    "layout_of_the_second": lambda m, t: t(
        [m.tensors.TensorCPU(m.np.ones((2, 2)), one) for one in ("", "HW")]
    ).layout(),
    "layout_beside_others": lambda m, t: t(
        [m.tensors.TensorCPU(m.np.ones((2, 2)), one) for one in ("HW", "AB")], layout="CD"
    ).layout(),
    "types_differ": lambda m, t: t([m.np.zeros(2, "uint8"), m.np.zeros(2, "int32")]),
    "ranks_differ": lambda m, t: t([m.np.zeros(2), m.np.zeros((2, 2))]),
    "nothing": lambda m, t: [len(t([])), t([]).shape()],
    "as_array_ragged": lambda m, t: t([m.np.zeros(2), m.np.zeros(3)]).as_array(),
    "as_tensor": lambda m, t: t(m.np.arange(6, dtype="int32").reshape(2, 3)).as_tensor().shape(),
    "dtype": lambda m, t: [t(m.np.zeros(2, n)).dtype for n in ("uint8", "float16", "bool")],
    "numpy": lambda m, t: m.np.array(t(m.np.arange(4.0)).as_tensor()),
    "numpy_of_list": lambda m, t: m.np.array(t(m.np.arange(4.0))[2]),
    "text": lambda m, t: str(t(m.np.arange(4, dtype="uint8"))),
    "representation": lambda m, t: repr(t([m.np.zeros((1, 2), "int32")] * 2, "HW")),
    "copy": lambda m, t: t(t(m.np.arange(4, dtype="uint8"))).as_array(),
    "slice": lambda m, t: t(m.np.arange(4))[1:3],
    "strided": lambda m, t: t(m.np.arange(8).reshape(2, 4)[:, ::2]).as_array(),
    "is_dense": lambda m, t: [
        t([m.np.zeros(2), m.np.zeros(3)]).is_dense_tensor(),
        t([m.np.zeros(2), m.np.zeros(2)]).is_dense_tensor(),
    ],
    "data_ptr": lambda m, t: isinstance(t(m.np.arange(8)).data_ptr(), int),
    "device_id": lambda m, t: t(m.np.arange(8)).device_id(),
    "dlpack": lambda m, t: m.np.from_dlpack(t(m.np.arange(8)).as_tensor()),
    "source_info": lambda m, t: t(m.np.arange(8))[0].source_info(),
    "tensor_parts": lambda m, t: [
        m.tensors.TensorCPU(m.np.arange(6).reshape(2, 3)).shape(),
        (
            m.tensors.TensorCPU(m.np.arange(6).reshape(2, 3)).strides
            if hasattr(m.tensors.TensorCPU, "strides")
            else None
        ),
        m.tensors.TensorCPU(m.np.zeros((2, 1, 3))).squeeze(),
        m.tensors.TensorCPU(m.np.zeros((2, 1, 3))).dtype,
    ],
    "tensor_index": lambda m, t: m.tensors.TensorCPU(m.np.arange(6))[2],
    "tensor_length": lambda m, t: len(m.tensors.TensorCPU(m.np.arange(6))),
    "tensor_item": lambda m, t: m.tensors.TensorCPU(m.np.arange(6)).item(),
    "tensor_text": lambda m, t: str(m.tensors.TensorCPU(m.np.arange(3, dtype="int32"))),
}


@each(**LISTS)
def made_lists(m, make):
    return make(m, m.tensors.TensorListCPU)
