"""Writes the names of nvidia.dali as data: galatea/dali/names.json.

python python/tools/dali_names.py OUT     (with nvidia-dali installed)
"""

import ast
import importlib
import inspect
import itertools
import json
import sys
import types as python_types
from pathlib import Path

import nvidia.dali as dali
import nvidia.dali.backend as backend
from nvidia.dali import fn, ops

SKIP = ("_",)
MODULES = (
    "types math pipeline data_node tensors backend external_source tfrecord auto_aug "
    "auto_aug.auto_augment auto_aug.rand_augment auto_aug.trivial_augment auto_aug.augmentations "
    "auto_aug.core plugin plugin.base_iterator plugin.triton plugin_manager sysconfig "
    "experimental experimental.eager experimental.dynamic"
).split()
# Modules that import a framework, or hold operators: their names are read from the source.
SOURCES = {
    "plugin.pytorch": "DALIGenericIterator DALIClassificationIterator DALIRaggedIterator "
    "LastBatchPolicy Pipeline TensorCPU TensorGPU TensorListGPU TorchPythonFunction experimental "
    "feed_ndarray fn to_torch_type",
    "plugin.pytorch.experimental.proxy": "DALIServer DataLoader to_torch_tensor",
    "plugin.pytorch.loader_evaluator": "LoaderEvaluator",
    "plugin.jax": "DALIGenericIterator data_iterator fn",
    "plugin.jax.clu": "DALIGenericPeekableIterator peekable_data_iterator get_spec_for_array",
    "plugin.tf": "DALIDataset DALIIterator DALIIteratorWrapper DALIRawIterator experimental "
    "dataset_compatible_tensorflow dataset_distributed_compatible_tensorflow "
    "dataset_inputs_compatible_tensorflow serialize_pipeline",
    "plugin.paddle": "DALIGenericIterator DALIClassificationIterator LastBatchPolicy dtype_map "
    "feed_ndarray lod_tensor_clip recursive_length to_paddle_type",
    "plugin.numba": "NumbaFunction Pipeline address_as_void_pointer experimental fn "
    "minimal_numba_version",
    # Beside operators: of the registry of operators, and of conditions.
    "ops": "Reload cpu_ops gpu_ops mixed_ops python_op_factory register_cpu_op register_gpu_op",
    "fn._conditional": "not_ validate_logical",
}

# Operators whose members are looked at: those of all others are Resize's.
CLASSES = ("Resize", "PythonFunction", "DLTensorPythonFunction", "ExternalSource")

# Deprecated, without another name, and not without effect.
IN_EFFECT = ("masks",)


def is_public(name):
    return not name.startswith(SKIP)


def functions(module, prefix=""):
    for name in sorted(filter(is_public, dir(module))):
        value = getattr(module, name)
        if isinstance(value, python_types.ModuleType):
            if value.__name__.startswith("nvidia.dali.fn."):
                yield from functions(value, f"{prefix}{name}.")
        elif callable(value) and getattr(value, "_schema_name", None) or name == "external_source":
            yield prefix + name, getattr(value, "_schema_name", "ExternalSource")


def classes(module, prefix=""):
    for name in sorted(filter(is_public, dir(module))):
        value = getattr(module, name)
        if isinstance(value, python_types.ModuleType):
            if value.__name__.startswith("nvidia.dali.ops."):
                yield from classes(value, f"{prefix}{name}.")
        elif inspect.isclass(value) and value.__module__.startswith("nvidia.dali"):
            yield prefix + name


def members(modules):
    """{class: its public members}, each class under the first module that names it."""
    found, seen = {}, set()
    for module, names in modules.items():
        try:
            loaded = importlib.import_module(f"nvidia.dali.{module}".rstrip("."))
        except ImportError as error:  # of a framework that is not installed
            print(module, error, file=sys.stderr)
            continue
        for name in names:
            value = getattr(loaded, name, None)
            is_ours = inspect.isclass(value) and value.__module__.startswith("nvidia.dali")
            if is_ours and value not in seen:
                seen.add(value)
                found[f"{module}.{name}".lstrip(".")] = sorted(filter(is_public, dir(value)))
    return {name: one for name, one in found.items() if one}


def arguments(schema_name):
    try:
        schema = backend.GetSchema(schema_name)
    except Exception as error:
        print(schema_name, error, file=sys.stderr)
        return None
    found = list(schema.GetArgumentNames())
    if schema.AllowsInstanceName() if hasattr(schema, "AllowsInstanceName") else True:
        found.append("name")
    return sorted(set(found) | {"device"})


