"""Docstrings of operators, from the schema that the library reports.

Imports nothing of the package: `make_stubs.py` reads this file while the package is being built,
so that `help(fn.rotate)` and editors show the same text.
"""

from __future__ import annotations

__all__ = ["COMMON", "KINDS", "default_text", "documentation"]

WIDTH = 92
ENUMERATIONS = {
    "dtype": "DALIDataType",
    "interpolation type": "DALIInterpType",
    "image type": "DALIImageType",
}
KINDS = {
    **{kind: f"types.{name}" for kind, name in ENUMERATIONS.items()},
    "layout": "str",
    "int list": "int or list of int",
    "float list": "float or list of float",
    "str list": "str or list of str",
    "dtype list": "dtype or list of dtype",
}
# By number, as the schema has them.
NAMES = {
    "interpolation type": (
        "INTERP_NN INTERP_LINEAR INTERP_CUBIC INTERP_LANCZOS3 INTERP_TRIANGULAR INTERP_GAUSSIAN "
        "INTERP_BOX INTERP_HAMMING"
    ).split(),
    "image type": "RGB BGR GRAY YCbCr ANY_DATA".split(),
}
# What every operator takes.
COMMON = {
    "device": '"cpu", "gpu" or "mixed"; without it, that of the inputs, and of readers the CPU.',
    "compat": '"dali", "pil", "torchvision" or "opencv": whose numbers; without it, the pipeline\'s.',
    "name": "Name of the call: readers and external inputs are asked for by it.",
    "preserve": "Taken, and without meaning: what nothing reads is left out.",
    "bytes_per_sample_hint": "Taken, and without meaning: memory is measured.",
}
SEED = "Seed of the draws of this call; without it, they follow from the pipeline's."

def default_text(argument: dict) -> str:
    """The default as Python writes it; "None" where there is none."""
    default, kind = argument["default"], argument["type"]
    if kind in NAMES and isinstance(default, int):
        return f"types.{NAMES[kind][default]}"
    if kind == "dtype" and isinstance(default, str):
        return f"types.{default}"
    return repr(default)


def _argument(name: str, argument: dict) -> list[str]:
    kind = KINDS.get(argument["type"], argument["type"])
    per_sample = " or data node" if argument["per_sample"] else ""
    said = "required" if argument.get("required") else f"default {default_text(argument)}"
    if not argument.get("required") and argument["default"] is None:
        said = "optional"
    text = f"{name} ({kind}{per_sample}, {said}): {argument.get('documentation') or ''}"
    return _wrapped(text.rstrip(), "    ", "        ")


def _wrapped(text: str, first: str = "", others: str = "") -> list[str]:
    """Lines of at most WIDTH columns. `textwrap` would be a third of `import galatea.dali`."""
    if not text or len(first) + len(text) <= WIDTH:
        return [first + text] if text else []
    lines = []
    line, *words = text.split()
    line = first + line
    for word in words:
        if len(line) + 1 + len(word) <= WIDTH:
            line += " " + word
        else:
            lines.append(line)
            line = others + word
    return [*lines, line]


def _port(port: dict) -> list[str]:
    dtypes = ", ".join(port["dtypes"]) or "any element type"
    layouts = f"; layout {', '.join(port['layouts'])}" if port["layouts"] else ""
    return _wrapped(
        f"{port['name']} ({dtypes}{layouts}): {port['documentation']}", "    ", "        "
    )


def _ports(title: str, ports) -> list[str]:
    lines = [line for port in ports for line in _port(port)]
    return ["", title, *lines] if lines else []


def documentation(operator: dict) -> str:
    """The docstring of an operator: what it does, inputs, arguments with defaults, devices."""
    lines = [operator.get("summary") or f"The operator `fn.{operator['name']}`."]
    if operator.get("documentation"):
        lines += ["", *_wrapped(operator["documentation"])]
    lines += _ports("Inputs:", operator.get("input_ports") or ())
    if operator["args"]:
        lines += ["", "Args:"]
        for name, argument in operator["args"].items():
            lines += _argument(name, argument)
    lines += _ports("Returns:", operator.get("output_ports") or ())
    for name, preset in (operator.get("presets") or {}).items():
        said = preset["differs"] or f"refused: {preset['refused']}"
        lines += ["", *_wrapped(f'compat="{name}": {said}.')]
    if operator.get("devices"):
        lines += ["", f"Devices: {', '.join(operator['devices'])}."]
    return "\n".join(lines)
