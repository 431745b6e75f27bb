"""A pipeline's graph as text for Graphviz: `dot -Tsvg FILE`."""

from __future__ import annotations

from typing import Any, Iterable

from galatea.trace.expression import Call, Index, Method
from galatea.trace.node import Node
from galatea.trace.recorder import Block, Operation, Recorder

from .names import document
from .stages import blocks_of, outputs_of, own_expressions


class _Writer:
    def __init__(self, show_tensors: bool, use_colors: bool):
        self._tensors, self._colors = show_tensors, use_colors
        self._count = 0
        self._from: dict[Node, tuple[str, int]] = {}  # the operator, and which output of it
        self.lines = ["digraph pipeline {"]

    def block(self, block: Block, indent: str = "  ") -> None:
        for statement in block.statements:
            name = f"{_kind(statement)}_{self._count}"
            self._count += 1
            arms = blocks_of(statement)
            color = f' [color="{_color(statement)}"]' if self._colors else ""
            self.lines.append(f'{indent}"{name}"{color};')
            reads = [n for one in own_expressions(statement) for n in one.nodes()]
            of_arms = [node for node in reads if node not in self._from]
            for node in reads:
                self._edge(node, name, indent)
            for number, arm in enumerate(arms):
                self.lines.append(f'{indent}subgraph "cluster_{name}_{number}" {{')
                self.block(arm, indent + "  ")
                self.lines.append(indent + "}")
            for node in of_arms:
                self._edge(node, name, indent)
            for number, node in enumerate(outputs_of(statement)):
                self._from[node] = (name, number)
                if self._tensors:
                    tensor = f"{name}[{number}]"
                    self.lines.append(f'{indent}"{tensor}" [shape=box];')
                    self.lines.append(f'{indent}"{name}" -> "{tensor}";')

    def _edge(self, node: Node, reader: str, indent: str) -> None:
        if node not in self._from:
            return
        name, number = self._from[node]
        source = f"{name}[{number}]" if self._tensors else name
        self.lines.append(f'{indent}"{source}" -> "{reader}" [label={number}];')

    def outputs(self, nodes: Iterable[Node]) -> None:
        self.lines.append('  "outputs" [shape=box];')
        for node in nodes:
            self._edge(node, "outputs", "  ")


def _kind(statement: Any) -> str:
    """What an operation is called: DALI's class where it has one."""
    if not isinstance(statement, Operation):
        return "if"
    expression = statement.expression
    if isinstance(expression, Call):
        path = expression.callee.removeprefix("fn.")
        for name, function in document()["classes"].items():
            if function == path:
                return name.rpartition(".")[2]
        return path
    if isinstance(expression, Method):
        return expression.name
    return "TensorSubscript" if isinstance(expression, Index) else "Arithmetic"


def _color(statement: Any) -> str:
    devices = {getattr(node, "device", "cpu") for node in outputs_of(statement)}
    return "#76b900" if "gpu" in devices else "blue"


def text_of(
    recorder: Recorder, outputs: Iterable[Node], show_tensors: bool, use_colors: bool
) -> str:
    """The text: operators, and what they hand to which others; arms of an `if` are boxes."""
    writer = _Writer(show_tensors, use_colors)
    writer.block(recorder.body)
    writer.outputs(outputs)
    return "\n".join([*writer.lines, "}", ""])
