"""Writes type stubs of `galatea.fn` from the schema that the library reports.

    galatea ops --json | python3 make_stubs.py FOLDER

FOLDER becomes the stub package of `galatea.fn`: one function for each operator, with its arguments,
their types and defaults, and what they mean. Made when the package is built, never committed.
"""

from __future__ import annotations

import json
import keyword
import os
import sys
import textwrap

HEAD = '''"""Made by make_stubs.py of what the library reports."""

from typing import Any, Literal, Sequence, Union

from galatea.trace.node import Node
from galatea.types import DALIDataType, DALIImageType, DALIInterpType

_Array = Any  # numpy, or what converts to it
_Input = Union[Node, float, Sequence[Any], _Array]
_Data = Union[Node, Sequence[Any]]

'''
# Types of arguments, and of those that may be data nodes.
KINDS = {
    "bool": ("bool", "Union[bool, int, Node]"),
    "int": ("int", "Union[int, Node]"),
    "float": ("float", "Union[float, Node]"),
    "str": ("str", "Union[str, Node]"),
    "dtype": ("DALIDataType", "DALIDataType"),
    "interpolation type": ("DALIInterpType", "Union[DALIInterpType, Node]"),
    "image type": ("DALIImageType", "DALIImageType"),
    "layout": ("str", "str"),
    "int list": ("Union[int, Sequence[int]]", "Union[int, Sequence[Union[int, Node]], Node]"),
    "float list": (
        "Union[float, Sequence[float], _Array]",
        "Union[float, Sequence[Union[float, Node]], _Array, Node]",
    ),
    "str list": ("Union[str, Sequence[str]]", "Union[str, Sequence[str]]"),
    "dict": ("dict[str, Any]", "dict[str, Any]"),
    "any": ("Any", "Any"),
}
COMMON = {
    "device": 'Union[Literal["cpu", "gpu", "mixed"], None] = None',
    "name": "Union[str, None] = None",
    "preserve": "bool = False",
    "bytes_per_sample_hint": "Union[int, Sequence[int]] = 0",
}


def parameter(name: str, argument: dict) -> str:
    kind = KINDS.get(argument["type"], ("Any", "Any"))[bool(argument["per_sample"])]
    default = argument["default"]
    if argument.get("required"):
        return f"{name}: {kind}"
    if default is None:
        return f"{name}: Union[{kind}, None] = None"
    plain = isinstance(default, (bool, int, float, str))
    named = argument["type"] in ("dtype", "interpolation type", "image type")
    return f"{name}: Union[{kind}, None] = {repr(default) if plain and not named else '...'}"


def result(operator: dict) -> str:
    if "num_outputs" in operator["args"] or "save_attrs" in operator["args"]:
        return "Any"  # how many there are depends on arguments
    count = len(operator["output_ports"])
    return "Node" if count < 2 else f"tuple[{', '.join(['Node'] * count)}]"


def inputs(operator: dict) -> list[str]:
    least, most = operator["inputs"]
    ports = operator["input_ports"]
    out, optional = [], False
    for i, port in enumerate(ports):
        if i == len(ports) - 1 and most > len(ports):
            if i < least:
                out.append(f"{port['name']}: _Input")
            return [*out, "/", "*more: _Input"] if out else ["*more: _Input"]
        optional = optional or i >= least
        default = " = ..." if optional else ""
        taken = keyword.iskeyword(port["name"]) or port["name"] in operator["args"]
        name = port["name"] + ("_" if taken else "")
        out.append(f"{name}: _Input{default}")
    return [*out, "/"] if out else out


def documentation(operator: dict) -> str:
    lines = [operator["summary"], ""]
    if operator["documentation"]:
        lines += textwrap.wrap(operator["documentation"], 90) + [""]
    for port in operator["input_ports"]:
        kinds = ", ".join(port["dtypes"]) or "any element type"
        layouts = f", layout {' '.join(port['layouts'])}" if port["layouts"] else ""
        text = f"{port['name']}: {port['documentation']} ({kinds}{layouts})"
        lines += textwrap.wrap(text, 90, subsequent_indent="    ")
    for name, argument in operator["args"].items():
        per_sample = ", may differ from sample to sample" if argument["per_sample"] else ""
        text = f"{name} ({argument['type']}{per_sample}): {argument['documentation']}"
        lines += textwrap.wrap(text, 90, subsequent_indent="    ")
    lines.append(f"Devices: {', '.join(operator['devices'])}.")
    text = "\n".join(lines).replace("\\", "\\\\").replace('"""', "'''")
    return textwrap.indent(f'"""{text}\n"""', "    ")


def function(operator: dict) -> str:
    name = operator["name"].rsplit(".", 1)[-1]
    given = {key: parameter(key, value) for key, value in operator["args"].items()}
    required = [text for key, text in given.items() if operator["args"][key].get("required")]
    others = [text for text in given.values() if text not in required]
    others += [f"{key}: {kind}" for key, kind in COMMON.items() if key not in given]
    if operator["random"] and "seed" not in given:
        others.append("seed: Union[int, None] = None")
    if operator["name"] == "external_source":
        others = ["source: Any = None", *(text for text in others if "source:" not in text)]
    positional = inputs(operator)
    if operator["name"] == "external_source":
        positional = []
    star = [] if any(part.startswith("*") for part in positional) else ["*"]
    parts = [*positional, *star, *required, *others]
    body = ",\n    ".join(parts)
    return (
        f"def {name}(\n    {body},\n) -> {result(operator)}:\n{documentation(operator)}\n    ...\n"
    )


def main() -> int:
    if len(sys.argv) != 2:
        print(__doc__, file=sys.stderr)
        return 2
    folder = sys.argv[1]
    operators = json.load(sys.stdin)["operators"]
    namespaces: dict[str, list[dict]] = {"": []}
    for operator in operators:
        namespace = operator["name"].rpartition(".")[0]
        parts = namespace.split(".") if namespace else []
        for i in range(len(parts) + 1):
            namespaces.setdefault(".".join(parts[:i]), [])
        namespaces[namespace].append(operator)
    for namespace, members in namespaces.items():
        depth = namespace.count(".") + 1 if namespace else 0
        inner = sorted(
            other.rpartition(".")[2]
            for other in namespaces
            if other and other.rpartition(".")[0] == namespace
        )
        text = HEAD
        text += "".join(f"from . import {name} as {name}\n" for name in inner)
        text += "\n" + "\n".join(function(operator) for operator in members)
        at = os.path.join(folder, *namespace.split(".")) if namespace else folder
        assert depth <= 3, namespace
        os.makedirs(at, exist_ok=True)
        path = os.path.join(at, "__init__.pyi")
        with open(path + ".part", "w", encoding="utf-8") as file:
            file.write(text)
        os.replace(path + ".part", path)
    return 0


if __name__ == "__main__":
    sys.exit(main())
