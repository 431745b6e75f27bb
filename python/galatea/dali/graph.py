"""The record of a pipeline's graph, and of nodes that no pipeline has yet.

In DALI a node may be made anywhere: outside of a pipeline, or while another one is defined. A
pipeline that uses such a node takes in what made it, once, as if it had been called there.
"""

from __future__ import annotations

import contextlib
import dataclasses
import weakref
from typing import Any, Callable, Iterator

from galatea.trace import recorder as recorders
from galatea.trace.expression import Call, Expression, Load, Use
from galatea.trace.node import Node
from galatea.trace.place import Place
from galatea.trace.recorder import Block, Branch, Choice, Recorder, Selection

from .data_node import DataNode
from .errors import PipelineError
from .stages import PythonRecorder, read_by_functions
from .types import narrowed


class Again:
    """How to make `nodes` in another pipeline: `make()` gives as many, in the same order."""

    def __init__(self, nodes: list[Node], make: Callable[[], Any]):
        self.nodes, self.make = nodes, make
        for node in nodes:
            if node.operation is not None:  # debug mode has none
                node.operation.origin = self


class Graph(PythonRecorder):
    """Records a pipeline; nodes from elsewhere are taken in where they are used."""

    node_class = DataNode.made

    def __init__(self, name: str, pipe: Any):
        super().__init__(name)
        self._pipe = weakref.ref(pipe)
        self._taken: dict[Node, Node] = {}
        self.used: set[Node] = set()  # what outputs depend on, once the graph is complete

    def active(self) -> Recorder:
        current = recorders.current()
        return current if isinstance(current, Graph) else self

    def own(self, node: Node, place: Place | None) -> Node:
        if node.recorder is not self:
            here = self.taken(node)
            node = self._take_in(node, place) if here is None else here
        return super().own(node, place)

    def constant(self, value: Any, place: Place | None = None) -> Expression:
        return super().constant(narrowed(value), place)

    def taken(self, node: Node) -> Node | None:
        """What `node` from elsewhere became here; None where nothing used it yet."""
        return self._taken.get(node)

    def _take_in(self, node: Node, place: Place | None) -> Node:
        operation: Any = node.operation
        elsewhere = node.recorder
        if getattr(node, "_given", None) is not None:
            raise PipelineError(f"{node} is a node that no operator made: it has no data")
        if operation is None or node.block is not elsewhere.body:
            self.check(node, place)  # raises: it exists for some samples of its pipeline
        # What is made elsewhere is made for all samples, also where an arm uses it first.
        with self.for_all_samples():
            if operation.origin is not None:
                old, new = operation.origin.nodes, self._made_again(operation.origin)
            else:
                expression = self._own_parts(operation.expression)
                count = len(operation.outputs) if operation.is_tuple else None
                made = self.add(expression, count, operation.place)
                old, new = operation.outputs, made if operation.is_tuple else (made,)
        self.imports |= elsewhere.imports
        for module, names in elsewhere.modules.items():
            self.modules.setdefault(module, set()).update(names)
        for before, after in zip(old, new):
            after.hint = before.hint
            after.enumeration = getattr(before, "enumeration", None)
            self._taken[before] = after
        return self._taken[node]

    def drop_unused_inputs(self) -> None:
        """Leaves inputs out that no output depends on: nobody feeds them, as in DALI."""
        assert self.result is not None
        merged: dict[Node, list[Expression | None]] = {}
        _collect_merges(self.body, merged)
        used: set[Node] = set()
        waiting = [*self.result.nodes(), *read_by_functions(self.body)]
        while waiting:
            node: Any = waiting.pop()
            if node in used:
                continue
            used.add(node)
            made_of = merged[node] if node.operation is None else [node.operation.expression]
            waiting += [one for part in made_of if part is not None for one in part.nodes()]
        self.used = used
        unfed = {
            node
            for statement in self.body.statements
            if _is_input(statement) and used.isdisjoint(statement.outputs)
            for node in statement.outputs
        }
        _drop(self.body, unfed)

    def _made_again(self, again: Again) -> list[Node]:
        pipe = self._pipe()
        assert pipe is not None
        with pipe:
            made = again.make()
        return list(made) if isinstance(made, (list, tuple)) else [made]

    def _own_parts(self, value: Any) -> Any:
        """An expression with this recorder's nodes and arrays."""
        if isinstance(value, Use):
            return Use(self.own(value.node, None))
        if isinstance(value, Load):
            return self.value(value.array)
        if isinstance(value, Expression):
            parts = {f.name: getattr(value, f.name) for f in dataclasses.fields(value)}
            return type(value)(**{name: self._own_parts(one) for name, one in parts.items()})
        if isinstance(value, (list, tuple)):
            return type(value)(self._own_parts(one) for one in value)
        return value


