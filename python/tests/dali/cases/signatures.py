"""What `inspect.signature` says of operators, classes and helpers.

Of operators a digest each: their texts are long.
"""

import hashlib
import inspect
import json
from pathlib import Path

from . import each

NAMES = json.loads((Path(__file__).parents[3] / "galatea" / "dali" / "names.json").read_text())


def digest(text):
    return hashlib.sha256(text.encode()).hexdigest()[:8]


def at(root, path):
    for part in path.split("."):
        root = getattr(root, part, None)
    return root


def plainly(function):
    """Names, kinds and defaults of the parameters; types are each library's own."""
    found = inspect.signature(function).parameters.values()
    return ", ".join(str(one.replace(annotation=one.empty)) for one in found)


@each(*sorted({path[0] for path in NAMES["functions"]}))
def functions(m, letter):
    found = {path: at(m.fn, path) for path in NAMES["functions"] if path[0] == letter}
    return {
        path: [digest(str(inspect.signature(one))), one.__name__, one.__qualname__]
        for path, one in found.items()
    }


@each("__init__", "__call__")
def classes(m, method):
    found = {path: at(m.ops, path) for path in NAMES["classes"]}
    return {
        path: digest(str(inspect.signature(getattr(one, method)))) for path, one in found.items()
    }


@each(*"resize crop cast cat random.uniform reductions.mean transforms.scale".split())
def functions_of_dynamic_mode(m, path):
    return plainly(at(m.load("experimental.dynamic"), path))


@each(*"File Numpy COCO Webdataset".split())
def readers_of_dynamic_mode(m, name):
    return plainly(getattr(m.load("experimental.dynamic").readers, name).__init__)


HELPERS = {
    "pipeline_def": ("", "pipeline_def"),
    "constant": ("types", "Constant"),
    "constant_node": ("types", "ConstantNode"),
    "scalar": ("types", "ScalarConstant"),
    "to_numpy": ("types", "to_numpy_type"),
    "to_dali": ("types", "to_dali_type"),
    "sample_info": ("types", "SampleInfo"),
    "batch_info": ("types", "BatchInfo"),
    "clamp": ("math", "clamp"),
    "atan2": ("math", "atan2"),
    "compose": ("ops", "Compose"),
    "auto_augment": ("auto_aug.auto_augment", "auto_augment"),
    "apply_auto_augment": ("auto_aug.auto_augment", "apply_auto_augment"),
    "image_net": ("auto_aug.auto_augment", "auto_augment_image_net"),
    "rand_augment": ("auto_aug.rand_augment", "rand_augment"),
    "apply_rand_augment": ("auto_aug.rand_augment", "apply_rand_augment"),
    "trivial": ("auto_aug.trivial_augment", "trivial_augment_wide"),
    "shear": ("auto_aug.augmentations", "shear_x"),
    "torch_iterator": ("plugin.pytorch", "DALIGenericIterator"),
    "torch_classes": ("plugin.pytorch", "DALIClassificationIterator"),
    "torch_ragged": ("plugin.pytorch", "DALIRaggedIterator"),
    "torch_feed": ("plugin.pytorch", "feed_ndarray"),
    "jax_iterator": ("plugin.jax", "DALIGenericIterator"),
    "jax_decorator": ("plugin.jax", "data_iterator"),
    "jax_peekable": ("plugin.jax.clu", "DALIGenericPeekableIterator"),
    "jax_peekable_decorator": ("plugin.jax.clu", "peekable_data_iterator"),
    "jax_function": ("plugin.jax.fn", "jax_function"),
    "paddle_iterator": ("plugin.paddle", "DALIGenericIterator"),
    "paddle_classes": ("plugin.paddle", "DALIClassificationIterator"),
    "paddle_feed": ("plugin.paddle", "feed_ndarray"),
    "paddle_lod": ("plugin.paddle", "lod_tensor_clip"),
    "torch_function": ("plugin.pytorch", "TorchPythonFunction"),
    "torch_type": ("plugin.pytorch", "to_torch_type"),
    "numba": ("plugin.numba", "NumbaFunction"),
    "numba_function": ("plugin.numba.fn.experimental", "numba_function"),
    "triton": ("plugin.triton", "autoserialize"),
    "server": ("plugin.pytorch.experimental.proxy", "DALIServer"),
    "loader": ("plugin.pytorch.experimental.proxy", "DataLoader"),
    "base": ("plugin.base_iterator", "_DaliBaseIterator"),
    "pickle": ("pickling", "pickle_by_value"),
    "newaxis": ("data_node", "newaxis"),
    "data_node": ("data_node", "DataNode"),
}


