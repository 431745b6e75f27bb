"""A function that is traced gives the bits that its text gives when it is a file.

The language is a subset of Python: the fragments of docs/language.md and the examples run as both.
"""

import importlib.util
import re
import sys

import pytest

from trace_common import ROOT, galatea_program  # noqa: F401

SAMPLES = ROOT / "build" / "samples"
HEAD = """from galatea import fn, types, math
from galatea.pipeline import pipeline_def
import galatea


@pipeline_def(batch_size=8, num_threads=2, seed=7)
def p(data="photos"):
    encoded, label = fn.readers.file(file_root=data)
    image = fn.decoders.image(encoded, output_type=types.RGB)
"""
# What is of the language alone: names of DALI's module, notes of its `print`, what `trace --replay` writes.
NOT_PYTHON = ("dali.newaxis", "dali.ops", "print(", "import replay")
# Draws in loops, functions and lambdas are keyed by their place, which a text without them lacks.
DRAWS_ELSEWHERE = ("04_choose_one", "06_two_views")


def fragments():
    text = (ROOT / "docs" / "language.md").read_text()
    found = []
    for match in re.finditer(r"^```python galatea fragment *\n(.*?)^```", text, re.M | re.S):
        body = match.group(1)
        if not any(word in body for word in NOT_PYTHON):
            line = text[: match.start()].count("\n") + 2
            found.append(pytest.param(body, id=f"language.md:{line}"))
    assert len(found) >= 14
    return found


def module_of(path, name):
    spec = importlib.util.spec_from_file_location(name, path)
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


def whole(body):
    lines = [f"    {line}" if line.strip() else "" for line in body.rstrip("\n").split("\n")]
    text = HEAD + "\n".join(lines) + "\n"
    return text if "return" in body else text + "    return image, label\n"


def same_bits(program, folder, traced, file, *options, samples=6):
    options = ("--batches", 1, "--batch-size", samples, *options)
    program("run", traced, *options, "--save", folder / "a")
    program("run", file, *options, "--set", f"data={SAMPLES}", "--save", folder / "b")
    a, b = (
        {p.relative_to(folder / side): p.read_bytes() for p in (folder / side).rglob("*.npy")}
        for side in "ab"
    )
    assert a.keys() == b.keys() and a
    assert [str(key) for key in a if a[key] != b[key]] == []


@pytest.mark.parametrize("body", fragments())
def test_fragment(galatea_program, tmp_path, body):
    if not SAMPLES.exists():
        pytest.skip(f"SKIPPED: no pictures in {SAMPLES}")
    source = tmp_path / "traced.py"
    source.write_text(whole(body))
    pipe = module_of(source, "traced_fragment").p(data=str(SAMPLES))
    traced = galatea_program.accepts(pipe)
    file = tmp_path / "file.dali-dsl"
    file.write_text(whole(body).replace("from galatea.pipeline import", "from galatea import"))
    same_bits(galatea_program, tmp_path, traced, file)


def blocks():
    """Whole files of the pages: pixel functions, augmentations of one's own."""
    found = []
    for page, word in (("language.md", "@galatea.pixel"), ("auto-augment.md", "@augmentation")):
        text = (ROOT / "docs" / page).read_text()
        for match in re.finditer(r"^```python galatea *\n(.*?)^```", text, re.M | re.S):
            if word in match.group(1):
                line = text[: match.start()].count("\n") + 2
                found.append(pytest.param(match.group(1), id=f"{page}:{line}"))
    assert len(found) == 3
    return found


@pytest.mark.parametrize("body", blocks())
def test_file_with_definitions(galatea_program, tmp_path, body):
    body = body.replace("@pipeline_def(", "@pipeline_def(seed=7, ")
    if not SAMPLES.exists():
        pytest.skip(f"SKIPPED: no pictures in {SAMPLES}")
    source = tmp_path / "traced.py"
    source.write_text(body.replace("nvidia.dali", "galatea"))
    pipe = module_of(source, "traced_file").p(data=str(SAMPLES))
    traced = galatea_program.accepts(pipe, formatted=False)
    file = tmp_path / "file.dali-dsl"
    file.write_text(body)
    same_bits(galatea_program, tmp_path, traced, file)


@pytest.mark.parametrize("example", sorted((ROOT / "examples").glob("0[1-79]*.dali-dsl")), ids=str)
def test_example(galatea_program, tmp_path, example):
    if not SAMPLES.exists():
        pytest.skip(f"SKIPPED: no pictures in {SAMPLES}")
    text = (
        example.read_text()
        .replace(
            "from nvidia.dali import pipeline_def, fn, types",
            "from galatea.pipeline import pipeline_def\nfrom galatea import fn, types",
        )
        .replace("from nvidia.dali.auto_aug", "from galatea.auto_aug")
    )
    source = tmp_path / "traced.py"
    source.write_text(text)
    module = module_of(source, "traced_example")
    name = re.search(r"@pipeline_def.*\ndef (\w+)", text).group(1)
    function = getattr(module, name)
    pipe = function() if "external" in example.name else function(data=str(SAMPLES))
    assert pipe.text == getattr(module, name)(**({} if "external" in example.name else
                                                 {"data": str(SAMPLES)})).text  # fmt: skip
    traced = galatea_program.accepts(pipe)
    if "external" in example.name:
        return
    if example.name.startswith(DRAWS_ELSEWHERE):
        galatea_program("run", traced, "--batches", 1)
        return
    same_bits(galatea_program, tmp_path, traced, example)
