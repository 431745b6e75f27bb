"""Writes the signatures of DALI's operators, which `galatea.dali` shows as its own.

    python dali_signatures.py galatea/dali/signatures.json

In: an installed nvidia.dali, and `names.json`, which `dali_names.py` wrote. Out: the distinct
parameters as [name, kind, annotation, default], and for each operator their places in that list.
"""

import inspect
import json
import sys
from pathlib import Path

from nvidia.dali import fn, ops
from nvidia.dali.experimental import dynamic

KINDS = {
    inspect.Parameter.POSITIONAL_ONLY: "/",
    inspect.Parameter.POSITIONAL_OR_KEYWORD: "",
    inspect.Parameter.VAR_POSITIONAL: "*",
    inspect.Parameter.KEYWORD_ONLY: "=",
    inspect.Parameter.VAR_KEYWORD: "**",
}
PLAIN = (bool, int, float, str, list, tuple, type(None))


def at(root, path):
    for part in path.split("."):
        root = getattr(root, part, None)
    return root


def annotation_of(value):
    if value is inspect.Parameter.empty:
        return None
    text = inspect.formatannotation(value)
    return None if "nvidia." in text else text  # of modules that galatea has not


class Table:
    """Distinct parameters, each once."""

    def __init__(self):
        self.lines = {}

    def place(self, parameter):
        line = [parameter.name, KINDS[parameter.kind], annotation_of(parameter.annotation)]
        if parameter.default is not parameter.empty:
            default = parameter.default
            line.append(default if isinstance(default, PLAIN) else {"shown": repr(default)})
        return self.lines.setdefault(json.dumps(line), len(self.lines))

    def signature(self, function):
        found = inspect.signature(function)
        places = [self.place(parameter) for parameter in found.parameters.values()]
        returns = annotation_of(found.return_annotation)
        return [places, returns] if returns else [places]


def main():
    names = json.loads((Path(__file__).parents[1] / "galatea" / "dali" / "names.json").read_text())
    table = Table()
    functions = {path: table.signature(at(fn, path)) for path in names["functions"]}
    classes, of_dynamic = {}, {}
    for path in names["classes"]:
        made = at(ops, path)
        classes[path] = [table.signature(made.__init__), table.signature(made.__call__)]
    for path in names["functions"]:
        if (function := at(dynamic, path)) is not None:
            of_dynamic[path] = table.signature(function)
    for path in names["classes"]:
        reader = at(dynamic, path)
        if path.startswith("readers.") and inspect.isclass(reader):
            of_dynamic[path] = table.signature(reader.__init__)
    parts = {"fn": functions, "ops": classes, "dynamic": of_dynamic}
    with open(sys.argv[1], "w") as file:
        file.write('{"parameters": [\n' + ",\n".join(table.lines) + "\n]")
        for name, part in parts.items():
            lines = ",\n".join(f"{json.dumps(key)}: {json.dumps(one)}" for key, one in part.items())
            file.write(f",\n{json.dumps(name)}: {{\n{lines}\n}}")
        file.write("}\n")


if __name__ == "__main__":
    main()
