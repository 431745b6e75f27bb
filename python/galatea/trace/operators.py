"""Operators as Python functions, made from the schema that the library reports."""

from __future__ import annotations

import functools
from typing import Any

from galatea.trace import place as places
from galatea.trace import recorder as recorders
from galatea.trace.documentation import KINDS as _KINDS
from galatea.trace.documentation import documentation
from galatea.trace.errors import TraceError
from galatea.trace.expression import Call, Method
from galatea.trace.node import Node

place = places.caller


# Of a definition in the language, the schema says nothing of its outputs.
_NO_OUTPUTS = {"output_ports": [], "output_needs": [], "outputs_argument": ""}


@functools.cache
def schema() -> dict[str, dict]:
    """Operators by name, as `galatea ops --json` prints them."""
    from galatea import engine

    document = engine.operators()
    found = {operator["name"]: operator for operator in document["operators"]}
    for text in document.get("texts", ()):
        entry = {"name": text["name"], "inputs": [0, 999], "args": {}, **_NO_OUTPUTS}
        entry["input_ports"] = []
        entry["parameters"] = text["parameters"]
        found[text["name"]] = entry
    return found


@functools.cache
def _aliases() -> dict[str, str]:
    return {alias: name for name, entry in schema().items() for alias in entry.get("aliases", ())}


def names() -> list[str]:
    return sorted(schema())


def find(path: str) -> dict | None:
    """The operator of a name; an old name of DALI's gives the one of today."""
    return schema().get(path) or schema().get(_aliases().get(path, ""))


def members(prefix: str) -> list[str]:
    """Names of operators and namespaces below a prefix such as "" or "random."."""
    found = {name[len(prefix) :].split(".")[0] for name in schema() if name.startswith(prefix)}
    return sorted(found)


def _how_many(need: str, given: set[str], keywords: dict[str, Any]) -> int:
    """How many outputs of a call a need stands for (`Operator::output_needs`); `given` are the
    names of its inputs and flags."""
    if need.startswith("*"):
        return int(keywords.get(need[1:]) or 0)
    name, unlike, text = need.partition("!=")
    if unlike:
        value = keywords.get(name)
        return int((str(value).lower() if isinstance(value, bool) else str(value)) != text)
    return int(not need or not given.isdisjoint(need.split("|")))


def _says_something(value: Any) -> bool:
    """Whether a need that names an argument is met by its value."""
    if isinstance(value, str):
        return value not in ("", "none")
    if isinstance(value, (list, tuple)):
        return True
    return isinstance(value, (bool, int)) and value == 1  # flags are written as 1, too


def num_outputs(operator: dict, num_inputs: int, keywords: dict[str, Any]) -> int | None:
    """How many results a call gives as a tuple; None: one, by itself."""
    wanted = keywords.get("num_outputs")
    if wanted is not None and "num_outputs" in operator["args"]:
        return int(wanted)
    entries = keywords.get(operator["outputs_argument"])
    if needs := operator["output_needs"]:
        given = {port["name"] for port in operator["input_ports"][:num_inputs]}
        given |= {name for name, value in keywords.items() if _says_something(value)}
        count = sum(_how_many(need, given, keywords) for need in needs)
    elif isinstance(entries, dict):
        return len(entries)  # by name, and taken apart as a tuple
    elif isinstance(entries, (list, tuple)):
        count = len(entries)
    else:
        count = max(1, len(operator["output_ports"]))
    return None if count == 1 else count


def call(operator: dict, inputs: tuple, keywords: dict[str, Any]) -> Any:
    """Records one call; gives a node, or a tuple of nodes."""
    recorder = recorders.require(f"`fn.{operator['name']}`")
    at = places.caller()
    if operator["name"] == "external_source":
        from galatea.trace import inputs as external

        return external.call(recorder, at, inputs, keywords)
    if inputs and isinstance(inputs[0], (list, tuple)) and _is_set(inputs[0]):
        return _call_set(operator, inputs, keywords)
    if operator.get("parameters") is None:
        least, most = operator["inputs"]
        if not least <= len(inputs) <= most:
            expected = str(least) if least == most else f"{least} to {most}"
            raise TraceError(
                f"`fn.{operator['name']}` takes {expected} inputs by position, not {len(inputs)}",
                at,
                "arguments other than inputs are passed by keyword",
            )
    arguments = [("", recorder.value(value, at)) for value in inputs]
    arguments += [
        (name, recorder.value(value, at)) for name, value in keywords.items() if value is not None
    ]
    count = num_outputs(operator, len(inputs), keywords)
    made = Call(f"fn.{operator['name']}", arguments)
    if operator.get("gives_dictionary"):
        names = sorted(keywords[operator["outputs_argument"]], key=str.encode)
        return dict(zip(names, recorder.add(Method(made, "values"), count, at)))
    return recorder.add(made, count, at)


def _is_set(value) -> bool:
    return bool(value) and all(isinstance(element, Node) for element in value)


def _call_set(operator: dict, inputs: tuple, keywords: dict[str, Any]) -> Any:
    """Lists of inputs: one result for each."""
    size = len(inputs[0])
    for value in inputs:
        if isinstance(value, (list, tuple)) and len(value) != size:
            raise TraceError(
                f"`fn.{operator['name']}` got lists of {size} and {len(value)} inputs",
                places.caller(),
                "lists of inputs have equal lengths: the operator runs once for each element",
            )
    results = [
        call(
            operator,
            tuple(value[i] if isinstance(value, (list, tuple)) else value for value in inputs),
            keywords,
        )
        for i in range(size)
    ]
    if results and isinstance(results[0], tuple):
        return tuple(list(column) for column in zip(*results))
    return results


@functools.cache
def _documentation_of(name: str) -> str:
    return documentation(schema()[name])


def documentation_of(operator: dict) -> str:
    """The docstring of an operator, made once for all forms in which Python has it."""
    return _documentation_of(operator["name"])


@functools.cache
def _function_of(name: str):
    operator = schema()[name]

    def function(*inputs, **arguments):
        return call(operator, inputs, arguments)

    function.__name__ = name.rsplit(".", 1)[-1]
    function.__qualname__ = f"fn.{name}"
    function.__module__ = "galatea.fn"
    function.__doc__ = documentation_of(operator)
    function._galatea_operator_ = name  # type: ignore[attr-defined]
    return function


def function_of(operator: dict):
    return _function_of(operator["name"])
