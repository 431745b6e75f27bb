"""Types, constants, enumerations: names and values."""

from . import case, each

DTYPES = (
    "UINT8 UINT16 UINT32 UINT64 INT8 INT16 INT32 INT64 FLOAT16 FLOAT FLOAT64 BOOL STRING "
    "NO_TYPE IMAGE_TYPE DATA_TYPE INTERP_TYPE TENSOR_LAYOUT PYTHON_OBJECT FEATURE"
).split()
NUMBERS = DTYPES[:12]
IMAGES = "RGB BGR GRAY YCbCr ANY_DATA".split()
INTERPOLATIONS = (
    "INTERP_NN INTERP_LINEAR INTERP_CUBIC INTERP_LANCZOS3 INTERP_TRIANGULAR INTERP_GAUSSIAN"
).split()


@each(*DTYPES)
def dtype(m, name):
    one = getattr(m.types.DALIDataType, name)
    return [int(one), one.name, str(one), repr(one), one.value, getattr(m.types, name) == one]


@each(*IMAGES)
def image_type(m, name):
    one = getattr(m.types.DALIImageType, name)
    return [int(one), one.name, str(one), repr(one), getattr(m.types, name) == one]


@each(*INTERPOLATIONS)
def interpolation(m, name):
    one = getattr(m.types.DALIInterpType, name)
    return [int(one), one.name, str(one), repr(one), getattr(m.types, name) == one]


@each(*NUMBERS)
def to_numpy(m, name):
    return m.np.dtype(m.types.to_numpy_type(getattr(m.types, name))).name


@each(*"bool_ uint8 uint16 uint32 uint64 int8 int16 int32 int64 float16 float32 float64".split())
def from_numpy(m, name):
    return m.types.to_dali_type(m.np.dtype(name.rstrip("_")))


@case
def to_numpy_of_no_number(m):
    return m.types.to_numpy_type(m.types.STRING)


@case
def from_numpy_of_text(m):
    return m.types.to_dali_type(m.np.dtype("complex64"))


@each(*range(0, 12))
def dtype_of_number(m, number):
    return m.types.DALIDataType(number)


@case
def dtype_of_unknown_number(m):
    return str(m.types.DALIDataType(1234))


@case
def dtypes_compare_by_identity(m):
    t = m.types
    return [t.FLOAT == t.FLOAT, t.FLOAT != t.INT32, t.FLOAT == t.DALIDataType.FLOAT, t.FLOAT == 9]


@case
def dtypes_are_hashable(m):
    return {m.types.FLOAT: 1, m.types.DALIDataType.INT32: 2}[m.types.INT32]


@case
def dtype_members(m):
    members = m.types.DALIDataType.__members__
    return sorted(name for name in members if not name.startswith("_"))


@case
def dtype_without_a_name(m):
    return m.types.DALIDataType.FLOAT128


@each(*"NCHW NHWC NFCHW".split())
def old_layout(m, name):
    return str(getattr(m.types, name))


@each(*"BASIC ITERATOR SCHEDULED".split())
def api_type(m, name):
    return getattr(m.types.PipelineAPIType, name).value


@each(*"FILL DROP PARTIAL".split())
def last_batch_policy(m, name):
    policy = getattr(m.load("plugin.base_iterator").LastBatchPolicy, name)
    return [policy.name, policy.value]


@case
def last_batch_policy_of_pytorch_is_the_same(m):
    return (
        m.load("plugin.pytorch").LastBatchPolicy is m.load("plugin.base_iterator").LastBatchPolicy
    )


@case
def sample_info(m):
    info = m.types.SampleInfo(5, 1, 2, 3)
    return [info.idx_in_epoch, info.idx_in_batch, info.iteration, info.epoch_idx]


@case
def batch_info(m):
    info = m.types.BatchInfo(4, 7)
    return [info.iteration, info.epoch_idx]


@each(one=1, half=0.5, yes=True)
def constant_dtype(m, value):
    constant = m.types.Constant(value)
    return [constant.dtype, constant.value, constant.shape]


