"""Stubs of the operators: a type checker takes a usual pipeline and finds a wrong argument."""

import ast
import builtins
import functools
import importlib.util
import inspect
import shutil
import subprocess
import sys
import zlib
from pathlib import Path

import pytest

import galatea
from galatea import types
from galatea.dali import names
from galatea.trace import documentation, operators
from trace_common import PROGRAM, ROOT

PACKAGE = Path(galatea.__file__).parent

GOOD = """
import numpy as np
from galatea import fn, pipeline_def, types


@pipeline_def(batch_size=8)
def train(data: str = "photos", size: int = 224):
    encoded, label = fn.readers.file(file_root=data, random_shuffle=True, name="Reader")
    image = fn.decoders.image(encoded, output_type=types.RGB)
    image = fn.resize(image, size=[size, size], interp_type=types.INTERP_LINEAR)
    flag = fn.random.coin_flip(probability=0.3, dtype=types.BOOL, seed=3)
    if flag:
        image = fn.flip(image, horizontal=fn.random.coin_flip())
    angle = fn.random.uniform(range=[-10.0, 10.0])
    image = fn.rotate(image, angle=angle, keep_size=True, fill_value=0)
    joined = fn.cat(image, image, axis=0, device="cpu")
    image = fn.crop_mirror_normalize(
        joined, dtype=types.FLOAT, output_layout="CHW", mean=np.array([1.0, 2.0, 3.0]), std=[1, 2, 3]
    )
    return image * 2 + 1, label[0], image[:, 1:2]


pipe = train("photos", size=3)
text: str = pipe.text
"""

DALI = """
import galatea.dali.fn as fn
import galatea.dali.ops as ops
from galatea.dali import pipeline_def, types


@pipeline_def(batch_size=8, num_threads=2, device_id=0)
def train(data="photos"):
    encoded, label = fn.readers.file(file_root=data, random_shuffle=True, name="Reader")
    image = fn.decoders.image(encoded, device="mixed", output_type=types.RGB)
    image = fn.resize(image, size=[224, 224], interp_type=types.INTERP_LINEAR)
    image = fn.rotate(image, angle=fn.random.uniform(range=[-10.0, 10.0]), keep_size=True)
    flip = ops.Flip(device="cpu", horizontal=1)
    return flip(image).gpu(), label, ops.Compose([flip, ops.transforms.Scale(scale=[2.0, 2.0])])


pipe = train("more", num_threads=1)
pipe.build()
"""

USER = """
import galatea

loader = galatea.Loader("train.dali-dsl", data="photos", batch_size=64, seed=3)
for batch in loader:
    images, labels = batch
    shape: tuple = images.shape
    array = images.numpy()
    name: str = batch.names[0]
for batch in loader.run(2, progress=True):
    batch.release()
sheet = galatea.view(loader, samples=4, nodes=True)
sheet.save("sheet.png")
width: int = sheet.numpy().shape[1]
pipe = galatea.TextPipeline("text", data="photos")
pipe.view(samples=2).show()
problems: list = pipe.check()
try:
    loader.open()
except galatea.UserError as error:
    code: str = error.code
    file = error.diagnostics[0].file
state: dict = loader.state_dict()
"""

FRAMEWORKS = """
from galatea.jax import Loader as JaxLoader
from galatea.torch import Loader

for images, labels in Loader("train.dali-dsl", data="photos"):
    total = images.sum() + labels[:, 0].long().sum()
for (images,) in Loader("train.dali-dsl").run(2):
    images.mean()
for images, labels in JaxLoader("train.dali-dsl"):
    images.mean()
"""


@pytest.fixture(scope="module")
def stubs(tmp_path_factory):
    if not PROGRAM.exists():
        pytest.skip(f"SKIPPED: {PROGRAM} is not built")
    folder = tmp_path_factory.mktemp("stubs")
    package = folder / "galatea"
    shutil.copytree(PACKAGE, package, ignore=shutil.ignore_patterns("*.so", "*.pyi", "__pycache__"))
    schema = subprocess.run([PROGRAM, "ops", "--json"], check=True, capture_output=True).stdout
    made = [sys.executable, ROOT / "python" / "make_stubs.py", package]
    subprocess.run(made, input=schema, check=True, timeout=100)
    return folder


def mypy(folder, text):
    if importlib.util.find_spec("mypy") is None:
        pytest.skip("SKIPPED: there is no mypy")
    # A name for each text: mypy takes a file of the same size and second for the one that it knows.
    user = folder / f"user_{zlib.crc32(text.encode())}.py"
    user.write_text(text)
    return subprocess.run(
        [sys.executable, "-m", "mypy", "--follow-imports=silent", "--check-untyped-defs",
         "--python-version=3.10", user.name],
        cwd=folder, capture_output=True, text=True, timeout=500,
    )  # fmt: skip


