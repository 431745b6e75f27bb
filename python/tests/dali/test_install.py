"""Scripts that import nvidia.dali."""

import importlib
import subprocess
import sys
import textwrap

import pytest

from galatea.dali import fn, names, ops, pipeline_def, types

MINUTES = 120


def run(*arguments):
    return subprocess.run(
        [sys.executable, *arguments], capture_output=True, text=True, timeout=MINUTES
    )


SCRIPT = """
import sys
import nvidia.dali as dali
import nvidia.dali.fn as fn
import nvidia.dali.ops.readers
from nvidia.dali import pipeline_def, types
from nvidia.dali.pipeline import Pipeline
from nvidia.dali.plugin.base_iterator import LastBatchPolicy
from nvidia.dali.fn.random import uniform
import numpy as np

@pipeline_def(batch_size=2, num_threads=1, device_id=None)
def body():
    return fn.external_source(source=[np.ones((2, 3), np.uint8)]) + 1

assert dali.Pipeline is Pipeline
print(__name__, sys.argv[1:], body().run()[0].as_array().tolist())
"""


def test_a_script_runs(tmp_path):
    script = tmp_path / "script.py"
    script.write_text(SCRIPT)
    done = run("-m", "galatea.dali", str(script), "--epochs", "3")
    assert done.returncode == 0, done.stderr
    assert done.stdout == "__main__ ['--epochs', '3'] [[2, 2, 2], [2, 2, 2]]\n"


GETTING_STARTED = """
import sys
import numpy as np
from nvidia.dali import pipeline_def
import nvidia.dali.fn as fn
import nvidia.dali.types as types

image_dir = sys.argv[1]
max_batch_size = 8


def show_images(batch):
    shown = [batch.at(i) for i in range(max_batch_size)]
    print(all(one.ndim == 3 and one.dtype == np.uint8 and one.any() for one in shown))


@pipeline_def
def simple_pipeline():
    jpegs, labels = fn.readers.file(file_root=image_dir)
    images = fn.decoders.image(jpegs, device="cpu")
    return images, labels


@pipeline_def
def random_rotated_gpu_pipeline():
    jpegs, labels = fn.readers.file(file_root=image_dir, random_shuffle=True, initial_fill=21)
    images = fn.decoders.image(jpegs, device="mixed", output_type=types.RGB)
    angle = fn.random.uniform(range=(-10.0, 10.0))
    rotated_images = fn.rotate(images.gpu(), angle=angle, fill_value=0)
    return rotated_images, labels


pipe = simple_pipeline(batch_size=max_batch_size, num_threads=1, device_id=0)
pipe.build()
images, labels = pipe.run()
print(repr(images).split("(")[0], images.is_dense_tensor(), labels.is_dense_tensor())
print(labels.as_tensor().shape(), np.array(labels.as_tensor()).flatten().tolist())
show_images(images)

pipe = random_rotated_gpu_pipeline(batch_size=8, num_threads=2, device_id=0, seed=1234)
pipe.build()
images, labels = pipe.run()
show_images(images.as_cpu())
"""


def test_the_steps_of_a_first_script(tmp_path, data):
    script = tmp_path / "script.py"
    script.write_text(GETTING_STARTED)
    done = run("-m", "galatea.dali", str(script), data)
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert lines[0] == "TensorListCPU False True"
    assert lines[1] == "[8, 1] [0, 0, 0, 0, 0, 0, 1, 1]" and lines[2:] == ["True", "True"]


def test_install_in_a_program():
    program = textwrap.dedent("""
        import galatea.dali
        galatea.dali.install()
        galatea.dali.install()
        import nvidia.dali.types as types
        assert types is galatea.dali.types
        try:
            import nvidia.dali.nothing
        except ModuleNotFoundError as error:
            assert error.name == "nvidia.dali.nothing", error
        else:
            raise AssertionError("found")
        """)
    done = run("-c", program)
    assert done.returncode == 0, done.stderr


def test_a_missing_script_is_told(tmp_path):
    done = run("-m", "galatea.dali", str(tmp_path / "none.py"))
    assert done.returncode == 2 and "there is no file" in done.stderr


def test_what_is_not_there_is_named():
    for path, arguments in names.document()["functions"].items():
        value = fn
        for part in path.split("."):
            value = getattr(value, part)
        assert callable(value), path
    for path in names.document()["classes"]:
        value = ops
        for part in path.split("."):
            value = getattr(value, part)
        assert isinstance(value, type), path
    with pytest.raises(NotImplementedError, match="nvidia.dali.fn.optical_flow"):
        fn.optical_flow()
    with pytest.raises(RuntimeError, match="fn._conditional.split is called outside of a pipeline"):
        fn._conditional.split([], predicate=True)


def _public(module, name):
    """`module.name` as programs get it: None where using it is what raises."""
    try:
        return getattr(importlib.import_module(f"galatea.dali.{module}".rstrip(".")), name)
    except NotImplementedError:
        return None
    except ImportError as error:
        pytest.skip(f"{error.name} is not installed")


