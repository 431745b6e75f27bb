"""Numbers that nobody means (infinite, none, negative, lists that are empty or far too long) for
each numeric argument of each operator, in the text and per sample: the call works, or is the user's
error in words that are not endless. A crash or an internal error is a failure.

Calls are the operators' own examples with one argument replaced, in the interpreter. A usual run
takes a third of the numbers for each argument, `./dev test --all` all.
"""

import ast
import copy
import json
import os
import re
import subprocess
import zlib

import galatea
import numpy as np
import pytest
from loader_support import BUILD

# They read files, or are fed, and are tested with damaged ones.
SOURCES = re.compile(
    r"(.*\.|)readers\..*|inputs\..*|external_source|io\..*|decoders\.(numpy|video|inflate|audio)"
)
KINDS = {"float", "int", "float list", "int list"}
FLOATS = ("nan", "inf", "-1e30")
INTEGERS = ("-1", "-2147483648", "9223372036854775807")
IS_WHOLE = os.environ.get("GALATEA_TEST_SCALE") == "100"
# Of these a large number is an order for as much memory.
SIZES = re.compile(r".*(size|shape|length|classes|nfft|nfilter)$")


def _galatea(*arguments):
    command = [BUILD / "bin" / "galatea", *arguments]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


@pytest.fixture(scope="module")
def catalogue(tmp_path_factory):
    """Operators, and the syntax tree of each one's example."""
    pages = tmp_path_factory.mktemp("ops")
    _galatea("ops", "--pages", str(pages))
    out = []
    for operator in json.loads(_galatea("ops", "--json"))["operators"]:
        if SOURCES.fullmatch(operator["name"]):
            continue
        page = (pages / f"{operator['name']}.md").read_text(encoding="utf-8")
        text = re.search(r"```python\n(.*?)```", page, re.S).group(1)
        if "decoders.audio" not in text:
            out.append((operator, ast.parse(text)))
    return out


def _name(function):
    parts = []
    while isinstance(function, ast.Attribute):
        parts.append(function.attr)
        function = function.value
    return ".".join(reversed(parts))


def _replaced(tree, operator, argument, value, per_sample):
    """The example with this argument; None if it does not call the operator."""
    tree = copy.deepcopy(tree)
    calls = [node for node in ast.walk(tree) if isinstance(node, ast.Call)]
    calls = [call for call in calls if _name(call.func) == operator]
    if not calls:
        return None
    kept = [keyword for keyword in calls[-1].keywords if keyword.arg != argument]
    if per_sample is not None:
        function = next(node for node in tree.body if isinstance(node, ast.FunctionDef))
        source = f'v = fn.external_source(name="v", dtype=types.{value}, ndim={per_sample.ndim})'
        function.body[:0] = ast.parse(source).body
        value = "v"
    calls[-1].keywords = [*kept, ast.keyword(argument, ast.parse(value, mode="eval").body)]
    return ast.unparse(ast.fix_missing_locations(tree))


def _values(argument, spec):
    """(text of the value, or the type of what is fed; what is fed)"""
    floats, is_list = "float" in spec["type"], "list" in spec["type"]
    numbers = FLOATS if floats else INTEGERS[: 2 if SIZES.match(argument) else 3]
    for number in numbers:
        text = f'float("{number}")' if floats else number
        yield (f"[{text}, {text}]" if is_list else text), None
    if spec["per_sample"]:
        for number in numbers:
            one = np.float32(number) if floats else np.int64(int(number))
            yield ("FLOAT" if floats else "INT64"), np.array([one, one] if is_list else one)
    if is_list:
        yield "[]", None
        yield "[1] * 100000", None


def _chosen(operator, argument, spec):
    """The values of this run: of a third, at least one, other ones for another argument."""
    values = list(_values(argument, spec))
    first = zlib.crc32(f"{operator}.{argument}".encode()) % min(3, len(values))
    return values if IS_WHOLE else values[first::3]


def _refusal(text, data, fed):
    """The words of the user's error; None if there is a batch."""
    parameters = {"data": data} if "data: str" in text else {}
    options = {"batch_size": 2, "num_threads": 1, "seed": 3, "epochs": 1, "backend": "interpreter"}
    try:
        with galatea.Loader(text, **options, **parameters) as loader:
            if fed is not None:
                loader.feed("v", [fed, fed])
            next(iter(loader))
        return None
    except galatea.UserError as error:
        return str(error)


@pytest.fixture(scope="module")
def pictures(tmp_path_factory, data):
    """Two small ones."""
    folder = tmp_path_factory.mktemp("pictures")
    (folder / "a").mkdir()
    text = """from galatea import fn, pipeline_def, types
@pipeline_def(batch_size=2)
def p(data: str):
    encoded, label = fn.readers.file(file_root=data)
    return fn.resize(fn.decoders.image(encoded, output_type=types.RGB), size=[24, 32])
"""
    file = folder / "p.dali-dsl"
    file.write_text(text, encoding="utf-8")
    save = ("--batches", "1", "--format", "png", "--save", str(folder / "out"))
    _galatea("run", str(file), "--set", f"data={data}", *save)
    for number, file in enumerate(sorted((folder / "out").rglob("*.png"))):
        file.rename(folder / "a" / f"{number}.png")
    return str(folder)


def test_every_argument(catalogue, pictures):
    refused = ran = 0
    for operator, tree in catalogue:
        for argument, spec in operator["args"].items():
            if spec["type"] not in KINDS or argument == "seed":
                continue
            if "compatibility" in spec["documentation"]:  # has no effect
                continue
            for value, fed in _chosen(operator["name"], argument, spec):
                text = _replaced(tree, operator["name"], argument, value, fed)
                if text is None:
                    continue
                words = _refusal(text, pictures, fed)
                if words is None:
                    ran += 1
                    continue
                refused += 1
                assert re.match(r"error\[G\d{4}\]: .{8}", words), (text, fed, words)
                assert len(words) < 20_000, (text, fed)
    share = 1 if IS_WHOLE else 3
    assert refused > 400 // share and ran > 200 // share, (refused, ran)