def _is_input(statement: Any) -> bool:
    expression = getattr(statement, "expression", None)
    return isinstance(expression, Call) and expression.callee == "fn.external_source"


def _drop(block: Block, dropped: set[Node]) -> None:
    """Removes what makes `dropped`, and all that reads it; no output depends on either."""

    def reads(*expressions: Expression | None) -> bool:
        return any(node in dropped for one in expressions if one for node in one.nodes())

    kept: list = []
    for statement in block.statements:
        if isinstance(statement, Branch):
            for arm in (statement.then, statement.otherwise):
                _drop(arm, dropped)
            is_gone = reads(statement.condition)
            merges = []
            for merge in statement.merges:
                if is_gone or reads(*merge[1:]):
                    dropped.add(merge[0])
                else:
                    merges.append(merge)
            statement.merges = merges
        elif isinstance(statement, Choice):
            for inner in (statement.right, statement.other):
                if inner is not None:
                    _drop(inner, dropped)
            is_gone = reads(statement.left, statement.right_value, statement.other_value)
            if is_gone:
                dropped.add(statement.result)
        elif isinstance(statement, Selection):
            for inner, _ in statement.arms:
                _drop(inner, dropped)
            values = [value for _, values in statement.arms for value in values]
            is_gone = reads(statement.index, *values)
            if is_gone:
                dropped.update(statement.outputs)
        else:
            is_gone = reads(statement.expression) or not dropped.isdisjoint(statement.outputs)
            if is_gone:
                dropped.update(statement.outputs)
        if not is_gone:
            kept.append(statement)
    block.statements = kept


def _collect_merges(block: Block, found: dict) -> None:
    """What every node that no operation makes depends on: nodes that branches merge into."""
    for statement in block.statements:
        if isinstance(statement, Branch):
            for result, *values in statement.merges:
                found[result] = [statement.condition, *values]
            _collect_merges(statement.then, found)
            _collect_merges(statement.otherwise, found)
        elif isinstance(statement, Choice):
            found[statement.result] = [statement.left, statement.right_value, statement.other_value]
            for inner in (statement.right, statement.other):
                if inner is not None:
                    _collect_merges(inner, found)
        elif isinstance(statement, Selection):
            for i, result in enumerate(statement.outputs):
                found[result] = [statement.index, *(values[i] for _, values in statement.arms)]
            for inner, _ in statement.arms:
                _collect_merges(inner, found)


class Loose(Recorder):
    """Records nodes outside of pipelines: each for itself, kept by who holds it."""

    node_class = DataNode.made

    def active(self) -> Recorder:
        return recorders.current() or self

    def own(self, node: Node, place: Place | None) -> Node:
        return node

    def check(self, node: Node, place: Place | None) -> None:
        """Any node may be read: the pipeline that uses the result takes in all of it."""


@contextlib.contextmanager
def recording() -> Iterator[Recorder]:
    """The recorder of the current pipeline; one for loose nodes where there is none."""
    current = recorders.current()
    if current is not None:
        yield current
        return
    with Loose("loose") as loose:
        yield loose