@pytest.mark.parametrize("module", sorted(names.document()["modules"]))
def test_every_name_of_a_module_is_there_or_says_why_not(module):
    wanted = set(names.document()["modules"][module])
    absent = {name for name in wanted if _is_absent(module, name)}
    assert not absent


@pytest.mark.parametrize("module", sorted(names.document()["internals"]))
def test_every_internal_name_of_a_module_is_there_or_says_why_not(module):
    wanted = set(names.document()["internals"][module])
    absent = {name for name in wanted if _is_absent(module, name)}
    assert not absent


def test_every_module_can_be_imported():
    absent = set()
    for module in names.document()["all_modules"]:
        try:
            importlib.import_module(f"galatea.dali.{module}")
        except ImportError as error:
            if not error.name or error.name.startswith("galatea"):  # else a framework's
                absent.add(f"{module}: {error}")
    assert not absent


def _is_absent(module, name):
    try:
        _public(module, name)
    except AttributeError:
        return True
    return False


@pytest.mark.parametrize("path", sorted(names.document()["members"]))
def test_every_member_of_a_class_is_there_or_says_why_not(path):
    module, _, name = path.rpartition(".")
    one = _public(module, name)
    absent = set()
    for member in names.document()["members"][path]:
        try:
            getattr(one, member)
        except NotImplementedError:
            pass
        except AttributeError:
            absent.add(member)
    assert not absent


def test_an_internal_name_says_that_it_is_one():
    with pytest.raises(NotImplementedError, match="types._is_numpy_array .* DALI's internals"):
        types._is_numpy_array(3)
    assert types._int_like_types[0] == types.BOOL and types.FLOAT in types._float_types


def test_what_is_not_there_says_what_stands_for_it():
    from galatea.dali.experimental import dynamic, torchvision

    with pytest.raises(NotImplementedError, match="torchvision.Resize .*from-torchvision.md"):
        torchvision.Resize((3, 4))
    with pytest.raises(NotImplementedError, match="dynamic.Stream .*from-dali.md"):
        dynamic.Stream()


def test_operators_say_what_is_not_told_of_their_engine():
    resize = ops.Resize(size=3)
    assert resize.schema_name == "Resize" and ops.readers.File.schema_name == "readers__File"
    assert resize.schema.Name() == "Resize" and resize.schema.HasArgument("size")
    with pytest.raises(NotImplementedError, match="ops.Resize.spec.*pipe.text"):
        resize.spec


STAND_INS = """
import nvidia.dali.tfrecord as tfrec
from nvidia.dali import _conditionals, plugin_manager
from nvidia.dali._autograph.utils import ag_logging
from nvidia.dali.backend_impl import TensorListCPU
from nvidia.dali.tensors import TensorListCPU as same

ag_logging.set_verbosity(10, True)
assert TensorListCPU is same
for use in (
    lambda: plugin_manager.load_library("x.so"),
    lambda: _conditionals.something(),
):
    try:
        use()
    except NotImplementedError as error:
        print(str(error).split(" ")[0])
try:
    import nvidia.dali.nothing
except ModuleNotFoundError as error:
    print(error.name)
try:
    plugin_manager.nothing
except AttributeError:
    print("no attribute")
"""


def test_modules_that_are_not_there_can_be_imported(tmp_path):
    script = tmp_path / "script.py"
    script.write_text(STAND_INS)
    done = run("-m", "galatea.dali", str(script))
    assert done.returncode == 0, done.stderr
    assert done.stdout.split("\n")[:4] == [
        "nvidia.dali.plugin_manager.load_library",
        "nvidia.dali._conditionals.something",
        "nvidia.dali.nothing",
        "no attribute",
    ]


def test_a_drawn_graph_joins_the_arms_of_an_if(tmp_path):
    @pipeline_def(batch_size=1, num_threads=1, device_id=None, enable_conditionals=True)
    def body():
        x = fn.random.uniform(range=[0.0, 1.0])
        if x > 0.5:
            y = fn.cast(x, dtype=types.INT32)
        else:
            y = fn.copy(types.Constant(3, device="cpu"))
        return y

    body().save_graph_to_dot_file(str(tmp_path / "graph.dot"))
    lines = [one.strip() for one in (tmp_path / "graph.dot").read_text().splitlines()]
    edges = {tuple(one.split(" [")[0].split(" -> ")) for one in lines if "->" in one}
    assert ('"Uniform_0"', '"Arithmetic_1"') in edges and ('"if_2"', '"outputs"') in edges
    assert ('"Uniform_0"', '"Cast_3"') in edges and ('"Cast_3"', '"if_2"') in edges
    assert sum(source == '"if_2"' or target == '"if_2"' for source, target in edges) == 4
    assert lines.count("}") == 3