def test_a_type_checker_takes_a_usual_pipeline(stubs):
    done = mypy(stubs, GOOD)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("text", [DALI, USER, FRAMEWORKS], ids=["dali", "user", "frameworks"])
def test_a_type_checker_takes_the_rest_of_the_package(stubs, text):
    done = mypy(stubs, text)
    assert done.returncode == 0, done.stdout + done.stderr


def test_a_type_checker_knows_what_loaders_give(stubs):
    text = USER
    wrong = {"batch.names": "batch.naems", "images.shape": "images.shaep", "release": "relaese"}
    for right, misspelt in wrong.items():
        assert right in text
        text = text.replace(right, misspelt)
    done = mypy(stubs, text)
    for word in ("naems", "shaep", "relaese"):
        assert f'has no attribute "{word}"' in done.stdout, done.stdout


@pytest.mark.parametrize(
    "right, wrong, word",
    [
        ("keep_size=True", "keep_szie=True", "keep_szie"),
        ("fn.rotate(image, ", "fn.rotat(image, ", "rotat"),
        ("horizontal=1", 'horizontal="yes"', "horizontal"),
        ("ops.transforms.Scale", "ops.transforms.Scael", "Scael"),
        ("pipe.build()", "pipe.biuld()", "biuld"),
    ],
)
def test_a_type_checker_finds_what_is_wrong_with_dalis_names(stubs, right, wrong, word):
    assert right in DALI
    done = mypy(stubs, DALI.replace(right, wrong))
    assert done.returncode == 1 and word in done.stdout, done.stdout


@pytest.mark.parametrize(
    "right, wrong, word",
    [
        ("keep_size=True", "keep_szie=True", "keep_szie"),
        ("output_type=types.RGB", "output_type=types.FLOAT", "output_type"),
        ("probability=0.3", 'probability="x"', "probability"),
        ("fn.rotate(image, ", "fn.rotat(image, ", "rotat"),
        ("encoded, label =", "encoded, label, other =", "unpack"),
        ("pipe.text", "pipe.tetx", "tetx"),
    ],
)
def test_a_type_checker_finds_what_is_wrong(stubs, right, wrong, word):
    assert right in GOOD
    done = mypy(stubs, GOOD.replace(right, wrong))
    assert done.returncode == 1 and word in done.stdout, done.stdout


@functools.cache
def definitions(path):
    """Functions and classes of a stub: name → the one node of that name."""
    found = {}
    for node in ast.parse(path.read_text()).body:
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            assert node.name not in found, f"{path}: {node.name}"
            found[node.name] = node
    return found


def test_every_operator_has_a_stub(stubs):
    for name, operator in operators.schema().items():
        *folders, last = name.split(".")
        node = definitions(stubs.joinpath("galatea", "fn", *folders, "__init__.pyi"))[last]
        arguments = {argument.arg for argument in (*node.args.args, *node.args.kwonlyargs)}
        assert arguments >= set(operator["args"]), name
        function = functools.reduce(getattr, name.split("."), galatea.fn)
        assert inspect.cleandoc(function.__doc__) in ast.get_docstring(node)
        assert operator["summary"] in function.__doc__


@pytest.mark.parametrize("module", ["fn", "ops"])
def test_every_name_of_dalis_has_a_stub(stubs, module):
    kind = ast.FunctionDef if module == "fn" else ast.ClassDef
    for path in names.document()["functions" if module == "fn" else "classes"]:
        *folders, last = path.split(".")
        file = stubs.joinpath("galatea", "dali", module, *folders, "__init__.pyi")
        assert isinstance(definitions(file)[last], kind), path


def test_every_name_in_an_annotation_is_there(stubs):
    """What a type checker would find first, where there is none."""
    for path in stubs.rglob("*.pyi"):
        tree = ast.parse(path.read_text())
        known = set(dir(builtins))
        for node in tree.body:
            if isinstance(node, (ast.Import, ast.ImportFrom)):
                known |= {alias.asname or alias.name for alias in node.names}
            elif isinstance(node, (ast.FunctionDef, ast.ClassDef)):
                known.add(node.name)
            elif isinstance(node, ast.Assign):
                known |= {target.id for target in node.targets}
        used = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
        assert used <= known, f"{path}: {used - known}"


def test_defaults_are_written_out(stubs):
    text = (stubs / "galatea" / "fn" / "__init__.pyi").read_text()
    assert "interp_type: DALIInterpType | Node | None = DALIInterpType.INTERP_LINEAR" in text
    assert "interp_type (types.DALIInterpType or data node, default types.INTERP_LINEAR):" in text
    assert "std: float | Sequence[float]" in text and "= [1.0]" in text
    # The numbers of the schema are those of the enumerations.
    for kind, listed in documentation.NAMES.items():
        enumeration = getattr(types, documentation.ENUMERATIONS[kind])
        assert [enumeration[name] for name in listed] == list(range(len(listed)))