@each("int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "float32", "float64", "bool")
def constant_conversion(m, name):
    made = getattr(m.types.Constant(3), name)()
    return [made.dtype, made.value]


@case
def constant_as_number(m):
    c = m.types.Constant(3)
    return [int(c), c == 3, c != 3, float(m.types.Constant(0.5)), bool(m.types.Constant(False))]


@case
def constant_as_a_number_of_another_type(m):
    return float(m.types.Constant(3))


@case
def constant_with_dtype(m):
    c = m.types.Constant(3.7, m.types.INT32)
    return [c.dtype, c.value]


@case
def constant_of_a_constant(m):
    return m.types.ScalarConstant(m.types.Constant(1)).value


@case
def constant_of_text(m):
    return m.types.ScalarConstant("a")


@case
def constant_of_a_list(m):
    return m.types.ScalarConstant([1, 2])


@case
def constant_with_a_wrong_dtype(m):
    return m.types.ScalarConstant(1, m.types.STRING)


@each(uint8_300=(300, "UINT8"), int8_minus=(-129, "INT8"), uint16=(-1, "UINT16"))
def constant_out_of_range(m, what):
    return m.types.Constant(what[0], getattr(m.types, what[1])).value


@each("Pipeline", "pipeline_def", "fn", "ops", "types", "math", "backend", "newaxis", "__version__")
def top_level(m, name):
    return hasattr(m.dali, name)


@each(
    "pipeline",
    "data_node",
    "tensors",
    "external_source",
    "auto_aug",
    "auto_aug.auto_augment",
    "auto_aug.rand_augment",
    "auto_aug.trivial_augment",
    "auto_aug.augmentations",
    "fn.readers",
    "fn.decoders",
    "fn.random",
    "fn.noise",
    "fn.reductions",
    "fn.transforms",
    "fn.experimental",
    "ops.readers",
    "ops.decoders",
    "ops.random",
    "ops.transforms",
    "pipeline.experimental",
    "plugin",
    "plugin.base_iterator",
    "plugin.pytorch",
    "plugin.triton",
)
def module_is_there(m, name):
    return m.load(name).__name__.split(".", m.root.count(".") + 1)[-1]


@case
def unknown_operator(m):
    return m.fn.no_such_operator


@case
def unknown_operator_class(m):
    return m.ops.NoSuchOperator


@case
def unknown_submodule(m):
    return m.raises(lambda: m.load("no_such_module"))


@case
def newaxis_with_a_name(m):
    return m.dali.newaxis("C").name


@each(two="AB", number=3)
def newaxis_with_a_wrong_name(m, name):
    return m.dali.newaxis(name)


@each(
    all="abs acos acosh asin asinh atan atan2 atanh cbrt ceil clamp cos cosh exp floor fpow log "
    "log10 log2 max min pow rsqrt sin sinh sqrt tan tanh".split()
)
def math_names(m, names):
    return [hasattr(m.math, name) for name in names]


@each("sqrt", "max", "clamp")
def math_outside_of_a_pipeline(m, name):
    return getattr(m.math, name)(*([3.0] * {"sqrt": 1, "max": 2, "clamp": 3}[name]))


@case
def operator_outside_of_a_pipeline(m):
    return type(m.fn.random.uniform(range=(0.0, 1.0))).__name__


@each("resize", "crop_mirror_normalize", "readers.file", "random.uniform", "external_source")
def operator_has_a_docstring(m, name):
    value = m.fn
    for part in name.split("."):
        value = getattr(value, part)
    return len(value.__doc__ or "") > 40


@each("Resize", "CropMirrorNormalize", "FileReader", "CoinFlip", "Uniform", "ImageDecoder", "Cast")
def class_is_there(m, name):
    return isinstance(getattr(m.ops, name), type)


@each("SampleInfo", "BatchInfo")
def infos_are_told_apart(m, name):
    """By identity: they may be keys, and are equal to themselves alone."""
    numbers = range({"SampleInfo": 4, "BatchInfo": 2}[name])
    one, other = (getattr(m.types, name)(*numbers) for _ in range(2))
    return [one == one, one == other, len({one, other})]


@case
def functions_that_are_pickled_by_value(m):
    def three():
        return 3

    return m.load("pickling").pickle_by_value(fun=three)()


@each("Resize", "readers__File", "Cat", "CropMirrorNormalize", "experimental__ImageDecoder")
def schema(m, name):
    one = m.backend.GetSchema(name)
    said = [one.Name(), one.OperatorName(), one.ModulePath(), one.IsDeprecated()]
    names = one.GetArgumentNames()
    has = [one.HasArgument(names[0]), one.HasArgument("nope"), one.IsArgumentOptional("nope")]
    optional = {name: one.IsArgumentOptional(name) for name in names}
    return said + has + [one.MinNumInput(), one.MaxNumInput(), names, optional]


@case
def schema_that_there_is_not(m):
    backend = m.backend
    return [backend.TryGetSchema("Nope"), m.raises(lambda: backend.GetSchema("Nope"))]


@case
def layout_as_an_object(m):
    one = m.types.TensorLayout("HWC")
    return [repr(one), str(one), len(one), one == "HWC", one == m.types.TensorLayout("HWC")]


@case
def settings_under_both_names(m):
    other = m.load("backend_impl")
    before = m.backend.GetHostBufferGrowthFactor()
    other.SetHostBufferGrowthFactor(1.5)
    found = [m.backend.GetHostBufferGrowthFactor(), other.GetCUDADeviceCount()]
    other.SetHostBufferGrowthFactor(before)
    return found
