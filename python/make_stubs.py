"""Writes type stubs of the operators from the schema that the library reports.

    galatea ops --json | python3 make_stubs.py FOLDER

FOLDER is that of the package: FOLDER/fn becomes the stubs of `galatea.fn`, FOLDER/dali/fn and
FOLDER/dali/ops those of DALI's names. One function (or class) for each operator, with its arguments,
their types and defaults, and what they mean. Made when the package is built, never committed.
"""

from __future__ import annotations

import importlib.util
import json
import keyword
import os
import sys
import textwrap

HERE = os.path.dirname(os.path.abspath(__file__))


def _documentation():
    """galatea/trace/documentation.py, without the package, which is not built yet."""
    path = os.path.join(HERE, "galatea", "trace", "documentation.py")
    spec = importlib.util.spec_from_file_location("galatea_documentation", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


texts = _documentation()

HEAD = '''"""Made by make_stubs.py of what the library reports."""

from typing import Any, Literal, NoReturn, Sequence

{imports}
from galatea.trace.node import Node

_Array = Any  # numpy, or what converts to it
_Input = Node | float | Sequence[Any] | _Array

'''
IMPORTS = "from galatea.types import DALIDataType, DALIImageType, DALIInterpType"
# Types of arguments, and what is added where an argument may be a data node.
TYPES = {
    "bool": ("bool", "int | Node"),
    "int": ("int", "Node"),
    "float": ("float", "Node"),
    "str": ("str", "Node"),
    "dtype": ("DALIDataType", ""),
    "interpolation type": ("DALIInterpType", "Node"),
    "image type": ("DALIImageType", ""),
    "layout": ("str", ""),
    "int list": ("int | Sequence[int]", "Sequence[int | Node] | Node"),
    "float list": ("float | Sequence[float] | _Array", "Sequence[float | Node] | Node"),
    "str list": ("str | Sequence[str]", ""),
    "dtype list": ("DALIDataType | Sequence[DALIDataType]", ""),
    "dict": ("dict[str, Any]", ""),
    "any": ("Any", ""),
}

COMMON_TYPES = {
    "device": 'Literal["cpu", "gpu", "mixed"] | None = None',
    "compat": 'Literal["dali", "pil", "torchvision", "opencv"] | None = None',
    "name": "str | None = None",
    "preserve": "bool = False",
    "bytes_per_sample_hint": "int | Sequence[int] = 0",
}


class Native:
    """The stubs of `galatea.fn`."""

    imports = IMPORTS
    enumerations = texts.ENUMERATIONS

    def parameter(self, name: str, argument: dict) -> str:
        plain, node = TYPES.get(argument["type"], ("Any", ""))
        if "DALI" in plain and not self.enumerations:
            plain = "Any"
        kind = f"{plain} | {node}" if node and argument["per_sample"] else plain
        if argument.get("required"):
            return f"{name}: {kind}"
        return f"{name}: {kind} | None = {self.default(argument)}"

    def default(self, argument: dict) -> str:
        """The default as the editor shows it."""
        text = texts.default_text(argument)
        if not text.startswith("types."):
            return text
        enumeration = self.enumerations.get(argument["type"])
        return f"{enumeration}.{text.removeprefix('types.')}" if enumeration else "..."

    def result(self, operator: dict) -> str:
        needs = operator["output_needs"]
        if "num_outputs" in operator["args"] or operator["outputs_argument"] or any(needs):
            return "Any"  # how many there are depends on arguments
        count = len(needs or operator["output_ports"])
        return "Node" if count < 2 else f"tuple[{', '.join(['Node'] * count)}]"

    def arguments(self, operator: dict) -> list[str]:
        """Arguments by keyword; those that must be there come first."""
        given = {key: self.parameter(key, value) for key, value in operator["args"].items()}
        required = [key for key in given if operator["args"][key].get("required")]
        parts = [given[key] for key in (*required, *(key for key in given if key not in required))]
        parts += [f"{key}: {kind}" for key, kind in COMMON_TYPES.items() if key not in given]
        if operator["random"] and "seed" not in given:
            parts.append("seed: int | None = None")
        return parts

    def documentation(self, operator: dict) -> str:
        lines = texts.documentation(operator)
        common = {key: text for key, text in texts.COMMON.items() if key not in operator["args"]}
        if operator["random"] and "seed" not in operator["args"]:
            common["seed"] = texts.SEED
        said = "\n".join(f"    {key}: {text}" for key, text in common.items())
        return f"{lines}\n\nOf every operator:\n{said}"

    def function(self, operator: dict) -> str:
        name = operator["name"].rsplit(".", 1)[-1]
        arguments = self.arguments(operator)
        if operator["name"] == "external_source":
            others = [part for part in arguments if not part.startswith("source:")]
            parts = ["source: Any = None", "*", *others]
        else:
            parts = [*_positional(operator), *arguments]
        return _function(name, parts, self.result(operator), self.documentation(operator))


class Dali(Native):
    """The stubs of `galatea.dali.fn`: DALI's arguments, and several results as a list."""

    imports = ""
    enumerations: dict = {}  # DALI's are made when they are imported

    def __init__(self, names: dict):
        self.names = names

    def arguments(self, operator: dict) -> list[str]:
        parts = super().arguments(operator)
        known = {part.partition(":")[0] for part in parts}
        more = self.names["functions"].get(operator["name"]) or ()
        return parts + [f"{name}: Any = None" for name in more if name not in known]

    def result(self, operator: dict) -> str:
        made = super().result(operator)
        return "list[Node]" if made.startswith("tuple") else made

    def missing(self, path: str) -> str:
        """An operator of DALI's that is not here."""
        text = f"`nvidia.dali.fn.{path}`, which galatea has not: calling it raises NotImplementedError."
        name = path.rsplit(".", 1)[-1]
        return _function(name, ["*inputs: Any", "**arguments: Any"], "NoReturn", text)

    def operator_class(self, path: str, operator: dict | None) -> str:
        """The class of an operator."""
        name = path.rsplit(".", 1)[-1]
        if operator is None:
            text = f"`nvidia.dali.ops.{path}`, which galatea has not: calling it raises."
            body = _function(
                "__init__", ["self", "*", "device: str = ...", "**arguments: Any"], "None"
            )
            body += _function("__call__", ["self", "*inputs: Any", "**arguments: Any"], "NoReturn")
        else:
            text = self.documentation(operator)
            # What a call may still give is not required of the constructor.
            given = [
                f"{part} = ..." if " = " not in part else part for part in self.arguments(operator)
            ]
            body = _function("__init__", ["self", "*", *given], "None")
            inputs = ["self", "*inputs: _Input", "**arguments: Any"]
            body += _function("__call__", inputs, self.result(operator))
        return f"class {name}(Operator):\n{_quoted(text)}\n{textwrap.indent(body, '    ')}"


_OPERATOR = '''class Operator:
    """Base of the operators."""

    @property
    def device(self) -> str: ...
    @property
    def preserve(self) -> bool: ...

'''


def _quoted(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"""', "'''")
    return textwrap.indent(f'"""{escaped}\n"""', "    ", lambda line: bool(line.strip()))


def _function(name: str, parts: list[str], result: str, text: str = "") -> str:
    inner = ",\n    ".join(parts)
    body = f"{_quoted(text)}\n    ...\n" if text else "    ...\n"
    return f"def {name}(\n    {inner},\n) -> {result}:\n{body}"


def _positional(operator: dict) -> list[str]:
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
    return [*out, "/", "*"] if out else ["*"]


def write(folder: str, members: dict[str, str], imports: str, more: str = "") -> None:
    """A stub package of a folder for each namespace; `members`: text by path."""
    namespaces: dict[str, list[str]] = {"": []}
    for path, text in members.items():
        parts = path.split(".")[:-1]
        for i in range(len(parts) + 1):
            namespaces.setdefault(".".join(parts[:i]), [])
        namespaces[".".join(parts)].append(text)
    for namespace, inside in namespaces.items():
        inner = sorted(
            other.rpartition(".")[2]
            for other in namespaces
            if other and other.rpartition(".")[0] == namespace
        )
        text = HEAD.format(imports=imports) + more
        text += "".join(f"from . import {name} as {name}\n" for name in inner)
        text += "\n" + "\n".join(inside)
        if "class Sequence(" in text:  # an operator of DALI's
            text = text.replace("NoReturn, Sequence\n", "NoReturn, Sequence as _Sequence\n")
            text = text.replace("Sequence[", "_Sequence[")
        at = os.path.join(folder, *namespace.split(".")) if namespace else folder
        os.makedirs(at, exist_ok=True)
        path = os.path.join(at, "__init__.pyi")
        with open(path + ".part", "w", encoding="utf-8") as file:
            file.write(text)
        os.replace(path + ".part", path)


def main() -> int:
    if len(sys.argv) != 2:
        print(__doc__, file=sys.stderr)
        return 2
    folder = sys.argv[1]
    operators = {operator["name"]: operator for operator in json.load(sys.stdin)["operators"]}
    native = Native()
    members = {name: native.function(operator) for name, operator in operators.items()}
    write(os.path.join(folder, "fn"), members, native.imports)
    with open(os.path.join(HERE, "galatea", "dali", "names.json"), encoding="utf-8") as file:
        dali = Dali(json.load(file))
    aliases = {alias: one for one in operators.values() for alias in one["aliases"]}
    found = {**aliases, **operators}
    members = {}
    for path in sorted({*dali.names["functions"], *operators}):
        operator = found.get(path)
        if operator is None:
            members[path] = dali.missing(path)
        else:
            members[path] = dali.function({**operator, "name": path})
    write(os.path.join(folder, "dali", "fn"), members, dali.imports)
    members = {
        path: dali.operator_class(path, found.get(function))
        for path, function in sorted(dali.names["classes"].items())
    }
    more = _OPERATOR + "def Compose(op_list: Sequence[Any]) -> Any: ...\n\n"
    write(os.path.join(folder, "dali", "ops"), members, dali.imports, more)
    return 0


if __name__ == "__main__":
    sys.exit(main())