@each(**HELPERS)
def helper(m, place):
    module, name = place
    return plainly(getattr(m.load(module) if module else m.dali, name))


@each(
    *"__init__ build run feed_input schedule_run share_outputs release_outputs outputs set_outputs "
    "reset empty epoch_size reader_meta serialize deserialize checkpoint save_graph_to_dot_file "
    "add_sink define_graph iter_setup executor_statistics output_dtype output_ndim output_stream "
    "input_feed_count external_source_shm_statistics start_py_workers current push_current".split()
)
def method_of_a_pipeline(m, name):
    return plainly(getattr(m.Pipeline, name))


@each("outputs", "copy", "sum")
def node_of_no_operator(m, use):
    node = m.data_node.DataNode("x", "cpu")
    if use != "outputs":
        with m.Pipeline(batch_size=1, num_threads=1, device_id=None) as pipe:
            node = m.fn.copy(node) if use == "copy" else node + 1
    pipe = m.Pipeline(batch_size=1, num_threads=1, device_id=None)
    pipe.set_outputs(node)
    pipe.build()
    return m.plain(pipe.run())


@each(**{"cpu": ("cpu",), "gpu": ("gpu", None, 3), "typed": ("gpu", None, 0, 2, 3, "HW")})
def parts_of_a_node(m, arguments):
    node = m.data_node.DataNode("x", *arguments)
    return [node.name, node.device, node.source, node.index, node.ndim, node.dtype, node.layout]


@each("file", "sum", "split", "named")
def source_of_a_node(m, kind):
    with m.Pipeline(batch_size=1, num_threads=1, device_id=None):
        x = m.fn.external_source(name="x")
        if kind == "file":
            nodes = m.fn.readers.file(files=["a"], name="reader")
        elif kind == "sum":
            nodes = [x + 1]
        elif kind == "split":
            nodes = m.fn.nonsilent_region(x, name="quiet")
        else:
            nodes = [m.fn.resize(x, size=3, name="small")]
        source = nodes[0].source
        names = [one.name for one in nodes] if kind != "sum" else []
        indices = [one.index for one in nodes]
        return [names, indices, len(source.outputs), len(source.inputs)]


@each("cpu", "gpu", "mixed")
def names_of_operators(m, device):
    found = getattr(m.ops, f"{device}_ops")()
    wanted = {"Resize", "Cast", "readers__File", "random__Uniform", "decoders__Image"}
    return [type(found).__name__, sorted(wanted & found), "Nothing" in found]


FACTORS = ("HostBufferGrowthFactor", "DeviceBufferGrowthFactor", "HostBufferShrinkThreshold")


@each(*[f"{name} {value}" for name in FACTORS for value in (0.25, 1, 1.5, 4.5, -1, "text")])
def memory_setting(m, which):
    name, text = which.split(" ")
    value = text if text == "text" else float(text)
    return [getattr(m.backend, f"Set{name}")(value), getattr(m.backend, f"Get{name}")()]


@each(1, 2, 5)
def growth_of_both(m, factor):
    m.backend.SetBufferGrowthFactor(factor)
    return [m.backend.GetHostBufferGrowthFactor(), m.backend.GetDeviceBufferGrowthFactor()]


@each("ReleaseUnusedMemory", "GetCUDADeviceCount", "IsDriverInitialized")
def backend_function(m, name):
    return getattr(m.backend, name)()