def deprecated(schemas):
    """{"functions": {name: name of today}, "arguments": {name: {argument: name of today, or ""}}}."""
    found = {"functions": {}, "arguments": {}}
    known = {name: backend.TryGetSchema(schema) for name, schema in schemas.items()}
    every = {one for s in known.values() if s for one in s.GetArgumentNames()}
    every |= {"output_dtype", "image_type", "output_type", "seed", "interp_type", "axes"}
    for name, schema in known.items():
        if schema is None:
            continue
        if schema.IsDeprecated():
            found["functions"][name] = schema.DeprecatedInFavorOf()
        old = sorted(a for a in every if schema.HasArgument(a) and schema.IsDeprecatedArg(a))
        if old:
            info = {a: schema.DeprecatedArgInfo(a) for a in old if a not in IN_EFFECT}
            found["arguments"][name] = {a: one.get("renamed_to") or "" for a, one in info.items()}
    paths = {schema: name for name, schema in schemas.items()}
    found["functions"] = {a: paths.get(b, b) for a, b in found["functions"].items()}
    return found


def module_names():
    """Names of all modules in the package, without their bodies being run; a name may come twice."""
    root = Path(dali.__file__).parent
    for path in sorted(root.rglob("*.py")):
        parts = path.relative_to(root).with_suffix("").parts
        name = ".".join(parts[:-1] if parts[-1] == "__init__" else parts)
        if name:
            yield name
            yield from map(".".join, itertools.accumulate([part] for part in name.split(".")[:-1]))
    yield "backend_impl"
    for name in list(sys.modules):  # those that DALI makes while it is imported
        if name.startswith("nvidia.dali."):
            yield name[len("nvidia.dali.") :]


def names_in(body):
    """Names that statements bind, those of imports among them."""
    for one in body:
        if isinstance(one, (ast.Import, ast.ImportFrom)):
            yield from ((alias.asname or alias.name).split(".")[0] for alias in one.names)
        elif isinstance(one, (ast.FunctionDef, ast.ClassDef)):
            yield one.name
        elif isinstance(one, ast.Assign):
            yield from (target.id for target in one.targets if isinstance(target, ast.Name))
        else:
            for field in ("body", "orelse", "handlers", "finalbody"):
                yield from names_in(getattr(one, field, ()))


def internals(modules, public):
    """{module that galatea has: names there that are not public, or that it imports}."""
    theirs = Path(dali.__file__).parent
    ours = Path(__file__).parents[1] / "galatea" / "dali"
    for name in modules:
        path = name.replace(".", "/")
        if not any((ours / file).exists() for file in (f"{path}.py", f"{path}/__init__.py")):
            continue
        try:
            found = dir(importlib.import_module(f"nvidia.dali.{name}"))
        except ImportError:  # of a framework that is not installed
            file = theirs / f"{path}.py"
            file = file if file.exists() else theirs / path / "__init__.py"
            found = names_in(ast.parse(file.read_text()).body)
        rest = {one for one in found if not one.startswith("__") and one != "*"}
        if rest := sorted(rest - set(public.get(name, ()))):
            yield name, rest


def main():
    snake = fn._to_snake_case
    found_functions = {name: arguments(schema) for name, schema in functions(fn)}
    found_classes = {}
    for name in classes(ops):
        *path, last = name.split(".")
        found_classes[name] = ".".join([*path, snake(last)])
    modules = {"": sorted(filter(is_public, dir(dali)))}
    for name in MODULES:
        try:
            module = importlib.import_module(f"nvidia.dali.{name}")
        except ImportError as error:
            print(name, error, file=sys.stderr)
            continue
        modules[name] = sorted(filter(is_public, dir(module)))
    for name, text in SOURCES.items():
        modules[name] = sorted(text.split())
    all_modules = sorted(set(module_names()))
    document = {
        "version": dali.__version__,
        "functions": found_functions,
        "classes": found_classes,
        "modules": modules,
        "members": members({**modules, "ops": [*CLASSES, *modules["ops"]]}),
        "deprecated": deprecated(dict(functions(fn))),
        "all_modules": all_modules,
        "internals": dict(internals(all_modules, modules)),
    }
    with open(sys.argv[1], "w") as file:
        file.write("{\n")
        for number, (key, value) in enumerate(document.items()):
            end = ",\n" if number < len(document) - 1 else "\n"
            if isinstance(value, dict):
                lines = ",\n".join(f"{json.dumps(k)}: {json.dumps(v)}" for k, v in value.items())
                file.write(f"{json.dumps(key)}: {{\n{lines}\n}}{end}")
            else:
                file.write(f"{json.dumps(key)}: {json.dumps(value)}{end}")
        file.write("}\n")


if __name__ == "__main__":
    main()
