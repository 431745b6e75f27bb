#!/usr/bin/env python3
"""Records the operators of DALI, with the names, defaults and flags of their arguments, as dali_facts.json.

Needs DALI as make_operators.py does, and no GPU. Every name of `fn` is there; private ones are not. Of an argument: its default
(nothing where DALI has none), "required", "per_sample" (a data node may be given), "per_frame" (fn.per_frame may be), and, for a
name that is no longer in use, "renamed" (today's, or nothing). What every operator takes (`preserve`, `bytes_per_sample_hint`)
is left out.
"""
import ast
import contextlib
import io
import json
import os

with contextlib.redirect_stdout(io.StringIO()):
    import nvidia.dali as dali
    import nvidia.dali.backend as backend
    import nvidia.dali.fn as fn
    import nvidia.dali.types as types

COMMON = ("preserve", "bytes_per_sample_hint")
# Written in Python, or with another schema in the text; their arguments are not DALI's schema's.
PYTHON = ("ExternalSource", "PythonFunction", "readers__TFRecord", "TFRecordReader")


def path_of(op):
    *module, name = op.split("__")
    return ".".join([*module, fn._to_snake_case(name)])


def default_of(schema, argument):
    """The default as a value of JSON; a type as its name."""
    words = schema.GetArgumentDefaultValueString(argument)
    if schema.GetArgumentType(argument) == types.DALIDataType.DATA_TYPE:
        return types.DALIDataType(int(words)).name
    return ast.literal_eval(words)


def facts_of(schema, argument):
    if schema.IsDeprecatedArg(argument):
        return {"renamed": schema.DeprecatedArgInfo(argument)["renamed_to"] or ""}
    facts = {}
    if not schema.IsArgumentOptional(argument):
        facts["required"] = True
    elif schema.HasArgumentDefaultValue(argument):
        facts["default"] = default_of(schema, argument)
    if schema.IsTensorArgument(argument):
        facts["per_sample"] = True
    if schema.ArgSupportsPerFrameInput(argument):
        facts["per_frame"] = True
    return facts


def main():
    names = set(backend.RegisteredCPUOps()) | set(backend.RegisteredGPUOps()) | set(backend.RegisteredMixedOps()) | set(PYTHON)
    found = {}
    for op in sorted(names):
        if op.startswith("_") or "___" in op or "._" in path_of(op):
            continue
        schema = backend.TryGetSchema(op)
        arguments = [] if schema is None or op in PYTHON else schema.GetArgumentNames()
        found[path_of(op)] = {name: facts_of(schema, name) for name in sorted(arguments) if name not in COMMON}
    path = os.path.join(os.path.dirname(os.path.abspath(__file__)), "dali_facts.json")
    with open(path, "w", encoding="utf-8") as out:
        lines = [f"  {json.dumps(name)}: {json.dumps(facts)}" for name, facts in sorted(found.items())]
        out.write(f'{{\n "dali": "{dali.__version__}",\n "operators": {{\n' + ",\n".join(lines) + "\n }\n}\n")


main()
